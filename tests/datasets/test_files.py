"""What works in every repository: the same two files, read in the same ways."""

from __future__ import annotations

import pickle
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import fsspec
import pytest
from doiuri_proxy.pytest_plugin import Proxies
from fsspec.generic import rsync, set_generic_fs
from fsspec_doiuri import DOIFileSystem
from support.servers.repositories import CONTENT, FILES, NOTES, TABLE, Shelf, Start, as_json, md5
from support.servers.web import record

ESCAPED = "tables/t%C3%A4glich%20100%25.csv"
ROWS = [(1, 20), (2, 22)]


def kinds(shelf: Shelf) -> list[str]:
    """What the local proxy was asked: Which RA or the REST API."""
    return [request.path.decode().split("/")[1] for request in shelf.proxy.log]


def test_every_file_is_listed_under_an_address_that_opens_it(shelf: Shelf) -> None:
    fs = shelf.fs()
    root = shelf.doi
    assert fs.find(shelf.address()) == [f"{root}/{NOTES}", f"{root}/{ESCAPED}"]
    assert fs.ls(shelf.address(), detail=False) == [f"{root}/{NOTES}", f"{root}/tables"]
    assert fs.ls(f"{shelf.address()}/", detail=False) == [f"{root}/{NOTES}", f"{root}/tables"]
    assert fs.glob(f"{shelf.address()}/**/*.csv") == [f"{root}/{ESCAPED}"]
    for name, path in (f"{root}/{NOTES}", NOTES), (f"{root}/{ESCAPED}", TABLE):
        assert fs.cat_file(name) == FILES[path]
        with fsspec.open(f"doi://{name}", **shelf.options) as file:
            assert file.read() == FILES[path]


def test_the_info_of_a_file_is_what_the_repository_lists(shelf: Shelf) -> None:
    info = shelf.fs().info(shelf.address(TABLE))
    version = shelf.version
    body = FILES[TABLE]
    listed = {
        "size": len(body),
        "checksum": md5(body, "md5:"),
        "mimetype": "text/csv",
        "version": version,
    }
    assert info == {"name": f"{shelf.doi}/{ESCAPED}", "type": "file", **listed}
    folder = shelf.fs().info(shelf.address("tables"))
    assert (folder["type"], folder["version"]) == ("directory", version)


@pytest.mark.parametrize(
    "written", ["täglich 100%.csv", "t%c3%a4glich%20100%25.csv", "tägli%63h 100%.csv"]
)
def test_a_name_is_understood_raw_and_escaped(shelf: Shelf, written: str) -> None:
    """With the slash of the DOI escaped, it is clear without a request where the name ends."""
    doi = quote(shelf.doi, safe="")
    assert shelf.fs().cat_file(f"doi://{doi}/tables/{written}") == FILES[TABLE]
    assert kinds(shelf) == ["api"]
    assert shelf.fs().cat(f"{shelf.address('tables')}/{written}") == FILES[TABLE]
    assert shelf.fs().ls(f"doi://{doi}", detail=False) == [f"{doi}/{NOTES}", f"{doi}/tables"]


def test_text_and_ranges_are_read(shelf: Shelf) -> None:
    fs = shelf.fs()
    table = shelf.address(TABLE)
    with fs.open(shelf.address(NOTES), "r", encoding="utf-8") as file:
        assert file.read() == FILES[NOTES].decode()
    assert (fs.cat_file(table, 2, 5), fs.cat_file(table, -4)) == (
        FILES[TABLE][2:5],
        FILES[TABLE][-4:],
    )
    assert fs.cat_ranges([table] * 2, [0, 4], [3, 6]) == [FILES[TABLE][:3], FILES[TABLE][4:6]]


def get(shelf: Shelf, target: Path) -> None:
    shelf.fs().get(shelf.address(), str(target), recursive=True)


def sync(shelf: Shelf, target: Path) -> None:
    set_generic_fs("doi", **shelf.options)
    set_generic_fs("file")
    rsync(
        shelf.address(),
        target.as_uri().replace("%25", "%"),
        inst_kwargs={"default_method": "generic"},
    )


@pytest.mark.parametrize("copy", [get, sync])
def test_a_folder_is_copied_under_the_names_of_its_files(
    shelf: Shelf, tmp_path: Path, copy: Callable[[Shelf, Path], None]
) -> None:
    shelf.repository.files = {**FILES, "a b/[1] #ü?*.txt": b"odd"}
    copy(shelf, tmp_path / "100%25")
    copied = {str(file.relative_to(tmp_path)): file.read_bytes() for file in tmp_path.rglob("*.*")}
    assert copied == {f"100%25/{name}": body for name, body in shelf.repository.files.items()}


