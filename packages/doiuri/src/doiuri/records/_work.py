"""What a DOI names, as far as a reference needs to know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from doiuri._doi import Handle
from doiuri._errors import BadRecord
from doiuri._immutable import Immutable
from doiuri._json import Malformed, brief, dump, load
from doiuri.records._csl import RETRACTED, Name, read_names, reduce_csl
from doiuri.records._text import html_link, html_table, html_text

if TYPE_CHECKING:
    from collections.abc import Mapping

_AUTHORS_SHOWN = 3
_set = object.__setattr__


class Work(Immutable):
    """The metadata of what a DOI names, reduced to what a reference needs. Immutable.

    Agencies send members of wrong types, markup in titles, and codes for unknown text. Members that cannot be
    read are left out without an error. All text is plain text on one line: tags of HTML, JATS
    and MathML are dropped, entities are decoded, and control characters, bidi marks and other invisible
    characters are removed. It is never markup, so escape it for the format that you write. Titles are cut
    after 1,000 characters, lists of names after 100. Names that the agency does not divide stay whole: "Kahn,
    Robert" as a ``literal`` may be a person or an institution and its place.

    :param doi: the DOI
    :param csl: the metadata as CSL-JSON

    Works are equal if their DOIs and their reduced metadata are.

    >>> from doiuri import DOI
    >>> work = Work(DOI("10.1000/1"), {
    ...     "title": ["A framework for <i>distributed</i> digital object services"],
    ...     "author": [{"given": "Robert", "family": "Kahn"}, {"given": "Robert", "family": "Wilensky"}],
    ...     "issued": {"date-parts": [["2006", 4]]}})
    >>> work.title, work.year
    ('A framework for distributed digital object services', 2006)
    >>> [str(name) for name in work.authors]
    ['Robert Kahn', 'Robert Wilensky']
    """

    __slots__ = ("_json", "authors", "container", "doi", "editors", "publisher", "title", "type", "year")

    doi: Handle
    """The DOI as it was asked for."""

    title: str
    """The title with the subtitle; "" if there is none."""

    authors: tuple[Name, ...]
    """The authors; empty if there are none."""

    editors: tuple[Name, ...]
    """The editors; empty if there are none."""

    year: int | None
    """The year of publication, 1 to 9999, or None."""

    container: str
    """The title of the journal, book or series that it is part of, or ""."""

    publisher: str
    """The name of the publisher, or ""."""

    type: str
    """The type of CSL 1.0.2, such as ``article-journal``; ``document`` if it is unknown."""

    _json: str  # the reduced CSL-JSON

    def __init__(self, doi: Handle, csl: Mapping[str, Any]) -> None:
        reduced = reduce_csl(csl)
        issued = reduced.get("issued")
        _set(self, "doi", doi)
        _set(self, "title", reduced.get("title", ""))
        _set(self, "authors", read_names(reduced.get("author")))
        _set(self, "editors", read_names(reduced.get("editor")))
        _set(self, "year", issued["date-parts"][0][0] if issued else None)
        _set(self, "container", reduced.get("container-title", ""))
        _set(self, "publisher", reduced.get("publisher", ""))
        _set(self, "type", reduced["type"])
        _set(self, "_json", dump(reduced))

    @classmethod
    def from_json(cls, source: str | bytes | Mapping[str, Any], *, doi: Handle | None = None) -> Work:
        """Read a work from CSL-JSON.

        :param source: JSON, or parsed JSON: an object, or a list that contains one
        :param doi: the DOI asked for; by default the member ``DOI``
        :raises BadRecord: if it is not CSL-JSON, or names no DOI
        """
        try:
            csl = load(source) if isinstance(source, (str, bytes)) else dict(source)
            if isinstance(csl, list) and len(csl) == 1:
                csl = csl[0]
            if not isinstance(csl, dict):
                raise Malformed(f"the metadata is {brief(csl)}, expected an object")
            if doi is None:
                doi = _doi_in(csl)
        except ValueError as error:
            raise BadRecord(doi, str(error)) from None
        return cls(doi, csl)

    def to_json(self) -> str:
        """Return the work as valid CSL-JSON, on one line. ``from_json`` reads an equal work from it."""
        return dump({"DOI": self.doi.name, **self.csl})

    @property
    def csl(self) -> dict[str, Any]:
        """The metadata as valid CSL-JSON, without ``DOI`` and ``id``; a new dict each time."""
        csl: dict[str, Any] = load(self._json)
        return csl

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to cite: neither title nor names nor a container or publisher."""
        return not (self.title or self.authors or self.editors or self.container or self.publisher)

    @property
    def is_retracted(self) -> bool:
        """Whether the metadata says that the work is retracted, withdrawn or removed."""
        return self.csl.get("status") == RETRACTED

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Work):
            return NotImplemented
        return self.doi == other.doi and self._json == other._json

    def __hash__(self) -> int:
        return hash(self.doi)

    def __repr__(self) -> str:
        return f"Work({self.doi!r}, {self.csl!r})"

    def _repr_html_(self) -> str:
        """Return a table for notebooks, in which everything is escaped."""
        names = [str(name) for name in self.authors or self.editors]
        shown = names if len(names) <= _AUTHORS_SHOWN else [names[0], "et al."]
        year = "" if self.year is None else str(self.year)
        cells = {"title": self.title, "authors": ", ".join(shown), "year": year}
        cells |= {"container": self.container, "publisher": self.publisher, "type": self.type}
        return html_table(
            html_link(self.doi.url, self.doi.uri), {name: html_text(text) for name, text in cells.items()}
        )

    def __reduce__(self) -> tuple[object, ...]:
        return Work, (self.doi, self.csl)


def _doi_in(csl: Mapping[str, Any]) -> Handle:
    name = csl.get("DOI")
    if not isinstance(name, str):
        raise Malformed(f"the metadata names no DOI: it is {brief(name)}")
    return Handle.parse(name)
