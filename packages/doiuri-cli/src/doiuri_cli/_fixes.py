"""Fix files in rounds until nothing is left to fix; each fix is proved before a file is replaced.

``FixPolicy`` decides which fixes to apply, ``mend`` applies those to the text of a file that the file, read again,
proves, and ``write_fixes`` replaces the file.
"""

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
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from doiuri_cli._config import Config
    from doiuri_cli._mentions import LocatedMention
    from doiuri_cli._run import InputFile
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
        """Ask about the names of all unsafe fixes, together; about none twice."""
        if self._ask is None:
            return
        new: list[str] = []
        for finding in findings:
            for name in _names_to_compare(finding):
                key = DOI(name).key
                if key not in self._statuses:
                    self._statuses[key] = "unknown"  # if there is no answer
                    new.append(name)
        if new:
            self._statuses.update(self._ask(new))

    def allows(self, finding: Finding) -> bool:
        """Return whether to apply a finding's fix.

        A safe one always; an unsafe one if they are wanted, and one that changes a name only if the old name is
        definitely not registered, or none, and the new one is registered.
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
    :param searched: the findings of a search about the works in each file, by its path.
    """
    of_search = searched.get(file.path, ())
    return attempt(file, lambda source: mend(source, config, answers, policy, of_search))


def write_fixes(fixed: Fixed) -> Fixed:
    """Write a file with its fixes, if it has any, and return what became of it."""
    before = fixed.before
    after = fixed.after
    if before is None or after is None:
        return fixed
    path = before.path
    try:
        # Before the file is replaced: the new one has a single name
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
    of_search: Sequence[Finding] = (),
) -> Fixed:
    """Return a file with its fixes, as far as they can be proved.

    1. The file is read, and judged.
    2. The DOIs that a search found are written into their entries.
    3. In rounds, the fixes that the policy allows are applied, and the result is judged: a fix may make way for
       another one. They end when no fix is left that can be proved.
    4. What is left is reported, without the fixes that cannot be proved.

    :param of_search: the findings of a search about the works in the file.
    """
    original = Version(source, examine(source, config))
    with_dois = _proved(original, _allowed(of_search, policy), config, prove_dois)
    rounds = list(_rounds(with_dois.version, config, answers, policy))
    last = rounds[-1]

    # The first round judges the original, unless DOIs were written before
    found = rounds[0].report
    if with_dois.fixes:
        found = judge(original.report, config, answers)

    # Only the fixes of the first round are among the first findings, and those of the last among what is left
    first = [*_without_fixes(found.findings, rounds[0].proved.refused), *of_search]
    left = [
        *_without_fixes(last.report.findings, last.proved.refused),
        *_left_of_search(of_search, source, with_dois),
    ]

    applied = len(with_dois.fixes) + sum(len(each.proved.fixes) for each in rounds)
    fixed = Fixed(
        found._replace(findings=tuple(first)),
        last.report._replace(findings=tuple(left)),
        applied=applied,
        refused=next(reversed(last.proved.refused.values()), None),
    )
    if not applied:
        return fixed
    # Copies, without the lines that were counted: another process has no use for them
    return fixed._replace(before=replace(source), after=replace(last.proved.version.source))


class _Round(NamedTuple):
    """The findings about a version of a file, and which of their fixes can be proved."""

    report: FileReport
    proved: _Proved


def _rounds(
    version: Version, config: Config, answers: Answers | None, policy: FixPolicy
) -> Iterator[_Round]:
    """Judge and fix a file again and again; yield each round. In the last one, no fix can be proved."""
    for _ in range(_MOST_ROUNDS):
        report = judge(version.report, config, answers)
        proved = _proved(version, _allowed(report.findings, policy), config, prove_corrections)
        yield _Round(report, proved)
        if not proved.fixes:
            return
        version = proved.version
    # Whatever is left by now is reported only
    yield _Round(judge(version.report, config, answers), _Proved(version, (), {}))


