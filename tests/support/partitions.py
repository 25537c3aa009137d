"""Data of Dask in every shape, and what was computed from it as plain rows.

pandas and Dask take longer to import than most tests run, and each process that collects tests would pay for it:
they are imported when they are used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from importlib import import_module
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from support.servers.faults import Server
from support.servers.rest import targets

if TYPE_CHECKING:
    import dask
    import dask.bag as db
    import dask.dataframe as dd
    import dask_doiuri
    import pandas as pd
else:

    class _Later:
        """A module that is imported when something in it is used."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):  # such as what pytest and pickle look for
                raise AttributeError(name)
            return getattr(import_module(self._name), name)

    dask, db, dd, pd, dask_doiuri = map(
        _Later, ("dask", "dask.bag", "dask.dataframe", "pandas", "dask_doiuri")
    )

__all__ = ["SHAPES", "asked", "bag", "check", "dask", "dd", "frame", "parse", "pd", "rows"]


def check(data: Any, *args: Any, **options: Any) -> Any:
    return dask_doiuri.check(data, *args, **options)


def parse(data: Any, *args: Any) -> Any:
    return dask_doiuri.parse(data, *args)


def frame(texts: Sequence[object], partitions: int = 1, dtype: str | None = None) -> dd.DataFrame:
    """A frame with an index that has duplicates and no order."""
    index = pd.Index([f"row {number * 5 % 7}" for number in range(len(texts))], name="shelf")
    rows = pd.DataFrame({"n": range(len(texts)), "doi": pd.Series([*texts], index, dtype)}, index)
    made: dd.DataFrame = dd.from_pandas(rows, npartitions=partitions, sort=False)
    return made


def bag(texts: Sequence[object], partitions: int = 1) -> db.Bag:
    made: db.Bag = db.from_sequence(texts, npartitions=partitions)
    return made


def dicts(texts: Sequence[object], partitions: int = 1) -> db.Bag:
    return bag([{"n": n, "doi": text} for n, text in enumerate(texts)], partitions)


def apart(texts: Sequence[object], partitions: int = 1) -> Any:
    """A frame whose first and last partitions are empty."""
    made = frame([None, *texts, None], partitions)
    return made[(made["n"] > 0) & (made["n"] <= len(texts))]


SHAPES: dict[str, Callable[..., Any]] = {
    "frame": frame,
    "objects": lambda texts, partitions: frame(texts, partitions, "object"),
    "categories": lambda texts, partitions: frame(texts, partitions, "category"),
    "some partitions empty": apart,
    "bag": bag,
    "bag of dicts": dicts,
}


def rows(data: Any, *names: str) -> list[tuple[object, ...]]:
    """The values of some columns or members, computed; None for a missing one."""
    computed = data.compute()
    columns: list[Any]
    if isinstance(computed, pd.DataFrame):
        columns = [computed[name].astype(object) for name in names]
    else:
        columns = [list(map(itemgetter(name), computed)) for name in names]
    return [tuple(map(_without_na, row)) for row in zip(*columns, strict=True)]


def _without_na(value: Any) -> object:
    return None if pd.isna(value) else value


def asked(server: Server) -> Counter[str]:
    """How often Which RA was asked about each name, or the REST API if it alone was."""
    count: Counter[str] = Counter()
    for target in targets(server):
        if target.startswith("/doiRA/"):
            count.update(unquote(name) for name in target.removeprefix("/doiRA/").split(","))
    return count
