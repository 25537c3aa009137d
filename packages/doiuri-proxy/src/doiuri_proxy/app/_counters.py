"""Counters in memory that all workers of a service share."""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable


class Counters:
    """Numbers by name, each the sum of what the workers count.

    Every worker writes to a row of its own, so there are no locks, and a row outlives its worker: the counts
    go on when a worker is replaced. Create the object before the workers are forked.

    :param names: the names of the numbers
    :param rows: the number of workers
    """

    def __init__(self, names: Iterable[Hashable], rows: int = 1) -> None:
        self._columns = {name: column for column, name in enumerate(names)}
        self._rows = rows
        memory = mmap.mmap(-1, 8 * rows * len(self._columns))  # anonymous: children of a fork share it
        self._numbers = memoryview(memory).cast("d")
        self._start = 0

    def use_row(self, row: int) -> None:
        """Count in this row from now on, 0-based: one for each worker."""
        self._start = row * len(self._columns)

    def add(self, name: Hashable, amount: float = 1) -> None:
        """Add to a number of this worker. Not thread-safe."""
        self._numbers[self._start + self._columns[name]] += amount

    def set(self, name: Hashable, amount: float) -> None:
        """Set a number of this worker."""
        self._numbers[self._start + self._columns[name]] = amount

    def total(self, name: Hashable) -> float:
        """Return a number, summed over all workers."""
        step = len(self._columns)
        return sum(self._numbers[self._columns[name] + row * step] for row in range(self._rows))
