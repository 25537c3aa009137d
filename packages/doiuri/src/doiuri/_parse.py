"""Read the name in what people write (names, labels, URIs, links, URNs), and decode it once.

``DOI.parse`` reads a text in these steps:

1. ``read_quickly`` returns nearly every name at once: that of "10.1000/182", "doi:10.1000/182" and
   "https://doi.org/10.1000/182".
2. Any other text goes to ``read``, which leaves out outer white space and one pair of ``<>``, then the label or
   the beginning of a link, and a second one: "<DOI: https://doi.org/10.1000/182>".
3. ``unescape`` decodes what remains, once: "10.1000/a%2Fb" is ``10.1000/a/b``.
4. The result is a ``Spelling``: the name, and where it starts. Its ``check`` raises the error for what is wrong
   with the name, at the position in the text as it was given.

``read_uri`` and ``read_link`` read a single form each, without leniency, for ``DOI.from_uri`` and
``DOI.from_url``. ``decode`` is the inverse of ``encode``.
"""

from doiuri._encoding import encode
from doiuri._errors import DOISyntaxError
from doiuri._names import INVISIBLE, doi_flaw, is_handle_prefix, not_graphic, other_handle
from doiuri._urls import PROXY_HOSTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from doiuri._names import Flaw

LABELS = ("info:doi/", "info:hdl/", "urn:doi:", "hdl:", "doi:")
"""The labels that may precede a name, in lower case; the proxy accepts them in the path of a link, too."""

PATHS = ("api/handles/", "doi/")
"""What may precede a name in the path of a link: the path of the REST API, and that of publishers' links."""

FIXED_SPACES = "\u00a0\u2007\u2009\u202f"
"""The spaces that typesetters put between a label and its name."""

_WHITE = " \t\n\r\f\v"
_OUTER = _WHITE + "<"
_BLANKS = _WHITE + FIXED_SPACES
# RFC 3986 §3.3: the characters of a path, and "#" and "?", which end it
_URI_CHARACTERS = (
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/%#?"
)
_SCHEMES = ("https://", "http://", "//")
_MAX_PORT = 65535
_LONGEST_SHORT_CODE = 7
_LINK_STARTS = ("https://", "http://", *(f"{host}/" for host in PROXY_HOSTS))
_LINK_START_LENGTH = len("www.doi.org/")
_PROXY_LINKS = tuple(
    f"{scheme}{host}/" for scheme in ("https://", "http://", "") for host in PROXY_HOSTS
)
_PROXY_LINK_LENGTH = max(map(len, _PROXY_LINKS))
# Characters that are never decoded, stripped or cut off, and a table that replaces all others
_LITERAL = bytes(range(0x21, 0x7F)).translate(None, b"%#?")
_SPECIAL = bytes(range(256)).translate(None, _LITERAL)
_WITHOUT_SPECIAL = bytes.maketrans(_SPECIAL, b"x" * len(_SPECIAL))
_EXPECTED = 'expected "10.", a label such as "doi:", or a link to doi.org'
_URI = "doi: URI"
_LINK = "link to a DOI"
_SSP = "scheme-specific part"


class Spelling:
    """A name as read from a text, not yet checked.

    ``name`` is decoded, ``start`` is where it begins in the text. ``ambiguous`` is the position of a raw
    ``#`` or ``?`` after a label, which may begin a fragment or a query, or belong to the name; else it is None.
    """

    __slots__ = ("ambiguous", "name", "start")

    def __init__(self, name: str, start: int, ambiguous: int | None = None) -> None:
        self.name = name
        self.start = start
        self.ambiguous = ambiguous

    def check(self, text: str, flaw: "Flaw | None", kind: str) -> None:
        """Raise the error for the ``flaw`` of the name, if it has one, or else for an ambiguous end.

        In "doi:10.1000/456#789" the "#" is ambiguous, and the error suggests "doi:10.1000/456%23789".

        :param text: what the name was read from, for the error.
        :param flaw: position and reason, both of the decoded name.
        :param kind: what was expected, such as "DOI".
        """
        if flaw is not None:
            offset, reason = flaw
            position = source_position(text, self.start, offset)
            undecoded = self.name.replace("%", "%25")  # read would decode the name again
            suggestion = _uri_without_invisible(undecoded)
            raise DOISyntaxError(text, position, reason, suggestion, kind)
        if self.ambiguous is not None:
            mark = text[self.ambiguous]
            name = self.name if self.name.isprintable() else repr(self.name)
            reason = (
                f'"{mark}" must be %{ord(mark):X} here, unless the name stands alone: {name:.200}'
            )
            uri = f"doi:{encode(self.name)}"
            raise DOISyntaxError(text, self.ambiguous, reason, uri, kind=_URI)


