"""Find the name in what people write (names, labels, URIs, links, URNs) and decode it once."""

from doiuri._encoding import encode, quickly_unescaped, source_position, unescape
from doiuri._errors import DOISyntaxError
from doiuri._names import INVISIBLE, OTHER_HANDLE, doi_flaw, is_handle_prefix
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
_LINK_HEADS = ("https://", "http://", *(f"{host}/" for host in PROXY_HOSTS))
_LINK_HEAD_LENGTH = len("www.doi.org/")
_PROXY_LINKS = tuple(
    f"{scheme}{host}/" for scheme in ("https://", "http://", "") for host in PROXY_HOSTS
)
_PROXY_LINK_LENGTH = max(map(len, _PROXY_LINKS))
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
            place = source_position(text, self.start, flaw[0])
            better = _without_invisible(
                self.name.replace("%", "%25")
            )  # the name is decoded already
            raise DOISyntaxError(text, place, flaw[1], better, kind)
        if self.ambiguous is not None:
            mark, name = (
                text[self.ambiguous],
                self.name if self.name.isprintable() else repr(self.name),
            )
            reason = (
                f'"{mark}" must be %{ord(mark):X} here, unless the name stands alone: {name:.200}'
            )
            raise DOISyntaxError(
                text, self.ambiguous, reason, f"doi:{encode(self.name)}", kind=_URI
            )


def _without_invisible(text: str) -> "str | None":
    """Return the URI for a text without characters that nobody sees, if this makes it a DOI."""
    import re  # slow to import, and rarely needed

    better = re.sub(f"[{INVISIBLE}]", "", text).strip()
    if better == text:
        return None
    try:
        name = typed(better).name
    except DOISyntaxError:
        return None
    return None if doi_flaw(name) else f"doi:{encode(name)}"


def read_quickly(text: str) -> str:
    """Return the name of a DOI that ``typed`` would read, in a fraction of the time.

    Return "" if ``typed`` has to look closer: at another label or link, or for what is wrong.
    """
    name = text.removeprefix("https://doi.org/").removeprefix("doi:")
    if name[:3] != "10." or "#" in name or "?" in name or name[-1] in _WHITE:
        return ""
    if "%" in name:
        name = quickly_unescaped(name) or ""
    return "" if doi_flaw(name) else name


def typed(text: str) -> Spelling:
    """Read a name, with or without a label, or a link; drop outer white space and one pair of ``<>``."""
    start, end = stripped(text)
    if text.startswith("10", start, end):
        return Spelling(unescape(text, start, end, lenient=True), start)
    spelling = _labelled(text, start, end)
    if not spelling.name.startswith("10.") and (second := _second_head(text, start, end)):
        return _labelled(text, second, end)
    return spelling


def _labelled(text: str, start: int, end: int) -> Spelling:
    after = label_end(text, start, end)
    if after == start or (text[start] in "dD" and is_link(text, after, end)):
        return _read_link(text, after, end, PROXY_HOSTS, lenient=True)
    label = text[start:after]
    name = unescape(text, after, end, lenient=True)
    if label[:3].lower() == "urn":
        name = _slash_for_colon(name)
    return Spelling(name, after, _query_or_fragment(text, after, end) if ":" in label else None)


def strict_uri(text: str) -> Spelling:
    """Read a ``doi:`` URI, without any leniency (draft-lemieux-doi-uri-scheme-00 §2)."""
    if text[:4].lower() != "doi:":
        raise DOISyntaxError(text, 0, 'a doi: URI begins with "doi:"', kind=_URI)
    if text.startswith("//", 4):
        raise DOISyntaxError(text, 4, 'no "//" may follow "doi:"', _repaired(text, 6), kind=_URI)
    if text.strip(_URI_CHARACTERS):
        place = next(
            place for place, character in enumerate(text) if character not in _URI_CHARACTERS
        )
        reason = f"{text[place]!r} must be percent-encoded"
        raise DOISyntaxError(text, place, reason, _repaired(text, 4), kind=_URI)
    return Spelling(unescape(text, 4, kind=_URI), 4, _query_or_fragment(text, 4, len(text)))


def link(text: str, hosts: "Iterable[str]") -> Spelling:
    """Read a link, with or without its scheme, to one of the proxy ``hosts``."""
    if text.endswith(tuple(_WHITE)):
        raise DOISyntaxError(
            text, len(text.rstrip(_WHITE)), "white space after the link", kind=_LINK
        )
    hosts = (hosts,) if isinstance(hosts, str) else tuple(hosts)
    return _read_link(text, 0, len(text), hosts, lenient=False)


def stripped(text: str) -> tuple[int, int]:
    """Return start and end of ``text`` without outer white space and one pair of ``<>``."""
    if text[:1] not in _OUTER and text[-1] not in _WHITE:
        return 0, len(text)
    start = len(text) - len(text.lstrip(_WHITE))
    end = max(start, len(text.rstrip(_WHITE)))
    if end - start > 1 and text[start] == "<" and text[end - 1] == ">":
        inner = text[start + 1 : end - 1]
        start += 1 + len(inner) - len(inner.lstrip(_WHITE))
        end = max(start, end - 1 - len(inner) + len(inner.rstrip(_WHITE)))
    return start, end


