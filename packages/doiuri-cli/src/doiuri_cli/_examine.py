"""One file: the DOIs in it, and the findings about them."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from doiuri import DOI, Handle, advise
from doiuri.plugins import whole_name

from doiuri_cli._mentions import mentions_in
from doiuri_cli.files._generated import is_generated
from doiuri_cli.files._test_data import is_recorded, is_test_data
from doiuri_cli.readers import ReadError, read_parts, type_of
from doiuri_cli.readers._keys import is_key_of_entry
from doiuri_cli.readers._part import location_of
from doiuri_cli.rules import LOCK_CODES, RULES, SEARCH_CODES, WORK_CODES, Finding
from doiuri_cli.rules._ignores import apply_ignores, ignores_in, unused_ignores
from doiuri_cli.rules._spelling import short_doi_message
from doiuri_cli.rules._written import file_findings, part_findings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from doiuri.search import Found
    from doiuri.works import Work

    from doiuri_cli._config import Config
    from doiuri_cli._mentions import LocatedMention
    from doiuri_cli.files import Source, SourceLocation
    from doiuri_cli.readers import Part
    from doiuri_cli.readers._bibliography import CitedWork, EntryWithoutDOI
    from doiuri_cli.readers._without_doi import WorkWithoutDOI
    from doiuri_cli.registry import Answers
    from doiuri_cli.rules._ignores import Ignore

NOTHING: Mapping[Any, Any] = {}  # what is known of no DOI
_FROM_ANSWERS = frozenset({"not-found", "lock-missing"})
"""The codes that depend on the answers about a file's DOIs."""

_CellAndLine = tuple[int | None, int | None]  # a cell and a line; None: all of them
_WHOLE_FILE: _CellAndLine = (None, None)
_Start = tuple[int, int, int]  # a cell, or 0 if there are none, a line and a column
# Of findings on how a DOI that may be right is written
_FORMS = frozenset({"field-form", "not-https"})
# The codes that every check has
_USUAL = frozenset(RULES) - LOCK_CODES - WORK_CODES - SEARCH_CODES


class FileReport(NamedTuple):
    """What a file mentions, and what is wrong in it."""

    path: str  # the file
    names: tuple[str, ...] = ()  # the names of its DOIs, each once
    findings: tuple[Finding, ...] = ()  # the findings; in order once they are judged
    problem: str | None = None  # why it cannot be read; None if it can
    skipped: str | None = None  # why it was passed over; None if it was read
    note: str | None = None  # why it was read as plain text; None if it is what its name says
    mentions: tuple[LocatedMention, ...] = ()  # its mentions
    parts: tuple[tuple[object, ...], ...] = ()  # what each of its parts is, for the proof of a fix
    ignores: tuple[Ignore, ...] = ()  # the comments that let findings be ignored
    entries: tuple[CitedWork, ...] = ()  # its entries to compare with the registry's metadata
    lacking: tuple[EntryWithoutDOI, ...] = ()  # its entries without a DOI, likewise
    without_doi: tuple[
        WorkWithoutDOI, ...
    ] = ()  # its works without a DOI, if they are searched for
    columns: tuple[str, ...] = ()  # the names of its columns, if only some are read
    short: tuple[str, ...] = ()  # the names of short DOIs that its links may mean, each once
    recorded: bool = False  # whether it is recorded HTTP, about whose DOIs nobody is asked
    in_test_data: bool = False  # whether it is test data, such as recorded HTTP


