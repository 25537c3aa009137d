"""What a run has found: the findings, the figures, the summary, and texts made safe for any output."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from doiuri_cli.readers import TABLES
from doiuri_cli.rules import SEARCH_CODES, Finding, Severity

if TYPE_CHECKING:
    from typing import TextIO

    from doiuri_cli.files import SourceLocation
    from doiuri_cli.readers._bibliography import EntryWithoutDOI

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
    # how many files were not read, by reason, such as "binary"
    skipped: Mapping[str, int] = _NOTHING
    recorded: int = 0  # how many DOIs are only in recorded HTTP, and not counted above
    unread: Sequence[str] = ()  # the extensions of files that are not read, though they hold DOIs


class Bibliographies(NamedTuple):
    """The entries of bibliographies, if they were compared with the registry's metadata."""

    valid: Sequence[str]  # the names of those DOIs that are registered
    lacking: Sequence[EntryWithoutDOI]  # the entries without a DOI


class FindingsReport(NamedTuple):
    """The findings of a run, in the order in which they are shown, its figures, and what it compared."""

    findings: Sequence[Finding] = ()
    counts: Counts = Counts()
    references: Bibliographies | None = None
    shows_all: bool = False  # whether people see findings in test data, too
    searched: str | None = None  # the line on a search; None if there was none

    @property
    def listed(self) -> Sequence[Finding]:
        """The findings that people see."""
        return self.findings if self.shows_all else outside_test_data(self.findings)


