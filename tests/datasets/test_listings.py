"""A data set with files that cannot be used = the same data set without them; bounds of time and memory."""

from __future__ import annotations

import socket
import tracemalloc
import warnings
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import fsspec_doiuri._web
import pytest
from fsspec.callbacks import Callback
from fsspec_doiuri import DOIFileSystem, lock
from support.clock import Clock
from support.servers import faults
from support.servers.httpproxy import http_proxy
from support.servers.repositories import (
    CONTENT,
    DOIS,
    Repository,
    Shelf,
    Start,
    as_json,
    dataverse_entry,
    invenio_files,
    md5,
)
from support.servers.web import Answer, Asked

BODY = b"x"
GOOD = ["a.txt", "data/x", "data/y/z", "data.txt", "data0"]
UNPRINTABLE = "its name has a backslash or a control character"
NO_NAME = 'a part of its path is empty, "." or ".."'
DEEP = "its path has more than 100 parts"
# Names of files beside the good ones, and why they are refused
BAD: dict[str, tuple[list[str], str]] = {
    "of Windows": (["dir\\win.csv"], UNPRINTABLE),
    "with a tab": (["a\tb"], UNPRINTABLE),
    "with a line break": (["data/a\nb"], UNPRINTABLE),
    "with a NUL": (["a\0b"], UNPRINTABLE),
    "with a colour": (["a\x1b[31mb"], UNPRINTABLE),
    "in this folder": (["./a"], NO_NAME),
    "with two slashes": (["a//b"], NO_NAME),
    "with a dot between": (["a/./b"], NO_NAME),
    "in the parent": (["../x"], NO_NAME),
    "of the parent": (["data/.."], NO_NAME),
    "absolute": (["/etc/passwd"], NO_NAME),
    "of a folder": (["data/y/"], NO_NAME),
    "too deep": (["/".join("x" * 101)], DEEP),
    "below a file": (["data.txt/../x"], NO_NAME),
    "twice": (["twice", "twice"], "another file has the same name"),
    "like a folder": (["data"], "a folder has the same name"),
    "like two folders": (["data", "data/y"], "a folder has the same name"),
}


def entry(name: str) -> dict[str, Any]:
    return {"key": name, "size": 1, "checksum": md5(BODY, "md5:")}


def start_with(start: Start, names: list[str]) -> Shelf:
    listing = invenio_files(*map(entry, names))
    return start("inveniordm", answers={**listing, CONTENT: Answer(200, {}, BODY)})


def everything(fs: DOIFileSystem, root: str) -> dict[str, Any]:
    """Return all that can be known about a data set, without errors."""
    folders = {path: fs.ls(path) for path, _, _ in fs.walk(root)}
    infos = fs.find(root, detail=True, withdirs=True)
    contents = {path: fs.cat_file(path) for path in fs.find(root)}
    return {"folders": folders, "infos": infos, "contents": contents}


# The order makes no difference to what a single name has
FIRST_AND_LAST = ("of Windows", "twice", "like a folder", "like two folders")


@pytest.mark.parametrize(
    ("bad", "first"), [*product(BAD, [False]), *product(FIRST_AND_LAST, [True])]
)
def test_a_file_with_an_odd_name_is_refused_and_the_others_are_as_without_it(
    start: Start, tmp_path: Path, bad: str, first: bool
) -> None:
    names, reason = BAD[bad]
    both = [*names, *GOOD] if first else [*GOOD, *names]
    shelf = start_with(start, both)
    without = start_with(start, GOOD)
    root = shelf.address()
    path = tmp_path / "doi.lock.json"
    fs = shelf.fs()

    with pytest.warns(UserWarning, match="some files are not listed") as caught:
        listed = everything(fs, root)
    with pytest.warns(UserWarning, match="some files are not listed"):
        lock(root, path, **shelf.options)
    with pytest.warns(UserWarning, match=r"doi\.lock\.json: .*: some files are not listed"):
        locked = shelf.fs(lock=path)

    assert listed == everything(locked, root) == everything(without.fs(), root)
    (warning,) = caught
    for name in names:
        assert f"{name!r:.200} ({reason})" in str(warning.message)
        for opened in fs, locked:
            with pytest.raises(OSError, match="cannot be opened") as refused:
                opened.open(f"{root}/{quote(name, safe='')}")
            assert reason in str(refused.value), opened
            assert not isinstance(refused.value, FileNotFoundError), opened


