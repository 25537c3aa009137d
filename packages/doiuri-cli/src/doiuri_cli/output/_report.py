"""What a run has found: the findings, the figures, the summary, and texts made safe for any output."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from doiuri_cli.rules import Finding, Severity

if TYPE_CHECKING:
    from doiuri_cli.files import Location
    from doiuri_cli.readers._bibliography import Lacking

_NOTHING: Mapping[str, int] = {}


class Counts(NamedTuple):
    """The figures of a run."""

    files: int = 0  # how many files were read
    dois: int = 0  # how many different DOIs they mention
    known: int = 0  # how many of these the lock file or the cache answers for
    asked: int = 0  # how many the registry answered for
    requests: int = 0  # how many requests that took
    # how many could not be checked, by cause, such as "doi.org: HTTP status 429"
    unknown: Mapping[str, int] = _NOTHING
    # how many works in the lock file are too old and could not be renewed, by cause
    old: Mapping[str, int] = _NOTHING
    skipped: Mapping[str, int] = (
        _NOTHING  # how many files were not read, by reason, such as "binary"
    )
    recorded: int = 0  # how many DOIs are only in recorded HTTP, and not counted above


class Bibliographies(NamedTuple):
    """The entries of bibliographies, if they were compared with the registry's metadata."""

    valid: Sequence[str]  # the names of those DOIs that are registered
    lacking: Sequence[Lacking]  # the entries without a DOI


class Report(NamedTuple):
    """The findings of a run, in the order in which they are shown, its figures, and what it compared."""

    findings: Sequence[Finding] = ()
    counts: Counts = Counts()
    references: Bibliographies | None = None


def summary_lines(report: Report) -> list[str]:
    """Return the lines of the summary."""
    counts = report.counts
    if not (counts.files or counts.skipped or report.findings):
        return ["No files to check."]
    lines = [_checked(counts)]
    if counts.old:
        works = number(sum(counts.old.values()), "old work")
        lines.append(f"{works} in the lock file could not be renewed: {_reasons(counts.old)}.")
    if counts.skipped:
        lines.append(
            f"{number(sum(counts.skipped.values()), 'file')} skipped: {_reasons(counts.skipped)}."
        )
    if counts.recorded:
        lines.append(recorded_line(counts.recorded))
    return [*lines, _found(report), *left_lines(report.findings)]


def recorded_line(count: int) -> str:
    """Return the line on the DOIs in recorded HTTP."""
    return (
        f"{number(count, 'DOI')} in recorded HTTP not looked up; name a file to look its DOIs up."
    )


def left_lines(findings: Iterable[Finding]) -> list[str]:
    """Return the line on fixes that are left out because they would change test data, if there are any."""
    count = sum(
        one.fix is not None and one.fix.name is None and not one.fix.safe for one in findings
    )
    return (
        [f"{count} {'fix' if count == 1 else 'fixes'} in test data left to --unsafe-fixes."]
        if count
        else []
    )


def _checked(counts: Counts) -> str:
    if not counts.dois:
        found = "to look up" if counts.recorded else "found"
        return f"No DOIs {found} in {number(counts.files, 'file')}."
    unknown = sum(counts.unknown.values())
    if unknown == counts.dois and not counts.requests:
        return f"Verified none of {number(counts.dois, 'DOI')}: {_reasons(counts.unknown)}."
    text = f"Checked {number(counts.dois, 'DOI')}: {counts.known} known"
    if counts.asked:
        text += f", {counts.asked} asked in {number(counts.requests, 'request')}"
    elif counts.requests:
        text += f", {number(counts.requests, 'request')}"
    if counts.unknown:
        text += f". {unknown} could not be checked: {_reasons(counts.unknown)}"
    return f"{text}."


