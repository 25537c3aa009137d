"""What the workers need to know to verify DOIs, and what rate each of them may use."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from multiprocessing import parent_process
from typing import TYPE_CHECKING, Any, Literal

import dask
from dask.system import CPU_COUNT
from doiuri.plugins import Settings
from doiuri.resolver import Resolver, open_store

if TYPE_CHECKING:
    Resolve = Literal["existence", "records"]
    Rate = float | Literal["default"] | None


@dataclass(frozen=True)
class Asking:
    """How to ask: settled where the task graph is made, and sent to the workers."""

    base: str
    offline: bool
    mailto: str | None
    cache: str | None
    pace: str | None
    rate: float | None
    budget: float | None
    timeout: float
    concurrency: int
    resolve: Resolve

    @classmethod
    def read(
        cls,
        *,
        base: str | None,
        offline: bool | None,
        mailto: str | None,
        cache: str | os.PathLike[str] | None,
        pace: str | None,
        rate: Rate,
        budget: float | None,
        timeout: float,
        concurrency: int,
        resolve: Resolve,
    ) -> Asking:
        """Check the arguments; what was left out is read from the environment of this process."""
        if resolve not in {"existence", "records"}:
            raise ValueError(f'resolve must be "existence" or "records", not {resolve!r}')
        found = Settings.from_environ(resolver=base, offline=offline, mailto=mailto, cache=cache, pace=pace)
        options: dict[str, Any] = {} if rate == "default" else {"rate": rate}
        with Resolver(
            found.base,
            store=None,
            offline=found.offline,
            timeout=timeout,
            budget=budget,
            concurrency=concurrency,
            mailto=found.mailto,
            pace=found.pace,
            **options,
        ) as checked:
            rate = checked.rate
        return cls(
            base=found.base,
            offline=found.offline,
            mailto=found.mailto,
            cache=None if found.cache is None else _address(found.cache),
            pace=found.pace,
            rate=rate,
            budget=budget,
            timeout=timeout,
            concurrency=concurrency,
            resolve=resolve,
        )

    @property
    def is_divided(self) -> bool:
        """Whether each process gets a share of the rate."""
        return self.rate is not None and self.pace is None

    def resolver(self) -> Resolver:
        """Return a Resolver for this process; without a pace it has this process's share of the rate."""
        store: dict[str, Any] = {} if self.cache is None else {"store": self.cache}
        return Resolver(
            self.base,
            offline=self.offline,
            timeout=self.timeout,
            concurrency=self.concurrency,
            rate=self.rate / processes() if self.is_divided and self.rate else self.rate,
            pace=self.pace,
            mailto=self.mailto,
            **store,
        )


def processes() -> int:
    """Return how many processes share the work of the task that calls this."""
    distributed = sys.modules.get("distributed")
    if distributed is not None:
        try:
            distributed.get_worker()
        except ValueError:
            pass  # not a task of a cluster
        else:
            return max(1, len(set(map(_process, distributed.get_client().nthreads()))))
    if parent_process() is None:
        return 1  # threads
    return max(1, dask.config.get("num_workers", None) or CPU_COUNT)


def _process(address: str) -> str:
    """Return what the workers of one process have in common."""
    return address.rpartition("/")[0] if address.startswith("inproc://") else address


def _address(cache: str) -> str:
    """Return the address of a store, which is checked; a path is made absolute."""
    open_store(cache).close()
    return cache if cache == ":memory:" or "://" in cache else os.path.abspath(cache)  # noqa: PTH100
