"""Comments that suppress findings, such as ``# doiuri: ignore[not-found]``.

A comment is for its own line; if it stands alone there, for the next line with text. ``ignore-file`` is for
the whole file. Without codes, it is for all of them.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from doiuri_cli.files import Lines
from doiuri_cli.readers import type_of
from doiuri_cli.rules import RULES, Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_MARK = "<!--"
# not a quoted comment, as in documentation
_HASH, _PERCENT, _MARKUP, _RST = (
    r"(?<!\S)\#",
    r"(?<![\\`])%",
    f"(?<!`){_MARK}",
    r"(?m:^)[ \t]*\.\.[ \t]",
)
_OPENINGS = {
    "bibtex": _PERCENT,
    "code": rf"{_HASH}|(?<!\S)//",
    "html": _MARKUP,
    "markdown": _MARKUP,
    "notebook": f"{_HASH}|{_MARKUP}",
    "python": f"{_HASH}|{_RST}",
    "rst": _RST,
    "tex": _PERCENT,
    "yaml": _HASH,
    ".toml": _HASH,  # has no reader: read as plain text if it is named
}
"""What opens a comment in each type of file; the other types have no comments."""

_LONGEST = 1000  # characters of a line that are looked at
# The bounds keep the time linear in a line with many comments
_COMMAND = r"[ \t]*doiuri:[ \t]*ignore(-file)?(?![\w-])[ \t]*(?:\[([^\]\r\n]{0,1000}+)\])?(?:[^\r\n]{0,1000}?-->)?"


@cache
def _comments(kind: str) -> re.Pattern[str] | None:
    """Return the pattern of comments in a type of file; None if it has none."""
    opening = _OPENINGS.get(kind)
    return None if opening is None else re.compile(rf"(?:{opening}){_COMMAND}")


class Ignore(NamedTuple):
    """A comment, or a tag of a notebook's cell, that lets findings be ignored."""

    at: Finding  # where it is
    target: (
        int | None
    )  # the line that it is for; None: the whole file, or the whole cell if it is a tag
    codes: tuple[str, ...]  # if there are none, it is for all codes
    is_tag: bool = False

    @property
    def area(self) -> tuple[int | None, int | None]:
        """The cell and the line that it is for; None for all of them."""
        return (
            (self.at.cell, self.target) if self.is_tag or self.target is not None else (None, None)
        )

    def names(self, code: str) -> bool:
        """Return whether the comment is for a code."""
        return not self.codes or code in self.codes


def ignores_in(path: str, text: str, cell: int | None = None) -> list[Ignore]:
    """Return the comments in a file, or in a cell of a notebook."""
    if "doiuri:" not in text:
        return []
    pattern = _comments(type_of(path) or PurePath(path).suffix.lower())
    if pattern is None:
        return []
    matches = list(pattern.finditer(text))
    lines = Lines(text)
    alone = {lines.position(match.end()).line for match in matches if _is_alone(match, lines)}
    targets = _targets(lines, alone)
    return [_ignore(path, match, lines, cell, targets) for match in matches]


def tag_of(path: str, cell: int, codes: Iterable[str], excerpt: str) -> Ignore:
    """Return what the tags of a notebook's cell let be ignored.

    :param codes: the codes; "*" stands for all.
    """
    found = sorted(codes)
    at = Finding(
        path, 1, 1, 1, 1, "unused-ignore", "the tag of the cell: ", cell=cell, excerpt=excerpt
    )
    return Ignore(at, None, () if "*" in found else tuple(found), is_tag=True)


def _targets(lines: Lines, alone: Iterable[int]) -> dict[int, int]:
    """Return the next line with text for each line that holds nothing but a comment."""
    targets: dict[int, int] = {}
    for line in sorted(alone, reverse=True):
        following = (
            number for number in range(line + 1, lines.count + 1) if lines.line(number).strip()
        )
        target = next(following, line)
        targets[line] = targets.get(target, target)
    return targets


def _is_alone(match: re.Match[str], lines: Lines) -> bool:
    """Return whether there is nothing but the comment on its line."""
    line, column = lines.position(match.end())
    first = max(column - len(match[0]), 1)
    if first > _LONGEST or lines.line(line, 1, first - 1).strip():
        return False
    return not (
        match[0].lstrip().startswith(_MARK) and lines.line(line, column, column + _LONGEST).strip()
    )


def _ignore(
    path: str, match: re.Match[str], lines: Lines, cell: int | None, targets: dict[int, int]
) -> Ignore:
    start = match.start() + len(match[0]) - len(match[0].lstrip())
    line, column = lines.position(start)
    codes = tuple(code.strip() for code in (match[2] or "").split(",") if code.strip())
    target = None if match[1] else targets.get(line, line)
    excerpt = lines.line(line, 1, _LONGEST) if column <= _LONGEST else ""
    end = column + match.end() - start
    at = Finding(path, line, column, line, end, "unused-ignore", "", cell=cell, excerpt=excerpt)
    return Ignore(at, target, codes)


def apply_ignores(
    ignores: Iterable[Ignore], findings: Iterable[Finding]
) -> tuple[list[Finding], set[tuple[Ignore, str]]]:
    """Return the findings that remain, and the comments that were used, each with the code."""
    by_area: dict[tuple[int | None, int | None], list[Ignore]] = {}
    for one in ignores:
        by_area.setdefault(one.area, []).append(one)
    kept: list[Finding] = []
    used: set[tuple[Ignore, str]] = set()

    @cache  # many findings may be on a line with many comments
    def is_ignored(cell: int | None, line: int | None, code: str) -> bool:
        uses = [(one, code) for one in by_area.get((cell, line), ()) if one.names(code)]
        used.update(uses)
        return bool(uses)

    for finding in findings:
        lines = range(finding.line, finding.end_line + 1)
        areas = ((None, None), (finding.cell, None), *((finding.cell, line) for line in lines))
        verdicts = [
            is_ignored(*area, finding.code) for area in areas
        ]  # each comment that fits is used
        if not any(verdicts):
            kept.append(finding)
    return kept, used


def unused_ignores(
    ignores: Iterable[Ignore],
    used: set[tuple[Ignore, str]],
    is_checked: Callable[[Ignore, str], bool],
    usual: Iterable[str],
) -> Iterator[Finding]:
    """Yield a finding for each comment with codes that it is not needed for.

    :param is_checked: whether a code was checked on the lines that a comment is for.
    """
    needed = {one for one, _ in used}
    for one in ignores:
        if one.codes:
            unneeded = [code for code in one.codes if (one, code) not in used]
            unknown = [code for code in unneeded if code not in RULES]
            unused = [code for code in unneeded if code in RULES and is_checked(one, code)]
            words = [f"unknown code {code}" for code in unknown]
            words += [f"no {', '.join(unused)} to ignore"] if unused else []
        else:
            checked = all(is_checked(one, code) for code in usual)
            words = [] if one in needed or not checked else ["nothing to ignore"]
        if words:
            yield one.at._replace(message=one.at.message + "; ".join(words))
