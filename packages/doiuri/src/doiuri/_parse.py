"""Find the name in what people write (names, labels, URIs, links, URNs) and decode it once."""

from doiuri._encoding import encode, quickly_unescaped, source_position, unescape
from doiuri._errors import DOISyntaxError
from doiuri._names import INVISIBLE, doi_flaw, is_handle_prefix, other_handle
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
_PROXY_LINKS = (
    *(f"https://{host}/" for host in PROXY_HOSTS),
    *(f"http://{host}/" for host in PROXY_HOSTS),
    *(f"{host}/" for host in PROXY_HOSTS),
)
_PROXY_LINK_LENGTH = max(map(len, _PROXY_LINKS))
# Characters that are never decoded, stripped or cut off, and a table that replaces all others
_LITERAL = bytes(range(0x21, 0x7F)).translate(None, b"%#?")
_OTHERS = bytes(range(256)).translate(None, _LITERAL)
_WITHOUT_OTHERS = bytes.maketrans(_OTHERS, b"x" * len(_OTHERS))
_EXPECTED = 'expected "10.", a label such as "doi:", or a link to doi.org'
_URI = "doi: URI"
_LINK = "link to a DOI"


class Spelling:
    """A name as read from a text, not yet checked.

    ``name`` is decoded, ``start`` is where it begins in the text. ``ambiguous`` is the position of a raw
    ``#`` or ``?`` in a URI that may or may not belong to the name, or None.
    """

    __slots__ = ("ambiguous", "name", "start")

    def __init__(self, name: str, start: int, ambiguous: int | None = None) -> None:
        self.name = name
        self.start = start
        self.ambiguous = ambiguous

    def check(self, text: str, flaw: "Flaw | None", kind: str) -> None:
        """Raise the error for the ``flaw`` of the name, or for an ambiguous end; ``text`` is as given."""
        if flaw is not None:
            offset, reason = flaw
            place = source_position(text, self.start, offset)
            undecoded = self.name.replace("%", "%25")  # read would decode the name again
            raise DOISyntaxError(text, place, reason, _without_invisible(undecoded), kind)
        if self.ambiguous is not None:
            mark = text[self.ambiguous]
            name = self.name if self.name.isprintable() else repr(self.name)
            reason = (
                f'"{mark}" must be %{ord(mark):X} here, unless the name stands alone: {name:.200}'
            )
            uri = f"doi:{encode(self.name)}"
            raise DOISyntaxError(text, self.ambiguous, reason, uri, kind=_URI)


def _without_invisible(text: str) -> "str | None":
    """Return the URI for a text without characters that nobody sees, if this makes it a DOI."""
    import re  # slow to import, and rarely needed

    better = re.sub(f"[{INVISIBLE}]", "", text).strip()
    if better == text:
        return None
    try:
        name = read(better).name
    except DOISyntaxError:
        return None
    return None if doi_flaw(name) else f"doi:{encode(name)}"


def read_quickly(text: str) -> str:
    """Return the name of a DOI as ``read`` does, in a fraction of the time.

    Return "" if ``read`` has to look closer: at another label or link, or for what is wrong.
    """
    name = text.removeprefix("https://doi.org/").removeprefix("doi:")
    prefix, _, suffix = name.partition("/")
    if prefix[:3] != "10.":
        return ""
    if suffix and prefix[3:].isdecimal() and name.isascii():
        octets = name.encode()
        if octets.translate(_WITHOUT_OTHERS) == octets:  # nearly always
            return name

    has_label = len(name) < len(text)
    if name[-1] in _WHITE or (has_label and ("#" in name or "?" in name)):
        return ""
    if "%" in name:
        name = quickly_unescaped(name) or ""
    return "" if doi_flaw(name) else name


def read(text: str) -> Spelling:
    """Read a name, with or without a label, or a link; drop outer white space and one pair of ``<>``."""
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
    """Read a name with a label, or a link, which may have the label "doi"."""
    name_start = label_end(text, start, end)
    has_label = name_start > start
    if not has_label or (text[start] in "dD" and is_link(text, name_start, end)):
        return _read_linked(text, name_start, end, PROXY_HOSTS, lenient=True)

    name = unescape(text, name_start, end, lenient=True)
    label = text[start:name_start].lower()
    if label.startswith("urn"):
        name = _slash_for_colon(name)
    if ":" not in label:
        return Spelling(name, name_start)
    return Spelling(name, name_start, _query_or_fragment(text, name_start, end))


def read_uri(text: str) -> Spelling:
    """Read a ``doi:`` URI, without any leniency (draft-lemieux-doi-uri-scheme-00 §2)."""
    if text[:4].lower() != "doi:":
        raise DOISyntaxError(text, 0, 'a doi: URI begins with "doi:"', kind=_URI)
    if text.startswith("//", 4):
        raise DOISyntaxError(text, 4, 'no "//" may follow "doi:"', _repaired(text, 6), kind=_URI)
    others = text.lstrip(_URI_CHARACTERS)
    if others:
        reason = f"{others[0]!r} must be percent-encoded"
        place = len(text) - len(others)
        raise DOISyntaxError(text, place, reason, _repaired(text, 4), kind=_URI)
    return Spelling(unescape(text, 4, kind=_URI), 4, _query_or_fragment(text, 4, len(text)))


