"""Partitions that are read again when they are needed again, so that they need not stay in memory."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import dask.bag as db
import dask.dataframe as dd
from dask.base import optimize
from dask.local import get_sync
from dask.optimization import cull

if TYPE_CHECKING:
    from collections.abc import Iterable


class Partition:
    """The tasks that make a partition. Dask takes it for a value, so they run inside another task."""

    def __init__(self, graph: dict[Any, Any], key: Any) -> None:
        self._graph = graph
        self._key = key

    def __dask_tokenize__(self) -> object:
        return type(self).__name__, self._key

    def read(self) -> Any:
        return get_sync(self._graph, self._key)


def read_twice(frame: dd.DataFrame) -> tuple[dd.DataFrame, dd.DataFrame]:
    """Return the frame twice, with the same partitions, each of which is read once for either if possible.

    Optimized apart, the two could differ: Dask may read several small files as one.
    """
    frame = frame.optimize()
    meta, divisions = frame._meta, frame.divisions if frame.known_divisions else None
    found = _partitions(frame)
    if found is None:
        same = dd.from_delayed(frame.to_delayed(), meta=meta, divisions=divisions, verify_meta=False)
        return same, same
    once, again = (
        dd.from_map(Partition.read, found, meta=meta, divisions=divisions, label=label)
        for label in ("read", "read-again")
    )
    return once, again


def read_each_time(bag: db.Bag) -> db.Bag:
    """Return a bag of the Partitions of a bag if possible, or else the bag; see ``items_of``."""
    (bag,) = optimize(bag)
    found = _partitions(bag)
    return bag if found is None else db.from_sequence(found, npartitions=len(found))


def items_of(part: Iterable[object]) -> list[object]:
    """Return the items of a partition of a bag, or of a bag of Partitions."""
    items = list(part)
    if len(items) == 1 and isinstance(items[0], Partition):
        return list(items[0].read())
    return items


def _partitions(data: db.Bag | dd.DataFrame) -> list[Partition] | None:
    """Return the partitions; None if they share tasks, as after a shuffle, or are in a cluster's memory."""
    distributed = sys.modules.get("distributed")
    if distributed is not None and distributed.futures_of(data):
        return None
    graph, found = dict(data.__dask_graph__()), []
    left = len(graph)
    for key in data.__dask_keys__():
        own, _ = cull(graph, [key])
        left -= len(own)
        if left < 0:
            return None
        found.append(Partition(own, key))
    return found
