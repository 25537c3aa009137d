"""Names that are known to exist: which of them each partition has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dask.bag as db
import dask.dataframe as dd
import pandas as pd

from dask_doiuri._parse import columns_of
from dask_doiuri._partitions import items_in, text_dtype
from dask_doiuri._reading import items_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    Known = dd.DataFrame | dd.Series | pd.DataFrame | pd.Series

KEY, AGENCY, PART = "doi_key", "doi_agency", "doi_part"

ROWS = 1_000_000
"""Rows of a partition of a frame that is in memory."""


def known_in_bag(bag: db.Bag, column: Hashable, known: Known) -> db.Bag:
    """Return a bag whose partitions have the known keys of those of ``bag``, each with its agency or None."""
    dtype = text_dtype()
    numbers = db.from_sequence(range(bag.npartitions), npartitions=bag.npartitions)
    wanted = bag.map_partitions(_pairs, numbers, column).to_dataframe(meta=_part_frame([], 0, dtype))
    # not "p2p": the graph of a bag is optimized, and then lacks the barrier that it needs
    return _sorted_back(wanted, bag.npartitions, known, dtype, "tasks").to_bag(format="tuple")


def known_in_frame(frame: dd.DataFrame, column: Hashable, known: Known) -> dd.DataFrame:
    """Return a frame whose partitions have the known keys of those of ``frame``, and their agencies."""
    dtype = text_dtype()
    numbers = dd.from_map(_number, range(frame.npartitions), meta=_number(0))
    wanted = frame.map_partitions(
        _wanted, numbers, column, dtype, meta=_part_frame([], 0, dtype), align_dataframes=False
    )
    return _sorted_back(wanted, frame.npartitions, known, dtype)


def _sorted_back(
    wanted: dd.DataFrame, count: int, known: Known, dtype: Any, shuffle: str | None = None
) -> dd.DataFrame:
    """Return those of the wanted keys that are known, in their partitions.

    The keys are joined, and what matches returns to its partition: so neither side needs to fit into the
    memory of one worker, and the rows that have the keys stay where they are.
    """
    found = wanted.merge(_keys(known, dtype), on=KEY, how="inner", shuffle_method=shuffle)
    back = found.set_index(PART, divisions=[*range(count), count - 1], shuffle_method=shuffle)
    return back[[KEY, AGENCY]].reset_index(drop=True)


def _pairs(part: Iterable[object], numbers: Iterable[int], column: Hashable) -> list[tuple[str, int]]:
    (number,) = numbers
    return [(key, number) for key in _distinct(items_of(part), column)]


def _wanted(part: pd.DataFrame, numbers: pd.DataFrame, column: Hashable, dtype: Any) -> pd.DataFrame:
    return _part_frame(_distinct(part, column), int(numbers[PART].iloc[0]), dtype)


def _distinct(part: Iterable[object], column: Hashable) -> list[str]:
    return list({key for key in columns_of(items_in(part, column))[KEY] if key is not None})


def _number(number: int) -> pd.DataFrame:
    return pd.DataFrame({PART: [number]})


def _part_frame(keys: Sequence[str], number: int, dtype: Any) -> pd.DataFrame:
    return pd.DataFrame(
        {KEY: pd.array(keys, dtype=dtype), PART: pd.array([number] * len(keys), dtype="int64")}
    )


def agencies_of(pairs: Iterable[tuple[str, object]]) -> dict[str, str | None]:
    """Return the agencies by key; the first that is known, if a key has several."""
    found: dict[str, str | None] = {}
    for key, agency in pairs:
        found[key] = found.get(key) or (agency if isinstance(agency, str) else None)
    return found


def _keys(known: Known, dtype: Any) -> dd.DataFrame:
    """Return the keys and agencies of the known names.

    :raises TypeError: if ``known`` is neither a frame nor a series.
    :raises ValueError: if it has no column with keys or DOIs.
    """
    if isinstance(known, (pd.DataFrame, pd.Series)):
        known = dd.from_pandas(known, npartitions=max(1, len(known) // ROWS), sort=False)
    if isinstance(known, dd.Series):
        known = known.to_frame(name=KEY if known.name == KEY else "doi")
    if not isinstance(known, dd.DataFrame):
        raise TypeError(f"known: expected a data frame or a series, not {known!r:.80}")
    present = [*known.columns]
    column = next((name for name in (KEY, "doi") if name in present), None)
    if column is None:
        raise ValueError(
            f"known: there is no column {KEY} or doi; the columns are {', '.join(map(repr, present))}"
        )
    columns = [column, AGENCY] if AGENCY in present else [column]
    return known[columns].map_partitions(_read_keys, dtype, meta=_key_frame([], [], dtype))


def _read_keys(part: pd.DataFrame, dtype: Any) -> pd.DataFrame:
    keys: Sequence[Any] = items_in(part, part.columns[0])
    if part.columns[0] != KEY:
        keys = columns_of(keys)[KEY]
    agencies = items_in(part, AGENCY) if AGENCY in part.columns else [None] * len(part)
    return _key_frame(keys, agencies, dtype).dropna(subset=[KEY]).drop_duplicates()


def _key_frame(keys: Sequence[object], agencies: Sequence[object], dtype: Any) -> pd.DataFrame:
    return pd.DataFrame({KEY: pd.array([*keys], dtype=dtype), AGENCY: pd.array([*agencies], dtype=dtype)})
