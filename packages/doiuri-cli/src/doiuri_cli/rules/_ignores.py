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
from doiuri_cli.rules._codes import RULES
from doiuri_cli.rules._finding import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_MARK = "<!--"
# not a quoted comment, as in documentation
_HASH, _PERCENT, _MARKUP, _RST = r"(?<!\S)\#", r"(?<![\\`])%", f"(?<!`){_MARK}", r"(?m:^)[ \t]*\.\.[ \t]"
_OPENINGS = {
    "bibtex": _PERCENT,
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
_COMMAND = (
    r"[ \t]*doiuri:[ \t]*ignore(-file)?(?![\w-])[ \t]*(?:\[([^\]\r\n]{0,1000}+)\])?(?:[^\r\n]{0,1000}?-->)?"
)


@cache
def _comments(kind: str) -> re.Pattern[str] | None:
    """Return the pattern of comments in a type of file; None if it has none."""
    opening = _OPENINGS.get(kind)
    return None if opening is None else re.compile(rf"(?:{opening}){_COMMAND}")


class Ignore(NamedTuple):
    """A comment that suppresses findings.

    :ivar cell: the number of the notebook's cell; None outside of notebooks.
    :ivar line: the line of the comment.
    :ivar column: the column of its first character.
    :ivar end_column: the column after its last character.
    :ivar target: the line that it is for; None: the whole file.
    :ivar codes: the codes; none: all codes.
    :ivar excerpt: the start of the line in the file.
    """

    cell: int | None
    line: int
    column: int
    end_column: int
    target: int | None
    codes: tuple[str, ...]
    excerpt: str

    def names(self, code: str) -> bool:
        """Return whether the comment is for a code."""
        return not self.codes or code in self.codes


def ignores_in(path: str, text: str, cell: int | None = None) -> list[Ignore]:
    """Return the comments in a file, or in a cell of a notebook.

    :param path: the file; its name tells how comments look.
    :param text: the text.
    :param cell: the number of the cell.
    """
    if "doiuri:" not in text:
        return []
    pattern = _comments(type_of(path) or PurePath(path).suffix.lower())
    if pattern is None:
        return []
    matches = list(pattern.finditer(text))
    lines = Lines(text)
    targets: dict[int, int] = {}
    for match in reversed(matches):
        if _is_alone(match, lines):
            line = lines.position(match.end()).line
            targets[line] = _next_line(line, lines, targets)
    return [_ignore(match, lines, cell, targets) for match in matches]


def _ignore(match: re.Match[str], lines: Lines, cell: int | None, targets: dict[int, int]) -> Ignore:
    start = match.start() + len(match[0]) - len(match[0].lstrip())
    line, column = lines.position(start)
    codes = tuple(code.strip() for code in (match[2] or "").split(",") if code.strip())
    target = None if match[1] else targets.get(line, line)
    excerpt = lines.line(line, 1, _LONGEST) if column <= _LONGEST else ""
    return Ignore(cell, line, column, column + match.end() - start, target, codes, excerpt)


def _is_alone(match: re.Match[str], lines: Lines) -> bool:
    """Return whether there is nothing but the comment on its line."""
    line, column = lines.position(match.end())
    first = max(column - len(match[0]), 1)
    if first > _LONGEST or lines.line(line, 1, first - 1).strip():
        return False
    return not (match[0].lstrip().startswith(_MARK) and lines.line(line, column, column + _LONGEST).strip())


def _next_line(line: int, lines: Lines, targets: dict[int, int]) -> int:
    """Return the next line with text other than a comment, or the line itself if there is none.

    :param line: the line of a comment that stands alone.
    :param lines: the lines of the text.
    :param targets: what this function returned for the comments below.
    """
    for following in range(line + 1, lines.count + 1):
        if following in targets:
            target = targets[following]
            return line if target == following else target
        if lines.line(following).strip():
            return following
    return line


class Verdict(NamedTuple):
    """What remains of the findings of a file.

    :ivar findings: those that no comment is for.
    :ivar used: the comments that were used, each with the code that it was used for.
    """

    findings: list[Finding]
    used: set[tuple[Ignore, str]]


def apply_ignores(ignores: Iterable[Ignore], findings: Iterable[Finding]) -> Verdict:
    """Return the findings that remain, and which comments were used."""
    by_place: dict[tuple[int | None, int | None], list[Ignore]] = {}
    for one in ignores:
        place = (None, None) if one.target is None else (one.cell, one.target)
        by_place.setdefault(place, []).append(one)

    kept: list[Finding] = []
    used: set[tuple[Ignore, str]] = set()

    @cache  # many findings may be on a line with many comments
    def is_ignored(cell: int | None, line: int | None, code: str) -> bool:
        uses = [(one, code) for one in by_place.get((cell, line), ()) if one.names(code)]
        used.update(uses)
        return bool(uses)

    for finding in findings:
        places = [(None, None), *((finding.cell, n) for n in range(finding.line, finding.end_line + 1))]
        verdicts = [is_ignored(*place, finding.code) for place in places]  # each comment that fits is used
        if not any(verdicts):
            kept.append(finding)
    return Verdict(kept, used)


def unused_ignores(
    path: str,
    ignores: Iterable[Ignore],
    used: set[tuple[Ignore, str]],
    is_checked: Callable[[Ignore, str], bool],
    usual: Iterable[str],
) -> Iterator[Finding]:
    """Yield a finding for each comment with codes that it is not needed for.

    :param path: the file.
    :param ignores: the comments.
    :param used: what they were used for.
    :param is_checked: whether a code was checked on the lines that a comment is for.
    :param usual: the codes that must have been checked before a comment for all codes counts as unused.
    """
    needed = {comment for comment, _ in used}
    for one in ignores:
        if one.codes:
            idle = [code for code in one.codes if (one, code) not in used]
            unknown = [code for code in idle if code not in RULES]
            vain = [code for code in idle if code in RULES and is_checked(one, code)]
            words = [f"unknown code {code}" for code in unknown]
            words += [f"no {', '.join(vain)} to ignore"] if vain else []
        else:
            checked = all(is_checked(one, code) for code in usual)
            words = [] if one in needed or not checked else ["nothing to ignore"]
        if words:
            yield Finding(
                path,
                one.line,
                one.column,
                one.line,
                one.end_column,
                "unused-ignore",
                "; ".join(words),
                cell=one.cell,
                excerpt=one.excerpt,
            )
