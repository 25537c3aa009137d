"""One file: the DOIs in it, and the findings about them."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from doiuri import DOI

from doiuri_cli._mentions import mentions_in
from doiuri_cli.readers import Part, ReadError, parts_of, reads_columns, type_of
from doiuri_cli.rules import (
    LOCK_CODES,
    RECORD_CODES,
    RULES,
    Finding,
    Place,
    finding_at,
    place_in_file,
)
from doiuri_cli.rules._ignores import apply_ignores, ignores_in, tag_of, unused_ignores
from doiuri_cli.rules._written import file_findings, part_findings, written_findings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from doiuri.works import Work

    from doiuri_cli._config import Config
    from doiuri_cli._mentions import Mention
    from doiuri_cli.files import Source
    from doiuri_cli.readers._bibliography import CitedWork, Lacking
    from doiuri_cli.registry import Answers
    from doiuri_cli.rules._ignores import Ignore

# Folders of what tests read, or compare with; "sample" alone may be a package
_TEST_DATA = re.compile(
    r"""/(?:
        _*(?:cassettes|fixtures)_* | [^/]*snapshot[^/]*                       # by what tools of tests write,
      | tests?[-_]?data | processor-tests                                     # by name,
      | tests?/(?:[^/]+/)*(?:data|inputs?|samples|sample[-_][^/]+)            # or below a folder of tests
    )/""",
    re.IGNORECASE | re.VERBOSE,
)
_RECORDED_HTTP = re.compile(r"^(?:http_)?interactions:", re.MULTILINE)
NOTHING: Mapping[str, Any] = {}  # what is known of no DOI
_FROM_ANSWERS = frozenset({"not-found", "lock-missing"})
"""The codes that depend on the answers about a file's DOIs."""

_USUAL = frozenset(RULES) - LOCK_CODES - RECORD_CODES


class FileReport(NamedTuple):
    """What a file mentions, and what is wrong in it."""

    path: str  # the file
    names: tuple[str, ...] = ()  # the names of its DOIs, each once
    findings: tuple[Finding, ...] = ()  # the findings; in order once they are judged
    problem: str | None = None  # why it cannot be read; None if it can
    skipped: str | None = None  # why it was passed over; None if it was read
    note: str | None = None  # why it was read as plain text; None if it is what its name says
    places: tuple[Place, ...] = ()  # its mentions
    parts: tuple[tuple[object, ...], ...] = ()  # what each of its parts is, for the proof of a fix
    ignores: tuple[Ignore, ...] = ()  # the comments that let findings be ignored
    # its entries to compare with the registry's metadata, each with its place
    entries: tuple[tuple[CitedWork, Finding], ...] = ()
    lacking: tuple[Lacking, ...] = ()  # its entries without a DOI, likewise
    columns: tuple[str, ...] = ()  # the names of its columns, if only some are read


def read_parts(source: Source) -> tuple[list[Part], ReadError | None]:
    """Return the parts of a file, and why it was read as plain text if it is not what its name says.

    :raises ReadError: if only some columns are read: a plain text has none.
    """
    try:
        return list(parts_of(source)), None
    except ReadError as error:
        if reads_columns():
            raise
        return [Part(source.text)], error


