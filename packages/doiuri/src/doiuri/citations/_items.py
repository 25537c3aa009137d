"""Works as items of the CSL processor."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from doiuri._doi import Handle
    from doiuri.citations._style import ReferenceStyle
    from doiuri.works._work import Work


def item_id(key: Handle | str) -> str:
    """Return the id of an item, which is also what stands for a work about which nothing is known."""
    if isinstance(key, str):
        return f"@{key}"
    return f"doi:{key.name}"


def _label(words: str) -> re.Pattern[str]:
    """Return what matches words before an Arabic or a Roman number."""
    number = r"[A-Za-z]{0,2}\d | [ivxlcdm]+\b"
    return re.compile(rf"\A (?: {words} ) (?= {number} )", re.IGNORECASE | re.VERBOSE)


_NUMBER = r"no\b\.?\s* | nr\b\.?\s* | number\s+ | n[°º]\s*"
# The words that some write before numbers, though styles put them there
_LABELS = {
    "page": _label(r"pp?(?:\.\s*|\s+) | pages?\s+ | pgs?\.?\s+ | S\.\s* | Seiten?\s+ | págs?\.\s*"),
    "volume": _label(r"vol(?:ume)?s?\b\.?\s* | Bd\.\s* | Band\s+ | tome\s+"),
    "issue": _label(rf"{_NUMBER} | issue\s+ | Heft\s+"),
    "number": _label(_NUMBER),
    "chapter-number": _label(r"ch(?:ap(?:ter)?)?\b\.?\s* | Kap(?:itel)?\b\.?\s*"),
}


def item_of(work: Work, style: ReferenceStyle) -> dict[str, Any]:
    """Return a work as an item of CSL-JSON, in which numbers have no labels: "12" for "p. 12".

    A publisher with the name of the container is left out, in our styles.
    """
    item = work.csl
    item["id"] = item_id(work.key)
    if work.doi is not None:
        item["DOI"] = work.doi.name
    for variable, label in _LABELS.items():
        if variable in item:
            item[variable] = label.sub("", item[variable], count=1)
    # "bioRxiv" is both
    if style.is_shipped and item.get("publisher", "").casefold() == work.container.casefold():
        item.pop("publisher", None)
    return item