@pytest.mark.parametrize("parts", [99, 100, 101])
def test_a_path_may_have_a_hundred_parts(start: Start, parts: int) -> None:
    path = "/".join("x" * parts)
    shelf = start_with(start, [path])

    with warnings.catch_warnings(action="ignore"):
        is_listed = shelf.fs().find(shelf.address()) == [f"{shelf.doi}/{path}"]

    assert is_listed is (parts <= 100), f"a path of {parts} parts"


@pytest.mark.parametrize("typed", ["dir\\win.csv", "./a", "a//b", "a\tb", "a%09b"])
def test_a_refused_file_is_named_by_what_is_typed(start: Start, typed: str) -> None:
    shelf = start_with(start, ["good", "dir\\win.csv", "./a", "a//b", "a\tb"])
    fs = shelf.fs()
    with pytest.warns(UserWarning, match="not listed"):
        fs.ls(shelf.address())
    for ask in fs.open, fs.info, fs.exists:
        with pytest.raises(OSError, match="cannot be opened: "):
            ask(f"{shelf.address()}/{typed}")


# What begins with something in the data set, listed or refused, is not the rest of a longer name
IN_THE_DATA_SET = ["a.txt", "a.txt/none", "data", "data/x", "data/none", "twice", "dir\\win.csv"]


@pytest.mark.parametrize(
    ("typed", "is_in"), [*((typed, True) for typed in IN_THE_DATA_SET), ("none", False)]
)
def test_longer_names_are_looked_up_only_for_what_is_not_in_the_data_set(
    start: Start, typed: str, is_in: bool
) -> None:
    shelf = start_with(start, ["a.txt", "data/x", "twice", "twice", "dir\\win.csv"])
    fs = shelf.fs()
    with pytest.warns(UserWarning, match="not listed"):
        fs.ls(shelf.address())
    shelf.proxy.log.clear()

    with suppress(OSError):
        fs.info(f"{shelf.address()}/{typed}")

    asked = [request.target for request in shelf.proxy.log]
    assert bool(asked) is not is_in, f"{typed}: {asked}"


@pytest.mark.parametrize("kind", ["figshare", "dataverse"])
def test_every_kind_of_repository_may_have_odd_names(start: Start, kind: str) -> None:
    shelf = start(kind, files={"dir\\win.txt": b"1", "good.txt": b"2", "a\tb.txt": b"3"})
    fs = shelf.fs()
    with pytest.warns(UserWarning, match=r"'a\\tb\.txt' \(.*\); 'dir.*win\.txt' \("):
        assert fs.find(shelf.address()) == [f"{shelf.doi}/good.txt"]
    assert fs.cat_file(shelf.address("good.txt")) == b"2"


def test_a_warning_names_five_files_and_how_many_more_there_are(start: Start) -> None:
    shelf = start_with(start, ["good", *(f"{number}\t" for number in range(1007))])
    with pytest.warns(UserWarning, match=r"'0\\t' \(.*'1000\\t' \([^;]*\); and 1,002 more$"):
        assert len(shelf.fs().ls(shelf.address())) == 1


def test_an_infinite_size_is_one_that_is_not_known(start: Start) -> None:
    listing = invenio_files({"key": "a", "size": float("inf")}, entry("b"))
    shelf = start("inveniordm", answers={**listing, CONTENT: Answer(200, {}, BODY)})
    assert [info["size"] for info in shelf.fs().ls(shelf.address())] == [None, 1]


def test_a_table_whose_original_is_refused_does_not_open_under_its_other_name(
    start: Start,
) -> None:
    table = dataverse_entry(70, "a.csv", BODY)
    table["dataFile"]["originalFileName"] = "a\tb.csv"
    answers = {"latest-published": as_json({"data": {"files": [table]}})}
    shelf = start("dataverse", answers=answers)
    fs = shelf.fs()
    with pytest.warns(UserWarning, match="not listed"):
        assert not fs.exists(shelf.address("a.tab"))


OPTIONAL = {
    "none": [],
    "the size of the original": ["originalFileSize"],
    "the size of the table": ["filesize"],
    "both sizes": ["originalFileSize", "filesize"],
    "the type of the original": ["originalFileFormat"],
    "the type of the table": ["contentType"],
    "the checksum": ["checksum"],
}