def _uri_without_invisible(text: str) -> "str | None":
    """Return the URI of the DOI that remains when the invisible characters of a text are dropped.

    For a zero-width space and "10.1000/182", that is "doi:10.1000/182". Return None if the text has no invisible
    character, or if what remains is not a DOI.
    """
    import re  # slow to import, and rarely needed

    visible = re.sub(f"[{INVISIBLE}]", "", text).strip()
    if visible == text:
        return None
    try:
        name = read(visible).name
    except DOISyntaxError:
        return None
    return None if doi_flaw(name) else f"doi:{encode(name)}"


def read_quickly(text: str) -> str:
    """Return the name of a DOI as ``read`` does, in a fraction of the time.

    Return "" if ``read`` has to look closer: at another label or link, or for what is wrong.

    >>> read_quickly("10.1000/182"), read_quickly("doi:10.1000/a%2Fb"), read_quickly("DOI 10.1000/182")
    ('10.1000/182', '10.1000/a/b', '')
    """
    name = text.removeprefix("https://doi.org/").removeprefix("doi:")
    prefix, _, suffix = name.partition("/")
    if prefix[:3] != "10.":
        return ""
    if suffix and prefix[3:].isdecimal() and name.isascii():
        octets = name.encode()
        if octets.translate(_WITHOUT_SPECIAL) == octets:  # nearly always
            return name

    has_label = len(name) < len(text)
    if name[-1] in _WHITE or (has_label and ("#" in name or "?" in name)):
        return ""
    if "%" in name:
        name = quickly_unescaped(name) or ""
    return "" if doi_flaw(name) else name


def read(text: str) -> Spelling:
    """Read a name, with or without a label, or a link; drop outer white space and one pair of ``<>``.

    >>> [read(text).name for text in ("<10.1000/182>", "DOI: 10.1000/182", "https://dx.doi.org/10.1000/182?x=1")]
    ['10.1000/182', '10.1000/182', '10.1000/182']

    :raises DOISyntaxError: if the text begins with neither "10", nor a label, nor a link to the DOI proxy.
    """
    start, end = stripped(text)
    if text.startswith("10", start, end):
        return Spelling(unescape(text, start, end, lenient=True), start)
    spelling = _read_labelled(text, start, end)
    if spelling.name.startswith("10."):
        return spelling
    second = _second_label(text, start, end)
    if second is None:
        return spelling
    return _read_labelled(text, second, end)


def _read_labelled(text: str, start: int, end: int) -> Spelling:
    """Read a name with a label, as in "urn:doi:10.1000:182", or a link, as in "DOI https://doi.org/10.1000/182".

    After a label with a colon, as in "doi:10.1000/456#789", it is ambiguous whether the "#" belongs to the name.
    """
    name_start = label_end(text, start, end)
    label = text[start:name_start].lower()
    is_doi_before_link = label.startswith("doi") and is_link(text, name_start, end)
    if not label or is_doi_before_link:
        return _read_linked(text, name_start, end, PROXY_HOSTS, lenient=True)

    name = unescape(text, name_start, end, lenient=True)
    ambiguous = _query_or_fragment(text, name_start, end) if ":" in label else None
    if label.startswith("urn"):
        return Spelling(_slash_for_colon(name), name_start, ambiguous)
    return Spelling(name, name_start, ambiguous)


