"""``known``: names of a dump, which are not asked for; and ``read_known``, which reads the dump."""

from __future__ import annotations

import bz2
import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dask
import dask.bag as db
import dask.dataframe as dd
import pandas as pd
import pytest
from dask.dataframe.utils import assert_eq
from dask_doiuri import parse, read_known, verify
from support.servers.faults import Server
from support.servers.rest import handling, proxy, targets

# In order and more than once, over all partitions; every third is known
TEXTS = [f"10.1000/Name-{number % 40}-É" for number in range(100)]
KNOWN = [f"10.1000/NAME-{number}-É" for number in range(0, 60, 3)]
NEW = {f"/doiRA/10.1000/Name-{number}-%C3%89" for number in range(40) if number % 3}


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with dask.config.set(scheduler="sync"):
        yield


@pytest.fixture
def server() -> Iterator[Server]:
    with handling(proxy({}, lambda _name: {"RA": "asked"})) as server:
        yield server


def known_frame() -> pd.DataFrame:
    agencies = ["Crossref", None] * (len(KNOWN) // 2)
    return pd.DataFrame({"title": "x", "doi_key": KNOWN, "doi_agency": agencies})


FORMS: dict[str, Callable[[], Any]] = {
    "pandas": known_frame,
    "keys": lambda: dd.from_pandas(known_frame(), npartitions=5),
    "one partition": lambda: dd.from_pandas(known_frame(), npartitions=1),
    "more than once": lambda: dd.concat([dd.from_pandas(known_frame(), npartitions=2)] * 2),
    "with gaps": lambda: pd.concat([known_frame(), pd.DataFrame({"doi_key": [None, "x"]})]),
    "DOIs": lambda: known_frame().rename(columns={"doi_key": "doi"}),
    "parsed": lambda: parse(dd.from_pandas(pd.DataFrame({"x": KNOWN}), npartitions=2), "x"),
    "series": lambda: dd.from_pandas(pd.Series([f"https://doi.org/{name}" for name in KNOWN]), npartitions=2),
    "series of keys": lambda: pd.Series(KNOWN, name="doi_key"),
    "objects": lambda: known_frame().astype(object),
}


@pytest.mark.parametrize(("form", "partitions"), [*((form, 2) for form in FORMS), ("keys", 1)])
def test_known_names_are_not_asked_for(server: Server, partitions: int, form: str) -> None:
    index = pd.Index([f"row {number % 7}" for number in range(100)])
    data = dd.from_pandas(
        pd.DataFrame({"doi": TEXTS, "n": range(100)}, index=index), npartitions=partitions, sort=False
    )
    verified = verify(data, base=server.url, known=FORMS[form]())
    assert not server.requests
    result = verified.compute()
    assert_eq(verified, result)
    assert [*result.index] == [*index]
    assert [*result["n"]] == [*range(100)]
    assert [*result["doi_name"]] == TEXTS
    assert {*result["doi_status"]} == {"found"}
    names = {name for target in targets(server) for name in target.removeprefix("/doiRA/").split(",")}
    assert {f"/doiRA/{name}" for name in names} == NEW
    agencies = {f"10.1000/NAME-{number}-É": "Crossref" for number in range(0, 60, 6)}
    if "doi_agency" in getattr(FORMS[form](), "columns", ()):
        expected = [agencies.get(text.upper(), None if text.upper() in KNOWN else "asked") for text in TEXTS]
        assert [*result["doi_agency"].astype(object).where(result["doi_agency"].notna(), None)] == expected


@pytest.mark.parametrize("partitions", [1, 3])
def test_a_bag(server: Server, partitions: int) -> None:
    items = [text if number % 2 else {"doi": text, "n": number} for number, text in enumerate(TEXTS)]
    bag = db.from_sequence([*items, None, "x"], npartitions=partitions)
    rows = verify(bag, base=server.url, known=known_frame()).compute()
    assert [row["doi_name"] for row in rows] == [*TEXTS, None, None]
    assert [row["doi_status"] for row in rows] == ["found"] * 100 + ["invalid"] * 2
    assert {f"/doiRA/{n}" for target in targets(server) for n in target[7:].split(",")} == NEW
    assert rows[0]["doi_agency"] == "Crossref"


def test_everything_is_known_or_invalid(server: Server) -> None:
    data = dd.from_pandas(pd.DataFrame({"doi": [*KNOWN, None, "x"]}), npartitions=3)
    result = verify(data, base=server.url, known=known_frame(), offline=True).compute()
    assert list(result["doi_status"]) == ["found"] * len(KNOWN) + ["invalid"] * 2
    assert not server.requests


def test_empty_partitions(server: Server) -> None:
    data = dd.from_pandas(pd.DataFrame({"doi": TEXTS, "n": range(100)}), npartitions=4)
    known = dd.from_pandas(known_frame(), npartitions=3)
    for few in (data[data["n"] < 3], data[data["n"] < 0]):
        verified = verify(few, base=server.url, known=known[known["doi_key"] == KNOWN[0]])
        assert_eq(verified, verified.compute())
        assert [*verified.compute()["doi_name"]] == TEXTS[: len(few)]


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # Dask 2026.8 on pandas 3.1
def test_many_small_files_that_dask_reads_at_once(server: Server, tmp_path: Path) -> None:
    wide = pd.DataFrame(
        {f"text {n}": [f"{m} {n}" * 50 for m in range(100)] for n in range(20)} | {"doi": TEXTS}
    )
    dd.from_pandas(wide, npartitions=10).to_parquet(tmp_path, write_index=False)
    result = verify(dd.read_parquet(tmp_path)[["doi"]], base=server.url, known=known_frame()).compute()
    assert [*result["doi_name"]] == TEXTS
    assert {*result["doi_status"]} == {"found"}


@pytest.mark.parametrize("agencies", [["Crossref", None], [None, "Crossref"]], ids=str)
@pytest.mark.parametrize("partitions", [1, 2])
def test_the_agency_may_be_in_any_row_of_a_name(agencies: list[str | None], partitions: int) -> None:
    known = pd.DataFrame({"doi_key": ["10.1000/A"] * 2, "doi_agency": agencies})
    data = dd.from_pandas(pd.DataFrame({"doi": ["10.1000/a"]}), npartitions=1)
    verified = verify(data, known=dd.from_pandas(known, npartitions=partitions), offline=True)
    assert [*verified.compute()["doi_agency"]] == ["Crossref"]


OPENERS: dict[str, Callable[..., Any]] = {"": open, ".gz": gzip.open, ".bz2": bz2.open}
CROSSREF = [{"DOI": "10.1000/name-é", "title": ["x"]}, {"title": ["no DOI"]}, {"DOI": "10.1002/50%25(x)<y>"}]
DATACITE = [{"id": "10.1000/NAME-é", "attributes": {"doi": "10.1000/NAME-é"}}, {"attributes": None}, []]
OPENALEX: list[dict[str, str | None]] = [
    {"doi": "https://doi.org/10.1000/name-é"},
    {"doi": None},
    {"doi": "https://doi.org/10.1002/50%25(x)<y>"},
]


@pytest.mark.parametrize("end", OPENERS)
def test_json_lines(tmp_path: Path, end: str) -> None:
    """Each file is a partition; names are literal, so a % is no escape."""
    for number, records in enumerate((CROSSREF, CROSSREF[:2])):
        with OPENERS[end](tmp_path / f"{number}.jsonl{end}", "wt", encoding="utf-8") as file:
            file.write("\n\n".join(map(json.dumps, records)) + "\n")
    known = read_known(tmp_path / "*", agency="Crossref")
    assert known.npartitions == 2
    assert_eq(known, known.compute())
    assert [*known.compute()["doi_key"]] == ["10.1000/NAME-é", "10.1002/50%25(X)<Y>", "10.1000/NAME-é"]
    assert {*known.compute()["doi_agency"]} == {"Crossref"}


@pytest.mark.parametrize(
    ("records", "member", "keys"),
    [
        (DATACITE, "id", ["10.1000/NAME-é"]),
        (DATACITE, "attributes.doi", ["10.1000/NAME-é"]),
        (OPENALEX, "doi", ["10.1000/NAME-é", "10.1002/50%25(X)<Y>"]),
    ],
)
def test_the_members_of_the_dumps(tmp_path: Path, records: list[Any], member: str, keys: list[str]) -> None:
    path = tmp_path / "part.jsonl.gz"
    path.write_bytes(gzip.compress("".join(f"{json.dumps(record)}\n" for record in records).encode()))
    known = read_known([str(path)], member).compute()
    assert [*known["doi_key"]] == keys
    assert known["doi_agency"].isna().all()


def test_parquet(tmp_path: Path) -> None:
    frame = pd.DataFrame({"title": "x", "doi": [record["doi"] for record in OPENALEX]})
    for number in range(3):
        frame.to_parquet(tmp_path / f"{number}.parquet")
    for paths in (tmp_path / "*.parquet", [tmp_path / f"{number}.parquet" for number in range(3)]):
        known = read_known(paths, "doi")
        assert_eq(known, known.compute())
        assert [*known.compute()["doi_key"]] == ["10.1000/NAME-é", "10.1002/50%25(X)<Y>"] * 3


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # Dask 2026.8 on pandas 3.1
def test_a_dump_that_is_read_once(server: Server, tmp_path: Path) -> None:
    """As the manual recommends: the keys of a large dump as Parquet."""
    path = tmp_path / "part.jsonl"
    path.write_text("".join(f"{json.dumps({'DOI': name})}\n" for name in KNOWN), encoding="utf-8")
    read_known(path, agency="Crossref").to_parquet(tmp_path / "keys", write_index=False)
    known = dd.read_parquet(tmp_path / "keys")
    data = dd.from_pandas(pd.DataFrame({"doi": KNOWN[:5]}), npartitions=2)
    result = verify(data, base=server.url, known=known, offline=True).compute()
    assert [*result["doi_agency"]] == ["Crossref"] * 5


def test_wrong_paths(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^there is no file /.*nothing\*$"):
        read_known(tmp_path / "nothing*")
    with pytest.raises(ValueError, match="read them separately"):
        read_known(["a.parquet", "b.jsonl"])


def test_a_line_that_is_not_json_is_named(tmp_path: Path) -> None:
    path = tmp_path / "part.jsonl"
    path.write_text('{"DOI": "10.1000/182"}\n{"DOI": \n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"part\.jsonl, line 2: not JSON"):
        read_known(path).compute()


@pytest.mark.parametrize(
    ("records", "member", "members"),
    [
        (CROSSREF, "doi", "the members are 'DOI', 'title'$"),
        (DATACITE, "attributes.DOI", "the members are 'attributes.doi'$"),
        ([{str(n): 1 for n in range(30)}], "doi", "'18', '19', …$"),
    ],
)
def test_a_missing_member_is_an_error_that_lists_the_members(
    tmp_path: Path, records: list[Any], member: str, members: str
) -> None:
    path = tmp_path / "part.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    known = read_known(path, member)
    with pytest.raises(ValueError, match=rf"part\.jsonl: no record has a member '{member}'; .*{members}"):
        known.compute()


def test_a_missing_column_is_an_error_that_lists_the_columns(tmp_path: Path) -> None:
    pd.DataFrame({"title": ["x"], "doi": "10.1000/a"}).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(
        ValueError, match=r"^/.*no record has a member 'DOI'; the members are 'title', 'doi'$"
    ):
        read_known(tmp_path / "a.parquet")


def test_files_without_records_or_names(tmp_path: Path) -> None:
    for number, text in enumerate(("", '{"DOI": null}\n', "[]\n")):
        (tmp_path / f"{number}.jsonl").write_text(text)
    assert len(read_known(tmp_path / "*.jsonl").compute()) == 0


def test_the_keys_of_dask_are_not_computed_early() -> None:
    read: list[int] = []

    def rows(number: int) -> pd.DataFrame:
        read.append(number)
        return pd.DataFrame({"doi": KNOWN[number * 4 : number * 4 + 4], "n": number})

    data = dd.from_map(rows, range(3), meta=pd.DataFrame({"doi": ["x"], "n": [1]}))
    verified = verify(data, known=known_frame(), offline=True)
    assert not read
    assert {*verified.compute()["doi_status"]} == {"found"}
    assert sorted(read) == sorted([0, 1, 2] * 2)  # for the keys, and for the rows
    read.clear()
    shuffled = verify(data.shuffle("n", shuffle_method="tasks"), known=known_frame(), offline=True)
    assert len(shuffled.compute()) == 12
    assert sorted(read) == [0, 1, 2]  # what a shuffle made is kept
