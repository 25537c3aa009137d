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

    :ivar source: the file with the fixes.
    :ivar applied: the number of fixes.
    :ivar report: the report on what is left.
    :ivar refused: why a fix was left out; None if none was.
    """

    source: Source
    applied: int
    report: FileReport
    refused: str | None = None


class FixPolicy:
    """Decides which fixes to apply: unsafe ones by what the registry says about the old and the new name.

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

    def allows(self, finding: Finding) -> bool:
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


def mend(source: Source, config: Config, statuses: Mapping[str, str] | None, policy: FixPolicy) -> Mended:
    """Return a file with its fixes, as far as they can be proved.

    :param source: the file.
    :param config: the configuration.
    :param statuses: the status of each DOI by its key, for the report.
    :param policy: decides about unsafe fixes.
    """
    report = examine(source, config, statuses)
    count = 0
    for _ in range(_MOST_ROUNDS):
        policy.look_up(report.findings)
        allowed = [one.fix for one in report.findings if one.fix is not None and policy.allows(one)]
        proofs = _Proofs(source)
        fixes = proofs.proved(compatible(allowed))
        if not fixes:
            return Mended(source, count, _without(report, proofs.refused), proofs.reason)
        source = prove(source, apply(source.text, fixes), fixes)
        count += len(fixes)
        report = examine(source, config, statuses)
    return Mended(source, count, report)


class _Proofs:
    """Finds the fixes of a file that can be proved.

    :ivar refused: those that cannot.
    :ivar reason: why the last one of them cannot.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self.refused: list[Fix] = []
        self.reason: str | None = None

    def proved(self, fixes: Sequence[Fix]) -> Sequence[Fix]:
        """Return the fixes that can be proved together."""
        if not fixes or self._is_proved(fixes):
            return fixes
        if len(fixes) == 1:
            self.refused += fixes
            return []
        middle = len(fixes) // 2
        first, second = self.proved(fixes[:middle]), self.proved(fixes[middle:])
        both = [*first, *second]
        return both if not (first and second) or self._is_proved(both) else first

    def _is_proved(self, fixes: Sequence[Fix]) -> bool:
        try:
            prove(self._source, apply(self._source.text, fixes), fixes)
        except ProofError as error:
            self.reason = str(error)
            return False
        return True


def _without(report: FileReport, refused: Sequence[Fix]) -> FileReport:
    """Return the report without the fixes that were refused."""
    if not refused:
        return report
    findings = (one._replace(fix=None) if one.fix in refused else one for one in report.findings)
    return report._replace(findings=tuple(findings))