def outside_test_data(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings that are not in test data."""
    return [finding for finding in findings if not finding.in_test_data]


def test_data_lines(report: FindingsReport) -> list[str]:
    """Return the line that people see in place of the findings in test data, or after them, if there are any."""
    inside = [finding for finding in report.findings if finding.in_test_data]
    if not inside:
        return []
    verb = "does" if len(inside) == 1 else "do"
    count = number(len(inside), "finding")
    line = f"{count} in test data ({severities(inside)}) {verb} not change the exit code"
    if not report.shows_all:
        it = "it" if len(inside) == 1 else "them"
        line += f"; --all lists {it}"
    return [f"{line}."]


def summary_lines(report: FindingsReport, *, has_marks: bool) -> list[str]:
    """Return the lines of the summary.

    :param has_marks: whether the format of the findings marks those that ``doiuri fix`` corrects.
    """
    counts = report.counts
    if not (counts.files or counts.skipped or report.findings):
        return ["No files to check.", *_unread_lines(counts.unread)]

    lines = [_checked(counts)]
    if counts.old:
        works = number(sum(counts.old.values()), "old work")
        lines.append(f"{works} in the lock file could not be renewed: {reasons(counts.old)}.")
    if counts.skipped:
        files = number(sum(counts.skipped.values()), "file")
        lines.append(f"{files} skipped: {reasons(counts.skipped)}.")
    if counts.recorded:
        lines.append(recorded_line(counts.recorded))
    lines += _unread_lines(counts.unread)
    if report.searched is not None:
        lines.append(report.searched)
    lines.append(_findings_line(report, has_marks=has_marks))
    lines += unsafe_lines(report.findings)
    return lines


def _unread_lines(extensions: Iterable[str]) -> list[str]:
    """Return the lines on types of files that hold DOIs and are not read, with what reads them."""
    tables = [extension for extension in extensions if extension in TABLES]
    texts = [extension for extension in extensions if extension not in TABLES]
    lines = []
    if texts:
        # of a program, only comments are fixed
        types = ", ".join(f'{json.dumps(extension)} = "code"' for extension in texts)
        lines.append(
            f"DOIs in {_listed(texts)} files were not read; to read them, configure "
            f"extensions = {{ {visible(types)} }}"
        )
    if tables:
        lines.append(f"DOIs in {_listed(tables)} files were not read; --columns NAME reads them.")
    return lines


def _listed(extensions: Iterable[str]) -> str:
    return ", ".join(map(visible, extensions))


def recorded_line(count: int) -> str:
    """Return the line on the DOIs in recorded HTTP."""
    dois = number(count, "DOI")
    return f"{dois} in recorded HTTP not looked up; name a file to look up its DOIs."


def unsafe_lines(findings: Iterable[Finding]) -> list[str]:
    """Return the lines on fixes that are left out though they keep the DOI."""
    unsafe = [finding for finding in findings if _is_unsafe_in_file(finding)]
    elsewhere = outside_test_data(unsafe)
    in_test_data = len(unsafe) - len(elsewhere)
    lines = []
    if in_test_data:
        lines.append(f"{_fixes(in_test_data)} in test data left to --unsafe-fixes.")
    if elsewhere:
        fixes = _fixes(len(elsewhere))
        lines.append(f"{fixes} in programs, generated files or templates left to --unsafe-fixes.")
    return lines


def _is_unsafe_in_file(finding: Finding) -> bool:
    """Return whether a fix keeps the DOI, and is unsafe only because of the file, or of what reads it."""
    fix = finding.fix
    return fix is not None and fix.name is None and not fix.safe


def _fixes(count: int) -> str:
    return "1 fix" if count == 1 else f"{count} fixes"


def count_corrections(findings: Iterable[Finding]) -> int:
    """Return how many findings have a fix that changes the DOI, and does not add one."""
    count = 0
    for finding in findings:
        changes_doi = finding.fix is not None and finding.fix.name is not None
        if changes_doi and finding.code not in SEARCH_CODES:
            count += 1
    return count


IF_CONFIRMED = "if only the corrected DOI exists"
"""When an unsafe fix is applied."""


def _checked(counts: Counts) -> str:
    """Return the sentences on how many DOIs were checked.

    For example, "Checked 2 of 3 DOIs: 1 known, 1 asked in 1 request. 1 could not be checked: offline."
    """
    # First no DOI, then no answer at all, then some or all answers
    if not counts.dois:
        none_of_these = "to look up" if counts.recorded else "found"
        return f"No DOIs {none_of_these} in {number(counts.files, 'file')}."

    dois = number(counts.dois, "DOI")
    unknown = sum(counts.unknown.values())
    if unknown == counts.dois:
        all_dois = dois if counts.dois == 1 else f"any of {dois}"
        return f"Could not check {all_dois}: {reasons(counts.unknown)}."

    answered = f"{counts.dois - unknown} of {dois}" if unknown else dois
    text = f"Checked {answered}: {counts.known} known"
    requests = number(counts.requests, "request")
    if counts.asked:
        text += f", {counts.asked} asked in {requests}"
    elif counts.requests:  # about works, or about what missing DOIs probably mean
        text += f", {requests}"
    if unknown:
        text += f". {unknown} could not be checked: {reasons(counts.unknown)}"
    return f"{text}."


def _findings_line(report: FindingsReport, *, has_marks: bool) -> str:
    """Return the sentences on how many findings there are, and what puts them right.

    For example, "1 error. 1 can be fixed with doiuri fix --unsafe-fixes if only the corrected DOI exists. doiuri
    rule CODE explains a code."
    """
    findings = outside_test_data(report.findings)
    if not findings:
        return _no_findings(report)

    sentences = [f"{severities(findings)}."]

    # Fixes of three kinds: safe ones, corrections of a DOI, and DOIs that a search adds. None is of two kinds
    safe = sum(finding.fix is not None and finding.fix.safe for finding in findings)
    corrections = count_corrections(findings)
    if safe:
        mark = "[*] " if has_marks else ""
        also = f", {corrections} more with --unsafe-fixes {IF_CONFIRMED}" if corrections else ""
        sentences.append(f"{mark}{safe} can be fixed with doiuri fix{also}.")
    elif corrections:
        command = "doiuri fix --unsafe-fixes"
        sentences.append(f"{corrections} can be fixed with {command} {IF_CONFIRMED}.")

    addable = sum(finding.fix is not None and finding.code in SEARCH_CODES for finding in findings)
    if addable:
        dois = number(addable, "DOI")
        sentences.append(f"{dois} can be added with doiuri fix --search --unsafe-fixes.")
    sentences.append("doiuri rule CODE explains a code.")
    return " ".join(sentences)


def _no_findings(report: FindingsReport) -> str:
    where = " outside of test data" if report.findings else ""
    checked = " in what was checked" if report.counts.unknown else ""
    return f"No findings{where}{checked}."


# Findings of one code in one file; if there are more, only the first are shown to people
_MANY = 20
_FIRST = 5


class ListedFinding(NamedTuple):
    """A finding that is shown to people."""

    finding: Finding
    left_out: int = 0  # how many findings of its code in its file follow that are not shown


def abridged(findings: Sequence[Finding]) -> Iterator[ListedFinding]:
    """Yield the findings to show to people: of many with one code in one file, the first five.

    Errors are all shown, for each has to be looked at.
    """
    totals = Counter(map(_code_in_file, findings))
    seen: Counter[tuple[str, str]] = Counter()
    for finding in findings:
        kind = _code_in_file(finding)
        seen[kind] += 1
        all_are_listed = finding.severity == Severity.ERROR or totals[kind] <= _MANY
        if all_are_listed or seen[kind] < _FIRST:
            yield ListedFinding(finding)
        elif seen[kind] == _FIRST:
            yield ListedFinding(finding, totals[kind] - _FIRST)


def _code_in_file(finding: Finding) -> tuple[str, str]:
    return finding.location.path, finding.code


def left_out_line(listed: ListedFinding) -> str:
    """Return the line on the findings that are not shown after one."""
    path, code = _code_in_file(listed.finding)
    return f"{visible(path)}: {listed.left_out} more {code}; -o concise lists them all"


def severities(findings: Sequence[Finding]) -> str:
    """Return how many findings there are of each severity; "" if there are none."""
    counts = Counter(finding.severity for finding in findings)
    present = [severity for severity in reversed(Severity) if counts[severity]]
    return ", ".join(number(counts[severity], severity.label) for severity in present)


def reasons(counts: Mapping[str, int]) -> str:
    """Return the reasons, the most frequent first; with their numbers if there are several."""
    if len(counts) == 1:
        (reason,) = counts
        return visible(reason)
    ordered = Counter(counts).most_common()
    return ", ".join(f"{visible(reason)} ({count:d})" for reason, count in ordered)


def number(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural unless it is 1."""
    plural = "" if count == 1 else "s"
    return f"{count:d} {noun}{plural}"


_SURROGATE = re.compile("[\ud800-\udfff]")
# Controls, invisible format characters such as bidirectional marks, and separators of lines
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


# What CI systems take for a command: "##[…]", Azure's "##vso[…]" and TeamCity's "##teamcity[…]" anywhere,
# "::…::" where a line starts
_COMMAND = re.compile(r"##(?=(?:vso|teamcity)?\[)|\A\s*::", re.IGNORECASE)


def visible(text: str) -> str:
    """Return a text in which control and invisible characters, and commands to CI, are shown as escapes."""
    return inert(printable(text))


def printable(text: str, kept: str = "") -> str:
    """Return a text in which control and invisible characters are shown as escapes, but for some."""
    if text.isprintable():
        return text
    characters = list(text)
    for place, character in enumerate(characters):
        if character not in kept:
            characters[place] = escaped_character(character)
    return "".join(characters)


def inert(text: str) -> str:
    r"""Return a text in which commands to CI systems are broken by an escape: ``##[`` as ``#\x23[``."""
    return _COMMAND.sub(lambda match: f"{match[0][:-1]}\\x{ord(match[0][-1]):02x}", text)


def to_json(value: object, indent: int | None = None) -> str:
    """Return a value as JSON, in ASCII and without what CI systems take for a command."""
    return json.dumps(value, indent=indent).replace("##", "#\\u0023")


def write_json_list(objects: Iterable[str], stream: TextIO) -> None:
    """Write a list of objects, each of which is JSON already, one by one: all of them may not fit into memory."""
    before = "[\n  "  # what precedes the next object
    end = "[]\n"
    for text in objects:
        stream.write(f"{before}{text}")
        before = ",\n  "
        end = "\n]\n"
    stream.write(end)


def indented(value: object, margin: str = "  ") -> str:
    """Return an object as ``json.dumps`` indents it in a list, but several times faster."""
    if not isinstance(value, Mapping):
        return to_json(value)
    inner = f"{margin}  "
    lines = [f"{inner}{to_json(name)}: {indented(value[name], inner)}" for name in value]
    return "{\n" + ",\n".join(lines) + f"\n{margin}}}"


def escaped_character(character: str) -> str:
    r"""Return a character as a terminal may show it: ``\x1b`` for ESC, ``\x80`` for a byte of a file name."""
    if "\udc80" <= character <= "\udcff":  # a byte of a file name, as os.fsdecode has it
        return f"\\x{ord(character) - 0xDC00:02x}"
    import unicodedata  # rarely needed

    if unicodedata.category(character) in _HIDDEN:
        return character.encode("unicode_escape").decode("ascii")
    return character


def encodable(text: str) -> str:
    """Return a text in which lone surrogates, which no encoding has, are shown as escapes."""
    return _SURROGATE.sub(lambda match: escaped_character(match[0]), text)


_MEMBERS = ("path", "line", "column", "end_line", "end_column", "cell", "entry")


def members(location: SourceLocation, **more: object) -> dict[str, object]:
    """Return the members of a JSON object: a location's and more, lone surrogates shown as escapes."""
    values = {name: getattr(location, name) for name in _MEMBERS} | more
    for name, value in values.items():
        if isinstance(value, str):
            values[name] = encodable(value)
    return values


def location_text(location: SourceLocation) -> str:
    """Return a location in words, such as ``docs/a.md:41:12`` or ``a.ipynb:cell 7:3:18``."""
    cell = "" if location.cell is None else f"cell {location.cell}:"
    return f"{visible(location.path)}:{cell}{location.line}:{location.column}"


def message(finding: Finding) -> str:
    """Return what is wrong, after the key of the entry."""
    entry = finding.location.entry
    text = f"{entry}: {finding.message}" if entry else finding.message
    return visible(text)


def label(finding: Finding) -> str:
    """Return how bad a finding is and its code, such as ``error[not-found]``."""
    return f"{finding.severity.label}[{finding.code}]"


def relative(path: str) -> str:
    """Return a path as forges name files: from the current folder, with slashes, without ``.`` segments."""
    normal = Path(os.path.normpath(path))
    here = Path.cwd()
    if normal.is_relative_to(here):
        normal = normal.relative_to(here)
    return normal.as_posix()


def uri(path: str) -> str:
    """Return a path as a URI reference: relative, or ``file:`` if the path is outside the current folder."""
    name = relative(path)
    if Path(name).is_absolute():
        return Path(name).as_uri()
    from urllib.parse import quote  # slow to import

    return quote(os.fsencode(name))
