"""Names that are known to exist: which of them each partition has, by a join of keys."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import dask.bag as db
import dask.dataframe as dd
import pandas as pd
from dask.local import get_sync
from dask.optimization import cull
from doiuri.records import ascii_upper

from dask_doiuri._parse import items_in, rows_of, text_dtype

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from dask_doiuri._parse import Data

KEY, AGENCY, PART = "doi_key", "doi_agency", "doi_part"

ROWS = 1_000_000
"""Rows of a partition of a frame that is in memory."""


def find_known(
    data: Data, column: Hashable, known: dd.DataFrame | pd.DataFrame
) -> tuple[Data, Any]:
    """Return the data, and data whose partitions have the known keys of its partitions, with their agencies.

    The keys are joined, and what matches returns to its partition: so neither side needs to fit into the
    memory of one worker, and the rows that have the keys stay where they are.

    :raises TypeError: if ``known`` is not a frame.
    :raises ValueError: if it has no column with keys or DOIs.
    """
    dtype, count = text_dtype(), data.npartitions
    meta, known = _wanted([], [0], column, dtype), _keys(known, dtype)
    if isinstance(data, db.Bag):
        numbers = db.from_sequence(range(count), npartitions=count)
        wanted = data.map_partitions(_pairs, numbers, column).to_dataframe(meta=meta)
        # not "p2p": the graph of a bag is optimized, and then lacks the barrier that it needs
        return data, _sorted_back(wanted, count, known, "tasks").to_bag(format="tuple")
    keys, data = _read_twice(data)
    numbers = dd.from_pandas(pd.Series(range(count)), npartitions=count)
    wanted = keys.map_partitions(_wanted, numbers, column, dtype, meta=meta, align_dataframes=False)
    return data, _sorted_back(wanted, count, known)


def agencies_of(names: pd.DataFrame | Iterable[tuple[str, object]]) -> dict[str, str | None]:
    """Return the agencies by key; the first that is known, if a key has several."""
    pairs = names.itertuples(index=False) if isinstance(names, pd.DataFrame) else names
    found: dict[str, str | None] = {}
    for key, agency in pairs:
        found[key] = found.get(key) or (agency if isinstance(agency, str) else None)
    return found


def _sorted_back(
    wanted: dd.DataFrame, count: int, known: dd.DataFrame, shuffle: str | None = None
) -> dd.DataFrame:
    """Return those of the wanted keys that are known, in their partitions."""
    found = wanted.merge(known, on=KEY, how="inner", shuffle_method=shuffle)
    back = found.set_index(PART, divisions=[*range(count), count - 1], shuffle_method=shuffle)
    return back[[KEY, AGENCY]].reset_index(drop=True)


def _wanted(part: Any, numbers: Iterable[int], column: Hashable, dtype: Any) -> pd.DataFrame:
    pairs = pd.DataFrame(_pairs(part, numbers, column), columns=[KEY, PART])
    return pairs.astype({KEY: dtype, PART: "int64"})


def _pairs(part: Any, numbers: Iterable[int], column: Hashable) -> list[tuple[str, int]]:
    (number,) = numbers
    keys = {key for _, key, _ in rows_of(items_in(part, column)) if key is not None}
    return [(key, number) for key in keys]


def _keys(known: dd.DataFrame | pd.DataFrame, dtype: Any) -> dd.DataFrame:
    """Return the keys and agencies of the known names."""
    if isinstance(known, pd.DataFrame):
        known = dd.from_pandas(known, npartitions=max(1, len(known) // ROWS), sort=False)
    if not isinstance(known, dd.DataFrame):
        raise TypeError(f"known: expected a data frame, not {known!r:.80}")
    present = [*known.columns]
    column = next((name for name in (KEY, "doi") if name in present), None)
    if column is None:
        raise ValueError(
            f"known: there is no column {KEY} or doi; the columns are {', '.join(map(repr, present))}"
        )
    columns = [column, AGENCY] if AGENCY in present else [column]
    return known[columns].map_partitions(_read_keys, dtype, meta=_key_frame([], [], dtype))


def _read_keys(part: pd.DataFrame, dtype: Any) -> pd.DataFrame:
    names = items_in(part, part.columns[0])
    if part.columns[0] == KEY:
        keys = [None if name is None else ascii_upper(str(name)) for name in names]
    else:
        keys = [key for _, key, _ in rows_of(names)]
    agencies = items_in(part, AGENCY) if AGENCY in part.columns else [None] * len(part)
    return _key_frame(keys, agencies, dtype).dropna(subset=[KEY]).drop_duplicates()


def _key_frame(keys: Sequence[object], agencies: Sequence[object], dtype: Any) -> pd.DataFrame:
    return pd.DataFrame(
        {KEY: pd.array([*keys], dtype=dtype), AGENCY: pd.array([*agencies], dtype=dtype)}
    )


class _Partition:
    """The tasks that make a partition. Dask takes it for a value, so they run inside another task."""

    def __init__(self, graph: dict[Any, Any], key: Any) -> None:
        self._graph, self._key = graph, key

    def __dask_tokenize__(self) -> object:
        return type(self).__name__, self._key

    def read(self) -> Any:
        return get_sync(self._graph, self._key)


def _read_twice(frame: dd.DataFrame) -> tuple[dd.DataFrame, dd.DataFrame]:
    """Return the frame twice, with the same partitions, each of which is read once for either if possible.

    Optimized apart, the two could differ: Dask may read several small files as one.
    """
    frame = frame.optimize()
    options = {"meta": frame._meta, "divisions": frame.divisions if frame.known_divisions else None}
    found = _partitions(frame)
    if found is None:
        same = dd.from_delayed(frame.to_delayed(), **options, verify_meta=False)
        return same, same
    once, again = (
        dd.from_map(_Partition.read, found, **options, label=label) for label in ("once", "again")
    )
    return once, again


def _partitions(frame: dd.DataFrame) -> list[_Partition] | None:
    """Return the partitions; None if they share tasks, as after a shuffle, or are in a cluster's memory."""
    distributed = sys.modules.get("distributed")
    if distributed is not None and distributed.futures_of(frame):
        return None
    graph, found = dict(frame.__dask_graph__()), []
    left = len(graph)
    for key in frame.__dask_keys__():
        own, _ = cull(graph, [key])
        left -= len(own)
        if left < 0:
            return None
        found.append(_Partition(own, key))
    return found
