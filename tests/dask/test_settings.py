"""What a call of ``verify`` settles: its own keys, one rate, nothing left to the workers."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dask
import dask.bag as db
import dask.dataframe as dd
import pandas as pd
import pytest
from dask_doiuri import verify
from dask_doiuri._settings import VerifySettings
from doiuri.resolver import SQLiteStore
from support.processes import in_child
from support.servers.rest import handling, header, proxy

if TYPE_CHECKING:
    from distributed import Client

DATA = pd.DataFrame({"doi": ["10.1000/182"]})


def settings(**options: Any) -> VerifySettings:
    given: dict[str, Any] = dict.fromkeys(("base", "offline", "mailto", "cache", "budget")) | {
        "rate": "default"
    }
    given |= {"timeout": 10, "concurrency": 3}
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


def test_only_processes_divide_the_rate(client: Client) -> None:
    """A process that Dask's scheduler started; no thread, and no worker of a cluster of one process."""

    def share(sent: VerifySettings) -> float | None:
        return sent.resolver().rate

    options: dict[str, Any] = {"base": "http://127.0.0.1:1", "cache": ":memory:"}
    with dask.config.set(num_workers=4):
        made = settings(rate=8, **options)
    assert settings(rate=8, **options).workers >= 1
    assert share(made) == 8
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(share, made).result() == 8
    assert client.submit(share, made, pure=False).result() == 8
    unlimited, offline = settings(rate=None, **options), settings(rate=8, offline=True, **options)

    def expect() -> None:
        assert [*map(share, (made, unlimited, offline))] == [2, None, 8]

    assert in_child(expect) == 0
