"""A resolver fed with records, for users' own tests."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from doiuri import DOI, DOINotFound, NoValues, Prefix, Record, ResolverUnavailable, ShortDOI
from doiuri.resolver import Cause, _process
from doiuri_proxy import resolver_for


def record(name: str, *values: tuple[str, str]) -> dict[str, Any]:
    numbered = enumerate(values, 1)
    data = [(index, kind, {"format": "string", "value": text}) for index, (kind, text) in numbered]
    found = [{"index": index, "type": kind, "data": one, "ttl": 60} for index, kind, one in data]
    return {"handle": name, "values": found}


URL = ("URL", "https://example.org/")
RECORDS: list[dict[str, Any]] = [
    record("10.1000/a b%c", URL, ("EMAIL", "a@example.org")),
    record("0.NA/10.1000"),
    {"responseCode": 100, "handle": "10.1000/recorded-no"},
    record("10/short", ("HS_ALIAS", "10.1000/A B%C")),
]
DOI_ = DOI("10.1000/A b%c")


@pytest.fixture(autouse=True)
def _no_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object, **_options: object) -> None:
        raise AssertionError("a socket")

    monkeypatch.setattr(socket, "socket", refuse)


def test_records_resolve_and_the_rest_is_not_found() -> None:
    with resolver_for(RECORDS) as resolver:
        assert resolver.resolve(DOI_).url == "https://example.org/"
        assert resolver.resolve(ShortDOI("10/short")).doi == DOI_
        assert [value.index for value in resolver.resolve(DOI_, type="email").values] == [2]
        assert [value.index for value in resolver.resolve(DOI_, index=[1, 7]).values] == [1]
        with pytest.raises(NoValues):
            resolver.resolve(DOI_, type="X")
        for name in ("10.1000/x", "10.1000/recorded-no"):
            with pytest.raises(DOINotFound):
                resolver.resolve(DOI(name))
        with pytest.raises(NoValues):
            resolver.metadata(DOI_, "text/x-bibliography")


def test_agencies_are_those_of_the_longest_prefix() -> None:
    records = {"records": RECORDS, "agencies": {"10.1000": "Crossref", "10.1000.5": "EIDR"}}
    dois: list[DOI | Prefix] = [DOI_, DOI("10.1000/x"), Prefix("10.1000.5.3"), Prefix("10.2000")]
    outcomes = [(one.status, one.agency) for one in resolver_for(records).agencies(dois)]
    assert outcomes == [("found", "Crossref"), *[("not-found", None)] * 3]


def test_all_forms_of_records_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "records.json"
    path.write_text(json.dumps(RECORDS))
    records = [Record.from_json(RECORDS[0])]
    forms = path, str(path), iter(RECORDS), {"records": RECORDS}, RECORDS[0], records
    assert [resolver_for(form).resolve(DOI_).values for form in forms] == [records[0].values] * 6


@pytest.mark.parametrize(
    "bad",
    [
        *(
            ["10.1000/1"],
            [{"values": []}],
            [{"handle": "10.1000/1", "values": [{}]}],
            None,
            {"records": 1},
        ),
        *([{"handle": "10.1000/1", "values": None}], {"records": [], "agencies": ["Crossref"]}),
        *(
            [record("10.1000/1") | {"metadata": one}]
            for one in (None, ["x"], {"nonsense": "x"}, {"text/plain": 7})
        ),
    ],
    ids=str,
)
def test_an_invalid_record_is_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"^records: "):
        resolver_for(bad)


def test_a_server_of_the_same_name_in_trouble_does_not_matter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_process, "_servers", {})
    _process.server("https://doi.org").limiter.failed(Cause("status"), requested_wait=100)
    assert resolver_for(RECORDS).resolve(DOI_).url


@pytest.mark.parametrize("name", ["10.1000/api/handles/x", "10.1000/doiRA/x"])
def test_names_that_contain_the_name_of_a_service(name: str) -> None:
    resolver = resolver_for({"records": [record(name, URL)], "agencies": {"10.1000": "Crossref"}})
    assert resolver.resolve(name).doi == DOI(name)
    assert [outcome.agency for outcome in resolver.agencies([name])] == ["Crossref"]


def test_metadata_of_records() -> None:
    name = "10.1000/doiRA/api/handles/<x>#?;"
    metadata = {
        "application/vnd.citationstyles.csl+json": {"title": "A <i>title</i>"},
        "application/x-bibtex": "@misc{a}",
        "text/x-bibliography; style=apa": "A &amp; B",
    }
    items = [record(name) | {"metadata": metadata}, record("10.1000/none")]
    for resolver in (resolver_for(items), resolver_for(items, base="https://example.org/doi")):
        doi = DOI(name)
        assert resolver.work(doi).title == "A title"
        assert resolver.bibtex(doi) == "@misc{a}"
        assert resolver.metadata(doi, "text/x-bibliography; style=apa").text == "A &amp; B"
        with pytest.raises(NoValues, match="style=ieee"):
            resolver.metadata(doi, "text/x-bibliography; style=ieee")
        names = [name, "10.1000/none", "10.1000/missing"]
        assert [outcome.status for outcome in resolver.works(names)] == [
            "found",
            "no-values",
            "not-found",
        ]


def test_records_answer_where_requests_are_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOIURI_OFFLINE", "1")
    assert (
        resolver_for([record("10.5555/1", URL)]).resolve("10.5555/1").url == "https://example.org/"
    )
    with pytest.raises(ResolverUnavailable):
        resolver_for([], offline=True).resolve("10.5555/1")
