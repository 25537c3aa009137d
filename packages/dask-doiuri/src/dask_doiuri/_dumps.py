"""``read_known``: the names in the public data files of registration agencies and indexes."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

import dask.dataframe as dd
import pandas as pd
from doiuri.rest import ascii_upper
from fsspec.core import open_files

from dask_doiuri._known import AGENCY, KEY
from dask_doiuri._partitions import text_dtype

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fsspec.core import OpenFile

_LABEL = re.compile(r"(?:https?://(?:dx\.|www\.)?doi\.org/|doi:)(?=10[./])", re.IGNORECASE)


def read_known(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    member: str = "DOI",
    *,
    agency: str | None = None,
    **storage_options: Any,
) -> dd.DataFrame:
    """Return the keys of the names in a dump as a frame for ``known``, lazily.

    The names are taken literally, after https://doi.org/ if they have that. Rows without a name are left out.

    :param paths: JSON Lines files, which may be compressed (``.gz``, ``.bz2``, ``.xz``), or Parquet files
        (``.parquet``). Patterns such as ``works/*/*.gz`` and addresses such as ``s3://…`` are understood.
        Each file of JSON Lines becomes a partition.
    :param member: the member or column with the name; dots lead into objects: ``attributes.doi``.
    :param agency: what the column ``doi_agency`` says about all names.
    :param storage_options: for the file system, such as ``anon=True`` for S3.
    :raises ValueError: if there are no such files.
    """
    dtype = text_dtype()
    meta = _frame([], agency, dtype)
    names = [os.fspath(path) for path in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]
    parquet = {re.search(r"\.(parquet|parq|pq)/?$", name) is not None for name in names}
    if parquet == {True}:
        frame = dd.read_parquet(names, columns=[member], storage_options=storage_options or None)
        return frame.map_partitions(_read_column, agency, dtype, meta=meta)
    if parquet == {True, False}:
        raise ValueError("paths are of Parquet and of other files; read them separately")
    files = open_files(names, mode="rt", encoding="utf-8", compression="infer", **storage_options)
    if not files:
        raise ValueError(f"there is no file {', '.join(names)}")
    return dd.from_map(_read_lines, list(files), member=member, agency=agency, dtype=dtype, meta=meta)


def _read_column(part: pd.DataFrame, agency: str | None, dtype: Any) -> pd.DataFrame:
    return _frame(_keys(part.iloc[:, 0]), agency, dtype)


def _read_lines(file: OpenFile, *, member: str, agency: str | None, dtype: Any) -> pd.DataFrame:
    with file as lines:
        return _frame(_keys(_values(lines, member.split("."))), agency, dtype)


def _values(lines: Iterable[str], way: Sequence[str]) -> Iterator[object]:
    for line in lines:
        if line.strip():
            value = json.loads(line)
            for member in way:
                value = value.get(member) if isinstance(value, dict) else None
            yield value


def _keys(names: Iterable[object]) -> Iterator[str]:
    for name in names:
        if isinstance(name, str):
            label = _LABEL.match(name)
            yield ascii_upper(name[label.end() :] if label else name)


def _frame(keys: Iterable[str], agency: str | None, dtype: Any) -> pd.DataFrame:
    found = pd.array(list(keys), dtype=dtype)
    return pd.DataFrame({KEY: found, AGENCY: pd.array([agency] * len(found), dtype=dtype)})
