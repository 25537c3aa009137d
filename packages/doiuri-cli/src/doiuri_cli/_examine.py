"""One file: the DOIs in it, and the findings about them."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from doiuri_cli._mentions import mentions_in
from doiuri_cli.readers import Part, ReadError, parts_of, type_of
from doiuri_cli.rules import LOCK_CODES, RECORD_CODES, RULES, Finding, finding_at
from doiuri_cli.rules._finding import located
from doiuri_cli.rules._ignores import Ignore, apply_ignores, ignores_in, tag_of, unused_ignores
from doiuri_cli.rules._written import file_findings, part_findings, written_findings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from doiuri.records import Work

    from doiuri_cli._config import Config
    from doiuri_cli._mentions import Mention
    from doiuri_cli.files import Source
    from doiuri_cli.readers._bibliography import Entry, Lacking


# Folders of what tests read, or compare with; "sample" alone may be a package
_TEST_DATA = re.compile(
    r"/(?:_*(?:cassettes|fixtures)_*|tests?[-_]?data|processor-tests|[^/]*snapshot[^/]*"
    r"|tests?/(?:[^/]+/)*(?:data|inputs?|samples|sample[-_][^/]+))/",
    re.IGNORECASE,
)
_RECORDED_HTTP = re.compile(r"^(?:http_)?interactions:", re.MULTILINE)
NOTHING: Mapping[str, Any] = {}
"""What is known of no DOI."""

_FROM_ANSWERS = frozenset({"not-found", "lock-missing"})
"""The codes that depend on the answers about a file's DOIs."""

_USUAL = frozenset(RULES) - LOCK_CODES - RECORD_CODES


class FileReport(NamedTuple):
    """What a file mentions, and what is wrong in it.

    :ivar path: the file.
    :ivar names: the names of its DOIs, each once.
    :ivar findings: the findings, in order.
    :ivar problem: why it cannot be read; None if it can.
    :ivar skipped: why it was passed over; None if it was read.
    :ivar pending: whether its findings may change when the status of its DOIs is known, even if all exist.
    :ivar entries: the names of its entries' DOIs, if they are to be compared with the registry's metadata.
    :ivar lacking: its entries without a DOI, likewise.
    :ivar columns: the names of its columns, if only some are read.
    """

    path: str
    names: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    problem: str | None = None
    skipped: str | None = None
    pending: bool = False
    entries: tuple[str, ...] = ()
    lacking: tuple[Lacking, ...] = ()
    columns: tuple[str, ...] = ()


def examine(
    source: Source,
    config: Config,
    statuses: Mapping[str, str] | None = None,
    missing: Collection[str] = frozenset(),
    works: Mapping[str, Work] = NOTHING,
    meant: Mapping[str, str] = NOTHING,
) -> FileReport:
    """Return the report on a file.

    :param source: the file.
    :param config: the configuration.
    :param statuses: the status of each of its DOIs by its key; None if they are not known yet.
    :param missing: the keys of DOIs that are not in the lock file.
    :param works: the works that its entries name, by the DOI's key.
    :param meant: for DOIs that do not exist, the registered name that was probably meant, by key.
    :raises ReadError: if only some columns are read, and the file is not what its name says.
    """
    findings = []
    try:
        parts = list(parts_of(source))
    except ReadError as error:
        if config.columns:
            raise  # a plain text has no columns
        parts = [Part(source.text)]
        start = source.lines.offset(error.line, error.column) if error.line else 0
        message = f"read as plain text: {error.reason}"
        findings.append(finding_at(source, parts[0], (start, start), "unreadable", message))
    unreadable = bool(findings)
    codes = config.codes_for(source.path)
    findings = [one for one in findings if one.code in codes]
    names: dict[str, None] = {}
    mentions: list[Mention] = []
    for part in parts:
        inside = list(mentions_in(part))
        names |= dict.fromkeys(handle.name for mention in inside if (handle := mention.handle) is not None)
        mentions += inside
        found = [
            one
            for mention in inside
            for one in _about(source, mention, config, statuses or {}, missing, meant)
        ]
        found += part_findings(source, part, inside)
        findings += [one for one in found if one.code in codes and not _ignored(part, one)]
    fields = [mention for mention in mentions if mention.part.field]
    entries, lacking = _entries(source, config, codes, fields)
    if not config.columns:
        findings += [one for one in file_findings(source, fields) if one.code in codes]
    findings += [one for one in _about_entries(source, entries, works) if one.code in codes]
    ignores = _ignores(source, parts)
    pending = statuses is None and bool(ignores)
    kept, used = apply_ignores(ignores, findings)
    if ignores and not pending and "unused-ignore" in codes:
        is_checked = _checker(source, codes, mentions, statuses or {}, works)
        unused = unused_ignores(source.path, ignores, used, is_checked, _USUAL)
        kept += [located(source, parts, one) for one in unused]
    if any(one.fix for one in kept) and _is_test_data(source, config.folders):
        kept = [one._replace(fix=one.fix and one.fix._replace(safe=False)) for one in kept]
    kept = sorted((one for one in kept if not config.ignores(one)), key=_place)
    kept = kept if config.columns else list(_once(kept))
    if unreadable:  # a fix could not be proved
        kept = [one._replace(fix=None) for one in kept]
    columns = tuple({part.entry for part in parts if part.entry}) if config.columns else ()
    named = tuple(dict.fromkeys(entry.doi.name for entry in entries))
    report = FileReport(source.path, tuple(names), tuple(kept), pending=pending, columns=columns)
    return report._replace(entries=named, lacking=tuple(lacking))


