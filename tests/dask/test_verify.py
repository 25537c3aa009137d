"""``verify`` without a cluster: what is asked, what the rows say, what is kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import dask
import dask.bag as db
import dask.dataframe as dd
import pandas as pd
import pytest
from dask.dataframe.utils import assert_eq
from dask_doiuri import verify
from dask_doiuri._settings import processes
from doiuri import Handle
from support.ports import refusing
from support.servers.faults import Server, reply, value
from support.servers.rest import handling, proxy, targets

LINK = (value("URL", "https://example.org/"),)
ALIAS = (value("HS_ALIAS", "10.1000/gone"),)


def agencies(name: str) -> dict[str, str]:
    return {"RA": "Crossref"} if "crossref" in name.lower() else {"status": "DOI does not exist"}


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with dask.config.set(scheduler="sync"):
        yield


@pytest.fixture
def server() -> Iterator[Server]:
    records = proxy({"10.1000/LINK": LINK, "10.1000/ALIAS": ALIAS}, agencies)

    def handle(target: str) -> bytes:
        if target != "/api/handles/10.1000/empty":
            return records(target)
        return reply("200 OK", b'{"responseCode":200,"handle":"10.1000/empty","values":[]}')

    with handling(handle) as server:
        yield server


def asked(server: Server) -> list[str]:
    """The names that were asked for, those of Which RA too, sorted."""
    paths = [target.partition("?")[0] for target in targets(server)]
    names = [unquote(path.removeprefix("/api/handles/")) for path in paths if path.startswith("/api/")]
    many = [path.removeprefix("/doiRA/").split(",") for path in paths if path.startswith("/doiRA/")]
    return sorted(names + [unquote(name) for batch in many for name in batch])


def frame(*texts: str | None, partitions: int = 1) -> dd.DataFrame:
    made: dd.DataFrame = dd.from_pandas(
        pd.DataFrame({"doi": [*texts]}, dtype="object"), npartitions=partitions, sort=False
    )
    return made


def statuses(result: Any) -> list[str]:
    return list(result["doi_status"].compute())


TEXTS = [
    "doi:10.1000/crossref",
    "10.1000/link",
    None,
    "x",
    "10.1000/gone",
    "10.1000/CrossRef",
    "10.1000/empty",
]
STATUSES = ["found", "found", "invalid", "invalid", "not-found", "found", "found"]


@pytest.mark.parametrize("partitions", [1, 2, 7])
def test_rows_of_a_frame(server: Server, partitions: int) -> None:
    rows = pd.DataFrame({"n": range(7), "doi": TEXTS}, index=list("gfedcba"))
    verified = verify(dd.from_pandas(rows, npartitions=partitions, sort=False), base=server.url)
    result = verified.compute()
    assert_eq(verified, result)
    assert [*result.columns] == ["n", "doi", "doi_name", "doi_status", "doi_agency", "doi_reason"]
    assert [*result.index] == list("gfedcba")
    assert [*result["n"]] == [*range(7)]
    assert [*result["doi_status"]] == STATUSES
    names = [
        "10.1000/crossref",
        "10.1000/link",
        None,
        None,
        "10.1000/gone",
        "10.1000/CrossRef",
        "10.1000/empty",
    ]
    assert [*result["doi_name"].astype(object).where(result["doi_name"].notna(), None)] == names
    assert [*result["doi_agency"].notna()] == [True, False, False, False, False, True, False]
    assert [*result["doi_reason"].notna()] == [False, False, True, True, True, False, False]
    assert result["doi_reason"].iloc[4] == "no such DOI"


def test_nothing_happens_before_it_is_computed(server: Server) -> None:
    verified = verify(frame(*TEXTS, partitions=3), base=server.url)
    assert verified.npartitions == 3
    assert {str(verified.dtypes[name]) for name in verified.columns} == {"string"}
    assert list(verified._meta.columns) == [*verified.columns]
    assert not server.requests


def test_a_series_and_a_bag(server: Server) -> None:
    series = dd.from_pandas(pd.Series(TEXTS, name="x"), npartitions=2)
    assert statuses(verify(series, base=server.url)) == STATUSES
    items = [*TEXTS[:-1], {"doi": TEXTS[-1], "n": 1}]
    rows = verify(db.from_sequence(items, npartitions=3), base=server.url).compute()
    assert [row["doi_status"] for row in rows] == STATUSES
    assert rows[0] == {
        "doi": TEXTS[0],
        "doi_name": "10.1000/crossref",
        "doi_status": "found",
        "doi_agency": "Crossref",
        "doi_reason": None,
    }
    assert [*rows[-1]] == ["doi", "n", "doi_name", "doi_status", "doi_agency", "doi_reason"]


def test_a_name_is_asked_for_once(server: Server) -> None:
    """In a partition, in several, and in the next computation."""
    spellings = ["10.1000/crossref", "doi:10.1000/CROSSREF", "https://doi.org/10.1000/crossref"] * 4
    verified = verify(frame(*spellings, partitions=4), base=server.url)
    assert statuses(verified) == ["found"] * 12
    assert statuses(verified) == ["found"] * 12
    assert asked(server) == ["10.1000/crossref"]


def test_a_computation_is_resumed(server: Server, tmp_path: Path) -> None:
    data, cache = frame("10.1000/link", "10.1000/gone", partitions=2), tmp_path / "cache.sqlite3"
    with refusing() as port:
        away = f"http://127.0.0.1:{port}"
        assert statuses(verify(data, base=away, cache=cache)) == ["unknown"] * 2
    verify(data, base=server.url, cache=cache).get_partition(0).compute()
    before = len(server.requests)
    assert statuses(verify(data, base=server.url, cache=cache)) == ["found", "not-found"]
    assert {unquote(target) for target in targets(server)[before:]} == {
        "/doiRA/10.1000/gone",
        "/api/handles/10.1000/gone",
    }
    assert statuses(verify(data, base=server.url, cache=cache, offline=True)) == ["found", "not-found"]


def test_without_an_answer_a_name_is_unknown(server: Server) -> None:
    rows = verify(frame("10.1000/link"), base=server.url, offline=True, cache=":memory:").compute()
    assert rows[["doi_status", "doi_reason"]].to_numpy().tolist() == [
        ["unknown", "offline: request not sent"]
    ]
    texts = [f"10.1000/{number}" for number in range(3000)]
    rows = verify(frame(*texts), base=server.url, rate=1, budget=0.5).compute()
    assert rows["doi_status"].tolist().count("unknown") > 2000
    assert set(rows["doi_status"]) <= {"unknown", "not-found"}
    assert list(rows["doi_name"]) == texts


def test_what_is_left_out_is_read_where_the_graph_is_made(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOIURI_RESOLVER", server.url)
    monkeypatch.setenv("DOIURI_CACHE", "cache.sqlite3")
    monkeypatch.setenv("DOIURI_MAILTO", "me@example.org")
    monkeypatch.chdir(tmp_path)
    verified = verify(frame("10.1000/link"))
    for name in ("RESOLVER", "CACHE", "MAILTO"):
        monkeypatch.delenv(f"DOIURI_{name}")
    monkeypatch.chdir("/")
    assert statuses(verified) == ["found"]
    assert (tmp_path / "cache.sqlite3").is_file()
    assert b"mailto:me@example.org" in server.requests[0]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"rate": 0}, ValueError, "rate must be a number greater than 0, not 0"),
        ({"budget": -1}, ValueError, "budget must be"),
        ({"timeout": 0}, ValueError, "timeout must be"),
        ({"concurrency": 1.5}, ValueError, "concurrency must be"),
        ({"base": "doi.org"}, ValueError, "doi.org"),
        ({"cache": "https://x.example/"}, ValueError, "no store is known for https"),
        ({"mailto": "x"}, ValueError, "'x' is not a mail address"),
        (
            {"known": ["10.1000/a"]},
            TypeError,
            r"known: expected a data frame or a series, not \['10.1000/a'\]",
        ),
        ({"known": pd.DataFrame({"DOI": []})}, ValueError, "known: there is no column doi_key or doi"),
    ],
)
def test_wrong_options(options: dict[str, Any], error: type[Exception], message: str) -> None:
    for data in (frame("10.1000/link"), db.from_sequence(["10.1000/link"], npartitions=1)):
        with pytest.raises(error, match=message):
            verify(data, **options)


def test_threads_have_no_cluster() -> None:
    assert processes() is None


def test_dois_of_every_kind(server: Server) -> None:
    items = [Handle.parse("10.1000/link"), Handle.parse("10.1000/crossref"), "10/abc", 7]
    rows = verify(db.from_sequence(items, npartitions=1), base=server.url).compute()
    assert [row["doi_status"] for row in rows] == ["found", "found", "not-found", "invalid"]
