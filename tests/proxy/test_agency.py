"""Which RA over a real socket."""

from typing import Any

import pytest
from doiuri_proxy import running
from support.http import ask


@pytest.mark.parametrize("path", ["doiRA", "ra"])
def test_one_answer_for_each_in_the_order_asked(url: str, path: str) -> None:
    answer = ask(url, f"/{path}/10.1000/1,10.1000/none,x,10.123/abc,10.1000/1")
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json;charset=UTF-8")
    assert answer.json() == [
        {"DOI": "10.1000/1", "RA": "Crossref"},
        {"DOI": "10.1000/none", "status": "DOI does not exist"},
        {"DOI": "x", "status": "Invalid DOI"},
        {"DOI": "10.123/abc", "status": "Unknown"},
        {"DOI": "10.1000/1", "RA": "Crossref"},
    ]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("10.1045", {"RA": "Crossref"}),
        ("10.1000", {"RA": "Crossref"}),
        ("10.2000", {"RA": "DataCite"}),
        ("10.2000/x", {"RA": "DataCite"}),
        ("10.2000/X", {"RA": "DataCite"}),
        ("10.1000.10/x", {"RA": "mEDRA"}),
        ("10.1000.10", {"RA": "mEDRA"}),
        ("10.3000/x", {"status": "Unknown"}),
        ("10.3000", {"status": "Unknown"}),
        ("10.4000", {"status": "DOI does not exist"}),
        ("10.4000/x", {"status": "DOI does not exist"}),
        ("10.1000/alias", {"RA": "Crossref"}),
        ("10/abcd", {"status": "Invalid DOI"}),
        ("doi:10.1000/1", {"status": "Invalid DOI"}),
        ("10.1000/", {"status": "Invalid DOI"}),
        ("", {"status": "Invalid DOI"}),
        ("10", {"status": "Invalid DOI"}),
        ("10.", {"status": "Invalid DOI"}),
    ],
)
def test_names_and_prefixes(url: str, name: str, said: dict[str, Any]) -> None:
    assert ask(url, f"/doiRA/{name}").json() == [{"DOI": name, **said}]


def test_a_comma_inside_a_name_is_escaped(url: str) -> None:
    assert ask(url, "/doiRA/10.1000/a%2Cb,10.1000%2F1").json() == [
        {"DOI": "10.1000/a,b", "RA": "Crossref"},
        {"DOI": "10.1000/1", "RA": "Crossref"},
    ]


def test_past_the_limit(url: str) -> None:
    names = ",".join(f"10.1000/{number:04}" for number in range(400))
    assert len(ask(url, f"/doiRA/{names}").json()) == 400
    assert ask(url, f"/doiRA/{names},{names}").status == 414


def test_bad_escapes(url: str) -> None:
    assert ask(url, "/doiRA/10.1000/1,10.1000/%zz").status == 400


def test_what_cannot_be_known_is_unknown() -> None:
    with running([], upstream="http://127.0.0.1:9") as proxy:
        answer = ask(proxy.url, "/doiRA/10.1000/1,10.1000")
    assert (answer.status, [item["status"] for item in answer.json()]) == (200, ["Unknown", "Unknown"])
