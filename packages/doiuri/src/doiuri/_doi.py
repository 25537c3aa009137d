"""The values: DOI, ShortDOI and Prefix, and their base, Handle."""

from doiuri import _parse
from doiuri._encoding import LINK, encode, escape_dot_segments, escaped
from doiuri._errors import DOISyntaxError
from doiuri._names import Immutable, doi_flaw, exact, lone_prefix_flaw, short_doi_flaw
from doiuri._urls import DOI_ORG, PROXY_HOSTS, check_base, query_string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Self, TypeGuard

    from pydantic_core import CoreSchema

    from doiuri._names import Flaw
    from doiuri._urls import QueryValue


class Handle(Immutable):
    """A valid, immutable name in the DOI system: a DOI, a short DOI or a prefix.

    ``Handle.parse`` and ``Handle.from_name`` return the kind that the name has.

    >>> Handle.parse("https://doi.org/10.1000/182"), Handle.parse("10.1000"), Handle.parse("doi:10/abcd")
    (DOI('10.1000/182'), Prefix('10.1000'), ShortDOI('10/abcd'))
    """

    __slots__ = ("_key", "name")
    __match_args__ = ("name",)
    _kind = "handle"
    _flaw: "Callable[[str], Flaw | None]"  # returns where and why a name is not valid, or None
    _key: str

    name: str
    """The name as written: never normalized, and without escapes."""

    def __new__(cls, name: str) -> "Self":
        return cls.from_name(name)

    @classmethod
    def from_name(cls, name: str) -> "Self":
        """Return the value for ``name``, taken literally: nothing is stripped or decoded.

        :raises DOISyntaxError: if it is not a valid name.
        """
        name = exact(name)
        kind = cls._kind_of(name)
        flaw = kind._flaw(name)
        if flaw is not None:
            raise kind._not_a_name(name, flaw)
        return kind._unchecked(name)

    @classmethod
    def parse(cls, text: str) -> "Self":
        """Return the value for what a person types or pastes, in all the spellings of ``DOI.parse``.

        :raises DOISyntaxError: if it is not a valid name.
        """
        text = exact(text)
        if cls is Handle:
            name = _parse.read_quickly(text)
            if name:  # a valid DOI, so it need not be checked
                return cls._kind_of(name)._unchecked(name)
        spelling = _parse.read(text)
        kind = cls._kind_of(spelling.name)
        return kind._checked(text, spelling, kind._flaw(spelling.name))

    @classmethod
    def _kind_of(cls, name: str) -> "type[Self]":
        """Return the class of a name, if it is asked of Handle: the one place that tells the kinds apart.

        A subclass returns itself; its syntax is checked later.
        """
        if cls is not Handle:
            return cls
        if name.startswith("10/"):
            return ShortDOI  # type: ignore[return-value]
        return DOI if "/" in name else Prefix  # type: ignore[return-value]

    @classmethod
    def _checked(cls, text: str, spelling: _parse.Spelling, flaw: "Flaw | None") -> "Self":
        """Return the value for a name read from ``text``, or raise the error for its ``flaw``."""
        spelling.check(text, flaw, cls._kind)
        return cls._unchecked(spelling.name)

    @classmethod
    def _unchecked(cls, name: str) -> "Self":
        """Return the value for a name that is known to be valid."""
        self = _new(cls)
        _set_name(self, name)
        return self

    @classmethod
    def _not_a_name(cls, name: str, flaw: "Flaw") -> DOISyntaxError:
        """Return the error for a literal name; for "doi:10.1000/182", which ``parse`` reads, it points to that."""
        position, reason = flaw
        try:
            meant = cls.parse(name).name
        except DOISyntaxError:
            return DOISyntaxError(name, position, reason, kind=cls._kind)
        hint = f"{cls.__name__}.parse also reads labels, links and white space"
        return DOISyntaxError(name, position, f"{reason}; {hint}", meant, kind=cls._kind)

    @property
    def key(self) -> str:
        """The name with its ASCII letters in upper case (Z39.84 §4): the basis of ``==``, hash and order.

        >>> DOI("10.1000/abc-é").key
        '10.1000/ABC-é'
        """
        try:
            return self._key
        except AttributeError:
            key = self.name.encode().upper().decode()  # bytes.upper changes ASCII letters only
            _set_key(self, key)
            return key

    @property
    def uri(self) -> str:
        """The ``doi:`` URI (draft-lemieux-doi-uri-scheme-00 §2); also ``str()`` of the value.

        >>> DOI("10.1000/a<b>").uri
        'doi:10.1000/a%3Cb%3E'
        """
        return "doi:" + encode(self.name)

    @property
    def url(self) -> str:
        """The link to the DOI Foundation's proxy (DOI Handbook, encoding rules for URL presentation).

        >>> DOI("10.1000/a<b>(c)").url
        'https://doi.org/10.1000/a%3Cb%3E(c)'
        """
        path = self.name  # encoded as by encode, in half the time
        raw = path.encode()
        if raw.translate(_CHANGES_UNSAFE) != raw:
            path = escaped(raw, LINK.safe).decode()
        if "/." in path:
            path = escape_dot_segments(path)
        return "https://doi.org/" + path

    def link(self, base: str = DOI_ORG, **query: "QueryValue") -> str:
        """Return the link at another proxy, or with query parameters for the proxy.

        >>> DOI("10.1000/182").link(locatt=["id:1", "country:gb"], noredirect=True)
        'https://doi.org/10.1000/182?locatt=id:1&locatt=country:gb&noredirect'

        :param base: an http or https URL; the name is appended after a slash.
        :param query: parameters such as ``locatt``, ``urlappend``, ``nols``. A sequence repeats a parameter,
            True adds it without a value, False and None leave it out.
        :raises ValueError: if ``base`` is not an http or https URL in ASCII, or has an ``@``, a query or a
            fragment.
        """
        if base != DOI_ORG:
            base = check_base("not a base for links", base)
        url = f"{base}/{encode(self.name, LINK)}"
        fields = query_string(query.items(), ":/") if query else ""
        return f"{url}?{fields}" if fields else url

    def _comparable(self, other: object) -> "TypeGuard[Handle]":
        return isinstance(other, Handle) and other._kind == self._kind

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if self._comparable(other) else NotImplemented

    def __lt__(self, other: "Handle") -> bool:
        return self.key < other.key if self._comparable(other) else NotImplemented

    def __le__(self, other: "Handle") -> bool:
        return self.key <= other.key if self._comparable(other) else NotImplemented

    def __gt__(self, other: "Handle") -> bool:
        return self.key > other.key if self._comparable(other) else NotImplemented

    def __ge__(self, other: "Handle") -> bool:
        return self.key >= other.key if self._comparable(other) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        return self.uri

    def __format__(self, spec: str) -> str:
        return format(self.uri, spec)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __reduce__(self) -> "tuple[type[Self], tuple[str]]":
        return type(self), (self.name,)