def stripped(text: str) -> tuple[int, int]:
    """Return start and end of ``text`` without outer white space and one pair of ``<>``.

    >>> stripped(" <10.1000/182> ")
    (2, 13)
    """
    if text[:1] not in _OUTER and text[-1] not in _WHITE:
        return 0, len(text)
    start, end = _without_white(text, 0, len(text))
    if end - start > 1 and text[start] == "<" and text[end - 1] == ">":
        return _without_white(text, start + 1, end - 1)
    return start, end


def _without_white(text: str, start: int, end: int) -> tuple[int, int]:
    """Return start and end of ``text[start:end]`` without outer white space."""
    without_leading = text[start:end].lstrip(_WHITE)
    start = end - len(without_leading)
    return start, start + len(without_leading.rstrip(_WHITE))


def label_end(text: str, start: int, end: int) -> int:
    """Return where the label at ``start``, with the blanks after it, ends; ``start`` if there is none.

    "doi" needs no colon if a name or a link follows: "DOI 10.1000/182", "doi https://doi.org/10.1000/182".

    >>> label_end("DOI: 10.1000/182", 0, 16), label_end("doing", 0, 5)
    (5, 0)
    """
    # Not the lower case of a longer text: that of "doİ" begins with "doi", too
    if text[start : start + 3].lower() != "doi":
        return start + _label_length(text[start : min(start + 9, end)].lower())

    after_doi = text[start + 3 : end].lstrip(_BLANKS)
    name = after_doi.removeprefix(":").lstrip(_BLANKS)
    name_start = end - len(name)
    if after_doi.startswith(":") or name.startswith("10"):
        return name_start
    is_apart = name_start > start + 3
    if is_apart and is_link(text, name_start, end):
        return name_start
    return start


def _second_label(text: str, start: int, end: int) -> int | None:
    """Return where the second of two labels or links begins; None if there are not two.

    Programs write them: "doi:doi:10.1000/182" and "doi:https://doi.org/10.1000/182", where the second begins at 4,
    and "https://doi.org/https://doi.org/10.1000/182".
    """
    if text[start : start + 4].lower() == "doi:":
        second = start + 4
        if text[second : second + 4].lower() == "doi:":
            return second
    else:  # a link to the proxy, in whose path the second one begins
        host_start = start + _scheme_length(text[start : start + 8].lower())
        host_end = text.find("/", host_start, host_start + _LINK_START_LENGTH)
        if text[host_start:host_end].lower() not in PROXY_HOSTS:
            return None
        second = host_end + 1
    head = text[second : min(second + _PROXY_LINK_LENGTH, end)].lower()
    if head.startswith(_PROXY_LINKS):
        return second
    return None


def without_label(text: str) -> str:
    """Return a name without the label that the proxy accepts before it in the path of a link.

    The name is not checked. After ``urn:doi:``, its first colon stands for the slash.

    >>> without_label("hdl:10.1000/182"), without_label("urn:doi:10.1000:182")
    ('10.1000/182', '10.1000/182')
    """
    label_length = _label_length(text[:9].lower())
    name = text[label_length:]
    if text[:8].lower() == "urn:doi:":
        return _slash_for_colon(name)
    return name


def is_link(text: str, start: int, end: int) -> bool:
    """Return whether a link begins at ``start``, as in ``DOI: https://doi.org/…``."""
    return text[start : min(start + _LINK_START_LENGTH, end)].lower().startswith(_LINK_STARTS)


def _label_length(text: str) -> int:
    """Return the length of the label that ``text``, in lower case, begins with, or 0."""
    for label in LABELS:
        if text.startswith(label):
            return len(label)
    return 0


def _query_or_fragment(text: str, start: int, end: int) -> int | None:
    """Return the position of the first ``#`` or ``?``, or None."""
    fragment = text.find("#", start, end)
    if fragment >= 0:
        end = fragment
    query = text.find("?", start, end)
    if query >= 0:
        return query
    if fragment >= 0:
        return fragment
    return None


def _slash_for_colon(name: str) -> str:
    """Put back the slash that a URN replaces with a colon (DOI Handbook, note on URNs).

    >>> _slash_for_colon("10.1000:182"), _slash_for_colon("10.1000/a:b")
    ('10.1000/182', '10.1000/a:b')
    """
    prefix, colon, suffix = name.partition(":")
    if not colon or "/" in prefix or not prefix[:1].isdecimal():
        return name
    return f"{prefix}/{suffix}"


