"""The lock file, which is committed, reviewed and merged."""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from doiuri import DOI, DOINotFound
from doiuri.resolver import Entry, LockFile, StoreWarning
from doiuri.resolver.stores._lock_format import make_line
from doiuri.rest import read_record

FOUND = """ {"responseCode": 1, "handle": "10.1000/1", "values": [
    {"timestamp": "2014-09-26T14:40:46Z", "ttl": 86400, "type": "URL", "index": 1,
     "data": {"value": "http://www.doi.org/ü", "format": "string"}}]} """
KEY = "record https://doi.org 10.1000/1"
ENTRIES = {
    KEY: Entry(FOUND.encode(), "application/json", 5.0),
    "record https://doi.org 10.1000/2": Entry(
        b'{"responseCode":100,"handle":"10.1000/2"}', "application/json", 9.0
    ),
    "metadata text/plain https://doi.org 10.1000/1": Entry(b"Knuth\n", "text/plain", 5.0),
    "metadata image/png https://doi.org 10.1000/1": Entry(b"\xff", "image/png", 5.0),
}
CONTENT = """{"doiuri-lock": 1, "entries": {
"metadata image/png https://doi.org 10.1000/1": {"type":"image/png","base64":"/w=="},
"metadata text/plain https://doi.org 10.1000/1": {"type":"text/plain","text":"Knuth\\n"},
"record https://doi.org 10.1000/1": {"json":{"responseCode":1,"handle":"10.1000/1","values":[{"index":1,"type":"URL","data":{"format":"string","value":"http://www.doi.org/ü"}}]}},
"record https://doi.org 10.1000/2": {"json":{"responseCode":100,"handle":"10.1000/2"}}
}}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "doi.lock"


def test_one_line_an_entry_sorted_and_without_times(path: Path) -> None:
    LockFile(path).put_many(ENTRIES)
    assert path.read_text("utf-8") == CONTENT


def test_edit_changes_what_the_file_has_by_then(path: Path) -> None:
    file, one = LockFile(path), KEY
    LockFile(path).put_many(ENTRIES)
    LockFile(path).replace(ENTRIES, {"10.1000/4": "a reason"})

    def change(
        entries: dict[str, Entry], accepted: dict[str, str]
    ) -> tuple[dict[str, Entry], dict[str, str]]:
        assert (entries.keys(), accepted) == (ENTRIES.keys(), {"10.1000/4": "a reason"})
        return {one: entries[one]}, {"10.1000/3": "dead"}

    added, changed, removed = file.edit(change)
    assert [set(dois) for dois in (added, changed, removed)] == [
        {"10.1000/3"},
        {"10.1000/1"},
        {"10.1000/2", "10.1000/4"},
    ]
    assert LockFile(path).keys() == [one]
    assert LockFile(path).accepted == {"10.1000/3": "dead"}
    before = path.stat().st_mtime_ns
    assert not any(file.edit(lambda entries, accepted: (entries, accepted)))
    assert path.stat().st_mtime_ns == before


def test_the_bytes_depend_on_the_answers_alone(path: Path) -> None:
    order = list(ENTRIES)
    for seed in range(5):
        random.Random(seed).shuffle(order)
        path.unlink(missing_ok=True)
        for key in order:
            later = Entry(ENTRIES[key].body, ENTRIES[key].media_type, 1e9 + seed)
            LockFile(path).put_many({key: later})
        assert path.read_text("utf-8") == CONTENT


def test_what_it_holds_never_expires(path: Path) -> None:
    path.write_text(CONTENT, "utf-8")
    found = LockFile(path).get_many(list(ENTRIES))
    assert found.keys() == ENTRIES.keys()
    assert {entry.expires for entry in found.values()} == {math.inf}
    assert {key: entry.media_type for key, entry in found.items()} == {
        key: entry.media_type for key, entry in ENTRIES.items()
    }
    assert found["metadata image/png https://doi.org 10.1000/1"].body == b"\xff"
    assert found["metadata text/plain https://doi.org 10.1000/1"].body == b"Knuth\n"
    record = read_record(DOI("10.1000/1"), 200, found[KEY].body)
    assert (record.url, record.ttl) == ("http://www.doi.org/ü", None)
    with pytest.raises(DOINotFound):
        read_record(DOI("10.1000/2"), 404, found["record https://doi.org 10.1000/2"].body)


def test_nothing_new_leaves_the_file_untouched(path: Path) -> None:
    LockFile(path).put_many(ENTRIES)
    os.utime(path, (1, 1))
    before = path.stat()
    LockFile(path).put_many(ENTRIES)
    LockFile(path).put_many({KEY: Entry(FOUND.replace("86400", "60").encode(), "application/json", 7.0)})
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


def test_a_change_is_a_change_of_one_line(path: Path) -> None:
    LockFile(path).put_many(ENTRIES)
    LockFile(path).put_many({KEY: Entry(FOUND.replace("www", "web").encode(), "application/json", 7.0)})
    old, new = CONTENT.splitlines(), path.read_text("utf-8").splitlines()
    assert [number for number, (one, other) in enumerate(zip(old, new, strict=True)) if one != other] == [3]


def test_changes_from_outside_are_seen(path: Path) -> None:
    store = LockFile(path)
    assert store.get_many([KEY]) == {}
    path.write_text(CONTENT, "utf-8")
    assert list(store.get_many([KEY])) == [KEY]
    path.unlink()
    assert store.get_many([KEY]) == {}
    store.put_many({"new": Entry(b"{}", "application/json", 0)})
    assert list(json.loads(path.read_text("utf-8"))["entries"]) == ["new"], "what was deleted stays deleted"


def test_line_ends_of_windows_are_read(path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbf" + CONTENT.replace("\n", "\r\n").encode())
    assert len(LockFile(path).get_many(list(ENTRIES))) == 4


LINE = CONTENT.splitlines()[3]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "not JSON"),
        ("null", "not a lock file of format 1 or 2: its format is None"),
        ("[]", "not a lock file"),
        ("{}", "not a lock file"),
        ('{"doiuri-lock": 3, "entries": {}}', "its format is 3"),
        ('{"doiuri-lock": true, "entries": {}}', "its format is True"),
        ('{"doiuri-lock": 2, "entries": {}, "works": []}', "not a lock file"),
        ('{"doiuri-lock": 2, "entries": {}, "works": {"10.1000/1": "text"}}', "contains an invalid entry"),
        (
            '{"doiuri-lock": 2, "entries": {}, "references": {"10.1000/1": "text"}}',
            "contains an invalid entry",
        ),
        ('{"doiuri-lock": 2, "entries": {}, "references": {"a b 10.1/1": {}}}', "contains an invalid entry"),
        ('{"doiuri-lock": "1", "entries": {}}', "its format is '1'"),
        ('{"doiuri-lock": 1}', "not a lock file"),
        ('{"doiuri-lock": 1, "entries": []}', "not a lock file"),
        ('{"doiuri-lock": 1, "entries": {"k": null}}', "contains an invalid entry"),
        ('{"doiuri-lock": 1, "entries": {"k": {}}}', "contains an invalid entry"),
        ('{"doiuri-lock": 1, "entries": {"k": {"text": 1}}}', "contains an invalid entry"),
        ('{"doiuri-lock": 1, "entries": {"k": {"base64": "x"}}}', "contains an invalid entry"),
        ('{"doiuri-lock": 1, "entries": {"k": {"json": {}, "type": 5}}}', "contains an invalid entry"),
        (CONTENT.replace(LINE, f"<<<<<<< HEAD\n{LINE}\n=======\n{LINE}\n>>>>>>> x"), "an unresolved merge"),
        (CONTENT.replace(LINE, f"{LINE}\n{LINE}"), "repeats a member"),
        (CONTENT[:200], "not JSON"),
    ],
)
def test_what_is_no_lock_file_is_refused_and_never_overwritten(
    path: Path, content: str, complaint: str
) -> None:
    path.write_text(content, "utf-8")
    with pytest.raises(ValueError, match=complaint) as caught:
        LockFile(path)
    assert str(path) in str(caught.value)
    path.unlink()
    store = LockFile(path)
    path.write_text(content, "utf-8")
    with pytest.warns(StoreWarning, match="cannot be written"):
        store.put_many(ENTRIES)
    with pytest.warns(StoreWarning, match="cannot be read"):
        assert len(store.get_many(list(ENTRIES))) == 4
    assert path.read_text("utf-8") == content


def test_processes_that_write_at_once_lose_nothing(path: Path) -> None:
    script = (
        "import sys\nfrom doiuri.resolver import Entry, LockFile\nstore = LockFile(sys.argv[1])\n"
        "for n in range(30):\n"
        "    store.put_many({f'{sys.argv[2]}-{n:02}': Entry(b'{}', 'application/json', 0)})"
    )
    command = [sys.executable, "-W", "error", "-c", script, str(path)]
    processes = [subprocess.Popen([*command, name]) for name in "abcd"]
    assert [process.wait(300) for process in processes] == [0] * 4
    assert list(json.loads(path.read_text("utf-8"))["entries"]) == [
        f"{name}-{n:02}" for name in "abcd" for n in range(30)
    ]
    assert [file.name for file in path.parent.iterdir()] == ["doi.lock"], "nothing is left behind"


def test_a_file_that_cannot_be_written_is_told_and_the_rest_goes_on(path: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = LockFile(tmp_path / "file" / "doi.lock")
    with pytest.warns(StoreWarning, match="cannot be written"):
        store.put_many(ENTRIES)
    assert store.get_many(list(ENTRIES)).keys() == ENTRIES.keys()


def test_links_and_permissions_stay(path: Path, tmp_path: Path) -> None:
    real = tmp_path / "elsewhere" / "real.json"
    real.parent.mkdir()
    LockFile(real).put_many({})
    real.write_text('{"doiuri-lock": 1, "entries": {}}')
    real.chmod(0o640)
    path.symlink_to(real)
    LockFile(path).put_many(ENTRIES)
    assert path.is_symlink()
    assert real.read_text("utf-8") == CONTENT
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_pipe_is_not_replaced(path: Path, tmp_path: Path) -> None:
    """Nor is a device: a file may be a link to /dev/null."""
    store = LockFile(path)
    os.mkfifo(tmp_path / "pipe")
    path.symlink_to("pipe")
    reader = os.open(path, os.O_RDWR)
    try:
        store._save({key: make_line(key, entry) for key, entry in ENTRIES.items()})
        assert os.read(reader, 100_000).decode() == CONTENT
    finally:
        os.close(reader)
    assert path.is_symlink()
    assert path.is_fifo()


@pytest.mark.parametrize("body", [b"1.10", b' {"b":1, "a":2}\n', b"null", b"", b"\xff"])
def test_what_is_not_announced_as_json_is_kept_to_the_octet(path: Path, body: bytes) -> None:
    key = "metadata text/x-bibliography https://doi.org 10.1000/1"
    LockFile(path).put_many({key: Entry(body, "text/x-bibliography", 0)})
    assert LockFile(path).get_many([key])[key].body == body


def test_lone_surrogates_and_odd_text_survive(path: Path) -> None:
    odd = {
        "record http://h 10.1000/x": Entry(b'{"a":"\\ud800"}', "application/json", 0),
        'quote" \\ \u2028': Entry("\u2028\n\r\0".encode(), "text/plain", 0),
    }
    LockFile(path).put_many(odd)
    found = LockFile(path).get_many(list(odd))
    assert {key: entry.body for key, entry in found.items()} == {
        key: entry.body for key, entry in odd.items()
    }


def test_a_folder_is_no_lock_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"{tmp_path} cannot be read as a lock file: Is a directory"):
        LockFile(tmp_path)


def test_a_change_in_place_of_the_same_size_is_seen(path: Path) -> None:
    path.write_text(CONTENT, "utf-8")
    os.utime(path, (1, 1))
    store = LockFile(path)
    before = path.stat()
    with path.open("r+b") as file:
        file.write(CONTENT.replace("Knuth", "Liang").encode())
    after = path.stat()
    assert (before.st_ino, before.st_size) == (after.st_ino, after.st_size)
    key = "metadata text/plain https://doi.org 10.1000/1"
    assert store.get_many([key])[key].body == b"Liang\n"


def test_dois_that_are_known_not_to_exist_are_no_entries(path: Path) -> None:
    store = LockFile(path)
    store.replace(ENTRIES, {"10.1000/GONE": "withdrawn"})
    assert store.keys() == sorted(ENTRIES)
    assert store.usage().entries == 4
    size = path.stat().st_size
    assert store.clear() == (4, size - path.stat().st_size)
    assert (store.keys(), store.accepted) == ([], {"10.1000/GONE": "withdrawn"})
    assert store.clear() == (0, 0)


def test_a_reason_is_text(path: Path) -> None:
    store = LockFile(path)
    for change in (store.replace, store.compare):
        with pytest.raises(TypeError, match=r"expected a reason as str for 10\.1000/GONE, not None"):
            change({}, {"10.1000/GONE": None})  # type: ignore[dict-item]
    assert not path.exists()
