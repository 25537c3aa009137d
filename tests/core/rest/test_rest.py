"""The protocol without IO: which URL is asked, what the answer means."""

from __future__ import annotations

import gzip
import json
import time
from contextlib import suppress
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest
from doiuri import (
    DOI,
    BadRecord,
    DOIError,
    DOINotFound,
    Handle,
    NoValues,
    Prefix,
    Record,
    ResolverUnavailable,
)
from doiuri.records import Data, Value
from doiuri.rest import (
    Agency,
    agency_batches,
    agency_url,
    read_agencies,
    read_record,
    record_url,
    retry_after,
)
from hypothesis import given
from hypothesis import strategies as st
from support.cases import DATA, table

if TYPE_CHECKING:
    from collections.abc import Iterator

X = DOI("10.1000/x")
NOW = 1_700_000_000.0  # 14 November 2023, 22:13:20 UTC
ANSWERS = json.loads((DATA / "answers.json").read_text("utf-8"))
GRAPHIC = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1)
NAMES = GRAPHIC.map(lambda suffix: DOI(f"10.1000/{suffix}"))


def body_of(case: dict[str, Any]) -> bytes:
    text: str = case["raw"] if "raw" in case else json.dumps(case["body"])
    return text.encode()


@table("rest", "paths", "name, path")
def test_the_request_of_a_record(name: str, path: str) -> None:
    """U-42 to U-45, U-58, P-82: https, doi.org, /api/handles/, the URI without scheme; G-05: dot segments.

    All names are handles (U-12).
    """
    handle = Handle.from_name(name)
    assert record_url(handle) == f"https://doi.org/api/handles/{path}"
    assert record_url(handle, base="http://a:80/sub/") == f"http://a:80/sub/api/handles/{path}"


def test_all_query_parameters() -> None:
    """N-025, N-032, N-035, P-111 to P-117: any number of types and indices; flags by their presence."""
    types = ["URL", "10320/loc", "ä&=+"]
    url = record_url(
        X, type=types, index=[1, 700050], auth=True, cert=True, pretty=True, callback="f&g"
    )
    assert url.partition("?")[2] == (
        "type=URL&type=10320%2Floc&type=%C3%A4%26%3D%2B&index=1&index=700050&auth&cert&pretty&callback=f%26g"
    )
    assert parse_qs(urlsplit(url).query, keep_blank_values=True)["type"] == types
    assert record_url(X, type="URL", index=1).endswith("?type=URL&index=1")
    assert record_url(X, type=(), index=()).endswith("/10.1000/x")


@pytest.mark.parametrize("case", ANSWERS, ids=lambda case: case["note"])
def test_what_an_answer_means(case: dict[str, Any]) -> None:
    """U-46 to U-55, P-83, P-87 to P-91, P-106 to P-109; C-22, C-23: a contradiction means nothing."""
    if case["result"] == "found":
        assert isinstance(read_record(X, case["status"], body_of(case)), Record)
        return
    with pytest.raises(DOIError) as caught:
        read_record(X, case["status"], body_of(case))
    assert type(caught.value).__name__ == case["result"]
    assert isinstance(caught.value, BadRecord | DOINotFound | NoValues | ResolverUnavailable)
    assert caught.value.doi is X
    assert case.get("message", "") in str(caught.value)


@pytest.mark.parametrize(
    "body",
    [
        b"\xff\xfe",
        gzip.compress(b'{"responseCode":100,"handle":"10.1000/x"}'),
        '{"responseCode":100,"handle":"10.1000/x","message":"ü"}'.encode("latin-1"),
        '{"responseCode":100,"handle":"10.1000/x"}'.encode("utf-16"),
        b"[" * 1_000_000,
        b'{"a":' * 1_000_000,
        b'{"responseCode":' + b"9" * 5000 + b"}",
        b"\0" * 1000,
        b'{"responseCode":100,"handle":"10.1000/x","a":1e999}',
    ],
    ids=[
        "bytes",
        "gzip",
        "Latin-1",
        "UTF-16",
        "lists",
        "objects",
        "5,000 digits",
        "NUL",
        "infinite",
    ],
)
def test_no_octets_pass_for_an_answer(body: bytes) -> None:
    """The body is one JSON object (U-46)."""
    with pytest.raises(BadRecord):
        read_record(X, 404, body)


