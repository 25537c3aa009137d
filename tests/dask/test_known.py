"""``known``: the names of a dump are not asked for, however both sides are spelt and divided."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.partitions import SHAPES, asked, bag, check, dd, frame, parse, pd, rows
from support.servers.faults import Server
from support.servers.rest import handling, proxy

# In order and more than once, over all partitions; every third is known
TEXTS = [f"10.1000/Name-{number % 20}-É" for number in range(40)]
NAMES = [f"10.1000/name-{number}-É" for number in range(0, 60, 3)]
NEW = {f"10.1000/Name-{number}-É": 1 for number in range(20) if number % 3}
AGENCIES = ["Crossref", None] * (len(NAMES) // 2)

pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")  # Dask 2026.8 on pandas 3.1


@pytest.fixture
def server() -> Any:
    with handling(proxy({}, lambda _name: {"RA": "asked"})) as server:
        yield server


def dump(names: list[Any], column: str = "doi_key", partitions: int = 2) -> Any:
    return dd.from_pandas(
        pd.DataFrame({"title": "x", column: names, "doi_agency": AGENCIES}), partitions
    )


def in_other_cases() -> list[str]:
    """Return the names in title case and in upper case, in turn."""
    names = [name.upper() for name in NAMES]
    names[1::2] = [name.title() for name in NAMES[1::2]]
    return names


DUMPS: dict[str, Callable[[], Any]] = {
    "keys": lambda: dump(in_other_cases()),
    "links": lambda: dump([f"https://doi.org/{name}" for name in NAMES], "doi"),
    "twice": lambda: dd.concat([dump(NAMES), dump(NAMES, partitions=1)]),
    "objects": lambda: dump(NAMES).compute().astype(object),
    "with gaps": lambda: pd.DataFrame(
        {"doi_key": [*NAMES, None, "x"], "doi_agency": [*AGENCIES, None, None]}
    ),
    "parsed": lambda: parse(dump(NAMES, "x"), "x"),
    "persisted": lambda: dump(NAMES).persist(),
}
SOURCES: dict[str, Callable[[list[Any]], Any]] = {
    **{shape: partial(make, partitions=3) for shape, make in SHAPES.items()},
    "one partition": frame,
    "shuffled": lambda texts: frame(texts, 3).shuffle("n", shuffle_method="tasks"),
    "persisted": lambda texts: frame(texts, 3).persist(),
}
ANSWERS = {name.upper(): agency for name, agency in zip(NAMES, AGENCIES, strict=True)}
EXPECTED = [(text, text, "found", ANSWERS.get(text.upper(), "asked"), None) for text in TEXTS]
COLUMNS = ("doi", "doi_name", "doi_status", "doi_agency", "doi_reason")


@pytest.mark.parametrize(
    ("source", "form"),
    [
        *(("frame", form) for form in DUMPS),
        *((source, "keys") for source in SOURCES if source != "frame"),
        ("bag", "links"),
    ],
)
def test_only_names_that_are_not_known_are_asked_for(
    server: Server, source: str, form: str
) -> None:
    checked = check(SOURCES[source](TEXTS), resolver=server.url, known=DUMPS[form]())
    assert not server.requests
    found = rows(checked, *COLUMNS)
    assert source == "shuffled" or found == EXPECTED
    assert sorted(found, key=str) == sorted(EXPECTED, key=str)
    assert asked(server) == NEW


@pytest.mark.parametrize("partitions", [1, 3])
def test_the_agency_may_be_in_any_row_of_a_name(partitions: int) -> None:
    agencies = ["Crossref", None, None, None, None, "JaLC"]
    known = pd.DataFrame({"doi_key": ["10.1/A", "10.1/a", "10.1/b"] * 2, "doi_agency": agencies})
    known = dd.from_pandas(known, npartitions=partitions)
    checked = check(frame(["10.1/a", "10.1/B"]), known=known, offline=True)
    assert rows(checked, "doi_agency") == [("Crossref",), ("JaLC",)]


def test_a_key_of_a_dump_is_literal_and_needs_no_agency() -> None:
    known = pd.DataFrame({"doi_key": ["10.1002/50%25(x)<y>"]})
    data = bag(["10.1002/50%2525(X)<y>", "10.1002/50%25(x)<y>"])
    checked = check(data, known=known, offline=True)
    assert rows(checked, "doi_status", "doi_agency") == [("found", None), ("unknown", None)]


def test_small_files_that_dask_reads_at_once(server: Server, tmp_path: Path) -> None:
    wide = pd.DataFrame({f"text {n}": [f"{n}" * 200] * 40 for n in range(20)})
    dd.from_pandas(wide.assign(doi=TEXTS), npartitions=10).to_parquet(
        tmp_path / "data", write_index=False
    )
    DUMPS["keys"]().to_parquet(tmp_path / "keys", write_index=False)
    data = dd.read_parquet(tmp_path / "data")[["doi"]]
    known = dd.read_parquet(tmp_path / "keys")
    assert rows(check(data, resolver=server.url, known=known), *COLUMNS) == EXPECTED
    assert asked(server) == NEW


def test_a_frame_is_read_for_its_keys_and_again_for_its_rows() -> None:
    """So it need not fit into memory. What a shuffle made is kept."""
    read: list[int] = []

    def part(number: int) -> pd.DataFrame:
        read.append(number)
        return pd.DataFrame({"doi": NAMES[number * 4 : number * 4 + 4], "n": number})

    data = dd.from_map(part, range(3), meta=pd.DataFrame({"doi": ["x"], "n": [1]}))
    checked = check(data, known=dump(NAMES), offline=True)
    assert not read
    assert {*rows(checked, "doi_status")} == {("found",)}
    assert sorted(read) == sorted([0, 1, 2] * 2)
    read.clear()
    shuffled = check(data.shuffle("n", shuffle_method="tasks"), known=dump(NAMES), offline=True)
    assert len(shuffled.compute()) == 12
    assert sorted(read) == [0, 1, 2]