def examine(source: Source, config: Config) -> FileReport:
    """Return what a file mentions and what its text shows, without what only the registry knows.

    1. Its reader returns the parts; if the file is not what its name says, it is one part of plain text, and
       that is a finding.
    2. Each part is searched for mentions, and these for what is wrong with how they are written.
    3. Fixes that could not be proved are left out, and those of test data, programs and generated files are
       made unsafe.

    :raises ReadError: if only some columns are read, and the file is not what its name says.
    """
    kind = type_of(source.path)
    parts, error = read_parts(source)
    note = None if error is None else f"read as plain text: {error.reason}"
    ignores = tuple(ignores_in(source, kind, parts))
    columns = tuple({part.entry for part in parts if part.entry}) if config.columns else ()

    findings: list[Finding] = []
    if error is not None:
        start = source.lines.offset(error.line, error.column) if error.line else 0
        findings.append(Finding(location_of(parts[0], start, start), "unreadable", note or ""))
    contents = _contents(parts, config)
    mentions = contents.mentions
    findings += contents.findings
    if not config.columns:
        findings += file_findings(kind, mentions)

    # What the user named is checked and fixed as it is, whatever its folder or its first lines say
    is_named = os.path.abspath(source.path) in config.searched  # noqa: PTH100
    # Works without a DOI are no mentions, and those in test data are not sent to anyone
    holds_anything = bool(mentions or findings) or _searches(config, source)
    may_stay_as_is = not is_named and holds_anything
    recorded = may_stay_as_is and is_recorded(source, kind, config.searched)
    in_test_data = recorded or (may_stay_as_is and is_test_data(source.path, config.searched))
    # In a file of type "source", comments and strings are not told apart, and a program may compare strings
    has_safe_fixes = kind != "source" and not in_test_data
    if error is not None:  # a fix could not be proved
        findings = [finding._replace(fix=None) for finding in findings]
    elif not has_safe_fixes or (may_stay_as_is and findings and is_generated(source, kind)):
        findings = [_without_safe_fix(finding) for finding in findings]

    return FileReport(
        source.path,
        _names(mention for mention in mentions if not mention.may_be_page),
        tuple(findings),
        note=note,
        mentions=tuple(mentions),
        parts=tuple(contents.outline),
        ignores=ignores,
        columns=columns,
        short=_names(mention for mention in mentions if mention.may_be_page),
        recorded=recorded,
        in_test_data=in_test_data,
    )


class _Contents(NamedTuple):
    """What the parts of a file hold."""

    mentions: list[LocatedMention]
    findings: list[Finding]  # on how the mentions are written
    outline: list[tuple[object, ...]]  # what each part is


def _contents(parts: list[Part], config: Config) -> _Contents:
    """Return what parts hold; their list is emptied: it and the mentions of a large file would fill the memory."""
    contents = _Contents([], [], [])
    parts.reverse()
    while parts:
        part = parts.pop()
        mentions = [
            mention
            for mention in mentions_in(part)
            if not is_key_of_entry(part.text, mention.start, part.syntax, config.entry_keys)
        ]
        contents.mentions.extend(mention.located() for mention in mentions)
        contents.findings.extend(part_findings(mentions, tex_escape=config.tex_escape))
        contents.outline.append((part.syntax, part.cell, part.entry, part.field, part.ignored))
    return contents


def _without_safe_fix(finding: Finding) -> Finding:
    """Return the finding with its fix as an unsafe one: test data, programs and the like stay as they are."""
    if finding.fix is None:
        return finding
    return finding._replace(fix=finding.fix._replace(safe=False))


def _names(mentions: Iterable[LocatedMention]) -> tuple[str, ...]:
    """Return the names of mentions, each once."""
    names = dict.fromkeys(mention.name for mention in mentions)
    return tuple(name for name in names if name is not None)


def with_entries(report: FileReport, source: Source, config: Config) -> FileReport:
    """Return the report on a file with its entries, if they are compared with the registry's metadata.

    There are none in a file that cannot be parsed. If only columns are read, each DOI in one is an entry.
    """
    if report.recorded or WORK_CODES.isdisjoint(config.codes_for(source.path)):
        return report
    if config.columns:
        return report._replace(entries=tuple(_entries_in_columns(report.mentions)))
    from doiuri_cli.readers._bibliography import EntryWithoutDOI, entries  # rarely needed

    cited: list[CitedWork] = []
    lacking: list[EntryWithoutDOI] = []
    with suppress(ReadError):
        for entry in entries(source):
            if isinstance(entry, EntryWithoutDOI):
                lacking.append(entry)
            else:
                cited.append(entry)
    return report._replace(entries=tuple(cited), lacking=tuple(lacking))


