"""reStructuredText: without literals, code, doctests and comments."""

from __future__ import annotations

import re
from functools import cache
from heapq import merge
from typing import TYPE_CHECKING

from doiuri_cli.readers._blank import blanked, paragraphs
from doiuri_cli.readers._part import Part
from doiuri_cli.readers._quoted import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri_cli.files import Source

_CODE = (
    "code|code-block|sourcecode|highlight|parsed-literal|literalinclude|math|doctest|testcode|testsetup"
    "|testcleanup|testoutput|prompt|ipython|jupyter-execute|graphviz|digraph|mermaid|plantuml|plot"
)
_MARKED = re.compile(r"::[ \t\r]*(?=\n)")  # ends a paragraph before a literal block
_EXPLICIT = re.compile(r"\n[ \t]*\.\.(?=[ \t\r\n])")
_DOCTEST = re.compile(r"\n[ \t]*>>> [^\n]*(?:\n[ \t]*[^\s][^\n]*)*")
_IS_CODE = re.compile(rf"\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?(?:{_CODE})::")
# A directive, a target, a footnote or citation, or a substitution
_IS_MARKUP = re.compile(r"\.\.[ \t]+(?:[A-Za-z0-9][\w.:+-]*?[ \t]?::(?!\S)|_|\[[^\]\n]+\](?!\S)|\||__(?!\S))")
_MARGIN = re.compile(r"[ \t]*(?:(?:[-*+]|•|[0-9A-Za-z#]{1,9}[.)]|\([0-9A-Za-z#]{1,9}\)|:[^:\n]+:)[ \t]+)*")
_BLANK_LINE = re.compile(r"[ \t\r]*(?:\n|\Z)")
_LITERAL = re.compile(r"``(?=\S)[^`]*(?:`(?!`)[^`]*)*``")


def read(source: Source) -> Iterator[Part]:
    """Return the whole text, with blanks in the place of what is not read."""
    yield from parts_of_text(source.text)


def parts_of_text(text: str) -> Iterator[Part]:
    """Return reStructuredText without code, and the entries of bibliographies in its code."""
    shown = without_code(text)
    yield Part(shown, "rst")
    yield from quoted(text, shown)


def without_code(text: str) -> str:
    """Return reStructuredText with blanks in the place of literals, code, doctests and comments."""
    text = blanked(text, _blocks(text))
    return blanked(text, _literals(text))


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    blocks = merge(_literal_blocks(text), _explicit_blocks(text), (t.span() for t in _DOCTEST.finditer(text)))
    last = 0
    for start, end in blocks:
        if end > last:
            yield max(start, last), end
            last = end


def _literal_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the blocks after ``::`` at the end of a paragraph."""
    last = 0
    for mark in _MARKED.finditer(text):
        if mark.start() < last:
            continue
        line = text.rfind("\n", 0, mark.start()) + 1
        if text.startswith("..", _indented(text, line)) or not _BLANK_LINE.match(text, mark.end() + 1):
            continue
        margin = _MARGIN.match(text, line)
        end = block_end(text, mark.end() + 1, margin.end() - line if margin else 0)
        yield mark.end(), end
        last = end


def _explicit_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the comments and the directives that hold code."""
    last = 0
    starts = [0] if text.startswith("..") else []
    for start in [*starts, *(mark.start() + 1 for mark in _EXPLICIT.finditer(text))]:
        dots = _indented(text, start)
        if start < last or (_IS_MARKUP.match(text, dots) and not _IS_CODE.match(text, dots)):
            continue
        following = text.find("\n", start) + 1 or len(text)
        if not text[dots + 2 : following].strip() and _BLANK_LINE.match(text, following):
            continue  # an empty comment: it ends what is before, and the block after it is none of its own
        last = block_end(text, following, dots - start)
        yield start, last


def _literals(text: str) -> Iterator[tuple[int, int]]:
    if "``" not in text:
        return
    for start, end in paragraphs(text):
        if text.find("``", start, end) >= 0:
            yield from (literal.span() for literal in _LITERAL.finditer(text, start, end))


def _indented(text: str, line: int) -> int:
    while text[line : line + 1] in {" ", "\t"}:
        line += 1
    return line


@cache
def _deeper(margin: int) -> re.Pattern[str]:
    return re.compile(rf"(?:[ \t]{{{margin + 1},}}[^\n]*(?:\n|\Z)|[ \t\r]*\n)*")


def block_end(text: str, start: int, margin: int) -> int:
    """Return where the block at the line ``start`` ends, which is indented deeper than ``margin``."""
    block = _deeper(min(margin, 200)).match(text, start)
    return block.end() if block else start