def _found(report: Report) -> str:
    if not report.findings:
        return "No findings."
    text = f"{severities(report.findings)}."
    fixes = [finding.fix for finding in report.findings if finding.fix is not None]
    safe, unsafe = sum(fix.safe for fix in fixes), sum(fix.name is not None for fix in fixes)
    if safe:
        text += f" [*] {safe} can be fixed with doiuri fix"
        text += (
            f", {unsafe} more with --unsafe-fixes if the corrected DOI exists." if unsafe else "."
        )
    elif unsafe:
        text += (
            f" {unsafe} can be fixed with doiuri fix --unsafe-fixes if the corrected DOI exists."
        )
    return text


def severities(findings: Sequence[Finding]) -> str:
    """Return how many findings there are of each severity; "" if there are none."""
    found = Counter(finding.severity for finding in findings)
    return ", ".join(number(found[one], one.label) for one in reversed(Severity) if found[one])


def _reasons(counts: Mapping[str, int]) -> str:
    """Return the reasons, the most frequent first; with their numbers if there are several."""
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    if len(ordered) == 1:
        return visible(ordered[0][0])
    return ", ".join(f"{visible(reason)} ({count:d})" for reason, count in ordered)


def number(count: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{count:d} {noun}{'' if count == 1 else 's'}"


_SURROGATE = re.compile("[\ud800-\udfff]")
# Controls, invisible format characters such as bidirectional marks, and separators of lines
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


# What CI systems take for a command: "##vso[…]" and "##[…]" anywhere, "::…::" where a line starts
_COMMAND = re.compile(r"##(?=\[|vso\[)|\A\s*::", re.IGNORECASE)


def visible(text: str) -> str:
    """Return a text in which control and invisible characters, and commands to CI, are shown as escapes."""
    return inert(printable(text))


def printable(text: str, kept: str = "") -> str:
    """Return a text in which control and invisible characters are shown as escapes, but for some."""
    if text.isprintable():
        return text
    return "".join(character if character in kept else shown(character) for character in text)


def inert(text: str) -> str:
    """Return a text in which commands to CI systems are broken by an escape."""
    return _COMMAND.sub(lambda match: f"{match[0][:-1]}\\x{ord(match[0][-1]):02x}", text)


def to_json(value: object, indent: int | None = None) -> str:
    """Return a value as JSON, in ASCII and without what CI systems take for a command."""
    return json.dumps(value, indent=indent).replace("##", "#\\u0023")


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


_MEMBERS = ("path", "line", "column", "end_line", "end_column", "cell", "entry")


def members(location: Location, **more: object) -> dict[str, object]:
    """Return what JSON says of a location and more, without the lone surrogates of file names and texts."""
    found = {name: getattr(location, name) for name in _MEMBERS} | more
    return {
        name: encodable(value) if isinstance(value, str) else value for name, value in found.items()
    }


def place(location: Location) -> str:
    """Return a location in words, such as ``docs/a.md:41:12`` or ``a.ipynb:cell 7:3:18``."""
    cell = "" if location.cell is None else f"cell {location.cell}:"
    return f"{visible(location.path)}:{cell}{location.line}:{location.column}"


def message(finding: Finding) -> str:
    """Return what is wrong, after the key of the entry."""
    entry = finding.location.entry
    return visible(f"{entry}: {finding.message}" if entry else finding.message)


def label(finding: Finding) -> str:
    """Return how bad a finding is and its code, such as ``error[not-found]``."""
    return f"{finding.severity.label}[{finding.code}]"


def relative(path: str) -> str:
    """Return a path as forges name files: from the current folder, with slashes, without ``.`` segments."""
    inside = Path(os.path.normpath(path))
    if inside.is_relative_to(here := Path.cwd()):
        inside = inside.relative_to(here)
    return inside.as_posix()


def uri(path: str) -> str:
    """Return a path as a URI reference: relative, or ``file:`` if the path is outside the current folder."""
    name = relative(path)
    if Path(name).is_absolute():
        return Path(name).as_uri()
    from urllib.parse import quote  # slow to import

    return quote(os.fsencode(name))
