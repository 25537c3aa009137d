"""BibTeX: the fields of entries, without comments and commented-out lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doiuri.bibtex import EntryScanner, closing

from doiuri_cli.readers._part import Part, blanked, may_mention

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri.bibtex import ValuePiece

    from doiuri_cli.files import Source

_SYNTAX = "bibtex"
# Paths of files, which may look like names
_FILES = re.compile(
    r"""
    (?<![\w-]) (?: file | pdf | local-url ) \s*=\s*
    (?: \{ [^{}]* \} | \" [^\"]* \" )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_COMMENT_LINE = re.compile(r"\n[ \t]*%[^\r\n]*")


def read_bibtex(source: Source) -> Iterator[Part]:
    """Return the fields of the entries: one for a DOI as a part of its own, what is between as one part."""
    return parts(source.text)


def parts(text: str) -> Iterator[Part]:
    """Yield the fields of entries: one for a DOI as a part of its own, what is between as one part.

    An entry that may not mention a DOI is passed over, unless another one begins within it.
    """
    scanner = EntryScanner(text)
    for entry, limit in scanner.entries():
        # What is on the same line may be needed: in "@a{x, title={A}} @string{p = {182}}", p is for a later DOI
        has_entries = text.find("@", scanner.end, limit) >= 0
        if not has_entries and not may_mention(text[scanner.end : limit]):
            scanner.end = limit
            continue

        citation_key = entry["key"]
        last = entry.end()
        for field in scanner.fields(limit):
            if field.name != "doi":
                continue
            # A field with an unknown macro stays in the text between the others
            part = _field(text, field.value, citation_key)
            if part is not None:
                yield from _between(text, last, field.start, citation_key)
                yield part
                last = field.value[-1].end
        yield from _between(text, last, scanner.end, citation_key)


def _field(text: str, value: list[ValuePiece], citation_key: str) -> Part | None:
    """Return the part for the value of a field for a DOI; None if it has a macro that is not known.

    Each character of a macro has the place of the macro's name: with ``@string{p = {10.1000/}}``, the text of
    ``doi = p # {182}`` is ``10.1000/182``.
    """
    if len(value) == 1 and value[0].text is None:
        return _field_of_text(text, value[0], citation_key)

    content = ""
    places: list[int] = []
    for piece in value:
        if piece.text == "":  # a macro that is not known
            return None
        if piece.text is None:  # a text in quotation marks or braces
            content += text[slice(*piece.span)]
            places += range(*piece.span)
        else:
            content += piece.text
            places += [piece.start] * len(piece.text)

    places.append(value[-1].span[1])  # where the text ends
    return Part(content, _SYNTAX, places=tuple(places), entry=citation_key, field=True)


def _field_of_text(text: str, value: ValuePiece, citation_key: str) -> Part:
    """Return the part for a value that is a single quoted text, without the braces around all of it."""
    start, end = value.span
    while end - start > 1 and text[start] == "{" and closing(text, start, end) == end:
        start += 1
        end -= 1
    return Part(text[start:end], _SYNTAX, start, entry=citation_key, field=True)


def _between(text: str, start: int, end: int, citation_key: str) -> Iterator[Part]:
    """Yield the other fields of an entry as one part, if they may mention a DOI."""
    content = text[start:end]
    if may_mention(content):
        if "%" in content:
            content = blanked(content, (line.span() for line in _COMMENT_LINE.finditer(content)))
        if _names_file(content.lower()):
            content = blanked(content, (file.span() for file in _FILES.finditer(content)))
        yield Part(content, _SYNTAX, start, entry=citation_key)


def _names_file(content: str) -> bool:
    # faster than the expression
    return "file" in content or "pdf" in content or "local-url" in content
