"""BibTeX: the fields of entries, without comments and commented-out lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doiuri.bibtex import EntryScanner, closing

from doiuri_cli.readers._part import Part, blanked, may_mention

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri.bibtex import Piece

    from doiuri_cli.files import Source

_SYNTAX = "bibtex"
# Paths of files, which may look like names
_FILES = re.compile(
    r"(?<![\w-])(?:file|pdf|local-url)\s*=\s*(?:\{[^{}]*\}|\"[^\"]*\")", re.IGNORECASE
)
_COMMENT_LINE = re.compile(r"\n[ \t]*%[^\r\n]*")


def read_bibtex(source: Source) -> Iterator[Part]:
    """Return the fields of the entries: one for a DOI as a part of its own, what is between as one part."""
    return parts(source.text)


def parts(text: str) -> Iterator[Part]:
    """Yield the fields of entries: one for a DOI as a part of its own, what is between as one part."""
    scanner = EntryScanner(text)
    for entry, limit in scanner.entries():
        if text.find("@", scanner.end, limit) < 0 and not may_mention(text[scanner.end : limit]):
            scanner.end = limit
            continue
        last = entry.end()
        for field in scanner.fields(limit):
            if field.name == "doi" and (part := _field(text, field.value, entry["key"])):
                yield from _between(text, last, field.start, entry["key"])
                yield part
                last = field.value[-1].end
        yield from _between(text, last, scanner.end, entry["key"])


def _field(text: str, value: list[Piece], key: str) -> Part | None:
    """Return the part for the value of a field for a DOI; None if it has a macro that is not known."""
    first = value[0]
    if len(value) == 1 and first.text is None:
        start, end = first.start + 1, first.end - 1
        while end - start > 1 and text[start] == "{" and closing(text, start, end) == end:
            start, end = start + 1, end - 1
        return Part(text[start:end], _SYNTAX, start, entry=key, field=True)
    content: list[str] = []
    places: list[int] = []
    for start, end, macro in value:
        if macro == "":
            return None
        content.append(text[start + 1 : end - 1] if macro is None else macro)
        places += range(start + 1, end - 1) if macro is None else [start] * len(macro)
    last = value[-1]
    return Part(
        "".join(content),
        _SYNTAX,
        places=(*places, last.end - (last.text is None)),
        entry=key,
        field=True,
    )


def _between(text: str, start: int, end: int, key: str) -> Iterator[Part]:
    """Yield the other fields of an entry as one part, if they may mention a DOI."""
    content = text[start:end]
    if may_mention(content):
        if "%" in content:
            content = blanked(content, (line.span() for line in _COMMENT_LINE.finditer(content)))
        if _names_file(content.lower()):
            content = blanked(content, (file.span() for file in _FILES.finditer(content)))
        yield Part(content, _SYNTAX, start, entry=key)


def _names_file(content: str) -> bool:
    return (
        "file" in content or "pdf" in content or "local-url" in content
    )  # faster than the expression
