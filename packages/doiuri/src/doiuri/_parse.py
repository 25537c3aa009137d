"""The ways in: from what people write (labels, links, URNs) to the bare name, decoded once."""

from doiuri._encoding import encode, not_graphic, unescape
from doiuri._errors import DOISyntaxError
from doiuri._urls import HOSTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    # The name; where in the text its spelling starts, or -1 if the text is the name; how many decoded
    # characters stand before it there; where a raw "#" or "?" leaves open what the name is, or -1.
    Found = tuple[str, int, int, int]

_WHITE = " \t\n\r\f\v"
_OUTER = _WHITE + "<"
_BLANKS = _WHITE + "\u00a0\u2007\u2009\u202f"  # what typesetters put between a label and its name
_NAMESPACES = ("info:doi/", "info:hdl/", "urn:doi:", "hdl:")
_PATH_LABELS = (*_NAMESPACES, "doi:")  # DOI proxy: spellings that it accepts in a path
_API = "api/handles/"
# RFC 3986 §3.3: what a path may hold, and "#" and "?", which end it
_URI_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/%#?"
_MAX_PORT = 65535
_HEADS = ("https://", "http://", *(f"{host}/" for host in HOSTS))
_HEAD_LENGTH = len("www.doi.org/")


def typed(text: str) -> "Found":
    """Read what a person types or pastes: name, label, link; outer white space and one pair of ``<>``."""
    start, end = inside(text)
    if text.startswith("10", start, end):
        return unescape(text, start, end, lenient=True), start, 0, -1
    length = label_length(text, start, end)
    if not length or (text[start] in "dD" and is_link(text, start + length, end)):
        return _linked(text, start + length, end, HOSTS, lenient=True)
    label = text[start : start + length]
    start += length
    name = unescape(text, start, end, lenient=True)
    if label[:3].lower() == "urn":
        name = _slash_for_colon(name)
    return name, start, 0, _mark(text, start, end) if ":" in label else -1


def inside(text: str) -> tuple[int, int]:
    """Return from where to where a text is without outer white space and one pair of ``<>``."""
    if text[:1] not in _OUTER and text[-1] not in _WHITE:
        return 0, len(text)
    start = len(text) - len(text.lstrip(_WHITE))
    end = max(start, len(text.rstrip(_WHITE)))
    if end - start > 1 and text[start] == "<" and text[end - 1] == ">":
        inner = text[start + 1 : end - 1]
        start += 1 + len(inner) - len(inner.lstrip(_WHITE))
        end = max(start, end - 1 - len(inner) + len(inner.rstrip(_WHITE)))
    return start, end


def label_length(text: str, start: int, end: int) -> int:
    """Return the length of the label before the name or link, with the blanks that follow; 0 for none."""
    head = text[start : min(start + 9, end)].lower()
    if head.startswith("doi:1"):
        return 4  # what the rest comes to for most labels
    if text[start : start + 3].lower() == "doi":  # of head it could be "do" and a letter that grows: İ
        after = text[start + 3 : end].lstrip(_BLANKS)
        rest = after.removeprefix(":").lstrip(_BLANKS)
        place = end - len(rest)
        if after[:1] == ":" or rest.startswith("10") or (place > start + 3 and is_link(text, place, end)):
            return place - start
        return 0
    return next((len(namespace) for namespace in _NAMESPACES if head.startswith(namespace)), 0)


def is_link(text: str, start: int, end: int) -> bool:
    """Tell whether after a label a link follows, as in ``DOI: https://doi.org/…``, and no name."""
    return text[start : min(start + _HEAD_LENGTH, end)].lower().startswith(_HEADS)


def _mark(text: str, start: int, end: int) -> int:
    """Return where a raw ``#`` or ``?`` may be part of the name or end it, or -1."""
    fragment = text.find("#", start, end)
    query = text.find("?", start, end if fragment < 0 else fragment)
    return fragment if query < 0 else query


def _slash_for_colon(name: str) -> str:
    """Put back the slash that a URN writes as a colon (Handbook, note on URNs)."""
    prefix, colon, suffix = name.partition(":")
    return f"{prefix}/{suffix}" if colon and "/" not in prefix else name


