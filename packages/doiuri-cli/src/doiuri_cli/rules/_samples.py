"""Which pieces of a part show code: what is written there is quoted, and how it is written is left alone."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache

_FENCE = re.compile(r"^[ >\t]*(`{3,}|~{3,})(.*)$", re.MULTILINE)
_SPAN = re.compile(r"(?<![`\\])(`{1,9})(?!`)[^`\n]{1,500}(?:\n[^`\n]{1,500})?(?<!`)\1(?!`)")
_LITERAL = re.compile(r"(?<![\w`])``(?=\S)[^\n]*?\S``(?!`)|^[ \t]*>>> [^\n]*(?:\n[ \t]*\S[^\n]*)*", re.MULTILINE)
_BLOCK = re.compile(
    r"^([ \t]*)(?:\.\.[ ](?:code|code-block|sourcecode|prompt|doctest|testcode|highlight)::[^\n]*"
    r"|(?!\.\.[ ])[^\n]*::[ \t]*)$",
    re.MULTILINE,
)
_LINE = re.compile(r"\n([ \t]*)([^\n]*)")
_ELEMENT = re.compile(r"<(code|pre|samp|kbd)\b[^<>]*>.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_VERBATIM = re.compile(
    r"\\verb\*?([^A-Za-z*\s])[^\n]*?\1|\\begin\{(verbatim|lstlisting|minted)\*?\}.*?\\end\{\2\*?\}", re.DOTALL
)


def in_sample(text: str, place: int, syntax: str) -> bool:
    """Return whether a place in a text shows code.

    :param text: the text of a part.
    :param place: an offset in it.
    :param syntax: the syntax, as for ``doiuri.find``.
    """
    samples = _samples(text, syntax)
    index = bisect_right(samples, (place, len(text) + 1)) - 1
    return index >= 0 and place < samples[index][1]


@lru_cache(maxsize=4)
def _samples(text: str, syntax: str) -> list[tuple[int, int]]:
    """Return start and end of the samples in a text, in order."""
    match syntax:
        case "markdown":
            blocks = _fenced(text)
            spans = [*_matches(_SPAN, text), *_matches(_ELEMENT, text)]
        case "rst":
            blocks = _indented(text)
            spans = _matches(_LITERAL, text)
        case "html" | "xml":
            return _matches(_ELEMENT, text)
        case "tex" | "bibtex":
            return _matches(_VERBATIM, text)
        case _:
            return []
    return _joined([*blocks, *spans])


def _matches(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    return [match.span() for match in pattern.finditer(text)]


def _joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans in order, those that overlap made one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _fenced(text: str) -> list[tuple[int, int]]:
    blocks: list[tuple[int, int]] = []
    opened: tuple[int, str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            if "`" not in fence[2]:
                opened = fence.start(), fence[1]
        elif fence[1].startswith(opened[1]) and not fence[2].strip():
            blocks.append((opened[0], fence.end()))
            opened = None
    return blocks if opened is None else [*blocks, (opened[0], len(text))]


def _indented(text: str) -> list[tuple[int, int]]:
    """Return the literal blocks of reStructuredText: what is indented deeper than the line before."""
    blocks: list[tuple[int, int]] = []
    position = 0
    while opener := _BLOCK.search(text, position):
        start = position = opener.end()
        while (line := _LINE.match(text, position)) and (not line[2].strip() or len(line[1]) > len(opener[1])):
            position = line.end()
        blocks.append((start, position))
        position = max(position, start + 1)
    return blocks