def read_uri(text: str) -> Spelling:
    """Read a ``doi:`` URI, without any leniency (draft-lemieux-doi-uri-scheme-00 §2).

    :raises DOISyntaxError: for another scheme, "//" after it, and characters that no URI has.
    """
    if text[:4].lower() != "doi:":
        raise DOISyntaxError(text, 0, 'a doi: URI begins with "doi:"', kind=_URI)
    if text.startswith("//", 4):
        raise DOISyntaxError(text, 4, 'no "//" may follow "doi:"', _repaired(text, 6), kind=_URI)
    from_invalid_character = text.lstrip(_URI_CHARACTERS)
    if from_invalid_character:
        reason = f"{from_invalid_character[0]!r} must be percent-encoded"
        position = len(text) - len(from_invalid_character)
        raise DOISyntaxError(text, position, reason, _repaired(text, 4), kind=_URI)
    return Spelling(unescape(text, 4, kind=_URI), 4, _query_or_fragment(text, 4, len(text)))


def _repaired(text: str, start: int) -> str | None:
    """Return the URI for the name written from ``start`` on; None if that is not a DOI.

    >>> _repaired("doi:10.1000/a<b>", 4)
    'doi:10.1000/a%3Cb%3E'
    """
    name = unescape(text, start, lenient=True, kind=_URI).strip(_WHITE)
    return None if doi_flaw(name) else f"doi:{encode(name)}"


def read_link(text: str, hosts: "Iterable[str]") -> Spelling:
    """Read a link, with or without its scheme, to one of the proxy ``hosts``.

    :raises DOISyntaxError: if it is no such link, or white space follows it.
    """
    without_white = text.rstrip(_WHITE)
    if without_white != text:
        reason = "white space after the link"
        raise DOISyntaxError(text, len(without_white), reason, kind=_LINK)
    if isinstance(hosts, str):
        hosts = (hosts,)
    return _read_linked(text, 0, len(text), tuple(hosts), lenient=False)


def _read_linked(
    text: str, start: int, end: int, hosts: tuple[str, ...], *, lenient: bool
) -> Spelling:
    """Read the name in the path of the link ``text[start:end]``; its query and fragment are left out.

    The scheme may be missing: "https://doi.org/10.1000/182" and "doi.org/10.1000/182" are links.

    :param lenient: also accept a short DOI without its "10/", as in https://doi.org/f3sz4k, and percent signs
        that start no escape.
    :raises DOISyntaxError: if it is not a link to one of the ``hosts``.
    """
    kind = "DOI" if lenient else _LINK
    if start == end:
        raise DOISyntaxError(text, start, "the text is empty", kind=kind)

    # The host, and what is wrong if it is not a proxy
    host_start = start + _scheme_length(text[start : start + 8].lower())
    slash = text.find("/", host_start, end)
    host_end = slash if slash >= 0 else end
    authority = text[host_start:host_end]
    if not _is_proxy(authority, hosts):
        has_scheme = host_start > start
        has_path = 0 <= slash < end - 1
        if not has_scheme and has_path and is_handle_prefix(authority):  # as in 11681/5671
            handle = unescape(text, host_start, end, lenient=True)
            raise DOISyntaxError(text, host_start, other_handle(handle), kind=kind)
        reason = _why_no_link(authority, has_scheme, lenient)
        suggestion = _uri_without_invisible(text) if lenient else None
        raise DOISyntaxError(text, host_start, reason, suggestion, kind)

    # The name in the path
    path_start = min(host_end + 1, end)
    path_end = _query_or_fragment(text, path_start, end)
    if path_end is None:
        path_end = end
    path = unescape(text, path_start, path_end, lenient=lenient, kind=kind)
    if path.startswith("10."):
        return Spelling(path, path_start)
    if lenient and _is_short_code(path):
        return Spelling(f"10/{path}", path_start)
    name = _name_in_path(path)
    return Spelling(name, source_position(text, path_start, len(path) - len(name)))


