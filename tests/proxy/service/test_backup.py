"""Copies of a store that is being written, and writers that are killed."""

import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

from doiuri_proxy import running
from support.command import run
from support.http import ask

# Registers names one by one, and acknowledges each by a line, as the command does
WRITER = """
import sys
from doiuri_proxy._cli import main
store, start = sys.argv[1], int(sys.argv[2])
for number in range(start, 10_000_000):
    assert main(["add", f"10.1000/{number}", f"https://example.org/{number}", "--store", store]) == 0
    sys.stdout.flush()
"""


def names(store: Path) -> set[str]:
    return {*run("list", "--store", store).stdout.splitlines()}


def is_whole(file: Path) -> bool:
    with closing(sqlite3.connect(file)) as db:
        return bool(db.execute("PRAGMA integrity_check").fetchall() == [("ok",)])


class Writer:
    """A process that registers names, and the names that it has acknowledged."""

    def __init__(self, store: Path, folder: Path, start: int) -> None:
        self._log = folder / f"acknowledged-{start}"
        with self._log.open("wb") as log:
            words = [sys.executable, "-c", WRITER, str(store), str(start)]
            self.process = subprocess.Popen(words, stdout=log)

    def acknowledged(self) -> set[str]:
        lines = self._log.read_text().split("\n")[:-1]
        return {line.partition(" now resolves to ")[0] for line in lines}

    def wait_for(self, count: int) -> None:
        deadline = time.monotonic() + 100
        while len(self.acknowledged()) < count:
            assert time.monotonic() < deadline, "the writer does not write"
            assert self.process.poll() is None
            time.sleep(0.01)

    def kill(self) -> None:
        self.process.kill()
        assert self.process.wait(30) == -signal.SIGKILL


def test_a_backup_holds_all_that_was_acknowledged_before(tmp_path: Path) -> None:
    store = tmp_path / "records.sqlite3"
    writer = Writer(store, tmp_path, 0)
    try:
        for round_ in range(1, 3):
            writer.wait_for(10 * round_)
            copy = tmp_path / f"copy-{round_}.sqlite3"
            before = writer.acknowledged()
            done = run("backup", copy, "--store", store)
            assert (done.returncode, done.stderr) == (0, "")
            assert is_whole(copy)
            assert names(copy) >= before
            assert not [*tmp_path.glob("*.part")]
        assert len(writer.acknowledged()) > len(before)  # it was writing all the time
    finally:
        writer.kill()
    with running(copy) as proxy:
        assert ask(proxy.url, "/10.1000/0").headers["location"] == "https://example.org/0"


def test_a_backup_replaces_only_if_told_to_and_never_the_store(tmp_path: Path) -> None:
    store, copy = tmp_path / "a.sqlite3", tmp_path / "b.sqlite3"
    run("add", "10.1000/1", "https://example.org/", "--store", store)
    assert run("backup", copy, "--store", store).returncode == 0
    run("add", "10.1000/2", "https://example.org/", "--store", store)
    refused = run("backup", copy, "--store", store)
    assert (refused.returncode, refused.stderr) == (1, f"doiuri-proxy: {copy} already exists\n")
    assert names(copy) == {"10.1000/1"}
    assert run("backup", copy, "--replace", "--store", store).returncode == 0
    assert names(copy) == {"10.1000/1", "10.1000/2"}
    assert run("backup", store, "--replace", "--store", store).returncode == 1
    assert names(store) == {"10.1000/1", "10.1000/2"}


def test_a_backup_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    store = tmp_path / "a.sqlite3"
    run("add", "10.1000/1", "https://example.org/", "--store", store)
    done = run("backup", tmp_path / "nowhere" / "b.sqlite3", "--store", store)
    assert done.returncode == 1
    assert "No such file or directory" in done.stderr
    assert not (tmp_path / "nowhere").exists()
