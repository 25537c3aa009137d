"""What a run found, and how many files, DOIs and requests it took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from doiuri_cli.rules import Finding


@dataclass(frozen=True, slots=True)
class Counts:
    """The figures of a run.

    :ivar files: the files that were read.
    :ivar dois: the distinct DOIs in them.
    :ivar known: those with an answer in the lock file or the cache.
    :ivar asked: those that the resolver was asked for.
    :ivar requests: the requests that this took.
    :ivar unknown: the DOIs that could not be checked, by reason.
    :ivar skipped: the files that were passed over, by reason.
    :ivar errors: the findings that are errors.
    :ivar warnings: the findings that are warnings.
    :ivar fixable: the findings that ``doiuri fix`` can fix without options.
    """

    files: int = 0
    dois: int = 0
    known: int = 0
    asked: int = 0
    requests: int = 0
    unknown: Mapping[str, int] = field(default_factory=dict)
    skipped: Mapping[str, int] = field(default_factory=dict)
    errors: int = 0
    warnings: int = 0
    fixable: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """What a run found.

    :ivar findings: the findings, by file and place.
    :ivar counts: the figures.
    """

    findings: Sequence[Finding]
    counts: Counts
