"""Notices about works, such as retractions, as Crossref lists them.

Crossref's ``updated-by`` has the notices about a work, its ``update-to`` the works that a notice is about.
Some publishers also register ``update-to`` on the work, with its notices and the date of the work; Crossref
then lists the work in ``updated-by`` of its notice. Retraction Watch has the right direction and date.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from doiuri._doi import DOI
from doiuri._errors import DOISyntaxError
from doiuri.works._csl import read_date

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

RETRACTIONS = {
    "retraction": "retracted",
    "removal": "removed",
    "withdrawal": "withdrawn",
    "partial retraction": "partially retracted",
}
"""The types of notices that retract a work, and what the work is then."""

_TYPE_BY_STATE = {state: notice_type for notice_type, state in RETRACTIONS.items()}
_TYPES = (*RETRACTIONS, "expression of concern", "correction")  # the gravest first
_ALIASES = {"erratum": "correction", "corrigendum": "correction"}
_RETRACTION_WATCH = "Retraction Watch"
_PUBLISHER = "publisher"
_SOURCES = (_RETRACTION_WATCH, _PUBLISHER)  # the more reliable first
# "RETRACTED: …", "RETRACTED ARTICLE: …", "[Retracted] …"; not "Retraction: …", which is the notice
_BEFORE_TITLE = re.compile(
    r"""
    \[?
    ( retracted | withdrawn | removed )
    (?: \]
    |   (?: \s+ (?: article | paper | chapter | manuscript ) )? \s* :
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_MAX_ITEMS = 1000  # of a list that are read


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice about a work.

    >>> str(Notice("retraction", "2020-06-05", "publisher", DOI("10.1016/S0140-6736(20)31324-6")))
    'retracted 2020-06-05; notice 10.1016/S0140-6736(20)31324-6'
    """

    type: str
    """``retraction``, ``removal``, ``withdrawal``, ``partial retraction``, ``expression of concern`` or
    ``correction``."""

    date: str = ""
    """The date in ISO 8601, of which month and day may be missing, as in ``2020-06``; "" if unknown."""

    source: str = _PUBLISHER
    """Who says so: ``publisher`` or ``Retraction Watch``."""

    doi: DOI | None = None
    """The DOI of the notice; None if it has none of its own."""

    def __str__(self) -> str:
        """Return what the notice says of the work, its date and its DOI."""
        statement = RETRACTIONS.get(self.type, self.type)
        if self.date:
            statement += f" {self.date}"
        if self.doi is not None:
            statement += f"; notice {self.doi.name}"
        return statement

    def to_json(self) -> dict[str, Any]:
        """Return the notice as an item of Crossref's ``updated-by``."""
        item: dict[str, Any] = {"type": self.type, "source": self.source}
        if self.date:
            parts = [int(part) for part in self.date.split("-")]
            item["updated"] = {"date-parts": [parts]}
        if self.doi is not None:
            item["DOI"] = self.doi.name
        return item


def read_notices(csl: Mapping[str, Any], title: str) -> tuple[Notice, ...]:
    """Return the notices about a work, the gravest first; of the same gravity, Retraction Watch's first.

    A notice that is listed twice is returned once.

    :param csl: its metadata, with members of any type.
    :param title: its title. A word such as RETRACTED before it counts if there is no other retraction.
    """
    work_name = _name_in(csl)
    read = [_read_notice(item, work_name) for item in _items_about(csl, work_name)]
    notices = [notice for notice in read if notice is not None]
    if not any(notice.type in RETRACTIONS for notice in notices):
        retraction = _retraction_without_notice(csl, title)
        if retraction is not None:
            notices.append(retraction)

    # Of several items about one notice, or of one type without a DOI, the first one counts
    unique: dict[DOI | str, Notice] = {}
    for notice in sorted(notices, key=_gravity):
        unique.setdefault(notice.doi or notice.type, notice)
    return tuple(unique.values())


def read_published_version(csl: Mapping[str, Any]) -> DOI | None:
    """Return the DOI of the published version of a preprint, from Crossref's ``relation``."""
    names = [_custom(csl).get("is-preprint-of")]
    relation = csl.get("relation")
    if isinstance(relation, dict):
        names += (item.get("id") for item in _items(relation.get("is-preprint-of")))

    for name in names:
        doi = _read_doi(name)
        if doi is not None:
            return doi
    return None


def _items_about(csl: Mapping[str, Any], work_name: str) -> list[Mapping[str, Any]]:
    """Return the items of the metadata that may be notices about the work itself.

    They are those of ``updated-by``, and those of ``update-to`` that name the work.
    """
    updates = list(_items(csl.get("update-to")))
    # The works that this one is a notice about, according to Retraction Watch
    noticed_works = {_name_in(item) for item in updates if not _is_publishers(item)}
    noticed_works -= {work_name, ""}

    about_work = []
    for member in (_custom(csl).get("updated-by"), csl.get("updated-by")):
        for item in _items(member):
            # Some publishers have Crossref list the works of a notice as if they were notices (see above)
            is_reversed = _is_publishers(item) and _name_in(item) in noticed_works
            if not is_reversed:
                about_work.append(item)
    about_work += (item for item in updates if _is_named(item, work_name))
    return about_work


def _retraction_without_notice(csl: Mapping[str, Any], title: str) -> Notice | None:
    """Return the retraction that only the title or the status tells of, or None."""
    word = _BEFORE_TITLE.match(title)
    if word is not None:
        return Notice(_TYPE_BY_STATE[word[1].lower()])
    if csl.get("status") == "retracted":
        return Notice("retraction")
    return None


def _gravity(notice: Notice) -> tuple[int, int, str]:
    """Return the sort key of a notice: the gravest first, then Retraction Watch's, then the oldest."""
    return _TYPES.index(notice.type), _SOURCES.index(notice.source), notice.date


def _read_notice(item: Mapping[str, Any], work_name: str) -> Notice | None:
    """Return the notice in an item; None if its type, such as "new_version", is none of ``_TYPES``."""
    written_type = item.get("type")
    if not isinstance(written_type, str):
        return None
    notice_type = re.sub("[_-]", " ", written_type).lower()
    notice_type = _ALIASES.get(notice_type, notice_type)
    if notice_type not in _TYPES:
        return None

    # An item that a publisher registered on the work itself has the DOI of the work, not of the notice
    doi = None if _is_named(item, work_name) else _read_doi(item.get("DOI"))
    source = _PUBLISHER if _is_publishers(item) else _RETRACTION_WATCH
    return Notice(notice_type, _iso_date(item.get("updated")), source, doi)


def _iso_date(value: object) -> str:
    """Return a date variable in ISO 8601, as far as it is known; "" without a year."""
    date = read_date(value)
    if date is None:
        return ""
    year, *month_and_day = date
    return "-".join([f"{year:04}", *(f"{part:02}" for part in month_and_day)])


def _is_publishers(item: Mapping[str, Any]) -> bool:
    return item.get("source") not in ("retraction-watch", _RETRACTION_WATCH)


def _custom(csl: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the members in ``custom``, CSL's own place for members that it does not define."""
    custom = csl.get("custom")
    if isinstance(custom, dict):
        return custom
    return {}


def _items(value: object) -> Iterator[Mapping[str, Any]]:
    """Yield the objects in a list; nothing if the value is not a list."""
    if not isinstance(value, list):
        return
    for item in value[:_MAX_ITEMS]:
        if isinstance(item, dict):
            yield item


def _name_in(item: Mapping[str, Any]) -> str:
    """Return the member ``DOI`` in lower case, to compare it; "" if it is not text."""
    name = item.get("DOI")
    if isinstance(name, str):
        return name.lower()
    return ""


def _is_named(item: Mapping[str, Any], name: str) -> bool:
    return name != "" and _name_in(item) == name


def _read_doi(name: object) -> DOI | None:
    """Return the DOI in a name or a link; None if it is none."""
    if not isinstance(name, str):
        return None
    try:
        return DOI.from_name(name) if name.startswith("10.") else DOI.parse(name)
    except DOISyntaxError:
        return None
