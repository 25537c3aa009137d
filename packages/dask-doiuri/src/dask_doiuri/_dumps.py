"""``read_known``: the names in the public data files of registration agencies and indexes."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

import dask.dataframe as dd
import pandas as pd
from doiuri.records import ascii_upper
from fsspec.core import open_files

from dask_doiuri._known import AGENCY, KEY
from dask_doiuri._partitions import text_dtype

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fsspec.core import OpenFile

MEMBERS = 20
"""Members that an error message lists."""

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
    :raises ValueError: if there are no such files, or Parquet files without such a column; on the workers, if
        a file has records, but none with such a member.
    """
    dtype = text_dtype()
    meta = _frame([], agency, dtype)
    names = [os.fspath(path) for path in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]
    parquet = {re.search(r"\.(parquet|parq|pq)/?$", name) is not None for name in names}
    if parquet == {True}:
        frame = dd.read_parquet(names, storage_options=storage_options or None)
        if member not in frame.columns:
            raise ValueError(_missing(", ".join(names), member, map(str, frame.columns)))
        return frame[[member]].map_partitions(_read_column, agency, dtype, meta=meta)
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
        return _frame(_keys(_values(lines, member, file.path)), agency, dtype)


def _values(lines: Iterable[str], member: str, path: str) -> Iterator[object]:
    """Yield the value of the member in each record that has it.

    :raises ValueError: if there are records, but none has it.
    """
    way = member.split(".")
    present: dict[str, None] = {}
    found = False
    for number, line in enumerate(lines, 1):
        try:
            value = json.loads(line) if line.strip() else None
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: not JSON: {error}") from None
        for depth, name in enumerate(way):
            if not isinstance(value, dict):
                break
            if name not in value:
                if not found and len(present) < MEMBERS:
                    present |= dict.fromkeys(".".join([*way[:depth], other]) for other in value)
                break
            value = value[name]
        else:
            found = True
            yield value
    if present and not found:
        raise ValueError(_missing(path, member, present))


def _missing(path: str, member: str, present: Iterable[str]) -> str:
    names = [*present]
    shown = ", ".join(map(repr, names[:MEMBERS])) + (", …" if len(names) > MEMBERS else "")
    return f"{path}: no record has a member {member!r}; the members are {shown}"


def _keys(names: Iterable[object]) -> Iterator[str]:
    for name in names:
        if isinstance(name, str):
            label = _LABEL.match(name)
            yield ascii_upper(name[label.end() :] if label else name)


def _frame(keys: Iterable[str], agency: str | None, dtype: Any) -> pd.DataFrame:
    found = pd.array(list(keys), dtype=dtype)
    return pd.DataFrame({KEY: found, AGENCY: pd.array([agency] * len(found), dtype=dtype)})
