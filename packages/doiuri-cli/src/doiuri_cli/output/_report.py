"""What a run has found: the findings, and the figures of the summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypedDict

from doiuri_cli.rules import RULES, Finding, Severity

_NOTHING: Mapping[str, int] = {}


class Counts(NamedTuple):
    """The figures of a run.

    :ivar files: how many files were read.
    :ivar dois: how many different DOIs they mention.
    :ivar known: how many of these the lock file or the cache answers for.
    :ivar asked: how many the registry answered for.
    :ivar requests: how many requests that took.
    :ivar unknown: how many could not be checked, by cause, such as "doi.org: HTTP status 429".
    :ivar skipped: how many files were not read, by reason, such as "binary".
    :ivar errors: how many findings are errors.
    :ivar warnings: how many findings are warnings.
    :ivar fixable: how many findings have a safe fix.
    """

    files: int = 0
    dois: int = 0
    known: int = 0
    asked: int = 0
    requests: int = 0
    unknown: Mapping[str, int] = _NOTHING
    skipped: Mapping[str, int] = _NOTHING
    errors: int = 0
    warnings: int = 0
    fixable: int = 0


class Report(NamedTuple):
    """The findings of a run, in the order in which they are shown, and its figures."""

    findings: Sequence[Finding] = ()
    counts: Counts = Counts()


class FindingsCounts(TypedDict):
    """Figures of a run that follow from its findings."""

    errors: int
    warnings: int
    fixable: int


def findings_counts(findings: Sequence[Finding]) -> FindingsCounts:
    """Return the figures that follow from the findings, for ``Counts``."""
    errors = sum(severity_of(finding) == Severity.ERROR for finding in findings)
    fixable = sum(finding.fix is not None and finding.fix.safe for finding in findings)
    return {"errors": errors, "warnings": len(findings) - errors, "fixable": fixable}


def severity_of(finding: Finding) -> Severity:
    """Return how bad a finding is."""
    return RULES[finding.code].severity