@given(
    st.binary()
    | st.from_regex(r'\{"responseCode":1(00)?,"handle":"10.1000/x"(,"values":.{0,20})?\}').map(
        str.encode
    )
)
def test_any_octets_give_a_record_or_a_typed_error(body: bytes) -> None:
    for status in (200, 404, 500):
        with suppress(BadRecord, DOINotFound, NoValues, ResolverUnavailable):
            assert read_record(X, status, body).doi is X


@pytest.mark.parametrize(("status", "start"), [(500, "HTTP status 500: "), (404, ""), (200, "")])
def test_an_error_carries_the_status_the_message_and_how_long_to_wait(
    status: int, start: str
) -> None:
    """P-91: an error may hold a message (U-50)."""
    body = b'{"responseCode":2,"handle":"10.1000/x","message":"it broke"}'
    with pytest.raises(ResolverUnavailable, match=rf"^10\.1000/x: {start}it broke$") as caught:
        read_record(X, status, body, {"RETRY-AFTER": "7"})
    assert (caught.value.status, caught.value.retry_after) == (status, 7.0)


# Which RA


def test_the_request_of_the_agencies() -> None:
    """P-73, P-77, L-23: commas between names bare, inside a name escaped."""
    url = agency_url(
        [DOI("10.5240/B1FA-0EEC"), DOI("10.1000/a,b"), DOI("10.1000/.."), Prefix("10.1045")]
    )
    assert url == "https://doi.org/doiRA/10.5240/B1FA-0EEC,10.1000/a%2Cb,10.1000%2F..,10.1045"
    assert agency_url([X], base="http://h/") == "http://h/doiRA/10.1000/x"


@given(st.lists(NAMES), st.integers(0, 200))
def test_batches_keep_to_the_limit_and_lose_nothing(dois: list[DOI], limit: int) -> None:
    batches = list(agency_batches(dois, limit=limit))
    assert [*chain(*(batch for batch, _ in batches))] == dois
    for batch, url in batches:
        assert url == agency_url(batch)
        assert len(url) <= limit or len(batch) == 1
    for (first, url), (second, _) in pairwise(batches):
        assert first
        more = 1 + len(agency_url(second[:1])) - len(agency_url([]))
        assert len(url) + more > limit, "a name would still fit"


def test_batches_are_made_as_names_come() -> None:
    def names() -> Iterator[DOI]:
        for number in range(1000):
            asked.append(number)
            yield DOI(f"10.1000/{number:0200}")

    asked: list[int] = []
    next(agency_batches(names()))
    assert len(asked) < 20


def answer(*items: object) -> bytes:
    return json.dumps(items).encode()


@table("rest", "agencies", "item, name, state")
def test_what_which_ra_says(item: dict[str, object], name: str | None, state: str) -> None:
    """P-71, P-74, P-78 to P-80: names of agencies are open, the error states too."""
    agencies = read_agencies([X], 200, answer({"DOI": "10.1000/X", **item}))
    assert agencies == [Agency(X, name, state)]  # type: ignore[arg-type]


def test_answers_belong_to_names_not_to_places() -> None:
    """Several DOIs in one URL: one result each (P-71, P-77). Two for a name count only if they agree."""
    found = {"a": ("A", "found"), "b": ("B", "found"), "c": (None, "unknown"), "A": ("A", "found")}
    found |= {"twice": ("T", "found"), "both": (None, "unknown")}
    said = [
        ("b", "B"),
        ("A", "A"),
        ("z", "Z"),
        ("twice", "T"),
        ("TWICE", "T"),
        ("both", "A"),
        ("both", "B"),
    ]
    body = answer(*({"DOI": f"10.1000/{suffix}", "RA": agency} for suffix, agency in said))
    dois = [DOI(f"10.1000/{suffix}") for suffix in found]
    read = read_agencies(dois, 200, body)
    assert {one.doi.name[8:]: (one.name, one.status) for one in read} == found
    assert [one.doi for one in read] == dois


def test_the_example_of_which_ra() -> None:
    """DOI resolution documentation §4, in both directions (P-75)."""
    film = DOI("10.5240/B1FA-0EEC-C316-3316-3A73-L")
    body = b'[{"DOI":"10.5240/B1FA-0EEC-C316-3316-3A73-L","RA":"EIDR"}]'
    (agency,) = read_agencies([film], 200, body)
    assert agency_url([film]) == "https://doi.org/doiRA/10.5240/B1FA-0EEC-C316-3316-3A73-L"
    assert agency == Agency(film, "EIDR", "found"), f"{body.decode()} was read as {agency}"