def _entries_in_columns(mentions: Iterable[LocatedMention]) -> Iterator[CitedWork]:
    """Yield an entry for each DOI in a cell, of which nothing but the DOI is known; none for short DOIs."""
    from doiuri_cli.readers._bibliography import CitedWork  # rarely needed

    for mention in mentions:
        if not mention.field or mention.name is None:
            continue
        handle = Handle.from_name(mention.name)
        if isinstance(handle, DOI):
            yield CitedWork(
                handle, title="", year=None, first_author_family="", location=mention.location
            )


def with_works_to_search(report: FileReport, source: Source, config: Config) -> FileReport:
    """Return the report on a file with its works without a DOI, if they are searched for.

    There are none in a file that cannot be parsed. A work whose finding a comment ignores is left out, so that
    it is not sent to anyone.
    """
    if not _searches(config, source) or report.in_test_data:
        return report
    from doiuri_cli.readers._without_doi import works_without_doi  # rarely needed

    works: list[WorkWithoutDOI] = []
    with suppress(ReadError):
        for work in works_without_doi(source):
            finding = Finding(work.location, "doi-found", "")
            if apply_ignores(report.ignores, [finding]).findings:
                works.append(work)
    return report._replace(without_doi=tuple(works))


def _searches(config: Config, source: Source) -> bool:
    """Return whether the DOIs of works in a file are searched for."""
    return not SEARCH_CODES.isdisjoint(config.codes_for(source.path))


def judge(
    report: FileReport,
    config: Config,
    answers: Answers | None = None,
    works: Mapping[str, Work] = NOTHING,
    results: Mapping[SourceLocation, Found] = NOTHING,
) -> FileReport:
    """Return the report on a file with all findings, in order, that are not ignored.

    1. To the findings of the text come those of the answers and of a search, as far as their codes are wanted.
    2. Comments in the file, the registry and the configuration take some away; a comment that takes none away
       is a finding.
    3. The findings on one DOI are joined: one that is not registered, its correction and its form.

    :param answers: what is known about the DOIs; None if the registry was not asked.
    :param works: what the DOIs name, by their keys, if it is compared.
    :param results: what a search found about works without a DOI, by the places of their entries.
    """
    found = list(report.findings)
    if answers is not None:
        found = _with_answers(report, config, answers, works)
    if results and report.without_doi:
        from doiuri_cli.rules._search import search_findings  # rarely needed

        found += search_findings(report.without_doi, results)
    codes = config.codes_for(report.path)
    wanted = [finding for finding in found if finding.code in codes]

    # Comments come first, so that one on advice that the registry refutes counts as used
    remaining = apply_ignores(report.ignores, wanted)
    left = remaining.findings
    if answers is not None:
        left = [finding for finding in left if not _is_refuted(finding, answers.statuses)]
    if report.ignores and answers is not None and "unused-ignore" in codes:
        is_checked = _checker(codes, report.mentions, answers.statuses, works)
        left += unused_ignores(report.ignores, remaining.used, is_checked, _USUAL)
    kept = [finding for finding in left if not config.ignores(finding)]

    joined = kept if answers is None else _joined_by_doi(kept, answers)
    ordered = sorted(joined, key=_order)
    # Of findings that repeat each other, the first in the file stays
    if not config.columns:  # with columns, an entry is a whole column, and each cell counts
        ordered = list(_once(ordered))
    if report.in_test_data:
        ordered = [finding._replace(in_test_data=True) for finding in ordered]
    return report._replace(findings=tuple(ordered), mentions=(), parts=(), ignores=())


def _joined_by_doi(findings: Iterable[Finding], answers: Answers) -> Iterable[Finding]:
    """Return the findings, with a single one for a DOI that is not registered: without its form, with its fix."""
    applicable = [_without_unused_fix(finding, answers.statuses) for finding in findings]
    corrected = list(_with_corrections(applicable, answers.meant))
    return _without_form_of_dead(corrected)