def _is_test_data(source: Source, folders: Iterable[str]) -> bool:
    """Return whether a file holds test data, such as recorded HTTP, that has to stay as it is.

    What is above the searched folder does not count; for a file that was named, above the current folder.
    """
    path = PurePath(os.path.abspath(source.path))  # noqa: PTH100 - without ".."
    top = next((top for top in (*sorted(folders), os.getcwd()) if path.is_relative_to(top)), path.parent)  # noqa: PTH109
    if _TEST_DATA.search(f"/{path.relative_to(top).parent.as_posix()}/"):
        return True
    return type_of(source.path) == "yaml" and _RECORDED_HTTP.search(source.text) is not None


def _entries(
    source: Source, config: Config, codes: Collection[str], fields: Iterable[Mention]
) -> tuple[list[Entry], list[Lacking]]:
    """Return the entries to compare with the registry's metadata, and those without a DOI.

    There are none in a file that cannot be parsed. If only columns are read, each DOI in one is an entry;
    without ``--records``, only if the column has a kind.
    """
    if RECORD_CODES.isdisjoint(codes):
        return [], []
    from doiuri_cli.readers._bibliography import Entry, Lacking, entries  # may import bibtexparser: slow

    if config.columns:
        kinds = dict(config.columns)
        return [
            Entry(part.entry, doi, "", None, "", part.span(start, end), kinds[part.entry])
            for part, start, end, _, doi, _ in fields
            if doi is not None and (config.records or kinds[part.entry])
        ], []
    found: list[Entry] = []
    lacking: list[Lacking] = []
    with suppress(ReadError):
        for entry in entries(source):
            if isinstance(entry, Lacking):
                lacking.append(entry)
            else:
                found.append(entry)
    return found, lacking


def _about_entries(source: Source, entries: list[Entry], works: Mapping[str, Work]) -> Iterable[Finding]:
    if not (entries and works):
        return ()
    from doiuri_cli.rules._records import record_findings  # rarely needed

    return record_findings(source, entries, works)


def read_mentions(source: Source) -> list[Mention]:
    """Return all mentions in a file, in order.

    :raises ReadError: if the file is not what its name says.
    """
    mentions = (mention for part in parts_of(source) for mention in mentions_in(part))
    return sorted(mentions, key=lambda mention: mention.part.span(*mention.span))


def _checker(
    source: Source,
    codes: Collection[str],
    mentions: Iterable[Mention],
    statuses: Mapping[str, str],
    works: Mapping[str, Work],
) -> Callable[[Ignore, str], bool]:
    """Return a function that says whether a code was checked on the lines that a comment is for."""
    undescribed: set[tuple[int | None, int | None]] = set()
    unknown: set[tuple[int | None, int | None]] = set()
    for mention in mentions:
        if (handle := mention.handle) is None:
            continue
        lacking = [undescribed] if handle.key not in works else []
        lacking += [unknown] if statuses.get(handle.key, "unknown") == "unknown" else []
        if lacking:
            found = finding_at(source, mention.part, mention.span, "", "")
            areas = [(None, None), *((found.cell, line) for line in range(found.line, found.end_line + 1))]
            for lines in lacking:
                lines.update(areas)

    def is_checked(ignore: Ignore, code: str) -> bool:
        area = (None, None) if ignore.target is None else ignore.area
        if code in RECORD_CODES and area in undescribed:
            return False
        return code in codes and not (code in _FROM_ANSWERS and area in unknown)

    return is_checked


def _ignored(part: Part, finding: Finding) -> bool:
    """Return whether the part lets a finding be ignored; the tags of notebooks are among the ignores."""
    return part.cell is None and part.ignores(finding.code)


def _ignores(source: Source, parts: list[Part]) -> list[Ignore]:
    cells = {part.cell: part.cell_text or part.text for part in parts if part.cell is not None}
    if cells:
        tags = {part.cell: part.ignored for part in parts if part.cell is not None and part.ignored}
        found = [tag_of(cell, codes, cells[cell].partition("\n")[0]) for cell, codes in tags.items()]
        return found + [one for cell, text in cells.items() for one in ignores_in(source.path, text, cell)]
    return ignores_in(source.path, source.text)


def _about(
    source: Source,
    mention: Mention,
    config: Config,
    statuses: Mapping[str, str],
    missing: Collection[str],
    meant: Mapping[str, str],
) -> Iterator[Finding]:
    """Yield what is wrong with a mention: in its text, and according to the answers about its DOI."""
    yield from written_findings(source, mention, tex_escape=config.tex_escape)
    doi = mention.handle
    if doi is None:
        return
    at = partial(finding_at, source, mention.part, mention.span, doi=doi.name)
    if statuses.get(doi.key) == "not-found":
        hint = f"; did you mean {meant[doi.key]}?" if doi.key in meant else ""
        yield at("not-found", f"{doi.name} is not registered{hint}")
    if doi.key in missing:
        import shlex  # rarely needed

        command = shlex.join(["doiuri", "lock", "--lock", config.lock or "", source.path])
        yield at("lock-missing", f"{doi.name} is not in the lock file; run {command}")


def _once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings; of those on one DOI in several fields of an entry that have no fix, the first."""
    seen = set()
    for one in findings:
        about = one.code, one.entry, one.doi
        if about not in seen or one.fix is not None or not (one.entry and one.doi):
            yield one
        seen.add(about)


def _place(finding: Finding) -> tuple[int, int, int, str]:
    return finding.cell or 0, finding.line, finding.column, finding.code
