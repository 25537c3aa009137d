"""Works as items of the CSL processor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from doiuri._doi import Handle
    from doiuri.citations._style import Style
    from doiuri.works._work import Work


def item_id(key: Handle | str) -> str:
    """Return the id of an item, which is also what stands for a work about which nothing is known."""
    if isinstance(key, str):
        return f"@{key}"
    return f"doi:{key.name}"


def item_of(work: Work, style: Style) -> dict[str, Any]:
    """Return a work as an item of CSL-JSON."""
    item = work.csl
    item["id"] = item_id(work.key)
    if work.doi is not None:
        item["DOI"] = work.doi.name
    # bioRxiv is both
    if style.is_shipped and item.get("publisher", "").casefold() == work.container.casefold():
        item.pop("publisher", None)
    return item
