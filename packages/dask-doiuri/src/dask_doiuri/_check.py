"""``check``: whether DOIs exist. The options for requests are read where the task graph is made."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

import dask
from dask.system import CPU_COUNT
from doiuri import Handle
from doiuri.plugins import user_agent
from doiuri.plugins.options import OPTIONS, read_options
from doiuri.plugins.survey import deadline_in, time_left
from doiuri.records import ascii_upper
from doiuri.resolver import Resolver, SQLiteStore

from dask_doiuri._known import agencies_of, find_known
from dask_doiuri._parse import NoDOI, add_columns, check_data, read

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    import dask.dataframe as dd
    import pandas as pd
    from doiuri.resolver import Outcome

    from dask_doiuri._parse import Data, Row

CHECKED = ("doi_name", "doi_status", "doi_agency", "doi_reason")

_STORE_URL = re.compile(r":memory:|\w{2,}:")  # one letter and a colon: a drive of Windows

AT_ONCE = 2_000
"""The number of names after which a process counts again how many others share the rate."""


def check(
    data: Data,
    column: Hashable = "doi",
    *,
    known: dd.DataFrame | pd.DataFrame | None = None,
    resolver: str | None = None,
    rate: float | Literal["default"] | None = "default",
    cache: str | os.PathLike[str] | None = None,
    budget: float | None = None,
    timeout: float = 10,
    concurrency: int = 3,
    mailto: str | None = None,
    offline: bool | None = None,
) -> Data:
    """Return the data with the answer about each DOI, lazily, partition by partition.

    The rows keep their order, index and columns, and get four more:

    ``doi_name``
        the name, never changed; missing if the text is not a DOI.
    ``doi_status``
        ``"found"``, ``"not-found"`` (a definite answer), ``"unknown"`` (no answer: rate limit, offline,
        time-out, …) or ``"invalid"`` (not a DOI), as in ``doiuri.resolver.Outcome``.
    ``doi_agency``
        the registration agency, if it is known.
    ``doi_reason``
        why a DOI was not found; missing if it was.

    Environment variables are read here; those of the workers do not matter.

    Answers are kept in the cache. A name that the cache has is not requested, so a computation that was
    interrupted can simply be started again. Names without an answer are not in the cache.

    :param data: a frame; or a bag of DOIs or of dicts, which becomes a bag of dicts.
    :param column: the column, or the member of the dicts, with the DOIs.
    :param known: DOIs that exist, such as those of a public data file; they are not requested. A frame with a
        column ``doi_key`` (from ``parse``) or ``doi``, and perhaps ``doi_agency``. They
        count as ``"found"``. Only keys travel between the workers. A frame is read twice, first for its keys
        and then for its rows, so that it need not fit into memory; a bag, and data that comes out of a
        shuffle or is persisted, is kept instead.
    :param resolver: URL of the DOI proxy; by default ``DOIURI_RESOLVER`` or https://doi.org.
    :param rate: requests per second of the whole cluster; None: no limit. By default 10, and no limit for a
        proxy on this machine. Each worker process gets an equal share. The scheduler ``"processes"`` does not
        tell its workers how many they are: the rate is divided by Dask's setting ``num_workers``, or else by
        the number of CPUs.
    :param cache: address of the store, as in ``DOIURI_CACHE``, its default. Without one, each machine uses
        the SQLite file in its user's cache folder. A path has to be valid on the workers.
    :param budget: seconds for each partition; None: no limit. What has no answer by then is ``"unknown"``.
    :param timeout: seconds for one request.
    :param concurrency: requests in flight at the same time, for each worker process.
    :param mailto: mail address for the User-Agent header; by default ``DOIURI_MAILTO``.
    :param offline: send no requests, use ``known`` and the cache only; by default ``DOIURI_OFFLINE``, else
        False.
    :raises TypeError: if ``data`` or ``known`` is none of these.
    :raises ValueError: if there is no such column, a new one exists already, or an option is invalid.

    >>> import dask.bag as db
    >>> dois = db.from_sequence(["10.1000/182", "10.1000"], npartitions=1)
    >>> for row in check(dois, offline=True, cache=":memory:").compute(scheduler="sync"):
    ...     print(row["doi_status"], row["doi_reason"])
    unknown offline: request not sent
    invalid no "/" after the prefix
    """
    check_data(data, column, CHECKED)
    given = {
        "resolver": resolver,
        "offline": offline,
        "mailto": mailto,
        "cache": cache,
        "timeout": timeout,
    }
    if budget is not None:
        given["budget"] = budget
    answer = partial(_answer, asking=_Asking.settle(given, rate, concurrency))
    if known is None:
        return add_columns(data, column, CHECKED, answer)
    data, names = find_known(data, column, known)
    return add_columns(data, column, CHECKED, answer, names)


def _answer(items: Iterable[object], names: Any = (), *, asking: _Asking) -> list[Row]:
    """Return the new values for the DOIs of a partition; each name is asked for once.

    :param names: the keys of names that are known, each with its agency.
    """
    dois = [read(item) for item in items]
    answers: dict[str, Row] = {}  # status, agency and reason, by key
    for key, agency in agencies_of(names).items():
        answers[key] = ("found", agency, None)

    unanswered: dict[str, Handle] = {}
    for doi in dois:
        if isinstance(doi, Handle):
            key = ascii_upper(doi.name)
            if key not in answers:
                unanswered.setdefault(key, doi)
    outcomes = asking.outcomes(list(unanswered.values()))
    for key, outcome in zip(unanswered, outcomes, strict=True):
        answers[key] = (outcome.status, outcome.agency, outcome.reason or None)

    rows: list[Row] = []
    for doi in dois:
        if isinstance(doi, NoDOI):
            rows.append((None, doi.status, None, doi.reason))
        else:
            rows.append((doi.name, *answers[ascii_upper(doi.name)]))
    return rows


def _local_workers() -> int:
    """Return how many processes Dask's scheduler "processes" starts."""
    return dask.config.get("num_workers", None) or CPU_COUNT


