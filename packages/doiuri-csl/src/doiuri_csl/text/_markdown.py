"""Runs as Markdown: the part of CommonMark that Python-Markdown reads in the same way."""

from __future__ import annotations

import re
import unicodedata
from string import punctuation
from typing import TYPE_CHECKING
from urllib.parse import quote

from doiuri_csl.text._html import TAGS
from doiuri_csl.text._runs import lines_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from doiuri_csl.text._runs import Format, Run

_MARKS: dict[Format, str] = {"bold": "**", "italic": "*", "oblique": "*"}
# What has a meaning in Markdown, its common extensions or templates. A backslash escapes more characters in
# CommonMark than in Python-Markdown; those are written as references.
_SPECIAL = re.compile(
    r"""
    (?P<slashed> [\\`*_{}\[\]] | !\Z | \+(?=\+) )
  | (?P<referred> [<>~^$|@] | =(?==) | :(?=\w+:) | &(?=[\#\w]|\Z) )
    """,
    re.VERBOSE,
)
# What begins a heading, a list, a line below a heading, or a block of an extension
_LINE_START = re.compile(
    r"""
    \A
    (?:
    (?P<slashed> [\#+-] | !(?=!) )
  | (?P<referred> [=:?] )
  | (?P<number> [0-9]+ (?=[.)]) )
    )
    """,
    re.VERBOSE,
)
_REFERENCES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
# Parsers show an address between < and > decoded, and read entities in it
_BARE_ADDRESS = re.compile(r"https?://[A-Za-z0-9./:;,?!=+()@#_~*'-]+")
_KEPT_IN_ADDRESS = "!#%&'()*+,/:;=?@[]~"
_LINE_BREAK = "  \n"


def to_markdown(runs: Iterable[Run]) -> str:
    r"""Return runs as Markdown, with HTML for the formats that Markdown lacks.

    >>> from doiuri_csl import Run
    >>> print(to_markdown([Run("2 * "), Run("Bees", frozenset({"italic"})), Run("1", frozenset({"superscript"}))]))
    2 \* *Bees*<sup>1</sup>
    """
    return _LINE_BREAK.join(map(_line, lines_of(runs)))


def _line(runs: list[Run]) -> str:
    """Return a line; spaces at the edge of a format stand outside of it: "On *Bees* and", not "On *Bees *and".

    Asterisks are marks only beside some characters: each run is written with the characters before and after it.
    """
    before_each = [" ", *map(_last_character, runs[:-1])]
    after_each = [*map(_first_character, runs[1:]), " "]
    line = ""
    for run, before, after in zip(runs, before_each, after_each, strict=True):
        core = run.text.strip()
        # At the start of the line, more characters have a meaning: the "#" of a heading, the "1." of a list
        if not (core and _is_marked(run)):
            line += _escaped(run.text) if line else _escaped_start(run.text)
            continue

        space_before, _, space_after = run.text.partition(core)
        # The marks of two formats would be one: "*Ants***Bees**"
        follows_mark = line.endswith("*") and not space_before
        are_marks = _may_mark(core, space_before or before, space_after or after)
        formatted = _formatted(core, run, may_mark=are_marks and not follows_mark)
        line += f"{space_before}{formatted}{space_after}"
    return line.strip()


def _is_marked(run: Run) -> bool:
    """Return whether tags or marks are written around a run."""
    return bool(run.formats or run.link)


def _first_character(run: Run) -> str:
    """Return the character that a run begins with, as far as its neighbour is concerned."""
    character = run.text[0]
    return "<" if _is_marked(run) and not character.isspace() else character


def _last_character(run: Run) -> str:
    """Return the character that a run ends with, as far as its neighbour is concerned."""
    character = run.text[-1]
    return ">" if _is_marked(run) and not character.isspace() else character


def _may_mark(text: str, before: str, after: str) -> bool:
    """Return whether asterisks around a text are marks.

    CommonMark, Emphasis: not if there is punctuation on their inside, and a letter on their outside.
    """
    opens = _is_letter(text[0]) or _is_boundary(before)
    closes = _is_letter(text[-1]) or _is_boundary(after)
    return opens and closes


def _is_letter(character: str) -> bool:
    """Return whether a character is a letter, mark or digit, which is punctuation in no version of CommonMark."""
    return unicodedata.category(character)[0] in "LMN"


def _is_boundary(characters: str) -> bool:
    """Return whether a character is space or, for each version of CommonMark, punctuation."""
    character = characters[0]
    is_punctuation = character in punctuation or unicodedata.category(character)[0] == "P"
    return character.isspace() or is_punctuation


def _formatted(text: str, run: Run, *, may_mark: bool) -> str:
    """Return a text in the formats of a run, and as its link: "[*Bees*](<https://example.org>)".

    :param may_mark: whether asterisks would be read as marks; otherwise tags stand in their place
    """
    if text == run.link and not run.formats and _BARE_ADDRESS.fullmatch(text):
        return f"<{text}>"

    formatted = _escaped(text)
    for start, end in _marks_around(run, may_mark=may_mark):
        formatted = f"{start}{formatted}{end}"
    return formatted


def _marks_around(run: Run, *, may_mark: bool) -> Iterator[tuple[str, str]]:
    """Yield what stands before and after a text in the formats and the link of a run, the innermost first."""
    marked = run.formats & _MARKS.keys() if may_mark else frozenset()
    for mark in sorted({_MARKS[name] for name in marked}):
        yield mark, mark
    for name, tags in reversed(TAGS.items()):
        if name in run.formats and name not in marked:
            yield tags
    if run.link:
        yield "[", f"](<{_address(run.link)}>)"


def _address(link: str) -> str:
    """Return an address as it stands between < and >."""
    encoded = quote(link, safe=_KEPT_IN_ADDRESS, errors="replace")
    return encoded.replace("&", "&amp;")


def _escaped(text: str) -> str:
    """Return plain text as Markdown."""
    return _SPECIAL.sub(_escaped_special, text)


def _escaped_start(text: str) -> str:
    """Return plain text at the start of a line as Markdown."""
    return _LINE_START.sub(_escaped_special, _escaped(text.lstrip()), count=1)


def _escaped_special(special: re.Match[str]) -> str:
    r"""Return what stands for special characters: "\*", "&lt;", or "1\" before the period of a list."""
    groups = special.groupdict()
    if groups["slashed"]:
        return f"\\{special[0]}"
    if groups["referred"]:
        return _REFERENCES.get(special[0], f"&#{ord(special[0])};")
    return f"{special[0]}\\"
