"""Entries of CSL-JSON."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doiuri_cli.readers._entries._entry import Entry, entry
from doiuri_cli.readers.data._json import CSL_LISTS, at, csl_items
from doiuri_cli.readers.strings._json import Scanner, decode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri_cli.files import Source

_MARKUP = re.compile(r"</?(?:i|b|sup|sub|sc|span)\b[^<>]{0,200}>")


def read(source: Source) -> Iterator[Entry]:
    """Return the items that have a DOI.

    :raises ReadError: if the file is not JSON.
    """
    items = csl_items(source)
    if items is None:
        return
    for string in Scanner(source, CSL_LISTS).strings():
        item = at(items, string.path[:-1])
        if string.path[-1:] != ("DOI",) or len(string.path) > 2 or not isinstance(item, dict):
            continue
        span = string.start, string.end
        found = entry(
            source,
            span,
            decode(source.text, *span),
            key=_text(item.get("id")),
            title=_MARKUP.sub("", _text(item.get("title"))),
            year=_year(item.get("issued")),
            family=_family(item.get("author")),
        )
        if found:
            yield found


def _text(value: object) -> str:
    return str(value) if isinstance(value, str | int) else ""


def _year(issued: object) -> str:
    if not isinstance(issued, dict):
        return ""
    first = at(issued, ("date-parts", 0, 0))
    return _text(first) or _text(issued.get("raw")) or _text(issued.get("literal"))


def _family(authors: object) -> str:
    author = at(authors, (0,))
    if not isinstance(author, dict):
        return ""
    particle, family = _text(author.get("non-dropping-particle")), _text(author.get("family"))
    return f"{particle} {family}".strip() or _text(author.get("literal"))
