"""What a DOI names, as far as a reference needs to know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from doiuri._doi import Handle
from doiuri._errors import BadRecord
from doiuri._json import Malformed, brief, dump, load
from doiuri._names import Immutable
from doiuri._text import html_link, html_table, html_text, plain_text
from doiuri.works._csl import (
    MAX_TEXT,
    MAX_TITLE,
    Name,
    is_shortened,
    read_names,
    reduce_csl,
    whole_csl,
)
from doiuri.works._notices import RETRACTIONS, read_notices, read_published_version

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from doiuri._doi import DOI
    from doiuri.works._notices import Notice

_AUTHORS_SHOWN = 3
_set = object.__setattr__


class Work(Immutable):
    """The metadata of what a DOI names, reduced to the variables of CSL. Immutable.

    Agencies send members of wrong types, markup in titles, and codes for unknown text. Members that cannot be
    read are left out without an error. All text is plain text on one line: tags of HTML, JATS
    and MathML are dropped, entities are decoded, and control characters, bidi marks and other invisible
    characters are removed. It is never markup, so escape it for the format that you write; only in ``csl`` do
    titles keep some tags. Titles are cut after 1,000 characters; of more than 100 names, the first 99 and the
    last are kept. Names that the agency does not divide stay whole: "Kahn, Robert" as a ``literal`` may be a
    person or an institution and its place.

    :param key: the DOI; for a work without a DOI the id of its item in a works file
    :param csl: the metadata as CSL-JSON

    Works are equal if their keys and their reduced metadata are.

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

    __slots__ = (
        "_is_whole",
        "_json",
        "authors",
        "container",
        "editors",
        "key",
        "notices",
        "published_version",
        "publisher",
        "title",
        "type",
        "year",
    )

    key: Handle | str
    """The DOI as it was asked for; of a work without a DOI the id of its item in a works file."""

    title: str
    """The title with the subtitle, without formatting; "" if there is none."""

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

    notices: tuple[Notice, ...]
    """The notices about it, such as a retraction: the gravest first, of the same gravity Retraction Watch's
    first."""

    published_version: DOI | None
    """The DOI of the published version if it is a preprint and the metadata names one, or None."""

    _json: str  # the CSL-JSON
    _is_whole: bool  # whether it is an author's, which is not reduced

    def __init__(self, key: Handle | str, csl: Mapping[str, Any]) -> None:
        reduced = reduce_csl(csl)
        if isinstance(key, Handle):
            reduced.pop("URL", None)  # the DOI is the link
        issued = reduced.get("issued")
        year = None if issued is None else issued["date-parts"][0][0]
        title = plain_text(reduced.get("title"), MAX_TITLE)
        notices = read_notices(csl, title)
        published_version = read_published_version(csl)
        custom = _custom(notices, published_version)
        if custom:
            reduced["custom"] = custom

        _set(self, "key", key)
        _set(self, "title", title)
        _set(self, "notices", notices)
        _set(self, "published_version", published_version)
        _set(self, "authors", read_names(reduced.get("author")))
        _set(self, "editors", read_names(reduced.get("editor")))
        _set(self, "year", year)
        _set(self, "container", plain_text(reduced.get("container-title"), MAX_TEXT))
        _set(self, "publisher", reduced.get("publisher", ""))
        _set(self, "type", reduced["type"])
        _set(self, "_json", dump(reduced))
        _set(self, "_is_whole", False)

    @classmethod
    def from_item(cls, key: Handle | str, item: Mapping[str, Any]) -> Work:
        """Return the work of an author's item, whose ``csl`` is the whole item.

        Only what is not as in CSL's schema is reduced, such as names without parts or markup that CSL does not
        know.

        :param key: the DOI, or the id of the item
        :param item: the item as CSL-JSON
        """
        work = cls(key, item)
        whole = whole_csl(item, work.csl)
        if work.doi is not None and _is_link_to(work.doi, whole.get("URL")):
            del whole["URL"]  # the DOI is the link
        _set(work, "_json", dump(whole))
        _set(work, "_is_whole", True)
        return work

    @classmethod
    def from_json(
        cls, source: str | bytes | Mapping[str, Any], *, doi: Handle | None = None
    ) -> Work:
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
        """Return the work as valid CSL-JSON, on one line. ``from_json`` reads one with a DOI from it."""
        if isinstance(self.key, str):
            return dump({"id": self.key, **self.csl})
        return dump({"DOI": self.key.name, **self.csl})

    @property
    def doi(self) -> Handle | None:
        """The DOI, or None."""
        return None if isinstance(self.key, str) else self.key

    @property
    def csl(self) -> dict[str, Any]:
        """The metadata as CSL-JSON, without ``DOI`` and ``id``; a new dict each time.

        Titles are CSL's rich text: ``<i>``, ``<b>``, ``<sub>``, ``<sup>`` and small capitals are kept. The
        notices and the published version are in CSL's member ``custom``, under Crossref's names.
        """
        csl: dict[str, Any] = load(self._json)
        return csl

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to cite: neither title nor names nor a container or publisher."""
        return not (self.title or self.authors or self.editors or self.container or self.publisher)

    @property
    def retraction(self) -> Notice | None:
        """The gravest notice if it retracts, withdraws or removes the work or a part of it, or None."""
        if not self.notices or self.notices[0].type not in RETRACTIONS:
            return None
        return self.notices[0]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Work):
            return NotImplemented
        return self.key == other.key and self._json == other._json

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"Work({self.key!r}, {self.csl!r})"

    def _repr_html_(self) -> str:
        """Return a table for notebooks, in which everything is escaped."""
        names = [str(name) for name in self.authors or self.editors]
        if is_shortened(names, _AUTHORS_SHOWN):
            names = [names[0], "et al."]
        cells = {
            "title": self.title,
            "authors": ", ".join(names),
            "year": str(self.year or ""),
            "container": self.container,
            "publisher": self.publisher,
            "type": self.type,
        }
        escaped_cells = {name: html_text(text) for name, text in cells.items()}
        if isinstance(self.key, str):
            return html_table(html_text(self.key), escaped_cells)
        return html_table(html_link(self.key.url, self.key.uri), escaped_cells)

    def __reduce__(self) -> tuple[object, ...]:
        if self._is_whole:
            return Work.from_item, (self.key, self.csl)
        return Work, (self.key, self.csl)


def _custom(notices: Iterable[Notice], published_version: DOI | None) -> dict[str, object]:
    """Return the members for ``custom``, CSL's own place for members that it does not define."""
    custom: dict[str, object] = {}
    updated_by = [notice.to_json() for notice in notices]
    if updated_by:
        custom["updated-by"] = updated_by
    if published_version is not None:
        custom["is-preprint-of"] = published_version.name
    return custom


def _is_link_to(doi: Handle, url: object) -> bool:
    """Return whether a URL is that of a DOI, such as https://doi.org/10.1000/182."""
    if not isinstance(url, str):
        return False
    try:
        linked = Handle.parse(url)
    except ValueError:
        return False
    return linked.key == doi.key


def _doi_in(csl: Mapping[str, Any]) -> Handle:
    """Return the DOI in the member ``DOI``; raises ValueError if there is none."""
    name = csl.get("DOI")
    if not isinstance(name, str):
        raise Malformed(f"the metadata names no DOI: it is {brief(name)}")
    return Handle.parse(name)