def examine(source: Source, config: Config) -> FileReport:
    """Return what a file mentions and what its text shows, without what only the registry knows.

    :raises ReadError: if only some columns are read, and the file is not what its name says.
    """
    parts, error = read_parts(source)
    note = f"read as plain text: {error.reason}" if error else None
    codes = config.codes_for(source.path)
    findings: list[Finding] = []
    places: list[Place] = []
    if error is not None and note is not None:
        start = source.lines.offset(error.line, error.column) if error.line else 0
        findings.append(finding_at(source, parts[0], (start, start), "unreadable", note))
    ignores = tuple(_ignores(source, parts))
    columns = tuple({part.entry for part in parts if part.entry}) if config.columns else ()
    kinds: list[tuple[object, ...]] = []
    parts.reverse()
    while parts:  # of a large file, parts, mentions and places would not all fit into memory
        part = parts.pop()
        kinds.append((part.syntax, part.cell, part.entry, part.field, part.ignored))
        mentions = list(mentions_in(part))
        places += (place_of(source, mention) for mention in mentions)
        flaws = [*part_findings(part, mentions)]
        for mention in mentions:
            flaws += written_findings(source.path, mention, tex_escape=config.tex_escape)
        shown = (one for one in flaws if not _is_ignored(one.code, _ignored(part)))
        findings += (finding_at(source, part, *one) for one in shown)
    fields = [place for place in places if place.field]
    entries, lacking = _entries(source, config, codes, fields)
    if not config.columns:
        findings += file_findings(source.path, fields)
    findings = [one for one in findings if one.code in codes]
    if note:  # a fix could not be proved
        findings = [one._replace(fix=None) for one in findings]
    if any(one.fix for one in findings) and _is_test_data(source, config.folders):
        findings = [one._replace(fix=one.fix and one.fix._replace(safe=False)) for one in findings]
    return FileReport(
        source.path,
        tuple(dict.fromkeys(place.at.doi for place in places if place.at.doi is not None)),
        tuple(findings),
        note=note,
        places=tuple(places),
        parts=tuple(kinds),
        ignores=ignores,
        entries=tuple(entries),
        lacking=tuple(lacking),
        columns=columns,
    )


def place_of(source: Source, mention: Mention) -> Place:
    """Return what is needed of a mention once its file was read."""
    part, handle = mention.part, mention.handle
    name, key = (handle.name, handle.key) if handle else (None, "")
    text = name if name == mention.text else mention.text  # one object takes less memory
    at = finding_at(source, part, mention.span, "", text or "", doi=name)
    key = name if name == key else key
    return Place(at, key, *part.span(*mention.span), part.field, _ignored(part))


def _ignored(part: Part) -> frozenset[str]:
    """Return the codes that are ignored in a part; the tags of a notebook's cell are among the comments."""
    return part.ignored if part.cell is None else frozenset()


def _is_ignored(code: str, ignored: frozenset[str]) -> bool:
    return not ignored.isdisjoint({"*", code})


def judge(
    report: FileReport,
    config: Config,
    answers: Answers | None = None,
    works: Mapping[str, Work] = NOTHING,
) -> FileReport:
    """Return the report on a file with all findings, in order, that are not ignored.

    :param answers: what is known about the DOIs; None: nothing, as nobody was asked.
    """
    codes = config.codes_for(report.path)
    findings = [*report.findings]
    if answers is not None:
        more = [
            one
            for place in report.places
            for one in _answered(place, config, answers)
            if not _is_ignored(one.code, place.ignored)
        ]
        if works and report.entries:
            from doiuri_cli.rules._records import record_findings  # rarely needed

            more += record_findings(report.entries, works)
        findings += (one for one in more if one.code in codes)
    kept, used = apply_ignores(report.ignores, findings)
    if report.ignores and answers is not None and "unused-ignore" in codes:
        is_checked = _checker(codes, report.places, answers.statuses, works)
        kept += unused_ignores(report.ignores, used, is_checked, _USUAL)
    kept = sorted((one for one in kept if not config.ignores(one)), key=_order)
    kept = kept if config.columns else list(_once(kept))
    return report._replace(findings=tuple(kept), places=(), parts=(), ignores=())


def _answered(place: Place, config: Config, answers: Answers) -> Iterator[Finding]:
    """Yield what is wrong with a mention according to the answers about its DOI."""
    at, key = place.at, place.key
    if answers.statuses.get(key) == "not-found":
        hint = f"; did you mean {answers.meant[key]}?" if key in answers.meant else ""
        yield at._replace(code="not-found", message=f"{at.doi} is not registered{hint}")
    if key in answers.missing:
        import shlex  # rarely needed

        command = shlex.join(["doiuri", "lock", "--lock", config.lock or "", at.path])
        yield at._replace(
            code="lock-missing", message=f"{at.doi} is not in the lock file; run {command}"
        )


