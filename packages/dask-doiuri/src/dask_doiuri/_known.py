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

KEY = "doi_key"
AGENCY = "doi_agency"
PART = "doi_part"

ROWS = 1_000_000
"""The rows of a partition, if the frame is one of pandas."""


def find_known(
    data: Data, column: Hashable, known: dd.DataFrame | pd.DataFrame
) -> tuple[Data, Any]:
    """Return the data, and a collection that has for each of its partitions the known keys and their agencies.

    1. The keys in each partition are collected, each with the number of its partition (the wanted keys).
    2. They are joined with the known keys: neither side needs to fit into the memory of one worker.
    3. Each match goes to the partition with its number. The rows themselves are not moved.

    :raises TypeError: if ``known`` is not a frame.
    :raises ValueError: if it has no column with keys or DOIs.
    """
    dtype = text_dtype()
    count = data.npartitions
    known_keys = _known_keys(known, dtype)
    # An example without rows, of which Dask takes the types. The [0] is a partition's number; any one will do.
    meta = _wanted([], [0], column, dtype)
    if isinstance(data, db.Bag):
        numbers = db.from_sequence(range(count), npartitions=count)
        wanted = data.map_partitions(_numbered_keys, numbers, column).to_dataframe(meta=meta)
        # not "p2p": the graph of a bag is optimized, and then lacks the barrier that it needs
        matches = _joined(wanted, count, known_keys, "tasks")
        return data, matches.to_bag(format="tuple")

    for_keys, for_rows = _read_twice(data)
    numbers = dd.from_pandas(pd.Series(range(count)), npartitions=count)
    wanted = for_keys.map_partitions(
        _wanted, numbers, column, dtype, meta=meta, align_dataframes=False
    )
    return for_rows, _joined(wanted, count, known_keys)


def agencies_of(names: pd.DataFrame | Iterable[tuple[str, object]]) -> dict[str, str | None]:
    """Return the agencies by key; if a key has several, the first one."""
    pairs = names.itertuples(index=False) if isinstance(names, pd.DataFrame) else names
    agencies: dict[str, str | None] = {}
    for key, agency in pairs:
        stated = agency if isinstance(agency, str) else None  # not pandas' NA
        agencies[key] = agencies.get(key) or stated
    return agencies


def _joined(
    wanted: dd.DataFrame, count: int, known_keys: dd.DataFrame, shuffle: str | None = None
) -> dd.DataFrame:
    """Return the wanted keys that are known, with their agencies, each in the partition whose number it has.

    :param count: the number of partitions.
    :param shuffle: Dask's method of shuffling; None for its default.
    """
    matches = wanted.merge(known_keys, on=KEY, how="inner", shuffle_method=shuffle)
    divisions = [*range(count), count - 1]  # the rows of a number form the partition of that number
    sorted_back = matches.set_index(PART, divisions=divisions, shuffle_method=shuffle)
    return sorted_back[[KEY, AGENCY]].reset_index(drop=True)


def _wanted(part: Any, numbers: Iterable[int], column: Hashable, dtype: Any) -> pd.DataFrame:
    """Return the keys in a partition of a frame, each with the number of the partition."""
    pairs = pd.DataFrame(_numbered_keys(part, numbers, column), columns=[KEY, PART])
    return pairs.astype({KEY: dtype, PART: "int64"})


def _numbered_keys(part: Any, numbers: Iterable[int], column: Hashable) -> list[tuple[str, int]]:
    """Return the keys in a partition, each with the number of the partition.

    :param numbers: a partition with nothing but that number.
    """
    (number,) = numbers
    rows = rows_of(items_in(part, column))
    keys = {key for _, key, _ in rows if key is not None}
    return [(key, number) for key in keys]


def _known_keys(known: dd.DataFrame | pd.DataFrame, dtype: Any) -> dd.DataFrame:
    """Return the keys and agencies of the known names. Raises TypeError and ValueError as ``find_known`` does."""
    if isinstance(known, pd.DataFrame):
        known = dd.from_pandas(known, npartitions=max(1, len(known) // ROWS), sort=False)
    if not isinstance(known, dd.DataFrame):
        raise TypeError(f"known: expected a data frame, not {known!r:.80}")
    present = list(known.columns)
    if KEY in present:
        columns = [KEY]
    elif "doi" in present:
        columns = ["doi"]
    else:
        names = ", ".join(map(repr, present))
        raise ValueError(f"known: there is no column {KEY} or doi; the columns are {names}")
    if AGENCY in present:
        columns.append(AGENCY)
    return known[columns].map_partitions(_read_keys, dtype, meta=_key_frame([], [], dtype))


def _read_keys(part: pd.DataFrame, dtype: Any) -> pd.DataFrame:
    """Return the keys and agencies in a partition whose first column has keys or DOIs."""
    column = part.columns[0]
    names = items_in(part, column)
    if column == KEY:
        keys = [_key(name) for name in names]
    else:
        keys = [key for _, key, _ in rows_of(names)]
    agencies = items_in(part, AGENCY) if AGENCY in part.columns else [None] * len(part)
    return _key_frame(keys, agencies, dtype).dropna(subset=[KEY]).drop_duplicates()


def _key(name: object) -> str | None:
    """Return a key in the case of ``parse``, which need not have made the column; None for a missing one."""
    if name is None:
        return None
    return ascii_upper(str(name))


def _key_frame(keys: Sequence[object], agencies: Sequence[object], dtype: Any) -> pd.DataFrame:
    """Return a frame of keys and agencies."""
    columns = {
        KEY: pd.array(list(keys), dtype=dtype),
        AGENCY: pd.array(list(agencies), dtype=dtype),
    }
    return pd.DataFrame(columns)


class _Partition:
    """The tasks that make a partition, for another task to run: Dask takes this for a value."""

    def __init__(self, graph: dict[Any, Any], key: Any) -> None:
        self._graph = graph
        self._key = key

    def __dask_tokenize__(self) -> object:
        return type(self).__name__, self._key

    def read(self) -> Any:
        return get_sync(self._graph, self._key)


def _read_twice(frame: dd.DataFrame) -> tuple[dd.DataFrame, dd.DataFrame]:
    """Return the frame twice. If possible, the two are read one after the other, so that nothing is kept.

    Otherwise they are one frame, whose partitions Dask keeps until both uses have them.
    """
    # Both have the same partitions only if Dask optimizes neither of them alone: it might read several small
    # files as one partition in one of them only.
    frame = frame.optimize()
    divisions = frame.divisions if frame.known_divisions else None
    options = {"meta": frame._meta, "divisions": divisions}
    partitions = _partitions(frame)
    if partitions is None:
        same = dd.from_delayed(frame.to_delayed(), **options, verify_meta=False)
        return same, same
    once = dd.from_map(_Partition.read, partitions, **options, label="once")
    again = dd.from_map(_Partition.read, partitions, **options, label="again")
    return once, again


def _partitions(frame: dd.DataFrame) -> list[_Partition] | None:
    """Return the partitions; None if they share tasks, as after a shuffle, or are in a cluster's memory."""
    distributed = sys.modules.get("distributed")
    if distributed is not None and distributed.futures_of(frame):
        return None
    graph = dict(frame.__dask_graph__())
    partitions = []
    tasks = 0
    for key in frame.__dask_keys__():
        needed, _ = cull(graph, [key])
        tasks += len(needed)
        if tasks > len(graph):  # a task is needed twice
            return None
        partitions.append(_Partition(needed, key))
    return partitions
