"""The answers about the DOIs of one partition, on a worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri import Handle
from doiuri.plugins.survey import deadline_in, time_left
from doiuri.records import ascii_upper

from dask_doiuri._parse import read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from doiuri.resolver import Outcome

    from dask_doiuri._settings import VerifySettings

VERIFIED = ("doi_name", "doi_status", "doi_agency", "doi_reason")

AT_ONCE = 2_000
"""Names after which a process looks again how many others share the rate."""


def answers(
    items: Iterable[object], settings: VerifySettings, known: Mapping[str, str | None]
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
    outcomes = check([handle for _, handle in new], settings)
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


def check(dois: Sequence[Handle], settings: VerifySettings) -> Iterator[Outcome]:
    deadline = deadline_in(settings.budget)
    for start in range(0, len(dois), AT_ONCE):
        with settings.resolver() as resolver:
            part = dois[start : start + AT_ONCE]
            yield from resolver.verify(part, budget=time_left(deadline))