def label_end(text: str, start: int, end: int) -> int:
    """Return where the label at ``start``, with the blanks after it, ends; ``start`` if there is none.

    "doi" needs no colon if a name or a link follows.
    """
    head = text[start : min(start + 9, end)].lower()
    if head.startswith("doi:1"):
        return start + 4  # the most frequent label; the general case below gives the same
    if (
        text[start : start + 3].lower() == "doi"
    ):  # not head: "doİ" in lower case begins with "doi", too
        after = text[start + 3 : end].lstrip(_BLANKS)
        rest = after.removeprefix(":").lstrip(_BLANKS)
        place = end - len(rest)
        if (
            after[:1] == ":"
            or rest.startswith("10")
            or (place > start + 3 and is_link(text, place, end))
        ):
            return place
        return start
    return start + _label_length(head)


def _second_head(text: str, start: int, end: int) -> int:
    """Return where a second label or link begins, which programs put before a DOI that had one; 0 if none."""
    if text[start : start + 4].lower() == "doi:":
        second = start + 4
        if text[second : second + 4].lower() == "doi:":
            return second
    else:
        scheme = _scheme_length(text[start : start + 8].lower())
        slash = text.find("/", start + scheme, start + scheme + _LINK_HEAD_LENGTH)
        if text[start + scheme : slash].lower() not in PROXY_HOSTS:
            return 0
        second = slash + 1
    rest = text[second : min(second + _PROXY_LINK_LENGTH, end)].lower()
    return second if rest.startswith(_PROXY_LINKS) else 0


def without_label(text: str) -> str:
    """Return a name without the label that the proxy accepts before it in the path of a link.

    The name is not checked. After ``urn:doi:``, its first colon stands for the slash.
    """
    length = _label_length(text[:9].lower())
    name = text[length:]
    if text[:3].lower() == "urn" and length > 0:
        return _slash_for_colon(name)
    return name


def is_link(text: str, start: int, end: int) -> bool:
    """Tell whether a link begins at ``start``, as in ``DOI: https://doi.org/…``."""
    return text[start : min(start + _LINK_HEAD_LENGTH, end)].lower().startswith(_LINK_HEADS)


def _label_length(text: str) -> int:
    """Return the length of the label that ``text``, in lower case, begins with, or 0."""
    return next((len(label) for label in LABELS if text.startswith(label)), 0)


def _query_or_fragment(text: str, start: int, end: int) -> int | None:
    """Return the position of the first ``#`` or ``?``, or None."""
    fragment = text.find("#", start, end)
    query = text.find("?", start, end if fragment < 0 else fragment)
    first = fragment if query < 0 else query
    return None if first < 0 else first


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


def _read_link(
    text: str, start: int, end: int, hosts: tuple[str, ...], *, lenient: bool
) -> Spelling:
    kind = "DOI" if lenient else _LINK
    if start == end:
        raise DOISyntaxError(text, start, "the text is empty", kind=kind)
    scheme = _scheme_length(text[start : start + 8].lower())
    start += scheme
    slash = text.find("/", start, end)
    authority = text[start : slash if slash >= 0 else end]
    if not _is_proxy(authority, hosts):
        if scheme == 0 and 0 <= slash < end - 1 and is_handle_prefix(authority):
            raise DOISyntaxError(text, start, OTHER_HANDLE, kind=kind)
        better = _without_invisible(text) if lenient else None
        raise DOISyntaxError(
            text, start, _why_no_link(authority, scheme > 0, lenient), better, kind
        )
    start = min(start + len(authority) + 1, end)
    stop = _query_or_fragment(text, start, end)
    path = unescape(text, start, end if stop is None else stop, lenient=lenient, kind=kind)
    name = _name_in_path(path)
    return Spelling(name, source_position(text, start, len(path) - len(name)))


def _scheme_length(head: str) -> int:
    """Return the length of the scheme and slashes that a link begins with, or 0."""
    return next((len(scheme) for scheme in _SCHEMES if head.startswith(scheme)), 0)


def _is_proxy(authority: str, hosts: tuple[str, ...]) -> bool:
    """Tell whether the authority is one of the hosts; a host without a port stands for all its ports."""
    if not authority.isascii():
        return authority in hosts  # its lower case could be ASCII: that of the Kelvin sign is "k"
    authority = authority.lower()
    if authority in hosts:
        return True
    known = {host.lower() for host in hosts}
    host, colon, port = authority.rpartition(":")
    if not colon or not (port.isdecimal() or not port):
        host, port = authority, ""
    legal = len(port) <= 5 and int(port or 0) <= _MAX_PORT
    return authority in known or (legal and host.removesuffix(".") in known)


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
            return path[len(folder) :]
    return without_label(path.removeprefix("/"))
