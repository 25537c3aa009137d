"""Who asks through a proxy learns what upstream says: proxied = asked, for all that upstream may answer."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import NamedTuple

import pytest
from doiuri.resolver import Outcome, Resolver

# Private: up to so many names are asked one by one, and more of them together
from doiuri.resolver.questions._existence import FEW
from doiuri.rest import BIBTEX, CSL_JSON
from doiuri_proxy.pytest_plugin import Proxies
from doiuri_proxy.records import _upstream
from doiuri_proxy.records._source import BusyError
from support.clock import SLEEP, is_asking
from support.http import ask
from support.proxy_records import link
from support.servers.web import Answer, Answering, Asked, answering, site

NAME = "10.1000/1"
MANY = [NAME, *(f"10.1000/{number}" for number in range(2, FEW + 2)), "10.1000/none"]
"""More names than a Resolver requests the records of to know whether they exist."""
TURTLE = "text/turtle"
REFERENCE = "text/x-bibliography; style=apa; locale=en-US"
METADATA = {
    CSL_JSON: {"type": "book", "title": "Ä"},
    BIBTEX: "@book{a, title={Ä}}",
    TURTLE: "<> a <#Book> .",
    REFERENCE: "Ä.",
}
RIGHT = answering(
    {
        "records": [
            {**link(name, "https://example.org/"), "metadata": METADATA} for name in MANY[:-1]
        ],
        "agencies": {"10.1000": "Crossref"},
    }
)
PAGE = b"<!DOCTYPE html><title>Sign in</title>"
TYPES = "text/plain", "application/octet-stream", "text/html; charset=utf-8"


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for answers as long as it takes, but not before a request is repeated."""
    monkeypatch.setattr(_upstream, "WAIT_TIME", 600)
    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr(BusyError, "headers", (("Retry-After", "3600"),))  # too long to wait for


def sleep(seconds: float) -> None:
    if not is_asking():
        SLEEP(seconds)


