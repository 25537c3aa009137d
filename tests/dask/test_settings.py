"""What a call of ``verify`` settles: its own keys, one rate, nothing left to the workers."""

from __future__ import annotations

import os
import sqlite3
import stat
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dask
import dask.bag as db
import dask.dataframe as dd
import pandas as pd
import pytest
from dask_doiuri import _answers, _processes, verify
from dask_doiuri._answers import check
from dask_doiuri._processes import client_id, lock_file, turn
from dask_doiuri._settings import VerifySettings
from distributed import Client
from doiuri import DOI
from doiuri.resolver import SQLiteStore
from support.processes import in_child
from support.servers.rest import handling, header, proxy

DATA = pd.DataFrame({"doi": ["10.1000/182"]})


def settings(**options: Any) -> VerifySettings:
    given: dict[str, Any] = dict.fromkeys(("base", "offline", "mailto", "cache", "budget")) | {
        "rate": "default"
    }
    given |= {"timeout": 10, "concurrency": 3, "resolve": "existence"}
    return VerifySettings.read(**given | options)


@pytest.mark.parametrize("data", [dd.from_pandas(DATA, npartitions=1), db.from_sequence(DATA["doi"])])
def test_each_call_asks_again(data: Any) -> None:
    """An "unknown" that a cluster still holds is not the answer to the next call."""
    calls = [verify(data, offline=True) for _ in range(2)]
    keys, others = ({*map(str, call.__dask_keys__())} for call in calls)
    assert keys.isdisjoint(others)


def test_the_environment_of_the_workers_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the place of the default cache is the worker's."""
    monkeypatch.delenv("DOIURI_CACHE")
    with handling(proxy()) as server, dask.config.set(scheduler="sync"):
        verified = verify(dd.from_pandas(DATA, npartitions=1), base=server.url)
        monkeypatch.setenv("DOIURI_MAILTO", "worker@example.org")
        monkeypatch.setenv("DOIURI_CACHE", str(tmp_path / "no"))
        monkeypatch.setenv("DOIURI_RESOLVER", "http://127.0.0.1:1")
        monkeypatch.setenv("DOIURI_OFFLINE", "1")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert [*verified.compute()["doi_status"]] == ["found"]
    assert all("mailto" not in (header(request, "User-Agent") or "") for request in server.requests)
    path = SQLiteStore(None).path
    assert tmp_path in Path(path).parents
    with closing(sqlite3.connect(path)) as store:
        assert store.execute("SELECT count(*) FROM entries").fetchone()[0]
    assert not (tmp_path / "no").exists()


def test_a_password_is_not_shown() -> None:
    shared = "redis://me:secret@127.0.0.1:1"
    made = settings(cache=shared)
    assert made.cache == shared
    assert "secret" not in repr(made)
    data = dd.from_pandas(DATA, npartitions=1)
    assert "secret" not in repr(verify(data, cache=shared).expr)


def test_dask_s_own_processes_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """They do not know how many they are, so one at a time uses the rate."""
    slept: list[float] = []
    monkeypatch.setattr(VerifySettings, "takes_turns", True)
    monkeypatch.setattr(_processes, "TIMEOUT", 0.1)
    monkeypatch.setattr(_answers, "time", SimpleNamespace(monotonic=time.monotonic, sleep=slept.append))
    with handling(proxy()) as server:
        made = settings(base=server.url, rate=50, cache=":memory:")
        with turn(made.client), pytest.raises(TimeoutError):
            [*check([DOI("10.1000/182")], made)]
        assert not server.requests
        assert [one.status for one in check([DOI("10.1000/182")], made)] == ["found"]
    assert slept == [1 / 50]


def test_who_takes_turns(client: Client) -> None:
    """A process of Dask's own; no thread, no worker of a cluster, and none without a rate to divide."""

    def turns(sent: VerifySettings) -> tuple[bool, float | None]:
        return sent.takes_turns, sent.resolver().rate

    made = settings(rate=8, base="http://127.0.0.1:1", cache=":memory:")
    assert turns(made) == (False, 8)
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(turns, made).result() == (False, 8)
    assert client.submit(turns, made, pure=False).result() == (False, 8)
    others: list[dict[str, Any]] = [{"rate": None}, {"offline": True}]
    free = [settings(base="http://127.0.0.1:1", **{"rate": 8} | options) for options in others]

    def expect() -> None:
        assert turns(made) == (True, 8)
        assert not any(one.takes_turns for one in free)

    assert in_child(expect) == 0


def test_no_other_user_can_take_a_turn() -> None:
    with turn(client_id()):
        folder = lock_file(client_id()).parent.lstat()
    assert stat.S_ISDIR(folder.st_mode)
    assert (folder.st_uid, stat.S_IMODE(folder.st_mode)) == (os.getuid(), 0o700)


@pytest.mark.parametrize("kind", ["link", "file", "open"])
def test_a_folder_that_another_user_may_have_made_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder, elsewhere = lock_file("c").parent, tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    if kind == "link":
        folder.symlink_to(elsewhere)
    elif kind == "file":
        folder.touch()
    else:
        folder.mkdir()
        folder.chmod(0o777)
    with pytest.raises(PermissionError, match="is not a folder of this user alone"), turn("c"):
        pass
    assert not [*elsewhere.iterdir()]


def test_the_wait_for_a_turn_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(_processes, "TIMEOUT", 0.1)
    with turn("c"), pytest.raises(TimeoutError, match=r"have used the rate for 0\.1 s"), turn("c"):
        pass


def test_the_end_of_a_process_ends_its_turn() -> None:
    client = client_id()

    def die() -> None:
        with turn(client):
            os._exit(7)

    assert in_child(die) == 7
    with turn(client):
        assert lock_file(client).exists()
