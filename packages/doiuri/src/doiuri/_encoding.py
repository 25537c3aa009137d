"""Percent-encoding of DOI names, each profile where its specification puts it, and decoding of them all."""

from doiuri._errors import DOISyntaxError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_UNRESERVED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"  # RFC 3986 §2.3
_SUB_DELIMS = b"!$&'()*+,;="  # RFC 3986 §2.2
_ESCAPES = [(bytes((byte,)), b"%%%02X" % byte) for byte in range(256)]
_PERCENT = 0x25
_SSP = "scheme-specific part"
_DOTS = (".", "..")
_CHUNK = 1024  # names that encode_many joins into one text


class Profile:
    """One way to percent-encode a name: which bytes stay bare, and what becomes of the slashes.

    ``name`` is for people, ``safe`` the ASCII bytes that stay; ``slashes`` hides slashes afterwards, if any
    have to be hidden.
    """

    __slots__ = ("image", "name", "safe", "slashes")

    def __init__(self, name: str, safe: bytes, slashes: "Callable[[str], str] | None" = None) -> None:
        self.name = name
        self.safe = safe
        self.slashes = slashes
        unsafe = bytes(range(256)).translate(None, safe)
        # every unsafe byte becomes another one, so a text that equals its image needs no escape
        self.image = bytes.maketrans(unsafe, unsafe[1:] + unsafe[:1])

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> str:
        return self.name


def _dots_hidden(text: str) -> str:
    """Escape the slash beside each dot segment, for clients delete such segments (Handbook, note on /./).

    It is the slash after the segment, and where the name ends in one, the slash before.
    """
    if "/." not in text and text[:1] != ".":
        return text
    first, *segments = text.split("/")
    parts = [first]
    hide = first in _DOTS
    for position, segment in enumerate(segments, 1):
        last = position == len(segments)
        parts += ("%2F" if hide or (last and segment in _DOTS) else "/", segment)
        hide = segment in _DOTS
    return "".join(parts)


def _suffix_hidden(text: str) -> str:
    prefix, slash, suffix = text.partition("/")
    return prefix + slash + suffix.replace("/", "%2F")


# draft-lemieux-doi-uri-scheme-00 §2: all but the unreserved characters and the slash
URI = Profile("URI", _UNRESERVED + b"/")
# The same in a path that HTTP clients tidy: the REST API, Which RA, the templates of 10320/loc
PATH = Profile("PATH", URI.safe, _dots_hidden)
# DOI Handbook, encoding rules for URL presentation: all but the mandatory and the recommended rows
LINK = Profile("LINK", _UNRESERVED + b"/!$&'()*,:;=@", _dots_hidden)
# The scheme's final edition (doi:10.1000/292, 2024): what a path segment may hold stays, later slashes do not
FINAL = Profile("FINAL", _UNRESERVED + _SUB_DELIMS + b":@/", _suffix_hidden)


def encode(name: str, profile: Profile = URI) -> str:
    """Return the DOI name as ASCII, percent-encoded by ``profile``; upper-case hex, no normalization.

    The name is not checked, only encoded: ``DOI`` checks. Raises DOISyntaxError for a lone surrogate, which
    UTF-8 cannot express.
    """
    try:
        raw = name.encode()
        image = profile.image
    except UnicodeEncodeError as error:
        raise DOISyntaxError(name, error.start, "UTF-8 has no surrogates") from None
    except AttributeError:
        raise _wrong_type(name, profile) from None
    text = name if raw.translate(image) == raw else _escaped(raw, profile.safe).decode()
    return text if profile.slashes is None else profile.slashes(text)


def _wrong_type(name: object, profile: object) -> TypeError:
    if isinstance(name, str):
        return TypeError(f"expected a Profile (URI, PATH, LINK or FINAL), not {profile!r}")
    return TypeError(f"expected str, not {type(name).__name__}")


def _escaped(raw: bytes, safe: bytes) -> bytes:
    unsafe = {*raw.translate(None, safe)}
    if _PERCENT in unsafe:  # first, so that no escape is escaped
        unsafe.remove(_PERCENT)
        raw = raw.replace(*_ESCAPES[_PERCENT])
    for byte in unsafe:
        raw = raw.replace(*_ESCAPES[byte])
    return raw


