"""The check of all DOIs of a document: records as far as the budget reaches, and an answer for every DOI."""

from __future__ import annotations

import time
from math import inf
from typing import TYPE_CHECKING, Protocol

from doiuri.resolver._arguments import as_handles
from doiuri.resolver._entries import is_fresh
from doiuri.resolver._outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from doiuri._doi import Handle
    from doiuri.resolver._base import Progress
    from doiuri.resolver._records import Records


class Batches(Protocol):
    """What is needed of a Resolver."""

    @property
    def offline(self) -> bool:
        """Whether no requests are sent."""

    @property
    def rate(self) -> float | None:
        """Requests per second; None: no limit."""

    def resolve_many(
        self, dois: Iterable[Handle | str], *, budget: float | None, progress: Progress | None
    ) -> Iterator[Outcome]:
        """Yield one Outcome with the record of each DOI."""

    def verify(
        self, dois: Iterable[Handle | str], *, budget: float | None, progress: Progress | None
    ) -> Iterator[Outcome]:
        """Yield one Outcome for each DOI, with few requests."""


def check_records(
    batches: Batches,
    records: Records,
    dois: Iterable[Handle | str],
    deadline: float,
    progress: Progress | None,
) -> Iterator[Outcome]:
    """Yield one Outcome for each DOI, with its record if there is time.

    If there are more new names than the budget allows one by one, their existence is checked first, many in
    one request. Offline, a name without a stored record may have a stored answer about its existence.
    """
    items = list(dois)
    if batches.offline:
        yield from _with_stored_existence(batches, items, deadline, progress)
    elif _too_many(batches, records, items, deadline):
        yield from _existence_first(batches, items, deadline + records.client.load(), progress)
    else:
        yield from batches.resolve_many(items, budget=_left(deadline), progress=progress)


def _too_many(batches: Batches, records: Records, items: Sequence[Handle | str], deadline: float) -> bool:
    """Return whether there are more new names than requests that the rate limit allows until the deadline."""
    if batches.rate is None or deadline == inf:
        return False
    allowed = (deadline - time.monotonic()) * batches.rate
    if len(items) <= allowed:
        return False
    keys = list({records.key(doi) for doi in as_handles(items) if not isinstance(doi, Outcome)})
    now = time.time()
    known = sum(is_fresh(entry, now) for entry in records.read(keys).values())
    return len(keys) - known > allowed


def _existence_first(
    batches: Batches, items: Sequence[Handle | str], deadline: float, progress: Progress | None
) -> Iterator[Outcome]:
    existence = list(batches.verify(items, budget=_left(deadline), progress=progress))
    asked = [doi for doi, outcome in zip(items, existence, strict=True) if _may_have_record(outcome)]
    found = batches.resolve_many(asked, budget=_left(deadline), progress=_ignore)
    for outcome in existence:
        record = next(found) if _may_have_record(outcome) else outcome
        yield outcome if record.status == "unknown" else record


def _with_stored_existence(
    batches: Batches, items: Sequence[Handle | str], deadline: float, progress: Progress | None
) -> Iterator[Outcome]:
    found = list(batches.resolve_many(items, budget=_left(deadline), progress=progress))
    unknown = [doi for doi, outcome in zip(items, found, strict=True) if outcome.status == "unknown"]
    existence = batches.verify(unknown, budget=_left(deadline), progress=_ignore)
    for outcome in found:
        if outcome.status != "unknown":
            yield outcome
        else:
            exists = next(existence)
            yield exists if exists.status != "unknown" else outcome


def _may_have_record(outcome: Outcome) -> bool:
    return outcome.status in {"found", "unknown"}


def _left(deadline: float) -> float | None:
    return None if deadline == inf else max(deadline - time.monotonic(), 0.001)


def _ignore(_done: int, _total: int | None) -> None:
    """Report nothing: these names are counted already."""