@pytest.mark.parametrize("suffix", ["../../x1", "..\\x1", "x1"])
def test_a_doi_leads_no_copy_out_of_the_target(start: Start, tmp_path: Path, suffix: str) -> None:
    doi = f"10.1000/{suffix}"
    folder = quote(suffix, safe="")
    target = tmp_path / "a" / "b"
    answers = {"/records/1$": as_json({"id": 4924875, "doi": doi})}
    shelf = start("inveniordm", records={doi: "/records/1"}, answers=answers)
    target.mkdir(parents=True)
    shelf.fs().get(f"doi://10.1000/{folder}", str(target), recursive=True)
    assert [*tmp_path.rglob(NOTES)] == [target / folder / NOTES]


@pytest.mark.parametrize("to", ["new.csv", "folder/", ".", Path("new.csv")], ids=repr)
def test_one_file_is_copied_where_it_is_wanted(
    shelf: Shelf, tmp_path: Path, to: str | Path
) -> None:
    target = tmp_path / to if isinstance(to, Path) else f"{tmp_path}/{to}"
    shelf.fs().get(shelf.address(TABLE), target)
    (copied,) = tmp_path.rglob("*.csv")
    assert copied == tmp_path / (to if str(to) == "new.csv" else f"{to}/täglich 100%.csv")
    assert copied.read_bytes() == FILES[TABLE]


MISSING = ["none.csv", "tables/none.csv", f"{NOTES}/x", "tables/../notes.txt", "tables//x"]


@pytest.mark.parametrize("path", [*MISSING, *(f"none{odd}" for odd in ("%FF", "%", "%2", "\xa0"))])
def test_what_is_not_there_is_missing(shelf: Shelf, path: str) -> None:
    fs = shelf.fs()
    assert not fs.exists(f"{shelf.address()}/{path}")
    with pytest.raises(FileNotFoundError, match=shelf.doi):
        fs.open(f"{shelf.address()}/{path}")


def test_folders_are_no_files(shelf: Shelf) -> None:
    fs = shelf.fs()
    assert fs.isfile(shelf.address(NOTES))
    for folder in shelf.address("tables"), shelf.address():
        assert fs.isdir(folder)
        assert not fs.isfile(folder)
        with pytest.raises(IsADirectoryError):
            fs.open(folder)


def test_a_name_is_looked_up_in_one_request_and_its_listing_and_missing_ones_once(
    shelf: Shelf,
) -> None:
    fs = shelf.fs()
    fs.info(shelf.address(TABLE))
    shelf.fs().info(shelf.address(NOTES))  # another filesystem, with the same cache
    assert kinds(shelf) == ["doiRA", "api"]
    fs.invalidate_cache()
    shelf.server.seen.clear()
    fs.find(shelf.address())
    listed = len(shelf.server.seen)
    fs.find(shelf.address())
    fs.info(shelf.address(NOTES, shelf.doi.swapcase()))
    assert not fs.exists(shelf.address("none"))
    asked = len(shelf.proxy.log)
    assert not fs.exists(shelf.address("none"))
    assert not fs.exists(shelf.address("tables/none"))
    assert (len(shelf.proxy.log), len(shelf.server.seen)) == (asked, listed)
    fs.invalidate_cache()
    fs.find(shelf.address())
    assert len(shelf.server.seen) == 2 * listed
    asked = len(shelf.proxy.log)
    assert not shelf.fs().exists(shelf.address("/".join(["folder"] * 200)))
    assert kinds(shelf)[asked:].count("doiRA") <= 1


def test_it_can_be_pickled_and_an_open_file_too(shelf: Shelf) -> None:
    fs = pickle.loads(pickle.dumps(shelf.fs()))
    assert fs.cat_file(shelf.address(NOTES)) == FILES[NOTES]
    with fs.open(shelf.address(TABLE)) as file:
        file.read(4)
        with pickle.loads(pickle.dumps(file)) as copy:
            assert copy.read() == FILES[TABLE][4:]


# What the environment says, and what the filesystem then finds
ENVIRONMENTS: dict[str, tuple[dict[str, str], str]] = {
    "a resolver": ({}, ""),
    "offline": ({"DOIURI_OFFLINE": "1"}, "offline: request not sent"),
    "another resolver": ({"DOIURI_RESOLVER": "{other}"}, "not registered"),
    "a token": ({"DOIURI_TOKENS": "{host}=wrong"}, "answered 403"),
    "a mail address": ({"DOIURI_MAILTO": "me@example.org"}, ""),
    "a cache": ({"DOIURI_CACHE": "{folder}/cache.sqlite3"}, ""),
}


