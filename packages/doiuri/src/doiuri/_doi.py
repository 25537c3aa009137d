"""DOI, the value, and its kin: short DOIs and prefixes."""

from doiuri import _parse
from doiuri._encoding import LINK, encode, not_graphic, source_position
from doiuri._errors import DOISyntaxError
from doiuri._urls import DOI_ORG, HOSTS, check_base

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Self, TypeAlias, TypeGuard

    QueryValue: TypeAlias = str | int | bool | Sequence[str | int] | None
    Flaw: TypeAlias = tuple[int, str]

_RESERVED = 'a suffix of one character and then "/" is reserved (Z39.84 §4.3)'


class Handle:
    """The base of DOI, ShortDOI and Prefix: a valid name that never changes, and one key to compare by.

    ``Handle.parse`` and ``Handle.from_name`` return the kind that the name has.
    """

    __slots__ = ("_key", "name")
    __match_args__ = ("name",)
    _kind = "handle"
    _key: str
    name: str

    def __new__(cls, name: str) -> "Self":
        """Return the value for ``name``: the same as ``from_name``."""
        return cls.from_name(name)

    @classmethod
    def from_name(cls, name: str) -> "Self":
        """Return the value for ``name``, taken literally: no trimming, no decoding.

        Called on ``Handle``, it returns a DOI, a ShortDOI or a Prefix. Raises DOISyntaxError.
        """
        name = _exact(name)
        return cls._kind_of(name)._build(name, (name, -1, 0, -1))

    @classmethod
    def parse(cls, text: str) -> "Self":
        """Return the value for what a person types or pastes; takes the same spellings as ``DOI.parse``.

        Called on ``Handle``, it returns a DOI, a ShortDOI or a Prefix. Raises DOISyntaxError.
        """
        text = _exact(text)
        found = _parse.typed(text)
        return cls._kind_of(found[0])._build(text, found)

    @classmethod
    def _kind_of(cls, name: str) -> "type[Self]":
        """Return the class whose instances have such names: the one place that tells the kinds apart."""
        if cls is not Handle:
            return cls
        if name.startswith("10/"):
            return ShortDOI  # type: ignore[return-value]
        return DOI if "/" in name else Prefix  # type: ignore[return-value]

    @classmethod
    def _build(cls, text: str, found: "_parse.Found", strict: bool = False) -> "Self":
        """Return the value for the name found in ``text``: where every way in ends, but for plain names."""
        cls._check(text, found, strict)
        self = _new(cls)
        _set_name(self, found[0])
        return self

    @classmethod
    def _check(cls, text: str, found: "_parse.Found", strict: bool) -> None:
        name, start, skip, mark = found
        flaw = cls._flaw(name, strict)
        if flaw is not None:
            place = flaw[0] if start < 0 else source_position(text, start, skip + flaw[0])
            raise DOISyntaxError(text, place, flaw[1], kind=cls._kind)
        if mark >= 0:
            reason = f'a raw "{text[mark]}" here may be part of the name or end it'
            raise DOISyntaxError(text, mark, reason, f"doi:{encode(name)}", kind=cls._kind)

    @staticmethod
    def _flaw(name: str, strict: bool) -> "Flaw | None":
        """Return position and reason why ``name`` is not legal, or None."""
        raise NotImplementedError

    @property
    def key(self) -> str:
        """The name with its ASCII letters in upper case (Z39.84 §4): the basis of ==, hash and order."""
        try:
            return self._key
        except AttributeError:
            key = self.name.encode().upper().decode()  # bytes know ASCII letters only
            _set_key(self, key)
            return key

    @property
    def uri(self) -> str:
        """The ``doi:`` URI (draft-lemieux-doi-uri-scheme-00 §2)."""
        return "doi:" + encode(self.name)

    @property
    def url(self) -> str:
        """The https link (DOI Handbook, encoding rules for URL presentation)."""
        return f"{DOI_ORG}/{encode(self.name, LINK)}"

    def link(self, base: str = DOI_ORG, **query: "QueryValue") -> str:
        """Return the link at the proxy ``base``, with the proxy's ``query`` parameters.

        A string or a number is a value, a sequence several, True a flag without value; None and False leave
        the parameter out. Raises ValueError for a base that is no plain http or https URL.
        """
        if base != DOI_ORG:
            base = check_base("not a base for links", base)
        path = f"{base}/{encode(self.name, LINK)}"
        fields = [field for key, value in query.items() for field in _fields(key, value)]
        return f"{path}?{'&'.join(fields)}" if fields else path

    def __str__(self) -> str:
        return self.uri

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def _comparable(self, other: object) -> "TypeGuard[Handle]":
        return isinstance(other, Handle) and other._kind == self._kind

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if self._comparable(other) else NotImplemented

    def __lt__(self, other: object) -> bool:
        return self.key < other.key if self._comparable(other) else NotImplemented

    def __le__(self, other: object) -> bool:
        return self.key <= other.key if self._comparable(other) else NotImplemented

    def __gt__(self, other: object) -> bool:
        return self.key > other.key if self._comparable(other) else NotImplemented

    def __ge__(self, other: object) -> bool:
        return self.key >= other.key if self._comparable(other) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    def __setattr__(self, attribute: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} never changes: cannot set {attribute!r}")

    def __delattr__(self, attribute: str) -> None:
        raise AttributeError(f"{type(self).__name__} never changes: cannot delete {attribute!r}")

    def __copy__(self) -> "Self":
        return self

    def __deepcopy__(self, memo: object) -> "Self":
        return self

    def __reduce__(self) -> "tuple[type[Self], tuple[str]]":
        return type(self), (self.name,)


