"""Works as citeproc-py can read them.

citeproc-py escapes nothing, crashes on members of unexpected types and warns of unknown ones.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Any

from doiuri.citations._parts import LINK, SPACE, from_rich
from doiuri.records._csl import NAMES, OTHER_DATES

if TYPE_CHECKING:
    from doiuri.citations._style import Style
    from doiuri.records._work import Work

_AFTER_HYPHEN = re.compile(r"(?<=-)[^\W\d_]")
_RANGE = re.compile(r"(?<=\w)\s*[-\u2010-\u2015]+\s*(?=\w)")
_SHORT_RANGE = re.compile(r"(?<!\S)(\d+)-(\d+)(?![^\s,])")
_DATES = ("issued", *OTHER_DATES)


def link_of(work: Work) -> Any:
    """Return what the entry of a work links to: its DOI, or else its URL; None for neither."""
    return work.doi or work.csl.get("URL")


def csl_item(work: Work, letter: str, style: Style) -> dict[str, Any]:
    """Return a work as citeproc-py can read it: whitelisted members of the right types."""
    csl = work.csl
    item: dict[str, Any] = {
        member: value if member == "type" else from_rich(value)
        for member, value in csl.items()
        if isinstance(value, str) and member not in ("URL", "event-title")
    }
    for member in ("volume", "issue"):
        if member in item:
            item[member] = _RANGE.sub("–", item[member])
    if "page" in item:  # citeproc-py reads only hyphens, and does not complete "123-9"
        item["page"] = _RANGE.sub("-", item["page"])
        if style.formats_pages:
            item["page"] = _SHORT_RANGE.sub(_completed, item["page"])
    if style.is_shipped and item.get("publisher", "").casefold() == work.container.casefold():
        item.pop("publisher", None)  # bioRxiv is both
    if "event-title" in csl:
        item["event"] = from_rich(csl["event-title"])
    item |= {member: [_name(name) for name in csl[member]] for member in NAMES if member in csl}
    item |= {member: _date(csl[member]) for member in _DATES if member in csl}
    if letter:
        item["year-suffix"] = letter
    if link_of(work):
        item["URL" if work.doi is None else "DOI"] = LINK
    return item


def _name(name: dict[str, str]) -> dict[str, str]:
    """Return a name whose initials citeproc-py can make: it expects one lower-case word between others."""
    given, family = name.get("given", ""), name.get("family", "")
    if given and given.upper() == given.lower():  # a script without case has no initials
        return {"literal": from_rich(f"{family}{given}" if _is_east_asian(family) else f"{family}, {given}")}
    name = {part: from_rich(text) for part, text in name.items()}
    if given:
        capitals = _AFTER_HYPHEN.sub(lambda letter: letter[0].upper(), given)
        if given.islower():
            capitals = " ".join(word[:1].upper() + word[1:] for word in capitals.split())
        words = [(low, [*run]) for low, run in groupby(capitals.split(), lambda word: word[0].islower())]
        if words[-1][0]:
            name["dropping-particle"] = " ".join(words.pop()[1])
        name["given"] = " ".join((SPACE if low else " ").join(run) for low, run in words)
    return name


def _date(date: dict[str, list[list[int]]]) -> dict[str, Any]:
    """Return a date; one before 1000, after which citeproc-py writes "AD", as text."""
    year = date["date-parts"][0][0]
    return date if year >= 1000 else {"literal": str(year)}


def _completed(pages: re.Match[str]) -> str:
    first, last = pages.groups()
    return f"{first}-{first[: max(0, len(first) - len(last))]}{last}"


def _is_east_asian(text: str) -> bool:
    return any("\u3040" <= character <= "\u9fff" or "\uac00" <= character <= "\ud7a3" for character in text)