def _left_of_search(
    findings: Sequence[Finding], before: Source, with_dois: _Proved
) -> list[Finding]:
    """Return the findings of a search whose DOI was not written, each where its entry is by now."""
    if not findings:
        return []
    from doiuri_cli.readers._without_doi import works_without_doi  # rarely needed

    # The works that still have no DOI are in the same order as before, so that the old places match the new ones
    written = {finding.location for finding in findings if finding.fix in with_dois.fixes}
    all_old = (work.location for work in works_without_doi(before))
    old = [location for location in all_old if location not in written]
    new = [work.location for work in works_without_doi(with_dois.version.source)]
    places = dict(zip(old, new, strict=True))

    left = []
    for finding in _without_fixes(findings, with_dois.refused):
        if finding.fix not in with_dois.fixes:
            left.append(finding._replace(location=places[finding.location]))
    return left


def _allowed(findings: Sequence[Finding], policy: FixPolicy) -> list[Fix]:
    """Return the fixes that the policy allows and that can be applied together."""
    policy.look_up(findings)
    fixes = []
    for finding in findings:
        if finding.fix is not None and policy.allows(finding):
            fixes.append(finding.fix)
    return compatible(fixes)


def _without_fixes(findings: Iterable[Finding], refused: Collection[Fix]) -> Iterator[Finding]:
    """Yield findings without the fixes that are refused: nothing is promised about them."""
    for finding in findings:
        yield finding._replace(fix=None) if finding.fix in refused else finding


class _Proved(NamedTuple):
    """Which of some fixes can be proved together."""

    version: Version  # the file with them
    fixes: Sequence[Fix]  # these fixes
    refused: dict[Fix, str]  # the other ones, each with the reason


def _proved(version: Version, fixes: Sequence[Fix], config: Config, prove: Prove) -> _Proved:
    """Return the file with each fix that can be proved with those before it.

    They are tried together, and if that fails by halves: one by one would take quadratic time.
    """
    result = _Proved(version, (), {})
    waiting = [fixes]  # the last is tried next
    while waiting:
        tried = waiting.pop()
        if not tried:
            continue
        together = [*result.fixes, *tried]
        try:
            proved = prove(version, together, config)
        except ProofError as error:
            if len(tried) == 1:
                result.refused[tried[0]] = str(error)
                continue
            middle = len(tried) // 2
            waiting += tried[middle:], tried[:middle]
        else:
            result = result._replace(version=proved, fixes=together)
    return result


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
    """Return the file with the fixes, read again: it mentions the DOIs that it should, in the same order.

    They are those of before, except where a fix changes one on purpose.

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
    """Return the file with the fixes.

    :raises ProofError: if its encoding cannot represent the text, or would not be recognized any more.
    """
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
    """Return what the fixed file mentions and shows.

    :raises ProofError: if it cannot be read, or is not read as the version before it was.
    """
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
    """Return the first difference in words, such as ": 10.1000/2 instead of 10.1000/1".

    It is "" if one is only longer than the other.
    """
    for wanted, name in zip(expected, names, strict=False):
        if wanted != name:
            return f": {name or 'none'} instead of {wanted or 'none'}"
    return ""


def _outline(source: Source) -> list[tuple[object, ...]]:
    """Return the keys of a YAML file and its values without a DOI; of other types, a parser keeps them apart."""
    return outline(source.text) if type_of(source.path) == "yaml" else []


def _expected(mentions: Sequence[LocatedMention], fixes: Sequence[Fix]) -> list[str | None]:
    """Return the names that the fixed text must mention, in order.

    They are the old ones, but a fix that changes a DOI has a name: it replaces that of the mention it touches.
    """
    names = [mention.name for mention in mentions]
    for fix in fixes:
        if fix.name is None:
            continue
        for number, mention in enumerate(mentions):
            if mention.start <= fix.end and fix.start <= mention.end:
                names[number] = fix.name
                break
    return names