@dataclass(frozen=True)
class _Asking:
    """How one call of ``check`` makes requests; nothing depends on the environment of the workers."""

    resolver: dict[str, Any]  # arguments of a Resolver
    cache: str | None = field(repr=False)  # URLs of Redis may have a password
    rate: float | None
    budget: float | None
    client: int = field(default_factory=os.getpid)  # the process that called ``check``
    workers: int = field(default_factory=_local_workers)  # processes of the scheduler "processes"
    call: str = field(default_factory=lambda: uuid4().hex)
    """Part of Dask's keys: without it, a call could return the answers of an equal one, "unknown" ones too."""

    @classmethod
    def settle(
        cls, given: dict[str, Any], rate: float | Literal["default"] | None, concurrency: int
    ) -> _Asking:
        """Check the options; those that are not given are read from the environment of this process.

        :param given: the arguments of ``check`` that are options of plugins, too.
        :raises ValueError: if one is invalid.
        """
        options = read_options([option for option in OPTIONS if option.name in given], given)
        cache = options.pop("cache")
        budget = options.pop("budget", None)
        arguments = {
            "base": options.pop("resolver"),
            "user_agent": user_agent("dask-doiuri", options.pop("mailto")),
            "concurrency": concurrency,
            **options,
        }
        limit: dict[str, Any] = {} if rate == "default" else {"rate": rate}
        with Resolver(store=None, **arguments, **limit) as resolver:  # which checks them
            rate = resolver.settings.rate
        # A relative path is one of this process; a worker may have another working directory.
        if cache and not _STORE_URL.match(cache):
            cache = os.path.abspath(cache)  # noqa: PTH100
        return cls(arguments, cache, rate, budget)

    def outcomes(self, dois: Sequence[Handle]) -> Iterator[Outcome]:
        """Yield the outcomes for DOIs, all within one budget.

        Each batch has a Resolver of its own, with the share of the rate that the process has by then.
        """
        deadline = deadline_in(self.budget)
        # not None, which stands for the worker's own DOIURI_CACHE
        store = self.cache or SQLiteStore(None).path
        for start in range(0, len(dois), AT_ONCE):
            batch = dois[start : start + AT_ONCE]
            with Resolver(store=store, rate=self.share, **self.resolver) as resolver:
                yield from resolver.check(batch, batch=True, budget=time_left(deadline))

    @property
    def share(self) -> float | None:
        """The requests per second of this process; None: no limit."""
        if self.rate is None:
            return None
        processes = _cluster_processes()
        if processes is None:  # tasks run in the calling process, or in those that it starts
            processes = 1 if self.client == os.getpid() else self.workers
        return self.rate / processes


def _cluster_processes() -> int | None:
    """Return how many worker processes the cluster of the running task has; None if it has no cluster."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        distributed.get_worker()
    except ValueError:  # not a task of a cluster
        return None
    # the address of a worker inside a process is inproc://host/process/number
    addresses = distributed.get_client().nthreads()
    processes = {re.sub("^(inproc:.*)/.*", r"\1", address) for address in addresses}
    return max(1, len(processes))
