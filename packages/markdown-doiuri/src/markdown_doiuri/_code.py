"""Code in the source of a page: what Python-Markdown shows as it is written, and makes no links in."""

from __future__ import annotations

import re
from bisect import bisect
from typing import NamedTuple

_TAB = 4  # columns of a level of indentation
# A language and options
_INFO = r"[ \t]*+(?:[\w#.+-]++(?=[ \t]|$))?(?:[ \t]*+(?:\{.*\}|[\w-]++=[^`]*+))?[ \t]*+$"
_FENCE = re.compile(rf"([ \t>]*+)(`{{3,}}+|~{{3,}}+)({_INFO})")
_QUOTED = re.compile(r"(?>(?:[ ]*+>[ ]?)*)")
# What later lines that are indented more belong to: list items, footnotes, definitions, admonitions, tabs
_CONTAINER = re.compile(r"(?:[*+-][ ]|[0-9]++\.[ ]|\[\^[^\]]*+\]:|:[ ]{1,3}\S|!!![ ]|\?\?\?|===[ +!]*\")")
_HEADING = re.compile(r"#{1,6}[^#]")

# No comment or element contains the beginning of another one, so that the time is linear if none is closed.
_RAW = re.compile(
    r"^[ ]{0,3}<(?:!--(?:(?!<!--).)*?-->|(pre|script|style|textarea)\b(?:[^<]++|<(?!\1\b))*?</\1\s*>)",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
_NEW_BLOCK = r"\n(?=[ \t>]*+(?:\n|[*+-][ ]|[0-9]++\.[ ]|#|\Z))"
_SPAN = re.compile(rf"(?<![`\\])((?>(?:\\\\)*))(`++)(?:(?!{_NEW_BLOCK}).)*?(?<!`)\2(?!`)", re.DOTALL)
_COMMENT = re.compile(rf"<!--(?:(?!<!--|{_NEW_BLOCK}).)*?-->", re.DOTALL)
NO_LINKS = "a|button|code|kbd|math|option|pre|samp|script|select|style|svg|textarea|title|tt|var"
"""Elements in which a link is invalid, or would change what the author wants to show."""
_ELEMENT = re.compile(rf"<({NO_LINKS})(?=[\s/>])(?:[^<]++|<(?!\1\b))*?</\1\s*>", re.IGNORECASE)
_TEXT = re.compile(r"(?<=>)(?>(?:[^<]++|<(?![a-zA-Z/!]))+)")
# As in the text of a paragraph: no space just inside the dollar signs, no word character just outside
_IN_MATH = rf"(?=[^\s$])(?>(?:(?!{_NEW_BLOCK})[^$])*)(?<=\S)"
_MATH = re.compile(rf"(?<![\w\\$])\$(?:\${_IN_MATH}\$\$|{_IN_MATH}\$)(?![\w$])")
_NOT_NEWLINE = re.compile(r"[^\n]")


def without_code(source: str) -> str:
    """Return the source of a page with spaces in place of code, comments and math.

    Every other character, and every end of a line, stays at its place. Tags stay, too: their attributes may
    be links. Fences count as code even if no extension for them is in use.
    """
    text = _without_fences(source) if "```" in source or "~~~" in source else source
    if "<" in text:
        text = _RAW.sub(_without_text, text)
    if "    " in text or "\t" in text:
        text = _without_indented(text, source)
    if "`" in text:
        text = _SPAN.sub(_blank_match, text)
    if "<" in text:
        text = _ELEMENT.sub(_without_text, _COMMENT.sub(_blank_match, text))
    return _MATH.sub(_blank_match, text) if "$" in text else text


def _blank(text: str) -> str:
    return _NOT_NEWLINE.sub(" ", text)


def _blank_match(match: re.Match[str]) -> str:
    return _blank(match[0])


def _without_text(element: re.Match[str]) -> str:
    return (
        _blank(element[0]) if element[0].lstrip().startswith("<!--") else _TEXT.sub(_blank_match, element[0])
    )


def _without_fences(source: str) -> str:
    """Return the source without fenced code; a fence that is never closed is none."""
    lines = source.split("\n")
    fences = [_FENCE.match(line) for line in lines]
    closing: dict[tuple[int, int, str], list[int]] = {}
    for number, fence in enumerate(fences):
        if fence and not fence[3].strip():
            closing.setdefault(_place(fence), []).append(number)
    number = 0
    while number < len(lines):
        fence = fences[number]
        ends = closing.get(_place(fence), []) if fence else []
        index = bisect(ends, number)
        if index < len(ends):
            for inside in range(number, ends[index] + 1):
                lines[inside] = _blank(lines[inside])
            number = ends[index]
        number += 1
    return "\n".join(lines)


def _place(fence: re.Match[str]) -> tuple[int, int, str]:
    """Return what the lines that open and close a block have in common."""
    margin = fence[1].expandtabs(_TAB)
    blanks = margin.rpartition(">")[2]
    return margin.count(">"), len(blanks.removeprefix(" ") if ">" in margin else blanks), fence[2]


def _without_indented(text: str, source: str) -> str:
    """Return ``text``, in which other code of ``source`` is blank, without indented code blocks."""
    lines = text.split("\n")
    depths = {0: 0}  # of the lists and similar blocks that contain the line, by the depth of its quotation
    begins, code = True, False  # whether the line begins a block, or continues code
    for number, (line, written) in enumerate(zip(lines, source.split("\n"), strict=True)):
        inner, level, quotes, margin = _content(line)
        if not inner:
            begins = True
            if written and not line.strip():  # other code
                depths, code = {0: min(_content(written).margin, depths[0])}, False
            continue
        if begins and not quotes:
            depths = {0: depths[0]}
        depth = depths.get(quotes, 0)
        code = (level > depth or margin > depths[0]) and (begins or code)
        if code:
            lines[number] = _blank(line)
            continue
        opens = _CONTAINER.match(inner) is not None
        if begins or opens:
            depths[quotes] = min(level, depth) + opens
        begins = _HEADING.match(inner) is not None
    return "\n".join(lines)


class _Content(NamedTuple):
    text: str
    level: int  # of its indentation
    quotes: int  # quotations that it is in
    margin: int  # level of the indentation outside of them


def _content(line: str) -> _Content:
    """Return the content of a line in quotations, and how deep it is."""
    expanded = line.expandtabs(_TAB)
    quoted = _QUOTED.match(expanded)
    assert quoted  # noqa: S101 (for mypy: it matches the empty text)
    text = expanded[quoted.end() :]
    return _Content(text.lstrip(), _level(text), quoted[0].count(">"), _level(expanded))


def _level(text: str) -> int:
    return (len(text) - len(text.lstrip())) // _TAB
