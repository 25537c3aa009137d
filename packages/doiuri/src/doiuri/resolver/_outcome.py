"""What became of one DOI of many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from doiuri._resolution_errors import DOINotFound, NoValues

if TYPE_CHECKING:
    from doiuri._doi import Handle
    from doiuri._resolution_errors import ResolutionError
    from doiuri.records._record import Record
    from doiuri.resolver._workers import Job
    from doiuri.resolver.stores._store import Entry

    Status = Literal["found", "not-found", "no-values", "unknown"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of ``doi``.

    ``status`` is ``"found"``, ``"not-found"`` (a definite no), ``"no-values"`` or ``"unknown"`` (throttled,
    offline, timed out, …), ``reason`` says why where it was not found. ``record`` is what it resolves to:
    for an alias the record at the end of the chain; None where only the existence was asked. ``agency`` is
    the registration agency, where that was asked. ``stale`` means that the answer comes from the store, that
    its time is over, and that the server did not give a new one.
    """

    doi: Handle
    status: Status
    record: Record | None = None
    reason: str = ""
    agency: str | None = None
    stale: bool = False

    @classmethod
    def of_error(cls, doi: Handle, error: ResolutionError) -> Outcome:
        """What an error says about ``doi``: a definite no, no values, or nothing."""
        status: Status = "unknown"
        if isinstance(error, DOINotFound):
            status = "not-found"
        elif isinstance(error, NoValues):
            status = "no-values"
        return cls(doi, status, reason=error.reason or error._default)


class Question:
    """One name that is being asked about."""

    __slots__ = ("doi", "fresh", "job", "outcome", "spare", "stale")

    def __init__(self, doi: Handle) -> None:
        self.doi = doi
        self.job: Job | None = None  # whose end is the question's, too
        self.outcome: Outcome | None = None
        self.spare: Outcome | None = None  # a stale one, for want of a better
        self.fresh: dict[str, Entry] = {}  # what there is to store
        self.stale = False

    def settled(self) -> bool:
        """Whether there is nothing more to wait for."""
        return self.outcome is not None or (self.job is not None and self.job.done)
