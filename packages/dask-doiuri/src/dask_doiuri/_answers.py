"""The answers about the DOIs of one partition, on a worker."""

from __future__ import annotations

import time
from math import inf
from typing import TYPE_CHECKING

from doiuri import Handle
from doiuri.rest import ascii_upper

from dask_doiuri._parse import read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from doiuri.resolver import Outcome

    from dask_doiuri._settings import Asking

VERIFIED = ("doi_name", "doi_status", "doi_agency", "doi_reason")

AT_ONCE = 2_000
"""Names after which a process looks again how many others share the rate."""


def answers(
    items: Iterable[object], asking: Asking, known: Mapping[str, str | None]
) -> dict[str, list[str | None]]:
    """Return the new columns for some DOIs; each name is asked for once.

    :param known: keys of names that exist, each with its agency.
    """
    found = [read(item) for item in items]
    handles: dict[str, Handle] = {}
    for one in found:
        if isinstance(one, Handle):
            handles.setdefault(ascii_upper(one.name), one)
    rows: dict[str, tuple[str, str | None, str | None]] = {
        key: ("found", known[key], None) for key in handles if key in known
    }
    new = [(key, handle) for key, handle in handles.items() if key not in rows]
    outcomes = ask([handle for _, handle in new], asking)
    for (key, _), outcome in zip(new, outcomes, strict=True):
        rows[key] = (outcome.status, outcome.agency, outcome.reason or None)
    del handles, new
    columns: tuple[list[str | None], ...] = ([], [], [], [])
    for one in found:
        row = (
            (None, "invalid", None, one) if isinstance(one, str) else (one.name, *rows[ascii_upper(one.name)])
        )
        for column, value in zip(columns, row, strict=True):
            column.append(value)
    return dict(zip(VERIFIED, columns, strict=True))


def ask(dois: Sequence[Handle], asking: Asking) -> Iterator[Outcome]:
    """Yield one Outcome for each DOI."""
    deadline = inf if asking.budget is None else time.monotonic() + asking.budget
    step = AT_ONCE if asking.is_divided else max(len(dois), 1)
    for start in range(0, len(dois), step):
        left = None if deadline == inf else max(deadline - time.monotonic(), 0.001)
        with asking.resolver() as resolver:
            yield from resolver.check(dois[start : start + step], asking.resolve, budget=left)
