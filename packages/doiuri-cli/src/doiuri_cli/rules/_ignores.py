"""Comments that let findings be ignored, such as ``# doiuri: ignore[not-found]``.

A comment is for its own line; if it stands alone there, for the next line with text. ``ignore-file`` is for
the whole file. Without codes, it is for all of them.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from doiuri_cli.files import Lines
from doiuri_cli.rules._codes import RULES
from doiuri_cli.rules._finding import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_MARK = "<!--"
# not a quoted comment, as in documentation
_HASH, _PERCENT, _MARKUP, _RST = r"(?<!\S)\#", r"(?<![\\`])%", f"(?<!`){_MARK}", r"(?m:^)[ \t]*\.\.[ \t]"
_OPENINGS = {
    _MARKUP: (".md", ".markdown", ".mdown", ".mkd", ".qmd", ".rmd", ".html", ".htm", ".xhtml", ".xml"),
    _RST: (".rst", ".rest"),
    _PERCENT: (".tex", ".ltx", ".latex", ".bbl", ".sty", ".cls", ".bib", ".bibtex"),
    _HASH: (".cff", ".yaml", ".yml", ".toml"),
    f"{_HASH}|{_RST}": (".py", ".pyi", ".pyw"),
    f"{_HASH}|{_MARKUP}": (".ipynb",),
}
"""What opens a comment, and the types of files with such comments."""

_COMMAND = r"[ \t]*doiuri:[ \t]*ignore(-file)?(?![\w-])[ \t]*(?:\[([^\]\r\n]*)\])?(?:[^\r\n]*?-->)?"
_COMMENTS = {
    suffix: re.compile(rf"(?:{opening}){_COMMAND}")
    for opening, suffixes in _OPENINGS.items()
    for suffix in suffixes
}


class Ignore(NamedTuple):
    """A comment, or a tag of a notebook's cell, that lets findings be ignored.

    :ivar cell: the number of the notebook's cell; None outside of notebooks.
    :ivar line: the line of the comment.
    :ivar column: the column of its first character.
    :ivar end_column: the column after its last character.
    :ivar target: the line that it is for; None: the whole file, or the whole cell if it is a tag.
    :ivar codes: the codes; none: all codes.
    :ivar excerpt: the line in the file.
    :ivar is_tag: whether it is a tag of the cell.
    """

    cell: int | None
    line: int
    column: int
    end_column: int
    target: int | None
    codes: tuple[str, ...]
    excerpt: str
    is_tag: bool = False

    @property
    def area(self) -> tuple[int | None, int | None]:
        """The cell and the line that it is for; None for all of them."""
        return (self.cell, self.target) if self.is_tag or self.target is not None else (None, None)

    def names(self, code: str) -> bool:
        """Return whether the comment is for a code."""
        return not self.codes or code in self.codes


def ignores_in(path: str, text: str, cell: int | None = None) -> list[Ignore]:
    """Return the comments in a file, or in a cell of a notebook.

    :param path: the file; its name tells how comments look.
    :param text: the text.
    :param cell: the number of the cell.
    """
    pattern = _COMMENTS.get(PurePath(path).suffix.lower())
    if pattern is None or "doiuri:" not in text:
        return []
    matches = list(pattern.finditer(text))
    lines = Lines(text)
    alone = {lines.position(match.end()).line for match in matches if _is_alone(match, lines)}
    targets = _targets(lines, alone)
    return [_ignore(match, lines, cell, targets) for match in matches]


def tag_of(cell: int, codes: Iterable[str], excerpt: str) -> Ignore:
    """Return what the tags of a notebook's cell let be ignored.

    :param cell: the number of the cell.
    :param codes: the codes; "*" stands for all.
    :param excerpt: the first line of the cell.
    """
    found = sorted(codes)
    return Ignore(cell, 1, 1, 1, None, () if "*" in found else tuple(found), excerpt, is_tag=True)


def _targets(lines: Lines, alone: Iterable[int]) -> dict[int, int]:
    """Return the next line with text for each line that holds nothing but a comment."""
    targets: dict[int, int] = {}
    for line in sorted(alone, reverse=True):
        following = (number for number in range(line + 1, lines.count + 1) if lines.line(number).strip())
        target = next(following, line)
        targets[line] = targets.get(target, target)
    return targets


def _is_alone(match: re.Match[str], lines: Lines) -> bool:
    """Return whether there is nothing but the comment on its line."""
    line, column = lines.position(match.end())
    text = lines.line(line)
    before = text[: max(column - 1 - len(match[0]), 0)]
    after = text[column - 1 :] if match[0].lstrip().startswith(_MARK) else ""
    return not (before.strip() or after.strip())


def _ignore(match: re.Match[str], lines: Lines, cell: int | None, targets: dict[int, int]) -> Ignore:
    start = match.start() + len(match[0]) - len(match[0].lstrip())
    line, column = lines.position(start)
    codes = tuple(code.strip() for code in (match[2] or "").split(",") if code.strip())
    target = None if match[1] else targets.get(line, line)
    return Ignore(cell, line, column, column + match.end() - start, target, codes, lines.line(line))


class Verdict(NamedTuple):
    """What remains of the findings of a file.

    :ivar findings: those that no comment is for.
    :ivar used: the comments that were used, each with the code that it was used for.
    """

    findings: list[Finding]
    used: set[tuple[Ignore, str]]


def apply_ignores(ignores: Iterable[Ignore], findings: Iterable[Finding]) -> Verdict:
    """Return the findings that remain, and which comments were used."""
    by_area: dict[tuple[int | None, int | None], list[Ignore]] = {}
    for one in ignores:
        by_area.setdefault(one.area, []).append(one)
    kept: list[Finding] = []
    used: set[tuple[Ignore, str]] = set()
    for finding in findings:
        lines = range(finding.line, finding.end_line + 1)
        areas = dict.fromkeys(((None, None), (finding.cell, None), *((finding.cell, line) for line in lines)))
        fitting = [one for area in areas for one in by_area.get(area, ()) if one.names(finding.code)]
        used.update((one, finding.code) for one in fitting)
        if not fitting:
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
    needed = {one for one, _ in used}
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
                f"the tag of the cell: {'; '.join(words)}" if one.is_tag else "; ".join(words),
                cell=one.cell,
                excerpt=one.excerpt,
            )
