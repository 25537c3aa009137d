"""The construction of a Resolver: its arguments, client and store, and how it starts a call."""

from __future__ import annotations

import os
import weakref
from collections.abc import Sized
from typing import TYPE_CHECKING

from doiuri.resolver import _process
from doiuri.resolver._arguments import DEFAULT, Config, as_handles, check_batch, check_callable, check_method
from doiuri.resolver._batch import Batch
from doiuri.resolver._records import Records
from doiuri.resolver._workers import WorkerPool

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from typing import Self

    import requests

    from doiuri._doi import Handle
    from doiuri.resolver._arguments import Default
    from doiuri.resolver._batch import Lookup
    from doiuri.resolver._outcome import Outcome
    from doiuri.resolver.http._request import OnReply, Transport
    from doiuri.resolver.stores._store import ReadStore, Store

    Progress = Callable[[int, int | None], None]


class BaseResolver:
    """A Resolver without the methods that resolve; its arguments are described there."""

    def __init__(
        self,
        base: str | None = None,
        *,
        store: Store | ReadStore | str | os.PathLike[str] | Default | None = DEFAULT,
        offline: bool | None = None,
        timeout: float = 10,
        budget: float | None = None,
        concurrency: int = 3,
        rate: float | Default | None = DEFAULT,
        mailto: str | None = None,
        private: bool | None = None,
        session: requests.Session | None = None,
        progress: Progress | None = None,
        user_agent: str | None = None,
        transport: Transport | None = None,
        on_reply: OnReply | None = None,
    ) -> None:
        self._config = Config.read(
            base, offline, timeout, budget, concurrency, rate, mailto, user_agent, private
        )
        check_method("prepare_request", session=session)
        check_method("get", transport=transport)
        check_callable(progress=progress, on_reply=on_reply)
        self._progress = progress
        self._client = _process.new_client(self._config, session, transport, on_reply)
        self._store, self._shared = _process.open_argument(store, self._config.cache)
        self._release = None if self._shared is None else weakref.finalize(self, self._shared.release)

    @property
    def base(self) -> str:
        """The URL of the DOI proxy."""
        return self._config.base

    @property
    def offline(self) -> bool:
        """Whether no requests are sent."""
        return self._config.offline

    @property
    def timeout(self) -> float:
        """Seconds for one request."""
        return self._config.timeout

    @property
    def budget(self) -> float | None:
        """Seconds for one call of a method; None: no limit."""
        return self._config.budget

    @property
    def concurrency(self) -> int:
        """Requests in flight at the same time."""
        return self._config.concurrency

    @property
    def rate(self) -> float | None:
        """Requests per second; None: no limit."""
        return self._config.rate

    @property
    def mailto(self) -> str | None:
        """The mail address in the User-Agent header."""
        return self._config.mailto

    @property
    def private(self) -> bool:
        """Whether redirects may lead into a private network."""
        return self._config.private

    @property
    def user_agent(self) -> str:
        """The User-Agent header."""
        return self._config.user_agent

    def close(self) -> None:
        """Release the store; the last Resolver to do so closes it. Nothing else needs closing."""
        if self._release is not None:
            self._release()

    def __enter__(self) -> Self:
        if self._shared is not None and not (self._release and self._release.alive):  # closed before
            self._release = weakref.finalize(self, self._shared.acquire().release)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _records(self) -> Records:
        return Records(self._client, self._store)

    def _batch(
        self,
        lookup: Callable[[Records, WorkerPool], Lookup],
        dois: Iterable[Handle | str],
        budget: float | Default | None,
        progress: Progress | None,
    ) -> Iterator[Outcome]:
        check_batch(dois, budget)
        check_callable(progress=progress)
        total = len(dois) if isinstance(dois, Sized) else None
        report = progress or self._progress
        counted = None if report is None else lambda done: report(done, total)
        stream = self._outcomes(lookup, dois, budget, counted)
        _process.batches.add(stream)
        return stream

    def _outcomes(
        self,
        lookup: Callable[[Records, WorkerPool], Lookup],
        dois: Iterable[Handle | str],
        budget: float | Default | None,
        progress: Callable[[int], None] | None,
    ) -> Generator[Outcome]:
        deadline = self._config.deadline(budget)  # a generator: counted from the first next()
        pool, records = WorkerPool(self.concurrency, deadline), self._records()
        yield from Batch(as_handles(dois), lookup(records, pool), pool, records.write).outcomes(progress)