def _without_form_of_dead(findings: list[Finding]) -> Iterator[Finding]:
    """Yield the findings without those on how a dead DOI is written: it has to be replaced anyway."""

    def doi_on_line(finding: Finding) -> tuple[int | None, int, str | None]:
        return finding.location.cell, finding.location.line, finding.doi

    dead = {doi_on_line(finding) for finding in findings if finding.code == "not-found"}
    for finding in findings:
        if finding.code not in _FORMS or doi_on_line(finding) not in dead:
            yield finding


def _with_answers(
    report: FileReport, config: Config, answers: Answers, works: Mapping[str, Work]
) -> list[Finding]:
    """Return the findings on a file with those that the registry's answers show."""
    # Links without the "10/" that lead to short DOIs, and not to pages of the site
    known_short = [
        mention
        for mention in report.mentions
        if mention.may_be_page and answers.statuses.get(mention.key) == "found"
    ]
    findings = _with_short_dois(report.findings, known_short)
    for mention in report.mentions:
        if not mention.may_be_page:
            findings += _answered(mention, config, answers)
    if works and report.entries:
        from doiuri_cli.rules._works import work_findings  # rarely needed

        findings += work_findings(report.entries, works)
    return findings


def _with_short_dois(
    findings: Iterable[Finding], known_short: Iterable[LocatedMention]
) -> list[Finding]:
    """Return the findings, with ``short-doi`` for short DOIs that are registered.

    In a field, ``syntax`` makes way for it: the text is a DOI after all.
    """
    by_location = {mention.location: mention for mention in known_short}
    with_short: list[Finding] = []
    for finding in findings:
        if finding.code != "syntax" or finding.location not in by_location:
            with_short.append(finding)
    for location, mention in by_location.items():
        message = short_doi_message(Handle.from_name(mention.name or ""))
        with_short.append(Finding(location, "short-doi", message, mention.name))
    return with_short


def _is_refuted(finding: Finding, statuses: Mapping[str, str]) -> bool:
    """Return whether a finding is advice on the name of a DOI that exists, so that nothing is wrong with it.

    Advice on the spelling of a mention stays: it has a code that the name alone does not get.
    """
    if finding.doi is None or not finding.doi.startswith("10."):  # or a short DOI: 10/abc
        return False
    doi = DOI(finding.doi)
    if statuses.get(doi.key) != "found":
        return False
    return any(advice.code == finding.code for advice in advise(doi))


def _answered(mention: LocatedMention, config: Config, answers: Answers) -> Iterator[Finding]:
    """Yield what is wrong with a mention according to the answers about its DOI."""
    location = mention.location
    name = mention.name
    key = mention.key
    if mention.longer:  # "10.1000/no." may be the DOI if 10.1000/no is none
        names = {DOI(longer).key: longer for longer in mention.longer}
        key = whole_name(key, names, answers.statuses)
        name = names.get(key, name)
    if answers.statuses.get(key) == "not-found":
        message = f"{name} is not registered"
        if key in answers.meant:
            message += f"; did you mean {answers.meant[key]}?"
        yield Finding(location, "not-found", message, name)
    if key in answers.missing:
        import shlex  # rarely needed

        command = shlex.join(["doiuri", "lock", "--lock", config.lock or "", location.path])
        message = f"{name} is not in the lock file; run {command}"
        yield Finding(location, "lock-missing", message, name)


def _without_unused_fix(finding: Finding, statuses: Mapping[str, str]) -> Finding:
    """Return the finding without a fix that would correct a DOI that exists: it is never applied."""
    if not _corrects(finding) or finding.doi is None:
        return finding
    if statuses.get(DOI(finding.doi).key) != "found":
        return finding
    return finding._replace(fix=None)


def _corrects(finding: Finding) -> bool:
    """Return whether a finding has a fix that changes the DOI."""
    return finding.fix is not None and finding.fix.name is not None


