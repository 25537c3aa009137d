"""The function from a request and records to the answer, without a server."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any
from urllib.parse import quote

import pytest
from doiuri import DOI
from doiuri.records import Data, Value
from doiuri.rest import read_record
from doiuri_proxy import Records, answer
from doiuri_proxy.pytest_plugin import Proxies
from hypothesis import given
from hypothesis import strategies as st
from support.checks import exactly
from support.http import ask
from support.ports import refusing
from support.proxy_records import AGENCIES, link, record, value

X = DOI("10.1000/x")
TEXTS = st.text() | st.text(st.characters(categories=("Cs", "L", "P")))


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/10.1000/182", "10.1000/182"),
        ("///10.1000/182/", "10.1000/182/"),
        ("/%2f10.1000%2F182", "10.1000/182"),
        ("/doi:10.1000/182", "10.1000/182"),
        ("/HDL:10.1000/182", "10.1000/182"),
        ("/info:doi/10.1000/182", "10.1000/182"),
        ("/Info:Hdl/10.1000/182", "10.1000/182"),
        ("/urn:doi:10.123:456ABC%2Fzyz", "10.123/456ABC/zyz"),
        ("/urn:doi:10.123:456ABC/zyz", "10.123/456ABC/zyz"),
        ("/URN:DOI:10.123/456:ABC", "10.123/456:ABC"),
        ("/urn:doi:10.123:456:ABC", "10.123/456:ABC"),
        ("/urn:doi:10.123/a10.5:b", "10.123/a10.5:b"),
        ("/doi:doi:10.1000/182", "doi:10.1000/182"),
        ("/urn:doi:doi:10.1000/182", "doi:10.1000/182"),
        ("/doi:%2010.1000/182", " 10.1000/182"),
        ("/https://doi.org/10.1000/182", "https://doi.org/10.1000/182"),
    ],
)
def test_the_name_in_a_path(path: str, name: str) -> None:
    """Encoding rules for URL presentation, notes on labels and URNs: one label is dropped, nothing else."""
    assert answer(Records([link(name, "https://example.org/")]), "GET", path).status == 302


@given(TEXTS)
def test_what_the_server_writes_of_a_record_the_client_reads(text: str) -> None:
    values = [
        Value(1, "T", Data("string", text), 60),
        Value(2, text, Data("of the future", {text: [text]})),
    ]
    known = Records(
        [{"handle": X.name, "values": [value.to_json() | {"ttl": 60} for value in values]}]
    )
    for query in ("", "?pretty", "?type=T&index=2"):
        found = answer(known, "GET", f"/api/handles/10.1000/X{query}")
        record = read_record(DOI("10.1000/X"), found.status, found.body)
        assert [(value.type, value.data) for value in record.values] == [
            (value.type, value.data) for value in values
        ], query


SAID: dict[str, dict[str, Any]] = {
    "10.1000/1": {"RA": "Crossref"},
    "10.1000/none": {"status": "DOI does not exist"},
    "10.123/abc": {"status": "Unknown"},
    "10.1045": {"RA": "Crossref"},
    "10.1000": {"RA": "Crossref"},
    "10.2000": {"RA": "DataCite"},
    "10.2000/x": {"RA": "DataCite"},
    "10.2000/X": {"RA": "DataCite"},
    "10.1000.10/x": {"RA": "mEDRA"},
    "10.1000.10": {"RA": "mEDRA"},
    # the longest prefix counts, and a name before its prefix
    "10.1000.10.3/x.y": {"RA": "mEDRA"},
    "10.1000.4/x": {"RA": "Crossref"},
    "10.1000/Loc": {"RA": "OP"},
    "10.1000/MANY": {"RA": "Airiti"},
    "10.10001/x": {"status": "Unknown"},
    "10.3000/x": {"status": "Unknown"},
    "10.3000": {"status": "Unknown"},
    "10.2000.7.8/x": {"RA": "DataCite"},
    "10.2000.7": {"status": "DOI does not exist"},
    "10.4000": {"status": "DOI does not exist"},
    "10.4000/x": {"status": "DOI does not exist"},
    "10.1000/alias": {"RA": "Crossref"},
    "10.1000/a,b": {"RA": "Crossref"},
    **{
        name: {"status": "Invalid DOI"}
        for name in ("x", "10/abcd", "doi:10.1000/1", "10.1000/", "", "10", "10.")
    },
}


@pytest.mark.parametrize("path", ["doiRA", "ra"])
def test_the_example_of_which_ra_comes_back_octet_for_octet(path: str) -> None:
    """DOI resolution documentation §4 (P-75)."""
    film = "10.5240/B1FA-0EEC-C316-3316-3A73-L"
    records = Records({"records": [link(film, "https://e.org/")], "agencies": {"10.5240": "EIDR"}})

    found = answer(records, "GET", f"/{path}/{film}")

    seen = (found.status, found.content_type, found.body.decode())
    body = f'[{{"DOI":"{film}","RA":"EIDR"}}]'
    assert seen == (200, "application/json;charset=UTF-8", body), f"/{path}/{film}: {seen}"


NAMED = value("10320/ra_name", "DataCite")


@pytest.mark.parametrize(
    ("values", "agency"),
    [
        ([NAMED], {"RA": "DataCite"}),
        ([value("10320/RA_NAME", "JaLC")], {"RA": "JaLC"}),
        ([value("URL", "https://example.org/"), {**NAMED, "index": 7}], {"RA": "DataCite"}),
        ([value("10320/ra_name", "", index=9), NAMED], {"RA": "DataCite"}),
        ([value("10320/ra_names", "x"), value("ra_name", "x", index=2)], {"status": "Unknown"}),
        ([{**NAMED, "permissions": "1100"}], {"status": "Unknown"}),
        ([], {"status": "Unknown"}),
    ],
)
def test_which_ra_examines_the_type_value_pairs_of_the_prefix(
    values: list[dict[str, Any]], agency: dict[str, str]
) -> None:
    """The agency is what resolving a handle returns (P-72): the public value of its type, in any case."""
    prefix = record("0.NA/10.1000", *values)
    records = Records([prefix, link("10.1000/x", "https://example.org/")])
    for name in ("10.1000/x", "10.1000/X", "10.1000"):
        found = answer(records, "GET", f"/doiRA/{name}").body.decode()
        expected = json.dumps([{"DOI": name, **agency}], separators=(",", ":"))
        assert found == expected, f"{name} with {values}: {found}"


@pytest.mark.parametrize("path", ["doiRA", "ra"])
def test_names_asked_together_or_alone_get_the_same_answers_in_order(url: str, path: str) -> None:
    expected = [{"DOI": name, **said} for name, said in SAID.items()]
    written = [quote(name) for name in SAID]
    together = ask(url, f"/{path}/{','.join([*written, *written])}")
    assert (together.status, together.headers["content-type"]) == (
        200,
        "application/json;charset=UTF-8",
    )
    assert together.json() == expected * 2
    assert [ask(url, f"/{path}/{name}").json() for name in written] == [[one] for one in expected]


def test_which_ra_takes_as_many_names_as_a_request_may_hold(url: str) -> None:
    names = ",".join(f"10.1000/{number:04}" for number in range(400))
    exactly(400, "values", ask(url, f"/doiRA/{names}").json())
    assert ask(url, f"/doiRA/{names},{names}").status == 414


def test_agencies_that_cannot_be_asked_for_are_unknown(doi_proxy: Proxies) -> None:
    """Without any answer there is no list, so that clients do not ask about each name alone."""
    records = {"records": [link("10.1000/1", "https://example.org/")], "agencies": AGENCIES}
    with refusing() as port:
        proxy = doi_proxy(records, upstream=f"http://127.0.0.1:{port}")
        some = ask(proxy.url, "/doiRA/10.1000/1,10.5555/x")
        none = ask(proxy.url, "/doiRA/10.5555/x,10.5555")

    assert some.json() == [
        {"DOI": "10.1000/1", "RA": "Crossref"},
        {"DOI": "10.5555/x", "status": "Unknown"},
    ]
    assert (none.status, none.headers["retry-after"]) == (503, "20")


def test_big_records_do_not_fill_the_memory() -> None:
    url = link("", "https://example.org/")["values"]
    records = Records(
        [record(f"10.1000/{n}", *url, value("X", f"{n:03}" * 30_000, index=2)) for n in range(100)]
    )
    tracemalloc.start()
    try:
        for number in range(100):
            for query in ("", "?auth"):
                assert answer(records, "GET", f"/10.1000/{number}{query}").status == 302
        assert tracemalloc.get_traced_memory()[0] < 3_000_000
    finally:
        tracemalloc.stop()
