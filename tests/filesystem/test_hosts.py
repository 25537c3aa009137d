"""What speaks fsspec reads through it: pandas, Dask, DuckDB, zarr, archives."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import duckdb
import fsspec
import numpy as np
import pandas as pd
import zarr
from support.servers.repositories import FILES, TABLE
from support.shelf import Shelf, Start
from zarr.storage import FsspecStore, MemoryStore

ROWS = [(1, 20), (2, 22)]


def rows(frame: Any) -> list[tuple[int, int]]:
    return [(int(day), int(depth)) for day, depth in frame.itertuples(index=False)]


def test_pandas(shelf: Shelf) -> None:
    for address in shelf.address(TABLE), shelf.address("tables") + "/täglich 100%.csv":
        assert rows(pd.read_csv(address, storage_options=shelf.options)) == ROWS


def test_dask(shelf: Shelf) -> None:
    frame = dd.read_csv(f"{shelf.address('tables')}/*.csv", storage_options=shelf.options)
    assert rows(frame.compute()) == ROWS


def test_duckdb(shelf: Shelf) -> None:
    with duckdb.connect() as connection:
        connection.register_filesystem(shelf.fs())
        found = connection.execute("SELECT * FROM read_csv(?)", [shelf.address(TABLE)]).fetchall()
    assert found == ROWS


def test_duckdb_reads_parquet_and_bytes(shelf: Shelf, tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT range AS day, range * 2 AS depth FROM range(9)) TO '{path}'")
        shelf.repository.files = {path.name: path.read_bytes()}
        connection.register_filesystem(shelf.fs())
        found = connection.execute(
            "SELECT sum(day), sum(depth) FROM read_parquet(?)", [f"{shelf.address()}/*.parquet"]
        )
        assert found.fetchall() == [(36, 72)]
        found = connection.execute("SELECT content FROM read_blob(?)", [shelf.address(path.name)])
        assert found.fetchall() == [(path.read_bytes(),)]


def test_zarr(start: Start) -> None:
    memory: dict[str, Any] = {}
    array = zarr.create_array(MemoryStore(memory), shape=(6,), chunks=(2,), dtype="i4")
    array[:] = np.arange(6)
    files = {f"cube.zarr/{name}": value.to_bytes() for name, value in memory.items()}
    shelf = start("inveniordm", files=files)
    store = FsspecStore.from_url(shelf.address("cube.zarr"), storage_options=shelf.options, read_only=True)
    opened = zarr.open_array(store, mode="r")
    assert np.asarray(opened[:]).tolist() == [0, 1, 2, 3, 4, 5]


def test_a_member_of_an_archive(start: Start) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("inner/täglich.csv", FILES[TABLE])
    shelf = start("figshare", files={"all.zip": packed.getvalue()})
    address = f"zip://inner/täglich.csv::{shelf.address('all.zip')}"
    with fsspec.open(address, doi=shelf.options) as file:
        assert file.read() == FILES[TABLE]
