"""HTML and XML: text and attributes, without comments, code, styles and scripts other than JSON-LD."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doiuri_cli.readers._blank import Closers, blanked
from doiuri_cli.readers._part import Part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri_cli.files import Source

_CODE = ("pre", "code", "samp", "kbd", "textarea", "script", "style")
_OPENER = re.compile(rf"<(?:!--|(?P<tag>{'|'.join(_CODE)})(?=[\s>])[^<>]*>)", re.IGNORECASE)
_CLOSERS = {tag: re.compile(rf"</{tag}\s*>", re.IGNORECASE) for tag in _CODE}
_COMMENT_END = re.compile("-->")
_JSON_LD = "application/ld+json"


def read(source: Source) -> Iterator[Part]:
    """Return the whole text, with blanks in the place of what is not read."""
    syntax = "xml" if source.path.lower().endswith(".xml") else "html"
    yield Part(without_code(source.text), syntax)


def without_code(text: str) -> str:
    """Return HTML or XML with blanks in the place of comments and code."""
    return blanked(text, code_spans(text))


def code_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each comment and each element that holds code, in order."""
    closers = Closers(text)
    position = 0
    while (opener := _OPENER.search(text, position)) is not None:
        position = opener.end()
        if _JSON_LD in opener[0] or opener[0].endswith("/>"):
            continue
        closer = _CLOSERS[opener["tag"].lower()] if opener["tag"] else _COMMENT_END
        end = closers.end(closer, position)
        if end is not None:
            yield opener.start(), end
            position = end
