"""How to verify DOIs: settled where the task graph is made, and sent to the workers."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

import dask
from dask.system import CPU_COUNT
from doiuri.plugins import Settings, user_agent
from doiuri.resolver import Resolver, SQLiteStore, open_store

if TYPE_CHECKING:
    Rate = float | Literal["default"] | None


@dataclass(frozen=True)
class VerifySettings:
    """The arguments of one call of ``verify``; nothing is left to the environment of the workers."""

    base: str
    offline: bool
    user_agent: str
    cache: str | None = field(repr=False)  # URLs of Redis may have a password
    cache_limit: int | None
    rate: float | None
    budget: float | None
    timeout: float
    concurrency: int
    client: int = field(default_factory=os.getpid)
    workers: int = field(default_factory=lambda: dask.config.get("num_workers", None) or CPU_COUNT)
    """How many processes Dask's scheduler "processes" starts."""

    call: str = field(default_factory=lambda: uuid4().hex)
    """Part of Dask's keys: otherwise a call could return the answers of an equal one, "unknown" ones too."""

    @classmethod
    def read(
        cls,
        *,
        cache: str | os.PathLike[str] | None,
        rate: Rate,
        cache_limit: int | None = None,
        mailto: str | None = None,
        **options: Any,
    ) -> VerifySettings:
        """Check the arguments; what was left out is read from the environment of this process.

        :param options: other arguments of a Resolver.
        """
        found = Settings.from_environ(mailto=mailto, cache=cache)
        agent = user_agent("dask-doiuri", found.mailto)
        if rate != "default":
            options["rate"] = rate
        with Resolver(store=None, mailto=mailto, user_agent=agent, **options) as checked:
            return cls(
                base=checked.base,
                offline=checked.offline,
                user_agent=agent,
                cache=None if found.cache is None else _address(found.cache, cache_limit),
                cache_limit=cache_limit,
                rate=checked.rate,
                budget=checked.budget,
                timeout=checked.timeout,
                concurrency=checked.concurrency,
            )

    @property
    def share(self) -> float | None:
        """The requests per second of this process; None: no limit."""
        if self.rate is None or self.offline:
            return self.rate
        return self.rate / (processes() or (1 if self.client == os.getpid() else self.workers))

    def resolver(self) -> Resolver:
        """Return a Resolver for this process, with its share of the rate."""
        # not None: that stands for the worker's own DOIURI_CACHE
        address = str(SQLiteStore(None).path) if self.cache is None else self.cache
        return Resolver(
            self.base,
            store=SQLiteStore(address, limit=self.cache_limit) if self.cache_limit else address,
            offline=self.offline,
            timeout=self.timeout,
            concurrency=self.concurrency,
            rate=self.share,
            user_agent=self.user_agent,
        )


def processes() -> int | None:
    """Return how many worker processes the cluster of the running task has; None if it has no cluster."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        distributed.get_worker()
    except ValueError:  # not a task of a cluster
        return None
    return max(1, len(set(map(_process, distributed.get_client().nthreads()))))


def _process(address: str) -> str:
    """Return what the workers of one process have in common."""
    return address.rpartition("/")[0] if address.startswith("inproc://") else address


def _address(cache: str, limit: int | None) -> str:
    """Return the address of a store, which is checked; a path is made absolute."""
    with closing(open_store(cache)) as store:
        if limit is not None and not isinstance(store, SQLiteStore):
            raise ValueError(f"cache_limit is the size of an SQLite file, which {cache!r} is not")
    return cache if cache == ":memory:" or "://" in cache else os.path.abspath(cache)  # noqa: PTH100
