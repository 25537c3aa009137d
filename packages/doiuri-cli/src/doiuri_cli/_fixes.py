"""Fix files in rounds until nothing is left to fix; each fix is proved before a file is replaced."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from doiuri import DOI

from doiuri_cli._examine import FileReport, examine, judge
from doiuri_cli._run import attempt
from doiuri_cli.files import Source, replace_file
from doiuri_cli.readers import type_of
from doiuri_cli.readers._yaml import outline
from doiuri_cli.rules import Fix

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from doiuri_cli._config import Config
    from doiuri_cli._mentions import LocatedMention
    from doiuri_cli._run import InputFile
    from doiuri_cli.files import SourceLocation
    from doiuri_cli.registry import Answers
    from doiuri_cli.rules import Finding

    Prove = Callable[["Version", Sequence[Fix], Config], "Version"]

_MOST_ROUNDS = 10  # a fix makes way for another one a few times at most


class ProofError(ValueError):
    """The fixes change more than they should."""


class Version(NamedTuple):
    """The text of a file before or after fixes, and what was found in it."""

    source: Source
    report: FileReport


class Fixed(NamedTuple):
    """A file that was fixed, or could be."""

    first: FileReport  # what was found in it
    # what is left; its ``problem`` says why the file was not read or not written
    report: FileReport
    before: Source | None = None  # the file as it was; None if nothing changes
    after: Source | None = None  # the file with its fixes, likewise
    applied: int = 0  # the number of fixes
    refused: str | None = None  # why a fix was left out; None if none was
    links: int = 1  # how many names the file had


class FixPolicy:
    """Decides which fixes to apply: unsafe ones by what the registry says about the old and the new name.

    :param ask: returns the status of each name, by its DOI's key; None if unsafe fixes are not wanted.
    """

    def __init__(self, ask: Callable[[Sequence[str]], Mapping[str, str]] | None = None) -> None:
        self._ask = ask
        self._statuses: dict[str, str] = {}

    def look_up(self, findings: Iterable[Finding]) -> None:
        """Ask about the names of all unsafe fixes, together."""
        if self._ask is None:
            return
        new: list[str] = []
        for finding in findings:
            for name in _names_to_compare(finding):
                key = DOI(name).key
                if key not in self._statuses:
                    self._statuses[key] = "unknown"
                    new.append(name)
        if new:
            self._statuses.update(self._ask(new))

    def allows(self, finding: Finding) -> bool:
        """Return whether to apply a finding's fix.

        A safe one always; one that changes a name only if the old name is definitely not registered and the
        new one is.
        """
        fix = finding.fix
        if fix is None:
            return False
        if fix.safe:
            return True
        if self._ask is None:
            return False
        if fix.name is None:
            return True
        is_missing = finding.doi is None or self._status(finding.doi) == "not-found"
        return is_missing and self._status(fix.name) == "found"

    def _status(self, name: str) -> str | None:
        return self._statuses.get(DOI(name).key)


def _names_to_compare(finding: Finding) -> list[str]:
    """Return the names on whose status an unsafe fix depends: the old one, if it is valid, and the new one."""
    fix = finding.fix
    if fix is None or fix.safe or fix.name is None:
        return []
    if finding.doi is None:
        return [fix.name]
    return [finding.doi, fix.name]


def fix_content(
    config: Config,
    answers: Answers | None,
    policy: FixPolicy,
    searched: Mapping[str, Sequence[Finding]],
    file: InputFile,
) -> Fixed | FileReport:
    """Return a file with its fixes, or a report that says why it cannot be read; no file is changed.

    :param answers: what is known about the DOIs; None if the registry was not asked.
    :param searched: what a search found about the works in each file, by its path.
    """
    found = searched.get(file.path, ())
    return attempt(file, lambda source: mend(source, config, answers, policy, found))


def write_fixes(fixed: Fixed) -> Fixed:
    """Write a file with its fixes, if it has any, and return what became of it."""
    before = fixed.before
    after = fixed.after
    if before is None or after is None:
        return fixed
    path = before.path
    try:
        links = os.stat(path).st_nlink  # noqa: PTH116
        replace_file(path, after.to_bytes(after.text), before.to_bytes(before.text))
    except OSError as error:
        return _not_written(fixed, error.strerror or str(error))
    except ValueError as error:
        return _not_written(fixed, str(error))
    return fixed._replace(links=links)


def _not_written(fixed: Fixed, reason: str) -> Fixed:
    return Fixed(fixed.first, fixed.first._replace(problem=f"not fixed: {reason}"))


def mend(
    source: Source,
    config: Config,
    answers: Answers | None,
    policy: FixPolicy,
    found: Sequence[Finding] = (),
) -> Fixed:
    """Return a file with its fixes, as far as they can be proved.

    :param found: what a search found about the works in the file.
    """
    version = Version(source, examine(source, config))
    first = report = judge(version.report, config, answers)
    first = first._replace(findings=(*first.findings, *found))
    count = 0
    left = found
    if found:
        version, left, count = _with_dois(version, config, found, policy)
        report = judge(version.report, config, answers)
    for number_of_round in range(_MOST_ROUNDS):
        allowed = _allowed(report.findings, policy)
        refused: dict[Fix, str] = {}
        fixes, proven = _proved(version, compatible(allowed), config, refused)
        if number_of_round == 0:
            first = _without_fixes(first, refused)
        if not fixes:
            break
        version = proven
        count += len(fixes)
        report = judge(version.report, config, answers)
    report = _without_fixes(report, refused)
    report = report._replace(findings=(*report.findings, *left))
    reason = next(reversed(refused.values()), None)
    fixed = Fixed(first, report, applied=count, refused=reason)
    if count:  # copies, without the lines that were counted: another process has no use for them
        fixed = fixed._replace(before=replace(source), after=replace(version.source))
    return fixed


def _with_dois(
    version: Version, config: Config, found: Sequence[Finding], policy: FixPolicy
) -> tuple[Version, Sequence[Finding], int]:
    """Return the file with the DOIs that a search found, the findings that are left, and the number of DOIs."""
    refused: dict[Fix, str] = {}
    allowed = compatible(_allowed(found, policy))
    fixes, proven = _proved(version, allowed, config, refused, prove=prove_dois)

    left = []
    for finding in found:
        if finding.fix in refused:
            left.append(finding._replace(fix=None))
        elif finding.fix not in fixes:
            left.append(finding)
    written = {finding.location for finding in found if finding.fix in fixes}
    return proven, _moved(left, version.source, proven.source, written), len(fixes)


def _moved(
    findings: Sequence[Finding], before: Source, after: Source, written: Collection[SourceLocation]
) -> Sequence[Finding]:
    """Return the findings where their entries are after DOIs were written.

    :param written: where the entries that got one were.
    """
    from doiuri_cli.readers._without_doi import works_without_doi  # rarely needed

    old = (work.location for work in works_without_doi(before))
    left = [location for location in old if location not in written]
    new = [work.location for work in works_without_doi(after)]
    places = dict(zip(left, new, strict=True))
    return [finding._replace(location=places[finding.location]) for finding in findings]


def _allowed(findings: Sequence[Finding], policy: FixPolicy) -> list[Fix]:
    """Return the fixes that may be applied."""
    policy.look_up(findings)
    fixes = []
    for finding in findings:
        if finding.fix is not None and policy.allows(finding):
            fixes.append(finding.fix)
    return fixes


def _without_fixes(report: FileReport, refused: Collection[Fix]) -> FileReport:
    """Return the report on a file without the fixes that are refused: nothing is promised about them."""
    findings = []
    for finding in report.findings:
        if finding.fix in refused:
            findings.append(finding._replace(fix=None))
        else:
            findings.append(finding)
    return report._replace(findings=tuple(findings))


def _proved(
    version: Version,
    fixes: Sequence[Fix],
    config: Config,
    refused: dict[Fix, str],
    kept: Sequence[Fix] = (),
    proven: Version | None = None,
    *,
    prove: Prove | None = None,
) -> tuple[Sequence[Fix], Version]:
    """Return ``kept`` and each fix that can be proved with those before it, and the file with them.

    :param refused: a dictionary to which each other fix is added, with the reason.
    :param kept: fixes that are already proved together.
    :param proven: the file with these; None if there are none.
    :param prove: proves fixes; by default, those of DOIs that are in the file.
    """
    prove = prove or prove_corrections
    proven = proven or version
    if not fixes:
        return kept, proven

    together = [*kept, *fixes]
    try:
        return together, prove(version, together, config)
    except ProofError as error:
        if len(fixes) == 1:
            refused[fixes[0]] = str(error)
            return kept, proven

    # Half of them at a time: one by one would take quadratic time
    middle = len(fixes) // 2
    kept, proven = _proved(version, fixes[:middle], config, refused, kept, proven, prove=prove)
    return _proved(version, fixes[middle:], config, refused, kept, proven, prove=prove)


def compatible(fixes: Iterable[Fix]) -> list[Fix]:
    """Return the fixes that do not overlap or touch, in order: of two that do, the first."""
    chosen: list[Fix] = []
    for fix in sorted(fixes, key=attrgetter("start", "end")):
        if not chosen or fix.start > chosen[-1].end:
            chosen.append(fix)
    return chosen


def apply(text: str, fixes: Sequence[Fix]) -> str:
    """Return the text with fixes, which are in order and do not overlap."""
    parts: list[str] = []
    position = 0
    for fix in fixes:
        parts += text[position : fix.start], fix.replacement
        position = fix.end
    return "".join([*parts, text[position:]])


def prove_corrections(version: Version, fixes: Sequence[Fix], config: Config) -> Version:
    """Return the file with the fixes, read again: the same DOIs are in it in the same order.

    :raises ProofError: if the encoding cannot represent the text, or if the reader reads other parts or other
        DOIs, or in another order.
    """
    fixed = _applied(version.source, fixes)
    report = _examine_again(version, fixed, config)
    if report.parts != version.report.parts or _outline(fixed) != _outline(version.source):
        raise ProofError("the fixed text has other parts")

    expected = _expected(version.report.mentions, fixes)
    names = [mention.name for mention in report.mentions]
    if expected != names:
        raise ProofError(f"the fixed text would mention other DOIs{_difference(expected, names)}")
    return Version(fixed, report)


def prove_dois(version: Version, fixes: Sequence[Fix], config: Config) -> Version:
    """Return the file with DOIs for works without one, read again: it says the same as before, and these DOIs.

    :raises ProofError: if the encoding cannot represent the text, or if the reader reads anything else.
    """
    from doiuri_cli.readers._without_doi import adds_only  # rarely needed

    names = [fix.name for fix in fixes if fix.name is not None]
    fixed = _applied(version.source, fixes)
    report = _examine_again(version, fixed, config)
    if not adds_only(names, version.source, fixed):
        raise ProofError("the fixed text would say something else")

    before = Counter(mention.name for mention in version.report.mentions)
    added = Counter(mention.name for mention in report.mentions) - before
    if added != Counter(names):
        raise ProofError(f"the fixed text would mention other DOIs{_difference(names, [*added])}")
    return Version(fixed, report)


def _applied(source: Source, fixes: Sequence[Fix]) -> Source:
    text = apply(source.text, fixes)
    try:
        fixed = Source.from_bytes(source.path, source.to_bytes(text))
    except UnicodeError:
        raise ProofError(
            f"the encoding {source.encoding} cannot represent the fixed text"
        ) from None
    if fixed.text != text:
        raise ProofError("the fixed text would be read in another encoding")
    return fixed


def _examine_again(version: Version, fixed: Source, config: Config) -> FileReport:
    try:
        report = examine(fixed, config)
    except Exception as error:  # noqa: BLE001 - readers may be others'
        raise ProofError(
            f"the fixed text could not be read: {type(error).__name__}: {error}"
        ) from None
    if report.note != version.report.note:
        raise ProofError(f"the fixed text could not be read: {report.note}")
    return report


def _difference(expected: Sequence[str | None], names: Sequence[str | None]) -> str:
    """Return the first difference in words; "" if one is only longer than the other."""
    for wanted, name in zip(expected, names, strict=False):
        if wanted != name:
            return f": {name or 'none'} instead of {wanted or 'none'}"
    return ""


def _outline(source: Source) -> list[tuple[object, ...]]:
    """Return the keys of a YAML file and its values without a DOI; of other types, a parser keeps them apart."""
    return outline(source.text) if type_of(source.path) == "yaml" else []


def _expected(mentions: Sequence[LocatedMention], fixes: Sequence[Fix]) -> list[str | None]:
    """Return the names that the fixed text must have: the old ones, except those that a fix changes on purpose."""
    names = [mention.name for mention in mentions]
    for fix in fixes:
        if fix.name is None:
            continue
        for number, mention in enumerate(mentions):
            if mention.start <= fix.end and fix.start <= mention.end:
                names[number] = fix.name
                break
    return names
