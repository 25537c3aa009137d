"""What a call of ``verify`` settles: its own keys, one rate, nothing left to the workers."""

from __future__ import annotations

import os
import sqlite3
import stat
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import dask.bag as db
import dask.dataframe as dd
import pandas as pd
import pytest
from dask_doiuri import _processes, verify
from dask_doiuri._processes import client_id, lock_file, turn
from dask_doiuri._settings import VerifySettings
from distributed import Client
from doiuri.resolver import SQLiteStore
from support.processes import in_child
from support.servers.arrivals import fullest_second, timed
from support.servers.rest import handling, header, proxy

pytestmark = pytest.mark.once

DATA = pd.DataFrame({"doi": ["10.1000/182"]})


def settings(**options: Any) -> VerifySettings:
    given: dict[str, Any] = dict.fromkeys(("base", "offline", "mailto", "cache", "pace", "budget")) | {
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


def test_the_environment_of_the_workers_is_not_read(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("PACE", "MAILTO", "CACHE", "RESOLVER", "OFFLINE")
    for name in names:
        monkeypatch.delenv(f"DOIURI_{name}", raising=False)
    environ = dict(
        zip(
            (f"DOIURI_{name}" for name in names),
            ("redis://127.0.0.1:1", "worker@example.org", str(tmp_path / "no"), "http://127.0.0.1:1", "1"),
            strict=True,
        )
    )

    def change(new: dict[str, str | None]) -> dict[str, str | None]:
        old = {name: os.environ.get(name) for name in new}
        for name, value in new.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        return old

    before = client.run(change, environ | {"XDG_CACHE_HOME": str(tmp_path)})
    try:
        with handling(proxy()) as server:
            data = dd.from_pandas(DATA, npartitions=1)
            result = verify(data, base=server.url, timeout=20).compute()
        assert [*result["doi_status"]] == ["found"]
        assert all("mailto" not in (header(request, "User-Agent") or "") for request in server.requests)
        (path,) = {*client.run(lambda: str(SQLiteStore(None).path)).values()}
        assert path.startswith(str(tmp_path))
        with closing(sqlite3.connect(path)) as store:
            assert store.execute("SELECT count(*) FROM entries").fetchone()[0]
        assert not (tmp_path / "no").exists()
    finally:
        client.run(change, next(iter(before.values())))


def test_a_password_is_not_shown() -> None:
    shared = "redis://me:secret@127.0.0.1:1"
    made = settings(cache=shared, pace=shared)
    assert made.cache == made.pace == shared
    assert "secret" not in repr(made)
    data = dd.from_pandas(DATA, npartitions=1)
    assert "secret" not in repr(verify(data, cache=shared, pace=shared).expr)


def test_dask_s_own_processes_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """They do not know how many they are, so one at a time uses the rate."""
    monkeypatch.delenv("DOIURI_CACHE", raising=False)
    items = [f"10.1000/{number}" for number in range(14)]
    with timed(proxy({}, lambda _name: {"RA": "Crossref"})) as (server, times):
        bag = db.from_sequence(items, npartitions=7)
        verified = verify(bag, base=server.url, rate=2, cache=":memory:")
        rows = verified.compute(scheduler="processes", num_workers=3)
    assert [row["doi_status"] for row in rows] == ["found"] * 14
    assert len(times) == 7
    assert fullest_second(times) <= 2 + 1


def test_who_takes_turns(client: Client) -> None:
    def turns(sent: VerifySettings) -> tuple[bool, float | None]:
        return sent.takes_turns, sent.resolver().rate

    made = settings(rate=8, base="http://127.0.0.1:1", cache=":memory:")
    assert turns(made) == (False, 8)
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(turns, made).result() == (False, 8)
    assert client.submit(turns, made, pure=False).result() == (False, 4)
    for options in ({"rate": None}, {"pace": "redis://127.0.0.1:1"}, {"offline": True}):
        free = settings(base="http://127.0.0.1:1", **{"rate": 8} | options)
        assert in_child(partial(_expect_no_turns, free)) == 0
    assert in_child(lambda: _expect(turns(made) == (True, 8))) == 0


def _expect(condition: bool) -> None:
    assert condition


def _expect_no_turns(made: VerifySettings) -> None:
    assert not made.takes_turns


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