def strict_uri(text: str) -> "Found":
    """Read a ``doi:`` URI to the letter: ASCII, legal characters, no query, no fragment (draft §2)."""
    if text[:4].lower() != "doi:":
        raise DOISyntaxError(text, 0, 'it does not begin with "doi:"', kind="doi: URI")
    if text.startswith("//", 4):
        raise DOISyntaxError(text, 4, 'no "//" follows the scheme', _repaired(text, 6), kind="doi: URI")
    if text.strip(_URI_CHARACTERS):
        place = next(place for place, character in enumerate(text) if character not in _URI_CHARACTERS)
        reason = f"{text[place]!r} has to be percent-encoded"
        raise DOISyntaxError(text, place, reason, _repaired(text, 4), kind="doi: URI")
    return unescape(text, 4, kind="doi: URI"), 4, 0, _mark(text, 4, len(text))


def _repaired(text: str, start: int) -> str | None:
    """Return the URI for the name that is written from ``start`` on; None if there is none."""
    name = unescape(text, start, lenient=True).strip(_WHITE)
    prefix, _, suffix = name.partition("/")
    plain = prefix.startswith("10.") and prefix.isascii() and all(map(str.isdecimal, prefix[3:].split(".")))
    return f"doi:{encode(name)}" if plain and suffix and not_graphic(name) is None else None


def link(text: str, hosts: "Iterable[str]") -> "Found":
    """Read a link to one of the proxy ``hosts``, with or without its scheme."""
    if text.endswith(tuple(_WHITE)):
        raise DOISyntaxError(
            text, len(text.rstrip(_WHITE)), "white space after the link", kind="link to a DOI"
        )
    hosts = (hosts,) if isinstance(hosts, str) else tuple(hosts)
    return _linked(text, 0, len(text), hosts, lenient=False)


def _linked(text: str, start: int, end: int, hosts: tuple[str, ...], *, lenient: bool) -> "Found":
    if start == end:
        raise DOISyntaxError(text, start, "there is nothing")
    scheme = _scheme(text[start : start + 8].lower())
    start += scheme
    slash = text.find("/", start, end)
    authority = text[start : slash if slash >= 0 else end]
    if not _is_proxy(authority, hosts):
        raise DOISyntaxError(text, start, _why_no_link(authority, has_scheme=scheme > 0))
    start = min(start + len(authority) + 1, end)
    stop = _mark(text, start, end)
    path = unescape(text, start, end if stop < 0 else stop, lenient=lenient)
    label = _path_label(path)
    name = path[len(label) :]
    return _slash_for_colon(name) if label[-8:-5].lower() == "urn" else name, start, len(label), -1


def _is_proxy(authority: str, hosts: tuple[str, ...]) -> bool:
    """Tell whether the authority is one of the hosts; a host without a port stands for all its ports."""
    if not authority.isascii():
        return authority in hosts  # no folding: "K" has a twin beyond ASCII
    authority = authority.lower()
    if authority in hosts:
        return True
    known = {host.lower() for host in hosts}
    host, colon, port = authority.rpartition(":")
    if not colon or not (port.isdecimal() or not port):
        host, port = authority, ""
    legal = len(port) <= 5 and int(port or 0) <= _MAX_PORT
    return authority in known or (legal and host.removesuffix(".") in known)


def _scheme(head: str) -> int:
    """Return the length of the scheme and the slashes that a link begins with; 0 if it has none."""
    return next((len(scheme) for scheme in ("https://", "http://", "//") if head.startswith(scheme)), 0)


def _why_no_link(authority: str, *, has_scheme: bool) -> str:
    _, dot, top = authority.rpartition(".")
    if not has_scheme and not (dot and top.isalpha()):  # no host looks like that
        return 'it begins neither with "10." nor with a label such as "doi:", and it is no link'
    if "@" in authority:
        return "a link to a DOI names no user before its host"
    return f"the host {authority[:80]!r} is not a DOI proxy"


def _path_label(path: str) -> str:
    """Return what the proxy skips before the name: the API's path; or a slash, a label, or both."""
    if path.startswith("10."):
        return ""
    if path.startswith(_API):
        return _API
    start = 1 if path[:1] == "/" else 0
    head = path[start : start + 9].lower()
    length = next((len(label) for label in _PATH_LABELS if head.startswith(label)), 0)
    return path[: start + length]