_CHANGES_UNSAFE = LINK._changes_unsafe
_new = object.__new__
_set_name = Handle.__dict__["name"].__set__  # bypasses __setattr__
_set_key = Handle.__dict__["_key"].__set__


class DOI(Handle):
    """A DOI name: valid, immutable, hashable, ordered.

    >>> doi = DOI.parse("https://doi.org/10.1000/a%3Cb%3E")
    >>> doi, doi.name
    (DOI('10.1000/a<b>'), '10.1000/a<b>')
    >>> doi == DOI("10.1000/A<B>")
    True
    """

    __slots__ = ()
    _kind = "DOI"
    _flaw = staticmethod(doi_flaw)

    def __new__(cls, name: str, *, strict: bool = False) -> "Self":
        return cls.from_name(name, strict=strict)

    @classmethod
    def from_name(cls, name: str, *, strict: bool = False) -> "Self":
        """Return the DOI ``name``, taken literally: nothing is stripped or decoded.

        >>> DOI.from_name("10.1000/50%25").name
        '10.1000/50%25'

        :param strict: also refuse a suffix that Z39.84 §4.3 reserves: one character followed by a slash.
        :raises DOISyntaxError: if ``name`` is not a DOI.
        """
        name = exact(name)
        flaw = doi_flaw(name, strict)
        if flaw is not None:
            raise cls._not_a_name(name, flaw)
        return cls._unchecked(name)

    @classmethod
    def parse(cls, text: str, *, strict: bool = False) -> "Self":
        """Return the DOI in what a person types or pastes: a name, a URI, a URN, or a link to doi.org.

        Labels such as ``doi:`` and ``DOI``, outer white space and ``<>`` are dropped, escapes decoded once.

        >>> DOI.parse("DOI: 10.1000/50%25")
        DOI('10.1000/50%')

        :param strict: also refuse a suffix that Z39.84 §4.3 reserves: one character followed by a slash.
        :raises DOISyntaxError: if ``text`` is not a DOI.
        """
        if type(text) is not str:
            text = exact(text)
        if not strict:
            name = _parse.read_quickly(text)
            if name:
                self = _new(cls)  # as in _unchecked, without the time of a call
                _set_name(self, name)
                return self
        spelling = _parse.read(text)
        return cls._checked(text, spelling, doi_flaw(spelling.name, strict))

    @classmethod
    def from_uri(cls, uri: str, *, strict: bool = False) -> "Self":
        """Return the DOI of a ``doi:`` URI (draft-lemieux-doi-uri-scheme-00 §2): ASCII, no query or fragment.

        :param strict: also refuse a suffix that Z39.84 §4.3 reserves: one character followed by a slash.
        :raises DOISyntaxError: if ``uri`` is not such a URI.
        """
        uri = exact(uri)
        spelling = _parse.read_uri(uri)
        return cls._checked(uri, spelling, doi_flaw(spelling.name, strict))

    @classmethod
    def from_url(
        cls, url: str, *, hosts: "Iterable[str]" = PROXY_HOSTS, strict: bool = False
    ) -> "Self":
        """Return the DOI of a link to a DOI proxy; its query and its fragment are dropped.

        :param hosts: the proxy's hosts, by default ``doi.org``, ``dx.doi.org`` and ``www.doi.org``. A host
            without a port stands for all its ports.
        :param strict: also refuse a suffix that Z39.84 §4.3 reserves: one character followed by a slash.
        :raises DOISyntaxError: if ``url`` is not such a link.
        """
        url = exact(url)
        spelling = _parse.read_link(url, hosts)
        return cls._checked(url, spelling, doi_flaw(spelling.name, strict))

    @property
    def prefix(self) -> str:
        """The part before the first slash, as written.

        >>> DOI("10.1000.10/a/b").prefix
        '10.1000.10'
        """
        return self.name.partition("/")[0]

    @property
    def suffix(self) -> str:
        """The part after the first slash, as written.

        >>> DOI("10.1000.10/a/b").suffix
        'a/b'
        """
        return self.name.partition("/")[2]

    @property
    def urn(self) -> str:
        """The URN: a colon for the first slash, ``%2F`` for the others (DOI Handbook, note on URNs).

        >>> DOI("10.123/456ABC/zyz").urn
        'urn:doi:10.123:456ABC%2Fzyz'
        """
        encoded_suffix = encode(self.suffix, LINK).replace("/", "%2F")
        return f"urn:doi:{self.prefix}:{encoded_suffix}"

    def _repr_html_(self) -> str:
        """Return a link for notebooks."""
        from html import escape

        return f'<a href="{escape(self.url)}">doi:{escape(self.name)}</a>'

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> "CoreSchema":
        from doiuri._pydantic import core_schema

        return core_schema(cls)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: object, handler: object) -> "dict[str, Any]":
        from doiuri._pydantic import json_schema

        return json_schema()


class Prefix(Handle):
    """A prefix such as ``10.1000``: it resolves, but is not a DOI."""

    __slots__ = ()
    _kind = "prefix"
    _flaw = staticmethod(lone_prefix_flaw)


class ShortDOI(Handle):
    """A short DOI such as ``10/abcd``: it resolves as an alias, but is not a DOI."""

    __slots__ = ()
    _kind = "short DOI"
    _flaw = staticmethod(short_doi_flaw)


def parse_name(text: str) -> "DOI | ShortDOI":
    """Return the DOI or short DOI in what a person types or pastes; a prefix alone names nothing.

    >>> parse_name("doi:10/abcd"), parse_name("https://doi.org/10.1000/182")
    (ShortDOI('10/abcd'), DOI('10.1000/182'))

    :raises DOISyntaxError: if it is neither.
    """
    handle = Handle.parse(text)
    if isinstance(handle, ShortDOI | DOI):
        return handle
    return DOI.parse(text)  # raises the error for a name without a slash