def _with_corrections(findings: Sequence[Finding], meant: Mapping[str, str]) -> Iterator[Finding]:
    """Yield the findings, of which those on a DOI that is not registered and on its correction are joined.

    "10.1000/x. is not registered" and "the name ends in '.'" become one finding with the fix.

    :param meant: registered names that were probably meant, by the DOI's key.
    """
    corrections: dict[_Start, list[Finding]] = {}
    for finding in findings:
        if _corrects(finding):
            corrections.setdefault(_start(finding.location), []).append(finding)

    joined: dict[_Start, Finding] = {}
    for finding in findings:
        start = _start(finding.location)
        if finding.code == "not-found" and start in corrections:
            with_correction = _joined(finding, corrections[start], meant)
            if with_correction is not None:
                joined[start] = with_correction

    # The joined finding takes the place of both; what else begins there stays, such as lock-missing
    for finding in findings:
        start = _start(finding.location)
        if start not in joined:
            yield finding
        elif finding.code == "not-found":
            yield joined[start]
        elif not _corrects(finding):
            yield finding


def _joined(
    unregistered: Finding, corrections: Sequence[Finding], meant: Mapping[str, str]
) -> Finding | None:
    """Return the finding on a DOI that is not registered with its correction, or None if that is not certain.

    Of several corrections, only the registry can say which was meant.
    """
    confirmed = meant.get(Handle.from_name(unregistered.doi or "").key)
    if confirmed is not None:
        for correction in corrections:
            if correction.fix is not None and correction.fix.name == confirmed:
                return unregistered._replace(fix=correction.fix)
        return None  # the registry means a name that no correction has

    if len(corrections) != 1:
        return None
    (correction,) = corrections
    message = f"{unregistered.message}; {correction.message}"
    return unregistered._replace(message=message, fix=correction.fix)


def _checker(
    codes: Collection[str],
    mentions: Iterable[LocatedMention],
    statuses: Mapping[str, str],
    works: Mapping[str, Work],
) -> Callable[[Ignore, str], bool]:
    """Return a function that says whether a code was checked on the lines that a comment is for.

    A code was not checked if it is not wanted, or if it depends on the status or the work of a DOI there that is
    not known. A comment for it may then be needed.
    """
    undescribed: set[_CellAndLine] = set()  # where a DOI's work is not known
    unknown: set[_CellAndLine] = set()  # where a DOI's status is not known
    for mention in mentions:
        if not mention.key:
            continue
        location = mention.location
        lines = range(location.line, location.end_line + 1)
        areas: list[_CellAndLine] = [_WHOLE_FILE]
        areas += ((location.cell, line) for line in lines)
        if mention.key not in works:
            undescribed.update(areas)
        if statuses.get(mention.key, "unknown") == "unknown":
            unknown.update(areas)

    def is_checked(ignore: Ignore, code: str) -> bool:
        """Return whether findings of the code could have been found where the comment applies."""
        if code in SEARCH_CODES:
            return False  # the comment kept the work from being sent
        area = _WHOLE_FILE if ignore.target is None else ignore.area
        if code in WORK_CODES and area in undescribed:
            return False
        if code in _FROM_ANSWERS and area in unknown:
            return False
        return code in codes

    return is_checked


def _once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings, without those that repeat the code and the DOI of an earlier one in the same entry.

    A finding with a fix is no repetition: each field has to be fixed.
    """
    seen = set()
    for finding in findings:
        entry = finding.location.entry
        subject = (finding.code, entry, finding.doi)
        is_in_entry = bool(entry) and bool(finding.doi)
        is_repeated = is_in_entry and subject in seen and finding.fix is None
        if not is_repeated:
            yield finding
        seen.add(subject)


def _order(finding: Finding) -> tuple[_Start, str]:
    return _start(finding.location), finding.code


def _start(location: SourceLocation) -> _Start:
    """Return where a finding of a file starts: cell, line and column."""
    return location.cell or 0, location.line, location.column
