"""What works in every repository: the same two files, read in the same ways."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import fsspec
import pytest
from doiuri_proxy import Request
from fsspec.generic import rsync
from fsspec_doiuri import DOIFileSystem
from support.servers.repositories import DOIS, FILES, NOTES, TABLE, VERSIONS, as_json, md5
from support.shelf import Shelf, Start

ESCAPED = "tables/t%C3%A4glich%20100%25.csv"


def test_every_file_is_listed_under_an_address_that_opens_it(shelf: Shelf) -> None:
    fs, root = shelf.fs(), DOIS[shelf.kind]
    assert fs.find(shelf.address()) == [f"{root}/{NOTES}", f"{root}/{ESCAPED}"]
    assert fs.ls(shelf.address(), detail=False) == [f"{root}/tables", f"{root}/{NOTES}"]
    assert fs.glob(f"{shelf.address()}/**/*.csv") == [f"{root}/{ESCAPED}"]
    for name in fs.find(shelf.address()):
        path = TABLE if name.endswith(".csv") else NOTES
        assert fs.cat_file(name) == FILES[path]
        with fsspec.open(f"doi://{name}", **shelf.options) as file:
            assert file.read() == FILES[path]


def test_the_info_of_a_file_is_what_the_repository_lists(shelf: Shelf) -> None:
    info = shelf.fs().info(shelf.address(TABLE))
    assert info == {
        "name": f"{DOIS[shelf.kind]}/{ESCAPED}",
        "size": len(FILES[TABLE]),
        "type": "file",
        "checksum": md5(FILES[TABLE], "md5:"),
        "mimetype": "text/csv",
        "version": VERSIONS[shelf.kind],
    }
    folder = shelf.fs().info(shelf.address("tables"))
    assert (folder["type"], folder["version"]) == ("directory", VERSIONS[shelf.kind])


@pytest.mark.parametrize("written", ["täglich 100%.csv", "t%c3%a4glich%20100%25.csv", "tägli%63h 100%.csv"])
def test_a_name_is_understood_raw_and_escaped(shelf: Shelf, written: str) -> None:
    assert shelf.fs().cat(f"{shelf.address('tables')}/{written}") == FILES[TABLE]


@pytest.mark.parametrize("path", ["%FF.csv", "%", "a%2", "\xa0", "tables//x", "tables/../notes.txt"])
def test_odd_paths_are_missing(shelf: Shelf, path: str) -> None:
    assert not shelf.fs().exists(f"{shelf.address()}/{path}")


def test_text_and_ranges_are_read(shelf: Shelf) -> None:
    fs = shelf.fs()
    with fs.open(shelf.address(NOTES), "r", encoding="utf-8") as file:
        assert file.read() == FILES[NOTES].decode()
    assert fs.cat_file(shelf.address(TABLE), 2, 5) == FILES[TABLE][2:5]
    assert fs.cat_file(shelf.address(TABLE), -4) == FILES[TABLE][-4:]
    assert fs.cat_ranges([shelf.address(TABLE)] * 2, [0, 4], [3, 6]) == [FILES[TABLE][:3], FILES[TABLE][4:6]]


def get(shelf: Shelf, target: Path) -> None:
    shelf.fs().get(shelf.address(), str(target), recursive=True)


def sync(shelf: Shelf, target: Path) -> None:
    options = {"default_method": "options", "storage_options": {"doi": shelf.options}}
    rsync(shelf.address(), target.as_uri().replace("%25", "%"), inst_kwargs=options)


@pytest.mark.parametrize("copy", [get, sync])
def test_a_folder_is_copied_under_the_names_of_its_files(
    shelf: Shelf, tmp_path: Path, copy: Callable[[Shelf, Path], None]
) -> None:
    shelf.repository.files = {**FILES, "a b/[1] #ü?*.txt": b"odd"}
    copy(shelf, tmp_path / "100%25")
    copied = {str(file.relative_to(tmp_path)): file.read_bytes() for file in tmp_path.rglob("*.*")}
    assert copied == {f"100%25/{name}": body for name, body in shelf.repository.files.items()}


@pytest.mark.parametrize(("suffix", "folder"), [("../../x1", "..%2F..%2Fx1"), ("x1", "x1")])
def test_a_doi_leads_no_copy_out_of_the_target(
    start: Start, tmp_path: Path, suffix: str, folder: str
) -> None:
    doi = f"10.1000/{suffix}"
    answers = {"/records/1$": as_json({"id": 4924875, "doi": doi})}
    shelf = start("inveniordm", records={doi: "/records/1"}, answers=answers)
    target = tmp_path / "a" / "b"
    target.mkdir(parents=True)
    shelf.fs().get(f"doi://10.1000/{quote(suffix, safe='')}", str(target), recursive=True)
    assert [*tmp_path.rglob(NOTES)] == [target / folder / NOTES]


@pytest.mark.parametrize("to", ["new.csv", "folder/", "."])
def test_one_file_is_copied_where_it_is_wanted(shelf: Shelf, tmp_path: Path, to: str) -> None:
    shelf.fs().get(shelf.address(TABLE), f"{tmp_path}/{to}")
    (copied,) = tmp_path.rglob("*.csv")
    assert copied == tmp_path / (to if to == "new.csv" else f"{to}/täglich 100%.csv")
    assert copied.read_bytes() == FILES[TABLE]


def test_caches_of_fsspec_work_on_top(shelf: Shelf, tmp_path: Path) -> None:
    address = f"simplecache::{shelf.address(TABLE)}"
    options = {"doi": shelf.options, "simplecache": {"cache_storage": str(tmp_path)}}
    for _ in range(2):
        with fsspec.open(address, **options) as file:
            assert file.read() == FILES[TABLE]
    assert sum("download" in a or "content" in a or "access" in a for a in targets(shelf)) == 1


def test_what_is_not_there_is_missing_and_nothing_else_is(shelf: Shelf) -> None:
    fs = shelf.fs()
    for path in "none.csv", "tables/none.csv", f"{NOTES}/x":
        assert not fs.exists(shelf.address(path))
        with pytest.raises(FileNotFoundError, match=DOIS[shelf.kind]):
            fs.open(shelf.address(path))
    assert fs.isfile(shelf.address(NOTES))
    assert fs.isdir(shelf.address("tables"))
    assert fs.isdir(shelf.address())
    with pytest.raises(IsADirectoryError):
        fs.open(shelf.address("tables"))


def test_a_listing_is_asked_for_once(shelf: Shelf) -> None:
    fs = shelf.fs()
    fs.find(shelf.address())
    asked = len(shelf.server.seen)
    fs.find(shelf.address())
    fs.info(shelf.address(NOTES))
    assert len(shelf.server.seen) == asked
    fs.invalidate_cache()
    fs.find(shelf.address())
    assert len(shelf.server.seen) == 2 * asked


def test_the_name_is_looked_up_in_one_request(shelf: Shelf) -> None:
    shelf.fs().info(shelf.address(TABLE))
    assert [kind_of(request) for request in shelf.proxy.log] == ["doiRA", "api"]


def test_a_known_name_is_not_looked_up(shelf: Shelf) -> None:
    shelf.fs().info(shelf.address(TABLE))
    asked = len(shelf.proxy.log)
    shelf.fs().info(shelf.address(NOTES))  # another filesystem, with the same cache
    assert len(shelf.proxy.log) == asked


def test_an_escaped_slash_ends_the_name_without_a_request(start: Start) -> None:
    shelf = start("dataverse")
    root = "10.7910/DVN%2FRLLL1V"
    assert shelf.fs().ls(f"doi://{root}", detail=False) == [f"{root}/tables", f"{root}/{NOTES}"]
    assert [kind_of(request) for request in shelf.proxy.log] == ["api"]


def test_it_can_be_pickled_and_an_open_file_too(shelf: Shelf) -> None:
    fs = pickle.loads(pickle.dumps(shelf.fs()))
    assert fs.cat_file(shelf.address(NOTES)) == FILES[NOTES]
    with fs.open(shelf.address(TABLE)) as file:
        file.read(4)
        with pickle.loads(pickle.dumps(file)) as copy:
            assert copy.read() == FILES[TABLE][4:]


@pytest.mark.parametrize(
    "write",
    [
        lambda fs, a: fs.open(a, "wb"),
        lambda fs, a: fs.open(a, "ab"),
        lambda fs, a: fs.pipe_file(a, b"x"),
        lambda fs, a: fs.put(__file__, a),
        lambda fs, a: fs.rm(a),
        lambda fs, a: fs.rm_file(a),
        lambda fs, a: fs.mkdir(f"{a}x"),
        lambda fs, a: fs.makedirs(f"{a}x"),
        lambda fs, a: fs.cp_file(a, f"{a}x"),
        lambda fs, a: fs.mv(a, f"{a}x"),
        lambda fs, a: fs.touch(a),
        lambda fs, a: fs.rmdir(a),
    ],
)
def test_writing_is_refused(write: Callable[[DOIFileSystem, str], object]) -> None:
    fs = DOIFileSystem(cache=":memory:", offline=True)
    with pytest.raises(OSError, match="read-only"):
        write(fs, "doi://10.1000/x/y")


def targets(shelf: Shelf) -> list[str]:
    return [asked.target for asked in shelf.server.seen]


def kind_of(request: Request) -> str:
    """Which RA or the REST API."""
    return request.path.decode().split("/")[1]


def test_a_missing_name_is_looked_up_once(shelf: Shelf) -> None:
    fs = shelf.fs()
    fs.info(shelf.address(NOTES))
    assert not fs.exists(shelf.address("none"))
    asked = len(shelf.proxy.log)
    assert not fs.exists(shelf.address("none"))
    assert not fs.exists(shelf.address("tables/none"))
    assert len(shelf.proxy.log) == asked


def test_a_deep_path_takes_one_look_up(shelf: Shelf) -> None:
    assert not shelf.fs().exists(shelf.address("/".join(["folder"] * 200)))
    assert sum(kind_of(request) == "doiRA" for request in shelf.proxy.log) <= 2
    assert len(shelf.proxy.log) <= 3


def test_a_doi_may_be_escaped_whole(shelf: Shelf) -> None:
    doi = quote(DOIS[shelf.kind], safe="")
    assert shelf.fs().cat_file(f"doi://{doi}/{NOTES}") == FILES[NOTES]
    assert shelf.fs().ls(f"doi://{doi}", detail=False) == [f"{doi}/tables", f"{doi}/{NOTES}"]


def test_a_path_object_names_the_copy(shelf: Shelf, tmp_path: Path) -> None:
    shelf.fs().get(shelf.address(NOTES), tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == FILES[NOTES]
