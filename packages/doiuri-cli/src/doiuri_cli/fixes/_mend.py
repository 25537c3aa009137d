"""Fix one file: round after round, until nothing is left to fix."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doiuri import DOI, DOISyntaxError

from doiuri_cli._examine import examine
from doiuri_cli.fixes._apply import apply, compatible
from doiuri_cli.fixes._prove import ProofError, prove

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from doiuri_cli._config import Config
    from doiuri_cli._examine import FileReport
    from doiuri_cli.files import Source
    from doiuri_cli.rules import Finding, Fix

_MOST_ROUNDS = 10  # a fix makes way for another one a few times at most


class Mended(NamedTuple):
    """A file after its fixes.

    :ivar source: the file with the fixes; as it was if one of them could not be proved.
    :ivar applied: the number of fixes.
    :ivar report: the report on what is left.
    :ivar problem: why the fixes are not applied; None if they are.
    """

    source: Source
    applied: int
    report: FileReport
    problem: str | None = None


class Answers:
    """What the registry says about the names that unsafe fixes replace, and about those they write.

    :param ask: returns the status of each name, by its DOI's key; None if unsafe fixes are not wanted.
    """

    def __init__(self, ask: Callable[[Sequence[str]], Mapping[str, str]] | None) -> None:
        self._ask = ask
        self._statuses: dict[str, str] = {}

    def look_up(self, findings: Iterable[Finding]) -> None:
        """Ask about the names of all unsafe fixes, together."""
        if self._ask is None:
            return
        names = [name for finding in findings for name in _names(finding)]
        new = [name for name in dict.fromkeys(names) if DOI(name).key not in self._statuses]
        if new:
            self._statuses.update(dict.fromkeys((DOI(name).key for name in new), "unknown"))
            self._statuses.update(self._ask(new))

    def allow(self, finding: Finding) -> bool:
        """Return whether to apply a finding's fix.

        A safe one always; any other only if the old name is definitely not registered and the new one is.
        """
        fix = finding.fix
        if fix is None or fix.safe:
            return fix is not None
        if self._ask is None or fix.name is None:
            return False
        old = _key(finding.doi)
        missing = old is None or self._statuses.get(old) == "not-found"
        return missing and self._statuses.get(DOI(fix.name).key) == "found"


def _names(finding: Finding) -> list[str]:
    fix = finding.fix
    if fix is None or fix.safe or fix.name is None:
        return []
    return [fix.name] if finding.doi is None or _key(finding.doi) is None else [finding.doi, fix.name]


def _key(name: str | None) -> str | None:
    try:
        return None if name is None else DOI(name).key
    except DOISyntaxError:
        return None


def mend(source: Source, config: Config, statuses: Mapping[str, str] | None, answers: Answers) -> Mended:
    """Return a file with its fixes.

    :param source: the file.
    :param config: the configuration.
    :param statuses: the status of each DOI by its key, for the report.
    :param answers: decides about unsafe fixes.
    """
    first = report = examine(source, config, statuses)
    fixed, count = source, 0
    for _ in range(_MOST_ROUNDS):
        answers.look_up(report.findings)
        fixes = compatible(_fixes(report, answers))
        if not fixes:
            break
        try:
            fixed = prove(fixed, apply(fixed.text, fixes), fixes)
        except ProofError as error:
            return Mended(source, 0, first, f"not fixed: {error}")
        count += len(fixes)
        report = examine(fixed, config, statuses)
    return Mended(fixed, count, report)


def _fixes(report: FileReport, answers: Answers) -> list[Fix]:
    return [finding.fix for finding in report.findings if finding.fix is not None and answers.allow(finding)]
