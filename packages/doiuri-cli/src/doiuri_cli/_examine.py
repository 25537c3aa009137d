"""One file: the DOIs in it, and the findings about them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from doiuri_cli._mentions import mentions_in
from doiuri_cli.readers import ReadError, parts_of
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
    from doiuri_cli.readers import Part
    from doiuri_cli.readers._bibliography import Entry

    Status = str

NOTHING: Mapping[str, Work] = {}
"""No works."""

_FROM_ANSWERS = frozenset({"not-found", "lock-missing"})
"""The codes that depend on the answers about a file's DOIs."""

_USUAL = frozenset(RULES) - LOCK_CODES - RECORD_CODES


class FileReport(NamedTuple):
    """What a file mentions, and what is wrong in it.

    :ivar path: the file.
    :ivar names: the names of its DOIs, each once.
    :ivar findings: the findings, in order.
    :ivar mentions: the number of mentions.
    :ivar problem: why it cannot be read; None if it can.
    :ivar skipped: why it was passed over; None if it was read.
    :ivar pending: whether its findings may change when the status of its DOIs is known, even if all exist.
    :ivar entries: the names of its entries' DOIs, if they are to be compared with the registry's metadata.
    """

    path: str
    names: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    mentions: int = 0
    problem: str | None = None
    skipped: str | None = None
    pending: bool = False
    entries: tuple[str, ...] = ()


def examine(
    source: Source,
    config: Config,
    statuses: Mapping[str, Status] | None = None,
    missing: Collection[str] = frozenset(),
    works: Mapping[str, Work] = NOTHING,
) -> FileReport:
    """Return the report on a file.

    :param source: the file.
    :param config: the configuration.
    :param statuses: the status of each of its DOIs by its key; None if they are not known yet.
    :param missing: the keys of DOIs that are not in the lock file.
    :param works: the works that its entries name, by the DOI's key.
    """
    try:
        mentions, parts = read_mentions(source)
    except ReadError as error:
        return FileReport(source.path, problem=str(error))
    codes = config.codes_for(source.path)
    findings = []
    for part, inside in parts:
        found = [
            one for mention in inside for one in _about(source, mention, config, statuses or {}, missing)
        ]
        found += part_findings(source, part, inside)
        findings += [one for one in found if one.code in codes and not _ignored(part, one)]
    findings += [one for one in file_findings(source, mentions) if one.code in codes]
    entries = _entries(source, codes)
    findings += [one for one in _about_entries(source, entries, works) if one.code in codes]
    ignores = _ignores(source, parts)
    pending = statuses is None and bool(ignores)
    kept, used = apply_ignores(ignores, findings)
    if ignores and not pending and "unused-ignore" in codes:
        is_checked = _checker(source, codes, mentions, statuses or {}, works)
        unused = unused_ignores(source.path, ignores, used, is_checked, _USUAL)
        kept += [located(source, (part for part, _ in parts), one) for one in unused]
    kept = sorted((one for one in kept if not config.ignores(one)), key=_place)
    names = dict.fromkeys(mention.doi.name for mention in mentions if mention.doi is not None)
    named = tuple(dict.fromkeys(entry.doi.name for entry in entries))
    return FileReport(source.path, tuple(names), tuple(kept), len(mentions), pending=pending, entries=named)


def _entries(source: Source, codes: Collection[str]) -> list[Entry]:
    """Return the entries to compare with the registry's metadata; none in a file that cannot be parsed."""
    if RECORD_CODES.isdisjoint(codes):
        return []
    from doiuri_cli.readers._bibliography import entries  # may import bibtexparser, which is slow

    try:
        return list(entries(source))
    except ReadError:
        return []


def _about_entries(source: Source, entries: list[Entry], works: Mapping[str, Work]) -> Iterable[Finding]:
    if not (entries and works):
        return ()
    from doiuri_cli.rules._records import record_findings  # rarely needed

    return record_findings(source, entries, works)


def read_mentions(source: Source) -> tuple[list[Mention], list[tuple[Part, list[Mention]]]]:
    """Return all mentions in a file, and the parts of the file, each with those in it.

    :raises ReadError: if the file is not what its name says.
    """
    parts = [(part, [*mentions_in(part)]) for part in parts_of(source)]
    return [mention for _, inside in parts for mention in inside], parts


def _checker(
    source: Source,
    codes: Collection[str],
    mentions: list[Mention],
    statuses: Mapping[str, Status],
    works: Mapping[str, Work],
) -> Callable[[Ignore, str], bool]:
    """Return a function that says whether a code was checked on the lines that a comment is for."""
    undescribed: set[tuple[int | None, int | None]] = set()
    unknown: set[tuple[int | None, int | None]] = set()
    for mention in mentions:
        if mention.doi is None:
            continue
        lacking = [undescribed] if mention.doi.key not in works else []
        lacking += [unknown] if statuses.get(mention.doi.key, "unknown") == "unknown" else []
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


def _ignores(source: Source, parts: list[tuple[Part, list[Mention]]]) -> list[Ignore]:
    cells = {part.cell: part.cell_text or part.text for part, _ in parts if part.cell is not None}
    if cells:
        tags = {part.cell: part.ignored for part, _ in parts if part.cell is not None and part.ignored}
        found = [tag_of(cell, codes, cells[cell].partition("\n")[0]) for cell, codes in tags.items()]
        return found + [one for cell, text in cells.items() for one in ignores_in(source.path, text, cell)]
    return ignores_in(source.path, source.text)


def _about(
    source: Source,
    mention: Mention,
    config: Config,
    statuses: Mapping[str, Status],
    missing: Collection[str],
) -> Iterator[Finding]:
    """Yield what is wrong with a mention: in its text, and according to the answers about its DOI."""
    yield from written_findings(source, mention, tex_escape=config.tex_escape)
    doi = mention.doi
    if doi is None:
        return
    at = partial(finding_at, source, mention.part, mention.span, doi=doi.name)
    if statuses.get(doi.key) == "not-found":
        yield at("not-found", f"{doi.name} is not registered")
    if doi.key in missing:
        yield at("lock-missing", f"{doi.name} is not in the lock file; run doiuri lock to add it")


def _place(finding: Finding) -> tuple[int, int, int, str]:
    return finding.cell or 0, finding.line, finding.column, finding.code
