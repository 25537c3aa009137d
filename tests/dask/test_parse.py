"""``parse``: names and keys of frames, series and bags, without a cluster."""

from __future__ import annotations

from typing import Any

import dask
import dask.bag as db
import dask.dataframe as dd
import pandas as pd
import pytest
from dask.dataframe.utils import assert_eq
from dask_doiuri import parse, verify
from doiuri import DOI
from support.cases import odd_cases

TEXTS = ["doi:10.1000/ABC-é", None, "https://doi.org/10.1000/%3Cx%3E", "nonsense", "", "10.1000/a"]
NAMES = ["10.1000/ABC-é", None, "10.1000/<x>", None, None, "10.1000/a"]
KEYS = ["10.1000/ABC-é", None, "10.1000/<X>", None, None, "10.1000/A"]


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    with dask.config.set(scheduler="sync"):
        yield


def values(column: Any) -> list[object]:
    return [None if pd.isna(value) else value for value in column]


@pytest.mark.parametrize("convert", [True, False, None])
@pytest.mark.parametrize("partitions", [1, 3])
def test_a_frame(partitions: int, convert: bool | None) -> None:
    index = pd.Index(["f", "b", "b", "a", "c", "x"], name="shelf")
    frame = pd.DataFrame({"n": range(6), 7: TEXTS}, index=index)
    with dask.config.set({"dataframe.convert-string": convert}):
        data = dd.from_pandas(frame, npartitions=partitions, sort=False)
        parsed = parse(data, 7)
        result = parsed.compute()
        assert_eq(parsed, result)  # the types are those of the meta
        assert result["doi_name"].dtype == data.compute()[7].dtype
    assert parsed.divisions == data.divisions
    assert [*result.columns] == ["n", 7, "doi_name", "doi_key", "doi_reason"]
    assert [*result.index] == ["f", "b", "b", "a", "c", "x"]
    assert result.index.name == "shelf"
    assert values(result["doi_name"]) == NAMES
    assert values(result["doi_key"]) == KEYS
    assert values(result["doi_reason"])[:3] == [None, "there is no DOI", None]
    assert values(result["doi_reason"])[3:] == [
        'expected "10.", a label such as "doi:", or a link to doi.org',
        "the text is empty",
        None,
    ]


@pytest.mark.parametrize(("name", "column"), [("title", "title"), (None, "doi")])
def test_a_series(name: str | None, column: str) -> None:
    parsed = parse(dd.from_pandas(pd.Series(TEXTS, name=name), npartitions=2))
    assert_eq(parsed, parsed.compute())
    assert [*parsed.columns] == [column, "doi_name", "doi_key", "doi_reason"]
    assert values(parsed.compute()["doi_key"]) == KEYS


def test_a_bag_of_texts_dois_and_dicts() -> None:
    items = [
        *TEXTS,
        DOI("10.1000/b"),
        {"n": 1, "doi": "10.1000/c"},
        {"n": 2},
        float("nan"),
        pd.NA,
        ["10.1000/d"],
    ]
    rows = parse(db.from_sequence(items, npartitions=4)).compute()
    assert [row["doi_name"] for row in rows] == [*NAMES, "10.1000/b", "10.1000/c", None, None, None, None]
    assert rows[0] == {"doi": TEXTS[0], "doi_name": NAMES[0], "doi_key": KEYS[0], "doi_reason": None}
    assert rows[7] == {
        "n": 1,
        "doi": "10.1000/c",
        "doi_name": "10.1000/c",
        "doi_key": "10.1000/C",
        "doi_reason": None,
    }
    assert [row["doi_reason"] for row in rows[8:]] == [
        *["there is no DOI"] * 3,
        "expected a DOI or a str, not ['10.1000/d']",
    ]


def test_items_of_a_bag_stay_as_they_are() -> None:
    item = {"doi": "10.1000/a"}
    parse(db.from_sequence([item], npartitions=1)).compute()
    assert item == {"doi": "10.1000/a"}


def test_partitions_without_rows() -> None:
    frame = pd.DataFrame({"doi": pd.Series(TEXTS), "n": range(6)})
    data = dd.from_pandas(frame, npartitions=3)
    for few in (data[data["n"] == 5], data[data["n"] > 5]):
        parsed = parse(few)
        assert_eq(parsed, parsed.compute())
        assert values(parsed.compute()["doi_name"]) == NAMES[5:][: len(few)]
    bag = db.from_sequence(["10.1000/a", "b"], npartitions=2).filter(lambda item: item == "b")
    assert [row["doi_name"] for row in parse(bag).compute()] == [None]


def test_numbers_and_categories() -> None:
    parsed = parse(dd.from_pandas(pd.DataFrame({"doi": [10.1, None]}), npartitions=1))
    assert values(parsed.compute()["doi_reason"]) == ["expected a DOI or a str, not 10.1", "there is no DOI"]
    parsed = parse(dd.from_pandas(pd.DataFrame({"doi": pd.Categorical(TEXTS)}), npartitions=2))
    assert_eq(parsed, parsed.compute())
    assert values(parsed.compute()["doi_name"]) == NAMES


def test_odd_names() -> None:
    shared = odd_cases("parse")
    frame = pd.DataFrame({"doi": [case.input for case in shared]})
    parsed = parse(dd.from_pandas(frame, npartitions=3)).compute()
    assert values(parsed["doi_name"]) == [case.name for case in shared]
    assert values(parsed["doi_key"]) == [DOI.from_name(case.name or "").key for case in shared]


@pytest.mark.parametrize("function", [parse, verify])
def test_wrong_arguments(function: Any) -> None:
    frame = pd.DataFrame({"doi": ["10.1000/a"]})
    data = dd.from_pandas(frame, npartitions=1)
    with pytest.raises(TypeError, match=r"use dask\.dataframe\.from_pandas"):
        function(frame)
    with pytest.raises(TypeError, match=r"expected a Dask bag, data frame or series, not \['10\.1000/a'\]"):
        function(["10.1000/a"])
    with pytest.raises(ValueError, match=r"there is no column 'DOI'; the columns are 'doi'"):
        function(data, "DOI")
    with pytest.raises(ValueError, match="2 columns are named 'doi'"):
        function(dd.concat([data, data], axis=1))
    with pytest.raises(
        ValueError, match="the data already has doi_name, doi_reason; rename or drop it first"
    ):
        function(data.assign(doi_name="", doi_reason=""))
    with pytest.raises(ValueError, match="the data already has doi_name"):
        function(db.from_sequence([{"doi": "10.1000/a", "doi_name": "x"}], npartitions=1)).compute()
    with pytest.raises(ValueError, match="the data already has doi_name"):
        function(dd.from_pandas(frame["doi"], npartitions=1), "n").rename(columns={"doi": "x"}).pipe(
            function, "x"
        )