def encode_many(names: "Iterable[str]", profile: Profile = URI) -> list[str]:
    """Return ``[encode(name, profile) for name in names]``, at half the cost of that."""
    if isinstance(names, str):
        raise TypeError(f"expected names, not the str {names!r:.80}: for one name there is encode")
    if not isinstance(profile, Profile):
        raise _wrong_type("", profile)
    names = list(names)
    encoded: list[str] = []
    for start in range(0, len(names), _CHUNK):
        encoded += _encoded_together(names[start : start + _CHUNK], profile)
    return encoded


def _encoded_together(names: list[str], profile: Profile) -> list[str]:
    """Encode the names as one text of many lines; one by one where a name has line breaks or surrogates."""
    try:
        raw = "\n".join(names).encode()
    except (UnicodeEncodeError, TypeError):
        return [encode(name, profile) for name in names]
    texts = _escaped(raw, profile.safe + b"\n").decode().split("\n")
    if len(texts) != len(names):
        return [encode(name, profile) for name in names]
    return texts if profile.slashes is None else [*map(profile.slashes, texts)]


_DIGITS = b"0123456789abcdefABCDEF"
_BYTES = {bytes((high, low)): bytes.fromhex(f"{high:c}{low:c}") for high in _DIGITS for low in _DIGITS}


def decode(ssp: str) -> str:
    """Return the DOI name that the scheme-specific part ``ssp`` spells, in whichever profile; decoded once.

    Raises DOISyntaxError for a bad escape, bytes that are no UTF-8, a raw ``#`` or ``?``, and for characters
    that no name has (control, format …). The name is not checked further: ``DOI`` checks.
    """
    if not isinstance(ssp, str):
        raise TypeError(f"expected str, not {type(ssp).__name__}")
    name = unescape(ssp, kind=_SSP) if "%" in ssp else ssp
    if "#" in ssp or "?" in ssp:
        place = next(place for place, character in enumerate(ssp) if character in "#?")
        raise DOISyntaxError(ssp, place, f'a raw "{ssp[place]}" is not part of it', kind=_SSP)
    if not name.isprintable() and (flaw := not_graphic(name)):
        raise DOISyntaxError(ssp, source_position(ssp, 0, flaw[0]), flaw[1], kind=_SSP)
    return name


def not_graphic(name: str) -> tuple[int, str] | None:
    """Return position and reason of the first character that no name has, or None."""
    from doiuri import _characters  # rarely needed, and slow to import

    return _characters.not_graphic(name)


def unescape(
    text: str, start: int = 0, end: int | None = None, *, lenient: bool = False, kind: str = "DOI"
) -> str:
    """Undo the percent-escapes of ``text[start:end]``, exactly once; errors speak of the whole ``text``.

    With ``lenient`` a percent sign that starts no escape stays as it is.
    """
    if "%" not in text:
        return text[start:end]
    first, *parts = text[start:end].encode("utf-8", "surrogatepass").split(b"%")
    raw = [first]
    for part in parts:
        byte = _BYTES.get(part[:2])
        if byte is not None:
            raw += (byte, part[2:])
        elif lenient:
            raw += (b"%", part)
        else:
            reason = 'a "%" without two hexadecimal digits; a literal one is "%25"'
            raise DOISyntaxError(text, _stray_percent(text, start), reason, kind=kind)
    whole = b"".join(raw)
    try:
        return whole.decode()
    except UnicodeDecodeError as error:
        place = source_position(text, start, len(whole[: error.start].decode()))
        raise DOISyntaxError(text, place, "the bytes are not UTF-8", kind=kind) from None


def _stray_percent(text: str, start: int) -> int:
    position = text.index("%", start)
    while _octet(text, position) is not None:
        position = text.index("%", position + 3)
    return position


def _octet(text: str, position: int) -> int | None:
    """Return the value of the escape at ``position``, or None if there is none."""
    digits = text[position + 1 : position + 3].encode("utf-8", "surrogatepass")
    byte = _BYTES.get(digits) if text[position : position + 1] == "%" else None
    return None if byte is None else byte[0]


def source_position(text: str, start: int, count: int) -> int:
    """Return where in ``text`` the character stands that is ``count`` decoded characters after ``start``."""
    position = start
    while 0 <= (percent := text.find("%", position)) < position + count:
        count -= percent - position + 1
        lead = _octet(text, percent)
        # an escaped character takes as many escapes as its first octet announces
        escapes = 0 if lead is None else 1 + (lead >= 0xC0) + (lead >= 0xE0) + (lead >= 0xF0)
        position = percent + (3 * escapes or 1)
    return position + count
