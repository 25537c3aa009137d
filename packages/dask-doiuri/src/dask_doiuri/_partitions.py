"""Partitions of frames and bags: where their DOIs are, and how they get new columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import dask.bag as db
import dask.dataframe as dd
import pandas as pd
from dask.dataframe.utils import pyarrow_strings_enabled

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    Columns = Mapping[str, Sequence[str | None]]


def check_data(data: object) -> None:
    """Raise TypeError unless the data is a bag, a frame or a series of Dask."""
    if isinstance(data, (pd.DataFrame, pd.Series)):
        raise TypeError("expected data of Dask; use dask.dataframe.from_pandas(data, npartitions=…)")
    if not isinstance(data, (db.Bag, dd.DataFrame, dd.Series)):
        raise TypeError(f"expected a Dask bag, data frame or series, not {data!r:.80}")


def as_frame(data: dd.DataFrame | dd.Series, column: Hashable) -> tuple[dd.DataFrame, Hashable]:
    """Return a frame and the column with the DOIs; for a series without a name it is called ``column``.

    :raises ValueError: if the frame has no such column, or several.
    """
    if isinstance(data, dd.Series):
        name = column if data.name is None else data.name
        return data.to_frame(name=name), name
    found = list(data.columns).count(column)
    if found != 1:
        problem = f"{found} columns are named" if found else "there is no column"
        raise ValueError(f"{problem} {column!r}; the columns are {', '.join(map(repr, data.columns))}")
    return data, column


def check_free(present: Iterable[Hashable], names: Iterable[str]) -> None:
    """Raise ValueError if the name of a column to add is taken."""
    taken = [name for name in names if name in set(present)]
    if taken:
        raise ValueError(f"the data already has {', '.join(taken)}; rename or drop it first")


def text_dtype() -> Any:
    """Return the type of a column of text as Dask converts it (``dataframe.convert-string``)."""
    return pd.StringDtype("pyarrow") if pyarrow_strings_enabled() else pd.Series([""]).dtype


def items_in(part: pd.DataFrame | Iterable[object], column: Hashable) -> list[object]:
    """Return the DOIs in a partition of a frame, None for a missing one; or in a partition of a bag."""
    if isinstance(part, pd.DataFrame):
        values = part[column]
        return list(values.astype(object).where(values.notna(), None))
    return [item.get(column) if isinstance(item, Mapping) else item for item in part]


def with_columns(part: pd.DataFrame, columns: Columns, dtype: Any) -> pd.DataFrame:
    """Return the partition of a frame with more columns of text."""
    return part.assign(**{name: pd.array(list(values), dtype=dtype) for name, values in columns.items()})


def with_members(part: Sequence[object], column: Hashable, columns: Columns) -> list[dict[Hashable, object]]:
    """Return the partition of a bag with more members; an item that is not a mapping becomes one.

    :raises ValueError: if a mapping has such a member already.
    """
    rows = []
    for item, values in zip(part, zip(*columns.values(), strict=True), strict=True):
        row = dict(item) if isinstance(item, Mapping) else {column: item}
        check_free(row, columns)
        rows.append(row | dict(zip(columns, values, strict=True)))
    return rows
