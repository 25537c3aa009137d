"""``parse``: the names and keys of DOIs; and how data gets new columns, partition by partition."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import dask.bag as db
import dask.dataframe as dd
import pandas as pd
from dask.dataframe.utils import pyarrow_strings_enabled
from doiuri import DOISyntaxError, Handle
from doiuri.plugins import parse_name
from doiuri.records import ascii_upper

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    Row = tuple[str | None, ...]

Data = TypeVar("Data", db.Bag, dd.DataFrame)

PARSED = ("doi_name", "doi_key", "doi_reason")


def parse(data: Data, column: Hashable = "doi") -> Data:
    """Return the data with the name and the key of each DOI, lazily; nothing is sent anywhere.

    The rows keep their order, index and columns, and get three more:

    ``doi_name``
        the name, never changed; missing if the text is not a DOI.
    ``doi_key``
        the name with its ASCII letters in upper case: equal for equal DOIs, so join and count by it.
    ``doi_reason``
        why the text is not a DOI; missing if it is one.

    Each value is a DOI or a short DOI, in all the spellings of ``DOI.parse``: a name, a link, a label, a
    ``doi:`` URI.

    :param data: a frame; or a bag of DOIs or of dicts, which becomes a bag of dicts.
    :param column: the column, or the member of the dicts, with the DOIs.
    :raises TypeError: if ``data`` is neither.
    :raises ValueError: if there is no such column, or a new one exists already.

    >>> import pandas as pd
    >>> import dask.dataframe as dd
    >>> texts = pd.DataFrame({"doi": ["https://doi.org/10.1000/182", "doi:10.1000/ABC-é", "11.1000/182"]})
    >>> parse(dd.from_pandas(texts, npartitions=2))[["doi_name", "doi_key"]].compute()
            doi_name        doi_key
    0    10.1000/182    10.1000/182
    1  10.1000/ABC-é  10.1000/ABC-é
    2           <NA>           <NA>
    """
    check_data(data, column, PARSED)
    return add_columns(data, column, PARSED, rows_of)


class NoDOI(NamedTuple):
    """What is said of an item without a DOI."""

    reason: str
    status: str = "invalid"


def read(item: object) -> Handle | NoDOI:
    """Return a DOI as it is or parsed from text; or why there is none. Raises nothing, whatever the item is."""
    try:
        return _read(item)
    except DOISyntaxError as error:
        return NoDOI(error.reason)
    except Exception as error:  # noqa: BLE001 - an odd object must not end the partition
        return NoDOI(f"unexpected {type(error).__name__}", "unknown")


def _read(item: object) -> Handle | NoDOI:
    if isinstance(item, str):
        return parse_name(item)
    if isinstance(item, Handle):
        return item
    if item is None or item is pd.NA or (isinstance(item, float) and isnan(item)):
        return NoDOI("there is no DOI")
    return NoDOI(f"expected a DOI or a str, not {item!r:.80}")


def rows_of(items: Iterable[object]) -> list[Row]:
    """Return the name, key and reason for each item."""
    rows: list[Row] = []
    for found in map(read, items):
        if isinstance(found, NoDOI):
            rows.append((None, None, found.reason))
        else:
            # a tenth of the time of found.key
            rows.append((found.name, ascii_upper(found.name), None))
    return rows


def check_data(data: object, column: Hashable, names: Iterable[str]) -> None:
    """Raise TypeError or ValueError unless columns can be added to the data."""
    if isinstance(data, (pd.DataFrame, pd.Series)):
        raise TypeError(
            "expected data of Dask; use dask.dataframe.from_pandas(data, npartitions=…)"
        )
    if isinstance(data, dd.Series):
        raise TypeError("expected a Dask bag or data frame, not a series; use to_frame()")
    if not isinstance(data, (db.Bag, dd.DataFrame)):
        raise TypeError(f"expected a Dask bag or data frame, not {data!r:.80}")
    if isinstance(data, dd.DataFrame):
        found = list(data.columns).count(column)
        if found != 1:
            problem = f"{found} columns are named" if found else "there is no column"
            raise ValueError(
                f"{problem} {column!r}; the columns are {', '.join(map(repr, data.columns))}"
            )
        _check_free(data.columns, names)


def add_columns(
    data: Data,
    column: Hashable,
    names: Sequence[str],
    answer: Callable[..., list[Row]],
    known: Any = None,
) -> Data:
    """Return the data with new columns of text.

    :param answer: returns a row of new values for each DOI of a partition.
    :param known: data whose partitions are passed to ``answer`` too.
    """
    dtype, more = text_dtype(), [] if known is None else [known]
    if isinstance(data, db.Bag):
        return data.map_partitions(_add_to_items, *more, column=column, names=names, answer=answer)
    meta = _with_rows(data._meta, names, [], dtype)
    options = {"meta": meta, "align_dataframes": False}
    return data.map_partitions(
        _add_to_frame, *more, column=column, names=names, answer=answer, dtype=dtype, **options
    )


def _add_to_frame(
    part: pd.DataFrame,
    *known: pd.DataFrame,
    column: Hashable,
    names: Sequence[str],
    answer: Any,
    dtype: Any,
) -> pd.DataFrame:
    return _with_rows(part, names, answer(items_in(part, column), *known), dtype)


def _with_rows(
    part: pd.DataFrame, names: Sequence[str], rows: list[Row], dtype: Any
) -> pd.DataFrame:
    values = zip(*rows, strict=True) if rows else [()] * len(names)
    return part.assign(
        **{name: pd.array([*each], dtype=dtype) for name, each in zip(names, values, strict=True)}
    )


def _add_to_items(
    part: Iterable[object], *known: Any, column: Hashable, names: Sequence[str], answer: Any
) -> list[dict[Hashable, object]]:
    items, added = list(part), []
    for item, row in zip(items, answer(items_in(items, column), *known), strict=True):
        old = dict(item) if isinstance(item, Mapping) else {column: item}
        _check_free(old, names)
        added.append(old | dict(zip(names, row, strict=True)))
    return added


def _check_free(present: Iterable[Hashable], names: Iterable[str]) -> None:
    taken = [name for name in names if name in set(present)]
    if taken:
        raise ValueError(f"the data already has {', '.join(taken)}; rename or drop it first")


def items_in(part: pd.DataFrame | Iterable[object], column: Hashable) -> list[object]:
    """Return the DOIs in a partition of a frame, None for a missing one; or in a partition of a bag."""
    if isinstance(part, pd.DataFrame):
        values = part[column]
        return list(values.astype(object).where(values.notna(), None))
    return [item.get(column) if isinstance(item, Mapping) else item for item in part]


def text_dtype() -> Any:
    """Return the type of a column of text as Dask converts it (``dataframe.convert-string``)."""
    return pd.StringDtype("pyarrow") if pyarrow_strings_enabled() else pd.Series([""]).dtype