def _scheme_length(head: str) -> int:
    """Return the length of the scheme and slashes that a link begins with, or 0."""
    for scheme in _SCHEMES:
        if head.startswith(scheme):
            return len(scheme)
    return 0


def _is_proxy(authority: str, hosts: tuple[str, ...]) -> bool:
    """Return whether the authority is one of the hosts; a host without a port stands for all its ports.

    >>> _is_proxy("DOI.org:443", ("doi.org",)), _is_proxy("doi.net", ("doi.org",))
    (True, False)
    """
    if not authority.isascii():
        return authority in hosts  # its lower case could be ASCII: that of the Kelvin sign is "k"
    authority = authority.lower()
    lower_hosts = {host.lower() for host in hosts}
    if authority in lower_hosts:
        return True

    host, colon, port = authority.rpartition(":")
    # A port may have no digits, as in "doi.org:" (RFC 3986 §3.2.3)
    has_port = colon and (not port or port.isdecimal())
    if not has_port:
        return authority.removesuffix(".") in lower_hosts
    is_port = not port or (len(port) <= 5 and int(port) <= _MAX_PORT)
    return is_port and host.removesuffix(".") in lower_hosts


def _why_no_link(authority: str, has_scheme: bool, lenient: bool) -> str:
    """Return the reason why a text is no link to a proxy, by what stands in the place of its host.

    Without a scheme, only what has the form of a host name is taken for one: "example.org", but not "Smith 2020".
    """
    _, dot, top = authority.rpartition(".")
    if not has_scheme and not (dot and top.isalpha()):
        return _EXPECTED if lenient else "expected a link such as https://doi.org/10.1000/182"
    if not authority:
        return 'no host after "//"'
    if "@" in authority:
        return "a link to a DOI has no user name before the host"
    return f"the host {authority[:80]!r} is not a DOI proxy"


def _is_short_code(path: str) -> bool:
    """Return whether the path of a link is a short DOI without its "10/", as in https://doi.org/f3sz4k.

    A path of letters alone is none: it may be a page of the site.
    """
    is_word = path.isascii() and path.isalnum() and not path.isalpha()
    return is_word and 3 <= len(path) <= _LONGEST_SHORT_CODE


def _name_in_path(path: str) -> str:
    """Return the name in a link's path: after one of the PATHS, or after a slash, a label, both or neither.

    >>> [_name_in_path(path) for path in ("api/handles/10.1000/182", "doi/10.1000/182", "/doi:10.1000/182")]
    ['10.1000/182', '10.1000/182', '10.1000/182']
    """
    for folder in PATHS:
        if path.startswith(folder):
            return path.removeprefix(folder)
    return without_label(path.removeprefix("/"))


# Decoding


def _bytes_by_digits() -> dict[bytes, bytes]:
    """Return all bytes by their two hexadecimal digits, in any case."""
    digits = "0123456789abcdefABCDEF"
    by_digits = {}
    for high in digits:
        for low in digits:
            pair = high + low
            by_digits[pair.encode()] = bytes.fromhex(pair)
    return by_digits


_BYTES = _bytes_by_digits()


def decode(ssp: str) -> str:
    """Return the DOI name for the scheme-specific part of a ``doi:`` URI, in any profile; decoded once.

    >>> decode("10.26321/%C3%81")
    '10.26321/Á'

    Only its characters are checked; ``DOI`` checks names.

    :param ssp: the part after ``doi:``.
    :raises DOISyntaxError: for an incomplete escape, bytes that are not UTF-8, a raw ``#`` or ``?``, or a
        character that no name may have.
    """
    if not isinstance(ssp, str):
        raise TypeError(f"expected str, not {type(ssp).__name__}")
    name = unescape(ssp, kind=_SSP) if "%" in ssp else ssp
    before_mark = ssp.partition("#")[0].partition("?")[0]
    if before_mark != ssp:
        position = len(before_mark)
        reason = f'a raw "{ssp[position]}" must be percent-encoded'
        raise DOISyntaxError(ssp, position, reason, kind=_SSP)

    flaw = None if name.isprintable() else not_graphic(name)
    if flaw is not None:
        offset, reason = flaw
        raise DOISyntaxError(ssp, source_position(ssp, 0, offset), reason, kind=_SSP)
    return name