def says(status: int, body: bytes = b"", **headers: str) -> Answering:
    """Answer the same to each request."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return lambda _: Answer(status, named, body)


def of_type(media_type: str) -> Answering:
    """Answer what is right, as another media type."""
    return lambda asked: RIGHT(asked)._replace(headers={"Content-Type": media_type})


def cut_off(asked: Asked) -> Answer:
    """Announce a longer body than the one that is sent."""
    status, headers, body = RIGHT(asked)
    length = {"Content-Length": str(len(body) + 9), "Connection": "close"}
    return Answer(status, {**headers, **length}, body)


def with_body(change: Callable[[bytes], bytes]) -> Answering:
    def answer(asked: Asked) -> Answer:
        status, headers, body = RIGHT(asked)
        return Answer(status, headers, change(body))

    return answer


ANSWERS: dict[str, Answering] = {
    "right": RIGHT,
    **{f"as {media_type}": of_type(media_type) for media_type in TYPES},
    "of no type": lambda asked: RIGHT(asked)._replace(headers={}),
    "a page": says(200, PAGE, Content_Type="text/html"),
    "a page of the right type": with_body(lambda _: PAGE),
    "nothing": with_body(lambda _: b""),
    "half of it": with_body(lambda body: body[: len(body) // 2]),
    "no JSON": with_body(lambda _: b"OK"),
    "other JSON": with_body(lambda _: b'["OK"]'),
    "too much": with_body(lambda body: body + b" " * 17_000_000),
    "cut off": cut_off,
    **{str(status): says(status) for status in (204, 403, 404, 406, 410, 429, 500)},
    **{f"{status} with a page": says(status, PAGE) for status in (404, 503)},
    "503 for an hour": says(503, PAGE, Retry_After="3600"),
    "500 in JSON": says(500, b'{"responseCode":2,"message":"no"}'),
    "not found": says(404, json.dumps({"responseCode": 100, "handle": NAME}).encode()),
    "no values": says(200, json.dumps({"responseCode": 200, "handle": NAME}).encode()),
    "elsewhere": says(302, Location="file:///etc/passwd"),
    "round and round": says(302, Location=f"/{NAME}"),
}


class Question(NamedTuple):
    """What a Resolver is asked, and the beginning of the paths that it requests for it."""

    ask: Callable[[Resolver], Iterable[Outcome]]
    path: str


ASKED = {
    "record": Question(lambda asked: asked.resolve_many([NAME]), "/api/"),
    "existence of many": Question(lambda asked: asked.check(MANY), "/doiRA/"),
    "agencies of several": Question(lambda asked: asked.agencies(MANY[-3:]), "/doiRA/"),
    "work": Question(lambda asked: asked.works([NAME]), "/10."),
    "BibTeX": Question(lambda asked: asked.bibtex_many([NAME]), "/10."),
    **{
        f"metadata as {media_type}": Question(
            lambda asked, media_type=media_type: asked.metadata_many([NAME], media_type),  # type: ignore[misc]
            "/10.",
        )
        for media_type in (CSL_JSON, TURTLE, REFERENCE)
    },
}


def redirecting(there: Answering, path: str) -> Answering:
    """Redirect from paths that begin with ``path`` to what answers so."""

    def answer(asked: Asked) -> Answer:
        if asked.target.startswith("/moved/"):
            return there(asked._replace(target=asked.target.removeprefix("/moved")))
        if asked.target.startswith(path):
            return Answer(302, {"Location": f"/moved{asked.target}"})
        return RIGHT(asked)

    return answer


def only(there: Answering, path: str) -> Answering:
    """Answer so for paths that begin with ``path``, and rightly for the others."""

    def answer(asked: Asked) -> Answer:
        return there(asked) if asked.target.startswith(path) else RIGHT(asked)

    return answer


# One for each of the paths that upstream is asked at, and for each of the ways in which the proxy reads them
EACH_PATH = ("record", "agencies of several", "work")
# An answer of each kind: right, another form or type, no HTTP, statuses, redirects
EACH_KIND = (
    "right",
    "as text/html; charset=utf-8",
    "a page of the right type",
    "other JSON",
    "cut off",
    "404",
    "503 with a page",
    "not found",
    "elsewhere",
)


def cases() -> Iterator[object]:
    """Yield questions and upstreams: all answers at each path, and each kind of answer to the other questions, to
    all requests for a work, and after a redirect.
    """
    for asked, said in product(ASKED, ANSWERS):
        question = ASKED[asked]
        answer = ANSWERS[said]
        name = f"{asked}: {said}"
        if asked in EACH_PATH or said in EACH_KIND:
            yield pytest.param(question, only(answer, question.path), id=name)
        if asked in EACH_PATH and said in EACH_KIND:
            moved = redirecting(answer, question.path)
            yield pytest.param(question, moved, id=f"{name}, after a redirect")
        if asked == "work" and said in EACH_KIND:
            yield pytest.param(question, answer, id=f"{name}, to all requests")


@pytest.mark.parametrize(("question", "upstream"), [*cases()])
def test_proxied_is_asked(question: Question, upstream: Answering, doi_proxy: Proxies) -> None:
    """The status is the same, and so is the kind of the cause, as far as a status of HTTP can tell it."""
    with site(upstream) as there, Resolver(there.url, store=None, timeout=600) as resolver:
        direct = [*question.ask(resolver)]

    with site(upstream) as there:
        near = doi_proxy(upstream=there.url, cache=":memory:")
        with Resolver(near.url, store=None, timeout=600) as resolver:
            proxied = [*question.ask(resolver)]

    assert [told(outcome) for outcome in proxied] == [told(outcome) for outcome in direct]
    for outcome, expected in zip(proxied, direct, strict=True):
        assert kind(outcome) in {kind(expected), "status"}


LANDING = {"found": 302, "not-found": 404, "no-values": 200, "unknown": 500}


@pytest.mark.parametrize("said", ANSWERS)
def test_the_landing_page_is_that_of_the_record(said: str, doi_proxy: Proxies) -> None:
    """Browsers get a page that says why there is no redirect; only what upstream said is "not found"."""
    upstream = only(ANSWERS[said], "/api/")
    with site(upstream) as there, Resolver(there.url, store=None, timeout=600) as resolver:
        [direct] = resolver.resolve_many([NAME])

    with site(upstream) as there:
        near = doi_proxy(upstream=there.url, cache=":memory:")
        answer = ask(near.url, f"/{NAME}", headers={"Accept": "text/html"}, timeout=600)

    status = min(answer.status, 500)
    location = direct.record and direct.record.url
    assert (status, answer.headers.get("location")) == (LANDING[direct.status], location)


def test_clients_are_told_to_wait_only_if_that_may_help(doi_proxy: Proxies) -> None:
    """A client that waits for one name holds back all the others that it has."""
    told = {}
    for said in ("503 with a page", "cut off", "429", "500", "403", "a page", "other JSON"):
        with site(ANSWERS[said]) as there:
            near = doi_proxy(upstream=there.url, cache=":memory:")
            answer = ask(near.url, f"/{NAME}", timeout=600)
        told[said] = answer.status, "retry-after" in answer.headers

    assert told == {
        **dict.fromkeys(("503 with a page", "cut off", "429"), (503, True)),
        **dict.fromkeys(("500", "403", "a page", "other JSON"), (500, False)),
    }


def test_a_page_that_upstream_sends_has_no_rights_in_a_browser(doi_proxy: Proxies) -> None:
    with site(only(ANSWERS["a page"], "/10.")) as there:
        near = doi_proxy(upstream=there.url, cache=":memory:")
        answer = ask(near.url, f"/{NAME}", headers={"Accept": CSL_JSON})

    policy = answer.headers["content-security-policy"]
    assert (answer.status, answer.body) == (200, PAGE)
    assert {"default-src 'none'", "sandbox"} <= {*policy.split("; ")}
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("accept", "status"),
    [(f", {TURTLE}", 200), (f"{TURTLE},\t{CSL_JSON}", 200), (f"{TURTLE};x=\xe9", 400)],
)
def test_accept_headers_are_sent_on_or_refused(
    accept: str, status: int, doi_proxy: Proxies
) -> None:
    """RFC 9110 section 5.6.1 allows empty elements of lists. Nothing is "not acceptable" unasked."""
    with site(RIGHT) as there:
        near = doi_proxy(upstream=there.url, cache=":memory:")
        answer = ask(near.url, f"/{NAME}", headers={"Accept": accept})

    assert answer.status == status


def told(outcome: Outcome) -> tuple[object, ...]:
    record = outcome.record and outcome.record.values
    return outcome.status, record, outcome.agency, outcome.work, outcome.metadata


def kind(outcome: Outcome) -> str | None:
    return outcome.cause and outcome.cause.kind
