"""What a run has found: the findings, the figures, the summary, and texts made safe for any output."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from doiuri_cli.rules import Finding, Severity

_NOTHING: Mapping[str, int] = {}


class Counts(NamedTuple):
    """The figures of a run.

    :ivar files: how many files were read.
    :ivar dois: how many different DOIs they mention.
    :ivar known: how many of these the lock file or the cache answers for.
    :ivar asked: how many the registry answered for.
    :ivar requests: how many requests that took.
    :ivar unknown: how many could not be checked, by cause, such as "doi.org: HTTP status 429".
    :ivar skipped: how many files were not read, by reason, such as "binary".
    """

    files: int = 0
    dois: int = 0
    known: int = 0
    asked: int = 0
    requests: int = 0
    unknown: Mapping[str, int] = _NOTHING
    skipped: Mapping[str, int] = _NOTHING


class Report(NamedTuple):
    """The findings of a run, in the order in which they are shown, and its figures."""

    findings: Sequence[Finding] = ()
    counts: Counts = Counts()


def summary_lines(report: Report) -> list[str]:
    """Return the lines of the summary."""
    counts = report.counts
    if not (counts.files or counts.dois or counts.skipped or report.findings):
        return ["No files to check."]
    lines = [_checked(counts)]
    if counts.skipped:
        lines.append(f"{_number(sum(counts.skipped.values()), 'file')} skipped: {_reasons(counts.skipped)}.")
    lines.append(_found(report))
    return lines


def _checked(counts: Counts) -> str:
    if not counts.dois:
        return f"No DOIs found in {_number(counts.files, 'file')}."
    text = f"Checked {_number(counts.dois, 'DOI')}: {counts.known} known"
    if counts.asked or counts.requests:
        text += f", {counts.asked} asked in {_number(counts.requests, 'request')}"
    if counts.unknown:
        text += f". {sum(counts.unknown.values())} could not be checked: {_reasons(counts.unknown)}"
    return f"{text}."


def _found(report: Report) -> str:
    if not report.findings:
        return "No findings."
    severities = Counter(finding.severity for finding in report.findings)
    numbers = [(severities[severity], severity.label) for severity in (Severity.ERROR, Severity.WARNING)]
    text = ", ".join(_number(count, noun) for count, noun in numbers if count) + "."
    fixes = Counter(finding.fix.safe for finding in report.findings if finding.fix is not None)
    safe, unsafe = fixes[True], fixes[False]
    if safe:
        text += f" [*] {safe} can be fixed with doiuri fix"
        text += f", {unsafe} more with --unsafe-fixes if the corrected DOI exists." if unsafe else "."
    elif unsafe:
        text += f" {unsafe} can be fixed with doiuri fix --unsafe-fixes if the corrected DOI exists."
    return text


def _reasons(counts: Mapping[str, int]) -> str:
    """Return the reasons, the most frequent first; with their numbers if there are several."""
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    if len(ordered) == 1:
        return visible(ordered[0][0])
    return ", ".join(f"{visible(reason)} ({count:d})" for reason, count in ordered)


def _number(count: int, noun: str) -> str:
    return f"{count:d} {noun}{'' if count == 1 else 's'}"


_SURROGATE = re.compile("[\ud800-\udfff]")
# Controls, invisible format characters such as bidirectional marks, and separators of lines
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def visible(text: str, kept: str = "") -> str:
    """Return a text in which control and invisible characters are shown as escapes.

    :param text: the text.
    :param kept: such characters that stay.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(character if character in kept else shown(character) for character in text)


def shown(character: str) -> str:
    r"""Return a character as a terminal may show it: ``\x1b`` for ESC, ``\x80`` for a byte of a file name."""
    if "\udc80" <= character <= "\udcff":  # a byte of a file name, as os.fsdecode has it
        return f"\\x{ord(character) - 0xDC00:02x}"
    import unicodedata  # rarely needed

    if unicodedata.category(character) in _HIDDEN:
        return character.encode("unicode_escape").decode("ascii")
    return character


def encodable(text: str) -> str:
    """Return a text in which lone surrogates, which no encoding has, are shown as escapes."""
    return _SURROGATE.sub(lambda match: shown(match[0]), text)


def place(finding: Finding) -> str:
    """Return where a finding is, such as ``docs/a.md:41:12`` or ``a.ipynb:cell 7:3:18``."""
    cell = "" if finding.cell is None else f"cell {finding.cell}:"
    return f"{visible(finding.path)}:{cell}{finding.line}:{finding.column}"


def message(finding: Finding) -> str:
    """Return what is wrong, after the key of the entry."""
    return visible(f"{finding.entry}: {finding.message}" if finding.entry else finding.message)


def label(finding: Finding) -> str:
    """Return how bad a finding is and its code, such as ``error[not-found]``."""
    return f"{finding.severity.label}[{finding.code}]"


def region(finding: Finding) -> tuple[int, int, int, int]:
    """Return line, column, end line and end column in the file, for a notebook too."""
    return finding.in_file or (finding.line, finding.column, finding.end_line, finding.end_column)


def relative(path: str) -> str:
    """Return a path as forges name files: from the current folder, with slashes, without ``.`` segments."""
    inside = Path(os.path.normpath(path))
    if inside.is_absolute() and inside.is_relative_to(here := Path.cwd()):
        inside = inside.relative_to(here)
    return inside.as_posix()


def uri(path: str) -> str:
    """Return a path as a URI reference: relative, or ``file:`` if the path is outside the current folder."""
    name = relative(path)
    from urllib.parse import quote  # slow to import

    escaped = quote(os.fsencode(name), safe="/")
    if not Path(name).is_absolute():
        return escaped
    return f"file://{escaped if escaped.startswith('/') else '/' + escaped}"