def unescape(
    text: str, start: int = 0, end: int | None = None, *, lenient: bool = False, kind: str = "DOI"
) -> str:
    """Return ``text[start:end]`` with its percent-escapes decoded once; positions in errors refer to ``text``.

    >>> unescape("10.1000/a%2Fb%25"), unescape("10.1000/50%", lenient=True)
    ('10.1000/a/b%', '10.1000/50%')

    :param lenient: let a percent sign stay that does not start an escape, instead of refusing it.
    :raises DOISyntaxError: for such a sign, and for escapes that are not UTF-8.
    """
    if "%" not in text:
        return text[start:end]
    quickly = quickly_unescaped(text[start:end])
    if quickly is not None:
        return quickly

    first, *parts = text[start:end].encode("utf-8", "surrogatepass").split(b"%")
    raw = [first]
    for part in parts:
        byte = _BYTES.get(part[:2])
        if byte is not None:
            raw += (byte, part[2:])
        elif lenient:
            raw += (b"%", part)
        else:
            reason = '"%" without two hexadecimal digits; write "%25" for a percent sign'
            raise DOISyntaxError(text, _stray_percent(text, start), reason, kind=kind)
    octets = b"".join(raw)
    try:
        return octets.decode()
    except UnicodeDecodeError as error:
        before_error = octets[: error.start].decode()
        position = source_position(text, start, len(before_error))
        raise DOISyntaxError(text, position, "the escapes are not valid UTF-8", kind=kind) from None


def quickly_unescaped(text: str) -> str | None:
    """Return a text with its escapes decoded as if they were quoted-printable's, which is fast.

    ``a%2Fb`` is ``a=2Fb`` there. Return None if the result could be wrong: for what is special in
    quoted-printable, a percent sign that starts no escape, and escapes that are not UTF-8.
    """
    import binascii  # slow to import, and rarely needed; "from" would cost each call as much as the rest

    if "=" in text or "\n" in text or "\r" in text or not text.isascii():
        return None
    octets = binascii.a2b_qp(text.replace("%", "="))
    if len(octets) != len(text) - 2 * text.count("%"):  # some "%" starts no escape
        return None
    try:
        return octets.decode()
    except UnicodeDecodeError:
        return None


def _stray_percent(text: str, start: int) -> int:
    """Return the position of the first percent sign from ``start`` on that does not start an escape."""
    position = text.index("%", start)
    while _octet(text, position) is not None:
        position = text.index("%", position + 3)
    return position


def _octet(text: str, percent: int) -> int | None:
    """Return the value of the escape at a percent sign, such as 0x2F for "%2F"; None if the sign starts none."""
    digits = text[percent + 1 : percent + 3].encode("utf-8", "surrogatepass")
    byte = _BYTES.get(digits)
    return None if byte is None else byte[0]


def source_position(text: str, start: int, count: int) -> int:
    """Return the position in ``text`` of the character that is ``count`` decoded characters after ``start``.

    >>> "%C3%81bc"[source_position("%C3%81bc", 0, 1)]
    'b'
    """
    position = start
    # From escape to escape, as long as the next one is among the characters that remain to be counted
    while 0 <= (percent := text.find("%", position)) < position + count:
        count -= percent - position + 1
        position = percent + _escaped_length(text, percent)
    return position + count


def _escaped_length(text: str, percent: int) -> int:
    """Return how many characters stand for the one that is escaped at ``percent``; 1 for a bare sign.

    They are 3 for "%2F", and 6 for "%C3%81".
    """
    lead = _octet(text, percent)
    if lead is None:
        return 1
    # The first octet announces how many follow (RFC 3629 section 3)
    if lead < 0xC0:
        octets = 1
    elif lead < 0xE0:
        octets = 2
    elif lead < 0xF0:
        octets = 3
    else:
        octets = 4
    return octets * len("%FF")
