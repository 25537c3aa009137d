"""Which URIs are opened, each for exactly the DOI written, and which are refused before any traffic."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import unquote
from urllib.request import OpenerDirector, Request, build_opener, urlopen

import pytest
import urllib_doiuri
from doiuri import DOI, DOISyntaxError
from doiuri_proxy import running
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.cases import NO_URIS, ODD_NAMES, odd_cases
from support.servers.web import JSON, Answer, Site, record, site


def test_each_name_is_asked_for_as_written_and_no_other_answers() -> None:
    with running([record(name, f"http://x.example/{i}") for i, name in enumerate(ODD_NAMES)]) as proxy:
        urllib_doiuri.install(proxy.url)
        for number, name in enumerate(ODD_NAMES):
            with urlopen(DOI(name).uri) as response:
                answer = json.load(response)
            assert answer["handle"] == name
            assert answer["values"][0]["data"]["value"] == f"http://x.example/{number}"


@pytest.mark.parametrize("spelling", ["DOI:10.1000/182", "Doi:10.1000/18%32", " <URL:doi:10.1000/182>\n"])
def test_other_legal_spellings_are_the_same_doi(spelling: str) -> None:
    with running([record("10.1000/182", "http://x.example/")]) as proxy:
        urllib_doiuri.install(proxy.url)
        with urlopen(spelling) as response:
            assert response.url == f"{proxy.url}/api/handles/10.1000/182"


@pytest.mark.parametrize(("uri", "position", "repaired"), NO_URIS)
def test_what_is_no_uri_is_refused_before_any_traffic(uri: str, position: int, repaired: str | None) -> None:
    with site(lambda _: Answer()) as anything:
        urllib_doiuri.install(anything.url)
        with pytest.raises(DOISyntaxError) as caught:
            urlopen(uri)
        assert (caught.value.position, caught.value.suggestion) == (position, repaired)
        assert f"position {position}" in str(caught.value)
        assert anything.seen == []


def test_a_request_object_is_no_way_round() -> None:
    with site(lambda _: Answer()) as anything:
        urllib_doiuri.install(anything.url)
        request = Request("http://127.0.0.1/")
        request.full_url = "doi:10.1000/x#"
        with pytest.raises(ValueError, match=r"10\.1000/x%23"):
            urlopen(request)
        assert anything.seen == []


@pytest.mark.parametrize(
    ("method", "data"), [("POST", None), ("DELETE", None), (None, b"x=1"), ("GET", b"x")]
)
def test_a_doi_is_read_not_written(method: str | None, data: bytes | None) -> None:
    with site(lambda _: Answer()) as anything:
        urllib_doiuri.install(anything.url)
        with pytest.raises(ValueError, match=r"10\.1000/182: a DOI is read-only"):
            urlopen(Request("doi:10.1000/182", data, method=method))
        assert anything.seen == []


@pytest.fixture(scope="module")
def anything() -> Iterator[Site]:
    with site(lambda _: Answer(200, JSON, b"{}")) as server:
        yield server


def test_every_odd_name_is_asked_for_by_its_uri(anything: Site) -> None:
    names = [str(case.name) for case in odd_cases()]
    anything.seen.clear()
    urllib_doiuri.install(anything.url)
    for name in names:
        urlopen(DOI(name).uri).close()
    assert [unquote(one.target) for one in anything.seen] == [f"/api/handles/{name}" for name in names]


@pytest.fixture(scope="module")
def opener(anything: Site) -> OpenerDirector:
    return build_opener(urllib_doiuri.DOIHandler(anything.url))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(suffix=st.text(st.characters(max_codepoint=0x2FFF), max_size=12))
def test_whatever_is_written_asks_for_that_doi_or_is_refused(
    anything: Site, opener: OpenerDirector, suffix: str
) -> None:
    anything.seen.clear()
    written = f"doi:10.1000/{suffix}"
    try:
        opener.open(written).close()
    except ValueError:
        assert anything.seen == []
    else:
        assert not {*"#?"} & {*written}
        (asked,) = anything.seen
        assert unquote(asked.target.removeprefix("/api/handles/")) == unquote(written.strip()[4:])
