"""The commands, the proxy and Dask with a Redis server."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import dask.dataframe as dd
import pandas as pd
import pytest
import redis
from dask_doiuri import verify
from distributed import Client, LocalCluster
from doiuri.resolver import Entry, RedisStore
from doiuri_proxy import running
from doiuri_proxy.records._registry import Registry
from support.cli.command import doiuri
from support.command import run, run_apart
from support.http import ask
from support.proxy_records import AGENCIES, RECORDS, link
from support.servers import redis as redis_server
from support.servers.rest import handling, proxy, targets
from support.waiting import until


def test_doiuri_cache_counts_and_clears(tmp_path: Path) -> None:
    answer = Entry(b"{}" * 500, "application/json", 9e9)
    with redis_server.running() as server, closing(RedisStore(server.url)) as store:
        store.put_many({f"record https://doi.org 10.1000/{number}": answer for number in range(900)})
        run = doiuri("cache", "--cache", server.url, cwd=tmp_path)
        assert run.stdout.startswith(f"{server.url}: 900 entries, ")
        run = doiuri("cache", "clear", "--cache", server.url, cwd=tmp_path)
        assert "removed 900 entries, " in run.stdout
        assert store.usage() == (0, 0)
        server.stop()
        for action, what in (("size", "read"), ("clear", "clear")):
            run = doiuri("cache", action, "--cache", server.url, cwd=tmp_path)
            assert (run.returncode, run.stdout) == (2, "")
            assert run.stderr.startswith(f"doiuri: cache: cannot {what} the store at {server.url}: ")


def test_the_commands_of_the_proxy_work_on_redis(tmp_path: Path) -> None:
    records, file, second = (tmp_path / name for name in ("r.json", "e.jsonl", "second.sqlite3"))
    records.write_text(json.dumps({"records": RECORDS, "agencies": AGENCIES}))
    with redis_server.running() as server:
        assert run("import", records, "--store", server.url).returncode == 0
        assert run("export", file, "--store", server.url).returncode == 0
        assert run("import", file, "--store", second).returncode == 0
        assert run("export", "--store", second).stdout.encode() == file.read_bytes()
        assert run("remove", "10.1000/1", "--store", server.url).stdout == "10.1000/1 removed\n"
        listed = run("list", "--store", server.url).stdout.splitlines()
        assert "10.1000/1" not in listed
        assert len(listed) == len(RECORDS) - 1
        refused = run("backup", tmp_path / "copy", "--store", server.url)
        assert (refused.returncode, "Redis" in refused.stderr) == (1, True)
        server.stop()
        gone = run_apart("list", "--store", server.url)
        assert (gone.returncode, gone.stdout) == (1, "")
        assert gone.stderr.startswith("doiuri-proxy: cannot read the store at redis://")


@pytest.mark.filterwarnings("ignore::doiuri.resolver.StoreWarning")
def test_records_are_served_until_the_server_is_gone_which_is_told() -> None:
    with redis_server.running() as server:
        done = run("add", "10.1000/1", "https://example.org/", "--store", server.url)
        assert (done.returncode, done.stderr) == (0, "")
        with running(server.url) as served:
            assert ask(served.url, "/10.1000/1").status == 302
            assert ask(served.url, "/api/handles/10.1000/none").status == 404
            assert ask(served.url, "/readyz").json() == {"status": "ok", "records": "ok"}
            assert "doiuri_proxy_records 1.0" in ask(served.url, "/metrics").text
            server.stop()
            ready = ask(served.url, "/readyz")
            assert ready.status == 503
            assert ready.json()["records"].startswith("cannot read the store at redis://")
            assert ask(served.url, "/metrics").status == 200
            for name in ("10.1000/1", "10.1000/none"):
                assert ask(served.url, f"/api/handles/{name}").json()["responseCode"] == 2


def test_of_many_who_add_one_name_at_once_one_does(server: redis_server.Server) -> None:
    names = ["10.1000/abc", "10.1000/ABC"] * 2
    with ThreadPoolExecutor(len(names)) as pool:
        done = [
            *pool.map(
                lambda name: run_apart("add", name, f"https://example.org/{name}", "--store", server.url),
                names,
            )
        ]
    assert sorted(one.returncode for one in done) == [0, 1, 1, 1]
    assert all("already exists" in one.stderr for one in done if one.returncode)
    winner = next(name for name, one in zip(names, done, strict=True) if not one.returncode)
    with running(server.url) as served:
        assert ask(served.url, f"/{winner}").headers["location"] == f"https://example.org/{winner}"


def test_a_second_registry_waits_until_the_first_has_registered(
    server: redis_server.Server, client: redis.Redis
) -> None:
    first = Registry(server.url, "https://doi.org")
    client.config_resetstat()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(Registry, server.url, "https://doi.org")
        until(lambda: "cmdstat_set" in client.info("commandstats"), "it does not try")
        assert not waiting.done()
        first.register([link("10.1000/abc", "https://example.org/")])
        first.close()
        second = waiting.result(60)
    assert second.registered("10.1000/ABC") == "10.1000/abc"
    second.close()


def test_a_cluster_of_dask_keeps_its_answers_there(server: redis_server.Server) -> None:
    names = [f"10.1000/{number}" for number in range(40)]
    frame = dd.from_pandas(pd.DataFrame({"doi": names}), npartitions=2)
    with (
        LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster),
        handling(proxy(None, lambda _name: {"RA": "Crossref"})) as web,
    ):
        for _ in range(2):
            verified = verify(frame, base=web.url, rate=None, cache=server.url).compute()
            assert {*verified["doi_status"]} == {"found"}
            asked = [name for path in targets(web) for name in path.removeprefix("/doiRA/").split(",")]
            assert sorted(asked) == sorted(names)