@pytest.mark.parametrize("left_out", OPTIONAL.values(), ids=OPTIONAL)
def test_what_is_not_said_of_a_table_changes_no_names(start: Start, left_out: list[str]) -> None:
    """A table and a file that has the name of its original are both listed, and under the same names."""
    other = dataverse_entry(71, "a.txt", BODY)
    other["label"] = "a.csv"
    table = dataverse_entry(70, "a.csv", BODY)
    for member in left_out:
        del table["dataFile"][member]
    answers = {"latest-published": as_json({"data": {"files": [other, table]}})}
    shelf = start("dataverse", answers=answers)

    names = [name.rpartition("/")[2] for name in shelf.fs().find(shelf.address())]

    assert names == ["a.csv", "a.tab"], f"without {left_out}, these are listed: {names}"


def test_the_memory_for_a_listing_grows_with_its_text_not_with_the_number_of_its_folders(
    start: Start,
) -> None:
    """An entry for each of these 490,001 folders took 187 times the text."""
    names = [f"{number:04}/{'d/' * 98}x" for number in range(5000)]
    shelf = start("inveniordm", answers=invenio_files(*map(entry, names)))
    fs = shelf.fs()

    tracemalloc.start()
    try:
        assert fs.ls(f"{shelf.address()}/0007/d", detail=False) == [f"{shelf.doi}/0007/d/d"]
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert most < 40 * sum(map(len, names))


class Late(NamedTuple):
    """An answer that stops for a long time after its beginning, in bytes as they are sent."""

    target: str  # what it answers: the end of the path
    before: bytes
    after: bytes
    says: str


OK = b"HTTP/1.1 200 OK\r\nConnection: close\r\n"
REFUSED = b"HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\nConnection: close\r\n"
MANY = b" " * 200_000  # more than a client reads at once
FIELDS = b"".join(b"X: %s\r\n" % (b"x" * 30_000) for _ in range(7))
LATE = {
    "a listing": Late("/files", OK + b"\r\n{", MANY, "no complete answer within 120 s"),
    "the head of a listing": Late("/files", OK, FIELDS, "no complete answer within 120 s"),
    "the head of a file": Late("/content", OK, FIELDS, r"^a\.txt: .* within 120 s"),
    "an error": Late("/files", REFUSED + b"\r\n{", MANY, "answered 403|within 120 s"),
    "an error for a file": Late("/content", REFUSED + b"\r\n{", MANY, "answered 403|within 120 s"),
}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(fsspec_doiuri._web, "monotonic", clock)
    return clock


@pytest.mark.parametrize("proxied", [False, True], ids=["", "through a proxy"])
@pytest.mark.parametrize("late", LATE)
def test_an_answer_that_goes_on_and_on_is_left(
    leading_to: Callable[..., DOIFileSystem],
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    late: str,
    proxied: bool,
) -> None:
    target, before, after, says = LATE[late]
    usual = Repository("inveniordm", {"a.txt": BODY})

    def answer(_: faults.Server, connection: socket.socket, request: bytes) -> None:
        path = request.split(b" ")[1].decode()
        if not path.endswith(target):
            connection.sendall(faults.reply("200 OK", usual(Asked("GET", path, {})).body))
            return
        connection.sendall(before)
        clock.skipped += 10_000
        connection.sendall(after)

    with faults.serving(answer) as server, http_proxy() as proxy:
        fs = leading_to(f"{server.url}/records/4924875", private=True)
        if proxied:
            monkeypatch.setenv("http_proxy", proxy.url)
        with pytest.raises(OSError, match=says):
            fs.cat_file(f"doi://{DOIS['inveniordm']}/a.txt")
        assert proxied == (proxy.seen != [])


def test_a_file_may_take_any_time_while_it_arrives(
    start: Start, clock: Clock, tmp_path: Path
) -> None:
    class Slow(Callback):  # type: ignore[misc]
        def relative_update(self, inc: int = 1) -> None:
            clock.skipped += 10_000

    body = b"x" * 2**20
    shelf = start("inveniordm", files={"x": body})
    shelf.fs().get_file(shelf.address("x"), tmp_path / "x", callback=Slow())
    assert (tmp_path / "x").read_bytes() == body
    assert clock.skipped >= 20_000
