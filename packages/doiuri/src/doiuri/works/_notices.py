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

_TYPES = [*RETRACTIONS, "expression of concern", "correction"]  # the gravest first
_ALIASES = {"erratum": "correction", "corrigendum": "correction"}
_SOURCES = ("Retraction Watch", "publisher")  # the more reliable first
# "RETRACTED: …", "RETRACTED ARTICLE: …", "[Retracted] …"; not "Retraction: …", which is the notice
_BEFORE_TITLE = re.compile(
    r"\[?(retracted|withdrawn|removed)(?:\]|(?:\s+(?:article|paper|chapter|manuscript))?\s*:)",
    re.IGNORECASE,
)
_MAX_NOTICES = 1000  # that are read


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

    source: str = "publisher"
    """Who says so: ``publisher`` or ``Retraction Watch``."""

    doi: DOI | None = None
    """The DOI of the notice; None if it has none of its own."""

    def __str__(self) -> str:
        """Return what the notice says of the work, its date and its DOI."""
        text = " ".join(filter(None, (RETRACTIONS.get(self.type, self.type), self.date)))
        return text if self.doi is None else f"{text}; notice {self.doi.name}"

    def to_json(self) -> dict[str, Any]:
        """Return the notice as an item of Crossref's ``updated-by``."""
        dates = {"date-parts": [list(map(int, self.date.split("-")))]} if self.date else None
        name = self.doi and self.doi.name
        item = {"type": self.type, "source": self.source, "updated": dates, "DOI": name}
        return {member: value for member, value in item.items() if value}


def read_notices(csl: Mapping[str, Any], title: str) -> tuple[Notice, ...]:
    """Return the notices about a work, the gravest first; of the same gravity, Retraction Watch's first.

    A notice that is listed twice is returned once.

    :param csl: its metadata, with members of any type.
    :param title: its title. A word such as RETRACTED before it counts if there is no other retraction.
    """
    own, updates = _key(csl.get("DOI")), list(_items(csl.get("update-to")))
    about = {_key(item.get("DOI")) for item in updates if _source(item) != "publisher"} - {own, ""}
    items = [*_items(_custom(csl).get("updated-by")), *_items(csl.get("updated-by"))]
    items = [
        item for item in items if _source(item) != "publisher" or _key(item.get("DOI")) not in about
    ]
    items += (item for item in updates if own and _key(item.get("DOI")) == own)
    found = [notice for item in items if (notice := _read(item, own)) is not None]
    word = _BEFORE_TITLE.match(title)
    if not any(notice.type in RETRACTIONS for notice in found) and (
        word or csl.get("status") == "retracted"
    ):
        said = word[1].lower() if word else "retracted"
        found.append(Notice(next(kind for kind, state in RETRACTIONS.items() if state == said)))
    found.sort(
        key=lambda notice: (_TYPES.index(notice.type), _SOURCES.index(notice.source), notice.date)
    )
    first: dict[DOI | str, Notice] = {}
    for notice in found:
        first.setdefault(notice.doi or notice.type, notice)
    return tuple(first.values())


def read_published_version(csl: Mapping[str, Any]) -> DOI | None:
    """Return the DOI of the published version of a preprint, from Crossref's ``relation``."""
    relation = csl.get("relation")
    related = relation.get("is-preprint-of") if isinstance(relation, dict) else None
    names = [_custom(csl).get("is-preprint-of"), *(item.get("id") for item in _items(related))]
    return next((doi for name in names if (doi := _doi(name)) is not None), None)


def _read(item: Mapping[str, Any], own: str) -> Notice | None:
    kind = item.get("type")
    kind = re.sub(r"[_-]", " ", kind).lower() if isinstance(kind, str) else ""
    kind = _ALIASES.get(kind, kind)
    if kind not in _TYPES:
        return None
    year, *others = read_date(item.get("updated")) or [0]
    date = "-".join([f"{year:04}", *(f"{part:02}" for part in others)]) if year else ""
    doi = None if _key(item.get("DOI")) == own else _doi(item.get("DOI"))
    return Notice(kind, date, _source(item), doi)


def _source(item: Mapping[str, Any]) -> str:
    source = item.get("source")
    return _SOURCES[0] if source in ("retraction-watch", _SOURCES[0]) else "publisher"


def _custom(csl: Mapping[str, Any]) -> Mapping[str, Any]:
    custom = csl.get("custom")
    return custom if isinstance(custom, dict) else {}


def _items(value: object) -> Iterator[Mapping[str, Any]]:
    for item in value[:_MAX_NOTICES] if isinstance(value, list) else ():
        if isinstance(item, dict):
            yield item


def _key(name: object) -> str:
    return name.lower() if isinstance(name, str) else ""


def _doi(name: object) -> DOI | None:
    if not isinstance(name, str):
        return None
    try:
        return DOI.from_name(name) if name.startswith("10.") else DOI.parse(name)
    except DOISyntaxError:
        return None