@pytest.mark.parametrize("missing", range(4))
def test_the_agency_of_a_name_is_not_that_of_its_prefix(missing: int) -> None:
    """N-040: the prefix does not tell who is responsible today, so a DOI left out is unknown."""
    dois = [DOI(f"10.1000/{letter}") for letter in "abcd"]
    items = [{"DOI": doi.name, "RA": "Crossref"} for doi in dois]
    del items[missing]

    agencies = read_agencies(dois, 200, answer(*items))

    left_out = agencies[missing]
    assert left_out == Agency(dois[missing], None, "unknown"), f"inferred: {left_out}"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"null",
        b"{}",
        b'{"DOI":"10.1000/x","RA":"A"}',
        b'[{"RA":"A"}]',
        b'[{"DOI":1}]',
        b"[",
    ],
)
def test_an_invalid_answer_of_which_ra_raises_bad_record(body: bytes) -> None:
    """Which RA answers in JSON (P-74)."""
    with pytest.raises(BadRecord):
        read_agencies([X], 200, body)


@pytest.mark.parametrize("status", [403, 404, 414, 429, 500, 503])
def test_which_ra_refuses(status: int) -> None:
    with pytest.raises(ResolverUnavailable) as caught:
        read_agencies([X], status, b"<html>", {"Retry-After": "3"})
    assert (caught.value.status, caught.value.retry_after) == (status, 3.0)


@table("rest", "retry after", "text, seconds")
def test_both_forms_of_retry_after(text: str, seconds: float | None) -> None:
    assert retry_after({"Content-Type": "x", "retry-AFTER": text}, NOW) == seconds


def test_times_without_a_zone_are_utc_wherever_the_machine_stands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    value = Value(1, "URL", Data("string", ""), "2023-11-14T22:14:20")
    set_zone = getattr(time, "tzset", lambda: None)  # Windows has none
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        set_zone()
        seconds = [
            value.lifetime(NOW),
            retry_after({"Retry-After": "Tue Nov 14 22:14:20 2023"}, NOW),
        ]
    set_zone()
    assert seconds == [60, 60]


@given(st.text())
def test_any_retry_after_is_seconds_or_none(text: str) -> None:
    seconds = retry_after({"Retry-After": text}, NOW)
    assert seconds is None or 0 <= seconds < 2**31
    assert retry_after({text: "1"}, NOW) is None or text.lower() == "retry-after"


@pytest.mark.parametrize(("status", "code"), [(200, 2), (404, 2), (503, 2), (404, 100)])
def test_messages_of_the_server_are_escaped(status: int, code: int) -> None:
    """A message can neither clear a terminal nor start a line of its own in a log."""
    text = "a\x1b[2J\nb\u202ec\ud800 é\x7f"
    body = json.dumps({"responseCode": code, "handle": X.name, "message": text})
    expected = ResolverUnavailable if code == 2 else DOINotFound
    with pytest.raises(expected) as caught:
        read_record(X, status, body.encode())
    assert str(caught.value).endswith(r"a\x1b[2J\nb\u202ec\ud800 é\x7f")


@pytest.mark.parametrize(
    ("status", "length", "reason"),
    [
        *(
            (404, 1000, "x" * 1000),
            (404, 1001, "x" * 1000),
            (500, 10, f"HTTP status 500: {'x' * 10}"),
        ),
        *((500, length, "HTTP status 500") for length in (1000, 1_000_000)),
    ],
    ids=ascii,
)
def test_a_message_has_a_thousand_characters_at_most_and_is_read_from_a_small_body(
    status: int, length: int, reason: str
) -> None:
    body = f'{{"message":"{"x" * length}","responseCode":100,"handle":"{X.name}"}}'.encode()
    read = read_record if status == 404 else lambda doi, *answer: read_agencies([doi], *answer)
    expected = DOINotFound if status == 404 else ResolverUnavailable
    with pytest.raises(expected) as caught:
        read(X, status, body)
    assert caught.value.reason == reason


@pytest.mark.parametrize("base", ["javascript:alert(1)", ""])
def test_requests_go_to_http_and_https_only(base: str) -> None:
    for request in (record_url, lambda doi, base: agency_url([doi], base=base)):
        with pytest.raises(ValueError, match="not the URL of a DOI proxy: "):
            request(X, base=base)


@pytest.mark.parametrize("query", [{"type": b"URL"}, {"index": b"ab"}, {"index": "12"}])
def test_types_are_text_and_indexes_are_numbers(query: Any) -> None:
    with pytest.raises(TypeError):
        record_url(X, **query)
