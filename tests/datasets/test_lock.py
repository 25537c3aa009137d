"""The lock file: the listing as it was, and files as they were or an error."""

from __future__ import annotations

import json
import re
from math import inf
from pathlib import Path

import fsspec
import pytest
from doiuri.resolver import Entry, Key, LockFile
from fsspec_doiuri import DOIFileSystem, lock
from support.foreign import FOREIGN, REMEDIES
from support.servers.repositories import DOIS, FILES, NOTES, TABLE, Shelf, Start, error, md5

LOCKED = {**FILES, "tables/empty": b""}


# The lock file is read and written in the same way for each kind of repository
in_one_kind = pytest.mark.parametrize("shelf", ["inveniordm"], indirect=True)


@pytest.fixture
def locked(shelf: Shelf, tmp_path: Path) -> Path:
    shelf.repository.files = LOCKED
    path = tmp_path / "doi.lock.json"
    lock(shelf.address(NOTES), path, **shelf.options)
    shelf.server.seen.clear()
    return path


def test_a_lock_file_says_what_every_file_is(shelf: Shelf, locked: Path) -> None:
    ((name, entry),) = json.loads(locked.read_text("utf-8"))["files"].items()
    assert name == shelf.doi.upper()
    files = {file["path"]: (file["size"], file["checksum"]) for file in entry["json"]["files"]}
    assert files == {path: (len(body), md5(body, "md5:")) for path, body in LOCKED.items()}
    before = locked.read_bytes()
    if shelf.kind == "inveniordm":  # elsewhere the fake's ids follow the order
        shelf.repository.files = dict(reversed(LOCKED.items()))
    lock(shelf.address(), locked, **{**shelf.options, "lock": locked})
    assert locked.read_bytes() == before


@pytest.mark.parametrize("offline", [False, True])
def test_locked_is_as_listed_and_only_the_download_is_asked_for(
    shelf: Shelf, locked: Path, offline: bool
) -> None:
    listed = shelf.fs().find(shelf.address(), detail=True)
    tables = [TABLE, TABLE.replace(".csv", ".tab")] if shelf.kind == "dataverse" else [TABLE]
    shelf.server.seen.clear()
    asked = len(shelf.proxy.log)
    fs = shelf.fs(lock=locked, offline=offline)
    assert fs.find(shelf.address(), detail=True) == listed
    assert not fs.exists(shelf.address("none"))
    assert not shelf.server.seen
    for table in tables:
        if offline:
            with pytest.raises(OSError, match=f"{shelf.host}: offline: request not sent"):
                fs.cat_file(shelf.address(table))
        else:
            assert fs.cat_file(shelf.address(table)) == FILES[TABLE]
    assert len(shelf.server.seen) == (0 if offline else len(tables))
    assert len(shelf.proxy.log) == asked


@pytest.mark.parametrize("new", [b"x" * len(FILES[NOTES]), b"shorter", FILES[NOTES] + b"longer"])
def test_a_file_that_changed_is_an_error_with_its_name(
    shelf: Shelf, locked: Path, new: bytes
) -> None:
    shelf.repository.files = {**LOCKED, NOTES: new}
    assert shelf.fs().cat_file(shelf.address(NOTES)) == new
    with pytest.raises(OSError, match=r"notes\.txt has changed since it was locked"):
        shelf.fs(lock=locked).cat_file(shelf.address(NOTES))


@in_one_kind
def test_the_lock_file_is_shared_with_other_kinds_of_answers(shelf: Shelf, locked: Path) -> None:
    other = Key("record", "https://doi.org", "10.1000/1", "")
    LockFile(locked).put_many({other: Entry(b'{"responseCode":1}', "application/json", inf)})
    assert shelf.fs(lock=locked).isfile(shelf.address(NOTES))
    lock(shelf.address(), locked, **shelf.options)
    assert [*LockFile(locked).get_many([other])] == [other]