def _is_test_data(source: Source, folders: Iterable[str]) -> bool:
    """Return whether a file holds test data, such as recorded HTTP, that has to stay as it is.

    What is above the searched folder does not count; for a file that was named, above the current folder.
    """
    path = PurePath(os.path.abspath(source.path))  # noqa: PTH100 - without ".."
    tops = [*sorted(folders), os.getcwd()]  # noqa: PTH109 - as the folders, a str
    top = next((top for top in tops if path.is_relative_to(top)), path.parent)
    if _TEST_DATA.search(f"/{path.relative_to(top).parent.as_posix()}/"):
        return True
    return type_of(source.path) == "yaml" and _RECORDED_HTTP.search(source.text) is not None


def _entries(
    source: Source, config: Config, codes: Collection[str], fields: Iterable[Place]
) -> tuple[list[tuple[CitedWork, Finding]], list[Lacking]]:
    """Return the entries to compare with the registry's metadata, and those without a DOI.

    There are none in a file that cannot be parsed. If only columns are read, each DOI in one is an entry.
    """
    if RECORD_CODES.isdisjoint(codes):
        return [], []
    from doiuri_cli.readers._bibliography import CitedWork, Lacking, entries  # rarely needed

    if config.columns:
        return [
            (CitedWork(at.entry or "", DOI(at.doi), "", None, "", (start, end)), at)
            for at, key, start, end, _, _ in fields
            if at.doi and not key.startswith("10/")
        ], []
    found: list[tuple[CitedWork, Finding]] = []
    lacking: list[Lacking] = []
    with suppress(ReadError):
        for entry in entries(source):
            if isinstance(entry, Lacking):
                lacking.append(entry)
            else:
                part = Part(source.text, entry=entry.key)
                found.append(
                    (entry, finding_at(source, part, entry.span, "", "", doi=entry.doi.name))
                )
    return found, lacking


def _checker(
    codes: Collection[str],
    places: Iterable[Place],
    statuses: Mapping[str, str],
    works: Mapping[str, Work],
) -> Callable[[Ignore, str], bool]:
    """Return a function that says whether a code was checked on the lines that a comment is for."""
    undescribed: set[tuple[int | None, int | None]] = set()
    unknown: set[tuple[int | None, int | None]] = set()
    for place in places:
        if not place.key:
            continue
        lines = range(place.at.line, place.at.end_line + 1)
        areas = [(None, None), *((place.at.cell, line) for line in lines)]
        if place.key not in works:
            undescribed.update(areas)
        if statuses.get(place.key, "unknown") == "unknown":
            unknown.update(areas)

    def is_checked(ignore: Ignore, code: str) -> bool:
        area = (None, None) if ignore.target is None else ignore.area
        if code in RECORD_CODES and area in undescribed:
            return False
        return code in codes and not (code in _FROM_ANSWERS and area in unknown)

    return is_checked


def _ignores(source: Source, parts: list[Part]) -> list[Ignore]:
    cells = {part.cell: part.cell_text or part.text for part in parts if part.cell is not None}
    if not cells:
        return ignores_in(source.path, source.text)
    tags = {part.cell: part.ignored for part in parts if part.cell is not None and part.ignored}
    found = [
        tag_of(source.path, cell, codes, cells[cell].partition("\n")[0])
        for cell, codes in tags.items()
    ]
    found += (one for cell, text in cells.items() for one in ignores_in(source.path, text, cell))
    return [
        one._replace(at=one.at._replace(in_file=place_in_file(source, parts, one.at)))
        for one in found
    ]


def _once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings; of those on one DOI in several fields of an entry that have no fix, the first."""
    seen = set()
    for one in findings:
        about = one.code, one.entry, one.doi
        if about not in seen or one.fix is not None or not (one.entry and one.doi):
            yield one
        seen.add(about)


def _order(finding: Finding) -> tuple[int, int, int, str]:
    return finding.cell or 0, finding.line, finding.column, finding.code
