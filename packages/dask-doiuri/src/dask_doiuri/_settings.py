"""How to verify DOIs: settled where the task graph is made, and sent to the workers."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

from doiuri.plugins import Settings, user_agent
from doiuri.resolver import Resolver, SQLiteStore, open_store

from dask_doiuri._processes import client_id, processes, remove_lock_file_at_exit

if TYPE_CHECKING:
    from collections.abc import Callable

    Resolve = Literal["existence", "records"]
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
    resolve: Resolve
    client: str = field(default_factory=client_id)
    call: str = field(default_factory=lambda: uuid4().hex)
    """Part of Dask's keys: otherwise a call could return the answers of an equal one, "unknown" ones too."""

    @classmethod
    def read(
        cls,
        *,
        base: str | None,
        offline: bool | None,
        mailto: str | None,
        cache: str | os.PathLike[str] | None,
        rate: Rate,
        budget: float | None,
        timeout: float,
        concurrency: int,
        resolve: Resolve,
        cache_limit: int | None = None,
    ) -> VerifySettings:
        """Check the arguments; what was left out is read from the environment of this process."""
        if resolve not in {"existence", "records"}:
            raise ValueError(f'resolve must be "existence" or "records", not {resolve!r}')
        found = Settings.from_environ(resolver=base, offline=offline, mailto=mailto, cache=cache)
        remove_lock_file_at_exit(client_id())
        options: dict[str, Any] = {} if rate == "default" else {"rate": rate}
        with Resolver(
            found.base,
            store=None,
            offline=found.offline,
            timeout=timeout,
            budget=budget,
            concurrency=concurrency,
            mailto=found.mailto,
            user_agent=user_agent("dask-doiuri", found.mailto),
            **options,
        ) as checked:
            return cls(
                base=checked.base,
                offline=checked.offline,
                user_agent=checked.user_agent,
                cache=None if found.cache is None else _address(found.cache, cache_limit),
                cache_limit=cache_limit,
                rate=checked.rate,
                budget=budget,
                timeout=timeout,
                concurrency=concurrency,
                resolve=resolve,
            )

    @property
    def is_divided(self) -> bool:
        """Whether the processes divide the rate among themselves."""
        return self.rate is not None and not self.offline

    @property
    def takes_turns(self) -> bool:
        """Whether the processes use the rate in turns, since this one does not know how many there are."""
        return self.is_divided and self.client != client_id() and processes() is None

    def resolver(self, on_reply: Callable[[object], None] | None = None) -> Resolver:
        """Return a Resolver for this process, with its share of the rate.

        :param on_reply: called after each request.
        """
        # not None: that stands for the worker's own DOIURI_CACHE
        address = str(SQLiteStore(None).path) if self.cache is None else self.cache
        return Resolver(
            self.base,
            store=SQLiteStore(address, limit=self.cache_limit) if self.cache_limit else address,
            offline=self.offline,
            timeout=self.timeout,
            concurrency=self.concurrency,
            rate=self.rate / (processes() or 1) if self.is_divided and self.rate else self.rate,
            user_agent=self.user_agent,
            on_reply=on_reply,
        )


def _address(cache: str, limit: int | None) -> str:
    """Return the address of a store, which is checked; a path is made absolute."""
    with closing(open_store(cache)) as store:
        if limit is not None and not isinstance(store, SQLiteStore):
            raise ValueError(f"cache_limit is the size of an SQLite file, which {cache!r} is not")
    return cache if cache == ":memory:" or "://" in cache else os.path.abspath(cache)  # noqa: PTH100
