"""``verify``: whether DOIs exist."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import dask.bag as db
import dask.dataframe as dd

from dask_doiuri._answers import VERIFIED, answers
from dask_doiuri._known import AGENCY, KEY, agencies_of, known_in_bag, known_in_frame
from dask_doiuri._partitions import (
    as_frame,
    check_data,
    check_free,
    items_in,
    text_dtype,
    with_columns,
    with_members,
)
from dask_doiuri._reading import items_of, read_each_time, read_twice
from dask_doiuri._settings import VerifySettings

if TYPE_CHECKING:
    import os
    from collections.abc import Hashable, Iterable

    import pandas as pd

    from dask_doiuri._known import Known
    from dask_doiuri._settings import Rate


@overload
def verify(
    data: db.Bag,
    column: Hashable = ...,
    *,
    known: Known | None = ...,
    base: str | None = ...,
    rate: Rate = ...,
    cache: str | os.PathLike[str] | None = ...,
    cache_limit: int | None = ...,
    budget: float | None = ...,
    timeout: float = ...,
    concurrency: int = ...,
    mailto: str | None = ...,
    offline: bool | None = ...,
) -> db.Bag: ...


@overload
def verify(
    data: dd.DataFrame | dd.Series,
    column: Hashable = ...,
    *,
    known: Known | None = ...,
    base: str | None = ...,
    rate: Rate = ...,
    cache: str | os.PathLike[str] | None = ...,
    cache_limit: int | None = ...,
    budget: float | None = ...,
    timeout: float = ...,
    concurrency: int = ...,
    mailto: str | None = ...,
    offline: bool | None = ...,
) -> dd.DataFrame: ...


def verify(
    data: db.Bag | dd.DataFrame | dd.Series,
    column: Hashable = "doi",
    *,
    known: Known | None = None,
    base: str | None = None,
    rate: Rate = "default",
    cache: str | os.PathLike[str] | None = None,
    cache_limit: int | None = None,
    budget: float | None = None,
    timeout: float = 10,
    concurrency: int = 3,
    mailto: str | None = None,
    offline: bool | None = None,
) -> db.Bag | dd.DataFrame:
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

    The environment is read here; that of the workers does not matter.

    Answers are kept in the cache. A name that the cache has is not requested, so a computation that was
    interrupted can simply be started again. Names without an answer are not in the cache.

    :param data: a frame; a series of DOIs, which becomes a frame; or a bag of DOIs or of dicts, which becomes
        a bag of dicts.
    :param column: the column, or the member of the dicts, with the DOIs. It names the column of a series that
        has no name, and the member of a bag of DOIs.
    :param known: DOIs that exist, such as those of a public data file; they are not requested. A frame with a
        column ``doi_key`` (from ``read_known`` or ``parse``) or ``doi``, and perhaps ``doi_agency``; or a
        series of DOIs. They count as ``"found"``. Only keys travel between the workers. The data is read
        twice, first for its keys and then for its rows, so that it need not fit into memory; data that comes
        out of a shuffle or is persisted is kept instead.
    :param base: URL of the DOI proxy; by default ``DOIURI_RESOLVER`` or https://doi.org.
    :param rate: requests per second of the whole cluster; None: no limit. By default 10, and no limit for a
        proxy on this machine. Each worker process gets an equal share. The scheduler ``"processes"`` does not
        tell its workers how many they are: the rate is divided by Dask's setting ``num_workers``, or else by
        the number of CPUs.
    :param cache: address of the store, as in ``DOIURI_CACHE``, its default. Without one, each machine uses
        the SQLite file in its user's cache folder. A path has to be valid on the workers.
    :param cache_limit: size of an SQLite file in bytes beyond which its oldest answers are deleted. The
        default is a gigabyte: about five million answers about existence.
    :param budget: seconds for each partition; None: no limit. What has no answer by then is ``"unknown"``.
    :param timeout: seconds for one request.
    :param concurrency: requests in flight at the same time, for each worker process.
    :param mailto: mail address for the User-Agent header; by default ``DOIURI_MAILTO``.
    :param offline: send no requests, use ``known`` and the cache only; by default ``DOIURI_OFFLINE``, else
        False.
    :raises TypeError: if ``data`` or ``known`` is none of these.
    :raises ValueError: if there is no such column, a new one exists already, or an argument has an
        impossible value.

    >>> import dask.bag as db
    >>> dois = db.from_sequence(["10.1000/182", "10.1000"], npartitions=1)
    >>> for row in verify(dois, offline=True, cache=":memory:").compute(scheduler="sync"):
    ...     print(row["doi_status"], row["doi_reason"])
    unknown offline: request not sent
    unknown offline: request not sent
    """
    check_data(data)
    settings = VerifySettings.read(
        base=base,
        offline=offline,
        mailto=mailto,
        cache=cache,
        cache_limit=cache_limit,
        rate=rate,
        budget=budget,
        timeout=timeout,
        concurrency=concurrency,
    )
    if isinstance(data, db.Bag):
        return _verify_bag(data, column, known, settings)
    frame, column = as_frame(data, column)
    check_free(frame.columns, VERIFIED)
    return _verify_frame(frame, column, known, settings)


def _verify_bag(bag: db.Bag, column: Hashable, known: Known | None, settings: VerifySettings) -> db.Bag:
    if known is None:
        return bag.map_partitions(_verify_items, column, settings)
    bag = read_each_time(bag)
    return bag.map_partitions(_verify_items, column, settings, known_in_bag(bag, column, known))


def _verify_frame(
    frame: dd.DataFrame, column: Hashable, known: Known | None, settings: VerifySettings
) -> dd.DataFrame:
    dtype = text_dtype()
    meta = with_columns(frame._meta, dict.fromkeys(VERIFIED, ()), dtype)
    if known is None:
        return frame.map_partitions(_verify_part, column, dtype, settings, meta=meta)
    keys, frame = read_twice(frame)
    names = known_in_frame(keys, column, known)
    return frame.map_partitions(
        _verify_part, column, dtype, settings, names, meta=meta, align_dataframes=False
    )


def _verify_part(
    part: pd.DataFrame,
    column: Hashable,
    dtype: Any,
    settings: VerifySettings,
    names: pd.DataFrame | None = None,
) -> pd.DataFrame:
    known = {} if names is None else agencies_of(zip(names[KEY], names[AGENCY], strict=True))
    return with_columns(part, answers(items_in(part, column), settings, known), dtype)


def _verify_items(
    part: Iterable[object],
    column: Hashable,
    settings: VerifySettings,
    names: Iterable[tuple[str, object]] = (),
) -> list[dict[Hashable, object]]:
    items = items_of(part)
    return with_members(items, column, answers(items_in(items, column), settings, agencies_of(names)))