_new = object.__new__
_set_name = Handle.__dict__["name"].__set__  # past __setattr__, which refuses
_set_key = Handle.__dict__["_key"].__set__


class DOI(Handle):
    """A DOI name, valid and unchangeable; the case of ASCII letters does not count in comparisons."""

    __slots__ = ()
    _kind = "DOI"

    def __new__(cls, name: str, *, strict: bool = False) -> "Self":
        """Return the DOI ``name``: the same as ``from_name``."""
        return cls.from_name(name, strict=strict)

    @classmethod
    def from_name(cls, name: str, *, strict: bool = False) -> "Self":
        """Return the DOI ``name``, taken literally: no trimming, no decoding.

        ``strict`` also refuses a suffix that Z39.84 §4.3 reserves. Raises DOISyntaxError.
        """
        name = _exact(name)
        return cls._build(name, (name, -1, 0, -1), strict)

    @classmethod
    def parse(cls, text: str, *, strict: bool = False) -> "Self":
        """Return the DOI in what a person types or pastes: a name or a link, with a label or without, a URI.

        ``%XX`` is decoded once; outer white space and ``<>`` go. Raises DOISyntaxError.
        """
        if type(text) is str and not strict:
            name = text if _is_plain(text) else _labelled(text)
            if name:
                self = _new(cls)
                _set_name(self, name)
                return self
        text = _exact(text)
        return cls._build(text, _parse.typed(text), strict)

    @classmethod
    def from_uri(cls, uri: str, *, strict: bool = False) -> "Self":
        """Return the DOI of a ``doi:`` URI: ASCII, legal characters, no query, no fragment; decoded once.

        Raises DOISyntaxError (draft-lemieux-doi-uri-scheme-00 §2).
        """
        uri = _exact(uri)
        return cls._build(uri, _parse.strict_uri(uri), strict)

    @classmethod
    def from_url(cls, url: str, *, hosts: "Iterable[str]" = HOSTS, strict: bool = False) -> "Self":
        """Return the DOI of a link to a DOI proxy at one of ``hosts``; query and fragment are dropped.

        A host stands for itself with any port, ``host:port`` for that port only. Raises DOISyntaxError.
        """
        url = _exact(url)
        return cls._build(url, _parse.link(url, hosts), strict)

    @staticmethod
    def _flaw(name: str, strict: bool) -> "Flaw | None":
        if not strict and _is_plain(name):
            return None
        prefix, slash, suffix = name.partition("/")
        if prefix == "10" and slash:
            return 0, 'a DOI begins with "10."; this is a short DOI, see Handle.parse'
        if flaw := _prefix_flaw(prefix):
            return flaw
        if not suffix:
            return len(name), "nothing after the slash" if slash else 'no "/" after the prefix'
        if not suffix.isprintable() and (flaw := not_graphic(name)):
            return flaw
        if strict and suffix[1:2] == "/":
            return len(prefix) + 1, _RESERVED
        return None

    @property
    def prefix(self) -> str:
        """The part before the first slash, as written."""
        return self.name.partition("/")[0]

    @property
    def suffix(self) -> str:
        """The part after the first slash, as written."""
        return self.name.partition("/")[2]

    @property
    def urn(self) -> str:
        """The URN: a colon for the first slash, ``%2F`` for the others (DOI Handbook, note on URNs)."""
        prefix, _, suffix = self.name.partition("/")
        return f"urn:doi:{prefix}:{encode(suffix, LINK).replace('/', '%2F')}"