def read_link(text: str, hosts: "Iterable[str]") -> Spelling:
    """Read a link, with or without its scheme, to one of the proxy ``hosts``."""
    without_white = text.rstrip(_WHITE)
    if without_white != text:
        reason = "white space after the link"
        raise DOISyntaxError(text, len(without_white), reason, kind=_LINK)
    if isinstance(hosts, str):
        hosts = (hosts,)
    return _read_linked(text, 0, len(text), tuple(hosts), lenient=False)


def stripped(text: str) -> tuple[int, int]:
    """Return start and end of ``text`` without outer white space and one pair of ``<>``."""
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

    "doi" needs no colon if a name or a link follows.
    """
    head = text[start : min(start + 9, end)].lower()
    # not head: "doİ" in lower case begins with "doi", too
    if text[start : start + 3].lower() != "doi":
        return start + _label_length(head)

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
    """Return where the second of two labels or links begins, or None.

    Programs write them, as in ``doi:https://doi.org/10.1000/182``.
    """
    if text[start : start + 4].lower() == "doi:":
        second = start + 4
        if text[second : second + 4].lower() == "doi:":
            return second
    else:
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
    """
    label_length = _label_length(text[:9].lower())
    name = text[label_length:]
    is_urn = label_length > 0 and text[:3].lower() == "urn"
    if is_urn:
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
    """Put back the slash that a URN replaces with a colon (DOI Handbook, note on URNs)."""
    prefix, colon, suffix = name.partition(":")
    if not colon or "/" in prefix or not prefix[:1].isdecimal():
        return name
    return f"{prefix}/{suffix}"


def _repaired(text: str, start: int) -> str | None:
    """Return the URI for the name written from ``start`` on; None if that is not a DOI."""
    name = unescape(text, start, lenient=True, kind=_URI).strip(_WHITE)
    return None if doi_flaw(name) else f"doi:{encode(name)}"


def _read_linked(
    text: str, start: int, end: int, hosts: tuple[str, ...], *, lenient: bool
) -> Spelling:
    """Read the name in the path of a link; raises the error if it is no link to one of the ``hosts``."""
    kind = "DOI" if lenient else _LINK
    if start == end:
        raise DOISyntaxError(text, start, "the text is empty", kind=kind)

    host_start = start + _scheme_length(text[start : start + 8].lower())
    slash = text.find("/", host_start, end)
    host_end = slash if slash >= 0 else end
    authority = text[host_start:host_end]
    if not _is_proxy(authority, hosts):
        has_scheme = host_start > start
        has_path = 0 <= slash < end - 1
        if not has_scheme and has_path and is_handle_prefix(authority):
            handle = unescape(text, host_start, end, lenient=True)
            raise DOISyntaxError(text, host_start, other_handle(handle), kind=kind)
        reason = _why_no_link(authority, has_scheme, lenient)
        better = _without_invisible(text) if lenient else None
        raise DOISyntaxError(text, host_start, reason, better, kind)

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


def _is_short_code(path: str) -> bool:
    """Return whether the path of a link is a short DOI without its "10/", as in https://doi.org/f3sz4k."""
    is_word = path.isascii() and path.isalnum() and not path.isalpha()
    return is_word and 3 <= len(path) <= _LONGEST_SHORT_CODE


def _scheme_length(head: str) -> int:
    """Return the length of the scheme and slashes that a link begins with, or 0."""
    for scheme in _SCHEMES:
        if head.startswith(scheme):
            return len(scheme)
    return 0


def _is_proxy(authority: str, hosts: tuple[str, ...]) -> bool:
    """Return whether the authority is one of the hosts; a host without a port stands for all its ports."""
    if not authority.isascii():
        return authority in hosts  # its lower case could be ASCII: that of the Kelvin sign is "k"
    authority = authority.lower()
    if authority in hosts:
        return True
    lower_hosts = {host.lower() for host in hosts}
    if authority in lower_hosts:
        return True

    host, colon, port = authority.rpartition(":")
    if not colon or (port and not port.isdecimal()):
        return authority.removesuffix(".") in lower_hosts
    is_port = not port or (len(port) <= 5 and int(port) <= _MAX_PORT)
    return is_port and host.removesuffix(".") in lower_hosts


def _why_no_link(authority: str, has_scheme: bool, lenient: bool) -> str:
    _, dot, top = authority.rpartition(".")
    if not has_scheme and not (dot and top.isalpha()):  # not the form of a host name
        return _EXPECTED if lenient else "expected a link such as https://doi.org/10.1000/182"
    if not authority:
        return 'no host after "//"'
    if "@" in authority:
        return "a link to a DOI has no user name before the host"
    return f"the host {authority[:80]!r} is not a DOI proxy"


def _name_in_path(path: str) -> str:
    """Return the name in a link's path: after one of the PATHS, or after a slash, a label, both or neither."""
    for folder in PATHS:
        if path.startswith(folder):
            return path.removeprefix(folder)
    return without_label(path.removeprefix("/"))