def test_a_kept_filesystem_asks_as_a_new_one_does_after_the_environment_has_changed(
    start: Start, doi_proxy: Proxies, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And it is kept as long as the environment stays, or comes back."""
    shelf = start("inveniordm", token="right")
    other = doi_proxy([record("10.1000/other", shelf.server.url)])
    usual = {
        "DOIURI_RESOLVER": shelf.proxy.url,
        "DOIURI_OFFLINE": "",
        "DOIURI_CACHE": ":memory:",
        "DOIURI_MAILTO": "",
        "DOIURI_TOKENS": "{host}=right",
    }
    options = {"private": True, "repositories": {shelf.host: "inveniordm"}}
    kept: dict[str, DOIFileSystem] = {}

    for state in (*ENVIRONMENTS, *reversed(ENVIRONMENTS)):
        variables, says = ENVIRONMENTS[state]
        for name, value in (usual | variables).items():
            text = value.format(other=other.url, host=shelf.host, folder=tmp_path)
            monkeypatch.setenv(name, text)

        fs = fsspec.filesystem("doi", **options)
        assert fs is kept.setdefault(state, fs)
        if says:
            with pytest.raises(OSError, match=says):
                fs.ls(shelf.address())
        else:
            assert len(fs.ls(shelf.address())) == 2, state

    assert len({*map(id, kept.values())}) == len(ENVIRONMENTS)
    agents = {asked.headers["user-agent"] for asked in shelf.server.seen}
    assert ["me@example.org" in agent for agent in sorted(agents)] == [False, True]


A = "doi://10.1000/x/y"
WRITES = [
    *(("open", A, "wb"), ("open", A, "ab"), ("pipe_file", A, b"x"), ("put", __file__, A)),
    *(("cp_file", A, f"{A}x"), ("mv", A, f"{A}x")),
    *((method, A) for method in ("rm", "rm_file", "mkdir", "makedirs", "touch", "rmdir")),
]


@pytest.mark.parametrize("write", WRITES, ids=lambda write: write[0])
def test_writing_is_refused(write: tuple[Any, ...]) -> None:
    fs = DOIFileSystem(cache=":memory:", offline=True)
    with pytest.raises(OSError, match="read-only"):
        getattr(fs, write[0])(*write[1:])


def test_caches_of_fsspec_work_on_top(shelf: Shelf, tmp_path: Path) -> None:
    address = f"simplecache::{shelf.address(TABLE)}"
    options = {"doi": shelf.options, "simplecache": {"cache_storage": str(tmp_path)}}
    for _ in range(2):
        with fsspec.open(address, **options) as file:
            assert file.read() == FILES[TABLE]
    downloads = [asked for asked in shelf.server.seen if re.search(CONTENT, asked.target)]
    assert len(downloads) == 1


def test_pandas_dask_and_duckdb_read_tables(shelf: Shelf) -> None:
    import dask.dataframe as dd  # slow to import, as the next two
    import duckdb
    import pandas as pd

    for address in shelf.address(TABLE), shelf.address("tables") + "/täglich 100%.csv":
        frame = pd.read_csv(address, storage_options=shelf.options)
        assert [*frame.itertuples(index=False, name=None)] == ROWS, address
    frame = dd.read_csv(f"{shelf.address('tables')}/*.csv", storage_options=shelf.options).compute()
    assert [*frame.itertuples(index=False, name=None)] == ROWS
    with duckdb.connect() as connection:
        connection.register_filesystem(shelf.fs())
        assert (
            connection.execute("SELECT * FROM read_csv(?)", [shelf.address(TABLE)]).fetchall()
            == ROWS
        )


def test_duckdb_reads_parquet_zarr_an_array_and_zip_a_member(start: Start, tmp_path: Path) -> None:
    import duckdb  # slow to import, as all of these
    import numpy as np
    import pandas as pd
    import zarr
    from zarr.storage import FsspecStore, MemoryStore

    memory: dict[str, Any] = {}
    zarr.create_array(MemoryStore(memory), shape=(6,), chunks=(2,), dtype="i4")[:] = np.arange(6)
    files = {f"cube.zarr/{name}": value.to_bytes() for name, value in memory.items()}
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("inner/täglich.csv", FILES[TABLE])
    pd.DataFrame({"day": range(9), "depth": range(0, 18, 2)}).to_parquet(tmp_path / "table.parquet")
    files |= {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    shelf = start("inveniordm", files=files)
    store = FsspecStore.from_url(
        shelf.address("cube.zarr"), storage_options=shelf.options, read_only=True
    )
    assert np.asarray(zarr.open_array(store, mode="r")[:]).tolist() == [0, 1, 2, 3, 4, 5]
    with fsspec.open(
        f"zip://inner/täglich.csv::{shelf.address('all.zip')}", doi=shelf.options
    ) as file:
        assert file.read() == FILES[TABLE]
    with duckdb.connect() as connection:
        connection.register_filesystem(shelf.fs())
        sums = "SELECT sum(day), sum(depth) FROM read_parquet(?)"
        assert connection.execute(sums, [f"{shelf.address()}/*.parquet"]).fetchall() == [(36, 72)]
        found = connection.execute("SELECT content FROM read_blob(?)", [shelf.address("all.zip")])
        assert found.fetchall() == [(files["all.zip"],)]