@in_one_kind
@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
def test_what_is_no_lock_file_stays_and_the_error_says_what_to_do(
    shelf: Shelf, content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "theirs"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"theirs .*; ({REMEDIES})"):
        lock(shelf.address(NOTES), path, **shelf.options)
    assert path.read_bytes() == content


def test_what_is_not_locked_is_an_error_and_never_written(shelf: Shelf, locked: Path) -> None:
    before = locked.read_bytes()
    with pytest.raises(OSError, match=r"10\.1000/other: its listing is not in .*doi\.lock\.json"):
        shelf.fs(lock=locked).exists("doi://10.1000/other")
    assert locked.read_bytes() == before


def test_the_concept_stays_at_the_version_that_was_locked(start: Start, tmp_path: Path) -> None:
    concept = "10.5281/zenodo.4924874"
    path = tmp_path / "doi.lock.json"
    shelf = start(
        "inveniordm", records={concept: "/records/4924874"}, answers={".": error(503, "down")}
    )
    with pytest.raises(OSError, match="answered 503"):
        lock(shelf.address("", concept), path, **shelf.options)
    assert not path.exists()
    shelf.repository.answers.clear()
    lock(shelf.address("", concept), path, **shelf.options)
    shelf.repository.answers["/records/4924874"] = error(500, "a newer version")
    fs = shelf.fs(lock=path)
    assert fs.info(shelf.address(NOTES, concept))["version"] == DOIS["inveniordm"]
    assert fs.cat_file(shelf.address(NOTES, concept)) == FILES[NOTES]


@in_one_kind
@pytest.mark.parametrize(
    ("member", "value", "reason"),
    [
        ("path", None, "the path of a file is None"),
        ("url", "http://[x", "Invalid IPv6 URL"),
        ("url", "file:///etc/passwd", "not an http or https URL"),
        ("size", "12", "the size of a file is '12'"),
        ("mode", "x", "mode"),
        ("repository", "zenodo", "unknown repository 'zenodo'"),
        ("repository", ["figshare"], "unhashable"),
        ("version", None, "version None"),
        ("files", {"path": "x"}, "must be a mapping"),
        ("files", 5, "not iterable"),
    ],
    ids=str,
)
def test_an_edited_lock_file_is_not_trusted(
    shelf: Shelf, locked: Path, member: str, value: object, reason: str
) -> None:
    content = json.loads(locked.read_text("utf-8"))
    ((_, entry),) = content["files"].items()
    edited = entry["json"] if member in entry["json"] else entry["json"]["files"][0]
    edited[member] = value
    locked.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=rf"doi\.lock\.json: the listing of .*{re.escape(reason)}"):
        shelf.fs(lock=locked)


def test_a_new_lock_counts_for_filesystems_that_fsspec_keeps(shelf: Shelf, locked: Path) -> None:
    kept = [fsspec.filesystem("doi", **shelf.options, lock=each) for each in (str(locked), None)]
    assert {len(fs.find(shelf.address())) for fs in kept} == {3}
    shelf.repository.files = {NOTES: b"new"}
    lock(shelf.address(), locked, **shelf.options)
    assert {len(fs.find(shelf.address())) for fs in kept} == {3}
    fs = fsspec.filesystem("doi", **shelf.options, lock=str(locked))
    assert fs.cat_file(fs.find(shelf.address())[0]) == b"new"


def test_a_file_that_is_no_lock_file_or_missing_is_named(tmp_path: Path) -> None:
    path = tmp_path / "doi.lock.json"
    with pytest.raises(OSError, match=r"no lock file .*doi\.lock\.json") as caught:
        DOIFileSystem(lock=path, skip_instance_cache=True)
    assert not isinstance(caught.value, FileNotFoundError)
    path.write_text("{}")
    with pytest.raises(ValueError, match=r"doi\.lock\.json is not a lock file"):
        DOIFileSystem(lock=path, skip_instance_cache=True)
