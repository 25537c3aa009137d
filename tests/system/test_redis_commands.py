"""The command and Dask with a Redis server."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import dask.dataframe as dd
import pandas as pd
from dask_doiuri import check
from distributed import Client, LocalCluster
from doiuri.resolver import Entry, RedisStore
from support.cli.command import doiuri
from support.servers import redis as redis_server
from support.servers.rest import handling, proxy, targets
from support.store_contract import key


def test_doiuri_cache_counts_and_clears(tmp_path: Path) -> None:
    answer = Entry(b"{}" * 500, "application/json", 9e9)
    with redis_server.running() as server, closing(RedisStore(server.url)) as store:
        store.put_many({key(f"10.1000/{number}"): answer for number in range(900)})
        run = doiuri("cache", "--cache", server.url, cwd=tmp_path)
        assert run.stdout.startswith(f"{server.url}: 900 entries, ")
        run = doiuri("cache", "clear", "--cache", server.url, cwd=tmp_path)
        assert "removed 900 entries, " in run.stdout
        assert store.usage() == (0, 0)
        server.stop()
        for action, what in (([], "read"), (["clear"], "clear")):
            run = doiuri("cache", *action, "--cache", server.url, cwd=tmp_path)
            assert (run.returncode, run.stdout) == (2, ""), (action, what)
            assert run.stderr.startswith(
                f"doiuri: cache: cannot {what} the store at {server.url}: "
            )


def test_a_cluster_of_dask_keeps_its_answers_there(server: redis_server.Server) -> None:
    names = [f"10.1000/{number}" for number in range(40)]
    frame = dd.from_pandas(pd.DataFrame({"doi": names}), npartitions=2)
    with (
        LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster),
        handling(proxy(None, lambda _name: {"RA": "Crossref"})) as web,
    ):
        for _ in range(2):
            checked = check(frame, resolver=web.url, rate=None, cache=server.url).compute()
            assert {*checked["doi_status"]} == {"found"}
            asked: list[str] = []
            for path in targets(web):
                asked += path.removeprefix("/doiRA/").split(",")
            assert sorted(asked) == sorted(names)