class Prefix(Handle):
    """A prefix such as ``10.1000``: a handle that can be resolved, but no DOI."""

    __slots__ = ()
    _kind = "prefix"

    @staticmethod
    def _flaw(name: str, strict: bool) -> "Flaw | None":  # noqa: ARG004
        return _prefix_flaw(name)


class ShortDOI(Handle):
    """A short DOI such as ``10/abcd``: an alias that can be resolved, but no DOI itself."""

    __slots__ = ()
    _kind = "short DOI"

    @staticmethod
    def _flaw(name: str, strict: bool) -> "Flaw | None":  # noqa: ARG004
        code = name.removeprefix("10/")
        if code == name:
            return 0, 'it does not begin with "10/"'
        if not (code.isascii() and code.isalnum()):
            return 3, 'after "10/" there are ASCII letters and digits, nothing else'
        return None


def _exact(text: str) -> str:
    if not isinstance(text, str):
        raise TypeError(f"expected str, not {type(text).__name__}")
    return str.__str__(text)  # the characters only, whatever the subclass makes of itself


def _is_plain(text: str) -> bool:
    """Tell whether the text is a name as it stands and nothing is left to check, as with nearly all DOIs."""
    slash = text.find("/")
    return (
        slash > 3
        and text.startswith("10.")
        and text[3:slash].isdecimal()
        and text.isascii()
        and text.isprintable()
        and "%" not in text
        and text[-1] not in "/ "
    )


def _labelled(text: str) -> str:
    """Return the plain name after ``doi:``, or nothing where there is more to it."""
    name = text[4:]
    return name if text[:4] == "doi:" and _is_plain(name) and "#" not in name and "?" not in name else ""


def _prefix_flaw(prefix: str) -> "Flaw | None":
    """Return position and reason why this is no prefix of a DOI, or None (Z39.84 §4.2 and appendix A)."""
    registrant = prefix[3:]
    if not prefix.startswith("10."):
        return 0, 'a DOI begins with "10."'
    if registrant.isdecimal() and registrant.isascii():
        return None
    position = 3
    for number in registrant.split("."):
        if not (number.isdecimal() and number.isascii()):
            digits = len(number) - len(number.lstrip("0123456789"))
            return position + digits, "the registrant code is numeric, in groups parted by single dots"
        position += len(number) + 1
    return None


def _fields(key: str, value: "QueryValue") -> list[str]:
    from urllib.parse import quote

    if value is None or value is False:
        return []
    if value is True:
        return [quote(key, safe="")]
    values = [value] if isinstance(value, str | int) else value
    return [f"{quote(key, safe='')}={quote(str(item), safe=':/')}" for item in values]
