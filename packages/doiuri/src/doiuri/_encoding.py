"""Percent-encoding of DOI names, in the profiles of the specifications."""

from doiuri._errors import DOISyntaxError
from doiuri._names import Immutable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_UNRESERVED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"  # RFC 3986 §2.3
_SUB_DELIMS = b"!$&'()*+,;="  # RFC 3986 §2.2
_ESCAPES = [(bytes((byte,)), b"%%%02X" % byte) for byte in range(256)]  # each byte and its escape
_PERCENT = 0x25
_DOTS = (".", "..")
_CHUNK = 1024  # names that encode_many joins into one text


class Profile(Immutable):
    """A way to percent-encode a name; ``URI`` and ``LINK`` are the usual ones.

    >>> encode("10.1000/(a) b", URI), encode("10.1000/(a) b", LINK)
    ('10.1000/%28a%29%20b', '10.1000/(a)%20b')

    :param name: the profile's name.
    :param safe: the ASCII characters that stay as they are.
    :param slashes: a function that escapes slashes in the encoded text, or None.
    """

    __slots__ = ("_changes_unsafe", "name", "safe", "slashes")
    _changes_unsafe: bytes

    name: str
    """The profile's name, such as "URI"."""

    safe: bytes
    """The ASCII characters that stay as they are."""

    slashes: "Callable[[str], str] | None"
    """A function that escapes slashes in the encoded text, or None if all slashes stay."""

    def __init__(
        self, name: str, safe: bytes, slashes: "Callable[[str], str] | None" = None
    ) -> None:
        unsafe = bytes(range(256)).translate(None, safe)
        put = object.__setattr__  # past Immutable
        put(self, "name", name)
        put(self, "safe", safe)
        put(self, "slashes", slashes)
        # The fastest way to ask whether a text needs an escape: the table replaces each unsafe byte by the next
        # unsafe one, and no other byte, so a text without unsafe bytes stays the same
        put(self, "_changes_unsafe", bytes.maketrans(unsafe, unsafe[1:] + unsafe[:1]))

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> "str | tuple[object, ...]":
        if self in _NAMED:
            return self.name  # unpickles to the same object
        return Profile, (self.name, self.safe, self.slashes)


def escape_dot_segments(text: str) -> str:
    """Escape the slash after each dot segment, and before a final one (DOI Handbook, note on ``/./``).

    HTTP clients remove dot segments and undo ``%2E``, so only the slashes can protect them.

    >>> escape_dot_segments("10.1000/a/../b"), escape_dot_segments("10.1000/a/..")
    ('10.1000/a/..%2Fb', '10.1000/a%2F..')
    """
    if "/." not in text and text[:1] != ".":
        return text
    first, *segments = text.split("/")
    parts = [first]
    previous = first
    for position, segment in enumerate(segments, 1):
        is_last = position == len(segments)
        is_dangerous = previous in _DOTS or (is_last and segment in _DOTS)
        slash = "%2F" if is_dangerous else "/"
        parts += (slash, segment)
        previous = segment
    return "".join(parts)


def _escape_suffix_slashes(text: str) -> str:
    """Escape all slashes but the first one."""
    prefix, slash, suffix = text.partition("/")
    return prefix + slash + suffix.replace("/", "%2F")


URI = Profile("URI", _UNRESERVED + b"/")
"""The ``doi:`` URI: unreserved characters and slashes stay (draft-lemieux-doi-uri-scheme-00 §2)."""

PATH = Profile("PATH", URI.safe, escape_dot_segments)
"""``URI`` for the paths of HTTP requests, safe from clients that remove dot segments."""

LINK = Profile("LINK", _UNRESERVED + b"/!$&'()*,:;=@", escape_dot_segments)
"""Links: mandatory and recommended escapes only (DOI Handbook, encoding rules for URL presentation)."""

FINAL = Profile("FINAL", _UNRESERVED + _SUB_DELIMS + b":@/", _escape_suffix_slashes)
"""The URI of the scheme's final edition (doi:10.1000/292, 2024): only the first slash stays."""

_NAMED = (URI, PATH, LINK, FINAL)


def encode(name: str, profile: Profile = URI) -> str:
    """Return a DOI name percent-encoded: ASCII, upper-case hexadecimal digits, never normalized.

    The name is encoded as it is; ``DOI`` checks names.

    >>> encode("10.26321/Á")
    '10.26321/%C3%81'

    :param name: the name, without a label.
    :param profile: which characters to escape.
    :raises DOISyntaxError: if ``name`` has a lone surrogate, which UTF-8 cannot represent.
    """
    try:
        raw = name.encode()
        changes_unsafe = profile._changes_unsafe
    except UnicodeEncodeError as error:
        raise DOISyntaxError(name, error.start, "a lone surrogate cannot be encoded") from None
    except AttributeError:  # the types are not checked before: that would take time in each call
        if isinstance(name, str):
            raise _not_a_profile(profile) from None
        raise TypeError(f"expected str, not {type(name).__name__}") from None
    encoded = name
    if raw.translate(changes_unsafe) != raw:
        encoded = escaped(raw, profile.safe).decode()
    if profile.slashes is not None:
        encoded = profile.slashes(encoded)
    return encoded


def _not_a_profile(profile: object) -> TypeError:
    return TypeError(f"expected a Profile (URI, PATH, LINK or FINAL), not {profile!r}")


def escaped(raw: bytes, safe: bytes) -> bytes:
    """Return ``raw`` with every byte percent-encoded that is not in ``safe``.

    >>> escaped(b"a/b c", b"abc/")
    b'a/b%20c'
    """
    unsafe = {*raw.translate(None, safe)}
    if _PERCENT in unsafe:  # first, so that no escape is escaped
        unsafe.remove(_PERCENT)
        raw = raw.replace(*_ESCAPES[_PERCENT])
    for byte in unsafe:
        raw = raw.replace(*_ESCAPES[byte])
    return raw


def encode_many(names: "Iterable[str]", profile: Profile = URI) -> list[str]:
    """Return ``[encode(name, profile) for name in names]``, in half the time.

    :param names: the names, without labels.
    :param profile: which characters to escape.
    :raises DOISyntaxError: if a name has a lone surrogate, which UTF-8 cannot represent.
    """
    if isinstance(names, str):
        raise TypeError(
            f"expected an iterable of names, not the str {names!r:.80}; use encode for one name"
        )
    if not isinstance(profile, Profile):
        raise _not_a_profile(profile)
    names = list(names)
    encoded: list[str] = []
    for start in range(0, len(names), _CHUNK):
        encoded += _encoded_together(names[start : start + _CHUNK], profile)
    return encoded


def _encoded_together(names: list[str], profile: Profile) -> list[str]:
    """Encode the names as the lines of one text; one by one if a name has a line break or a surrogate."""
    try:
        raw = "\n".join(names).encode()
    except (UnicodeEncodeError, TypeError):
        return [encode(name, profile) for name in names]
    encoded = escaped(raw, profile.safe + b"\n").decode().split("\n")
    if len(encoded) != len(names):
        return [encode(name, profile) for name in names]
    if profile.slashes is not None:
        encoded = list(map(profile.slashes, encoded))
    return encoded
