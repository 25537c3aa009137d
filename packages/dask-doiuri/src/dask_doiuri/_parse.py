"""``parse``: the names and keys of DOIs. Also adds columns to data, partition by partition."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import dask.bag as db
import dask.dataframe as dd
import pandas as pd
from dask.dataframe.utils import pyarrow_strings_enabled
from doiuri import DOISyntaxError, Handle, find_one
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

    Each value has one DOI or short DOI, in all the spellings of ``DOI.parse``, and whatever surrounds it: see
    ``doiuri.find_one``.

    :param data: a frame; or a bag of DOIs or of dicts, which becomes a bag of dicts.
    :param column: the column, or the member of the dicts, with the DOIs.
    :raises TypeError: if ``data`` is neither.
    :raises ValueError: if there is no such column, or a new one exists already.

    >>> import pandas as pd
    >>> import dask.dataframe as dd
    >>> texts = pd.DataFrame({"doi": ["https://doi.org/10.1000/182", "(doi:10.1000/ABC-é)", "11.1000/182"]})
    >>> parse(dd.from_pandas(texts, npartitions=2))[["doi_name", "doi_key"]].compute()
            doi_name        doi_key
    0    10.1000/182    10.1000/182
    1  10.1000/ABC-é  10.1000/ABC-é
    2           <NA>           <NA>
    """
    check_data(data, column, PARSED)
    return add_columns(data, column, PARSED, rows_of)


class NoDOI(NamedTuple):
    """Why an item has no DOI."""

    reason: str
    status: str = "invalid"


def read(item: object) -> Handle | NoDOI:
    """Return the DOI that an item is, or that its text contains; or why it has none. Never raises."""
    try:
        return _read(item)
    except DOISyntaxError as error:
        return NoDOI(error.reason)
    except Exception as error:  # noqa: BLE001 - an odd object must not end the partition
        return NoDOI(f"unexpected {type(error).__name__}", "unknown")


def _read(item: object) -> Handle | NoDOI:
    """Return what ``read`` does. Raises DOISyntaxError if a text has no DOI."""
    if isinstance(item, str):
        return find_one(item)
    if isinstance(item, Handle):
        return item
    if _is_missing(item):
        return NoDOI("there is no DOI")
    return NoDOI(f"expected a DOI or a str, not {item!r:.80}")


def _is_missing(item: object) -> bool:
    return item is None or item is pd.NA or (isinstance(item, float) and isnan(item))


def rows_of(items: Iterable[object]) -> list[Row]:
    """Return the name, key and reason for each item."""
    rows: list[Row] = []
    for doi in map(read, items):
        if isinstance(doi, NoDOI):
            rows.append((None, None, doi.reason))
        else:
            # a tenth of the time of doi.key
            rows.append((doi.name, ascii_upper(doi.name), None))
    return rows


def check_data(data: object, column: Hashable, names: Iterable[str]) -> None:
    """Raise TypeError or ValueError unless columns can be added to the data."""
    if isinstance(data, (pd.DataFrame, pd.Series)):
        how = "use dask.dataframe.from_pandas(data, npartitions=…)"
        raise TypeError(f"expected data of Dask; {how}")
    if isinstance(data, dd.Series):
        raise TypeError("expected a Dask bag or data frame, not a series; use to_frame()")
    if not isinstance(data, (db.Bag, dd.DataFrame)):
        raise TypeError(f"expected a Dask bag or data frame, not {data!r:.80}")
    if isinstance(data, dd.DataFrame):
        present = list(data.columns)
        count = present.count(column)
        if count != 1:
            problem = f"{count} columns are named" if count else "there is no column"
            columns = ", ".join(map(repr, present))
            raise ValueError(f"{problem} {column!r}; the columns are {columns}")
        _check_free(data.columns, names)


def add_columns(
    data: Data,
    column: Hashable,
    names: Sequence[str],
    answer: Callable[..., list[Row]],
    known: Any = None,
) -> Data:
    """Return the data with new columns of text.

    :param answer: called with the items of a partition, and with the partition of ``known`` if there is one;
        returns a row of new values for each item.
    :param known: data with as many partitions; None if there is none.
    """
    arguments = {"column": column, "names": names, "answer": answer}
    collections = [] if known is None else [known]
    if isinstance(data, db.Bag):
        return data.map_partitions(_add_to_items, *collections, **arguments)
    dtype = text_dtype()
    meta = _with_rows(
        data._meta, names, [], dtype
    )  # an example without rows, of which Dask takes the types
    return data.map_partitions(
        _add_to_frame, *collections, **arguments, dtype=dtype, meta=meta, align_dataframes=False
    )


def _add_to_frame(
    part: pd.DataFrame,
    *known: pd.DataFrame,
    column: Hashable,
    names: Sequence[str],
    answer: Any,
    dtype: Any,
) -> pd.DataFrame:
    """Return a partition of a frame with the new columns; for the parameters, see ``add_columns``."""
    rows = answer(items_in(part, column), *known)
    return _with_rows(part, names, rows, dtype)


def _with_rows(
    part: pd.DataFrame, names: Sequence[str], rows: list[Row], dtype: Any
) -> pd.DataFrame:
    """Return a partition with a new column for each name."""
    columns = {}
    for index, name in enumerate(names):
        values = [row[index] for row in rows]
        columns[name] = pd.array(values, dtype=dtype)
    return part.assign(**columns)


def _add_to_items(
    part: Iterable[object], *known: Any, column: Hashable, names: Sequence[str], answer: Any
) -> list[dict[Hashable, object]]:
    """Return the items of a partition of a bag as dicts with the new members."""
    items = list(part)
    rows = answer(items_in(items, column), *known)
    results = []
    for item, row in zip(items, rows, strict=True):
        result = dict(item) if isinstance(item, Mapping) else {column: item}
        _check_free(result, names)
        result.update(zip(names, row, strict=True))
        results.append(result)
    return results


def _check_free(present: Iterable[Hashable], names: Iterable[str]) -> None:
    """Raise ValueError if one of the new names is a column or a member already."""
    present = set(present)
    taken = ", ".join(name for name in names if name in present)
    if taken:
        raise ValueError(f"the data already has {taken}; rename or drop it first")


def items_in(part: pd.DataFrame | Iterable[object], column: Hashable) -> list[object]:
    """Return the DOIs in a partition of a frame, None for a missing one; or in a partition of a bag."""
    if isinstance(part, pd.DataFrame):
        values = part[column]
        return list(values.astype(object).where(values.notna(), None))
    return [_member(item, column) for item in part]


def _member(item: object, column: Hashable) -> object:
    """Return the DOI in an item of a bag: a member of a dict, or the item itself."""
    if isinstance(item, Mapping):
        return item.get(column)
    return item


def text_dtype() -> Any:
    """Return the type of a column of text as Dask converts it (``dataframe.convert-string``)."""
    if pyarrow_strings_enabled():
        return pd.StringDtype("pyarrow")
    return pd.Series([""]).dtype
