"""Which RA over a real socket."""

from typing import Any
from urllib.parse import quote

import pytest
from doiuri_proxy import running
from support.http import ask

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
    "10.3000/x": {"status": "Unknown"},
    "10.3000": {"status": "Unknown"},
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
def test_names_asked_together_or_alone_get_the_same_answers_in_order(url: str, path: str) -> None:
    expected = [{"DOI": name, **said} for name, said in SAID.items()]
    written = [quote(name) for name in SAID]
    together = ask(url, f"/{path}/{','.join([*written, *written])}")
    assert (together.status, together.headers["content-type"]) == (200, "application/json;charset=UTF-8")
    assert together.json() == expected * 2
    assert [ask(url, f"/{path}/{name}").json() for name in written] == [[one] for one in expected]


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
