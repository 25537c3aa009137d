"""Upstream mode: names that are not here are requested upstream, once, and cached."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from doiuri.rest import BIBTEX
from doiuri.rest import CSL_JSON as CSL
from doiuri_proxy import Running
from doiuri_proxy.pytest_plugin import Proxies
from doiuri_proxy.records import _upstream
from doiuri_proxy.records._open import open_source
from doiuri_proxy.records._source import BusyError
from support.checks import assert_same, exactly, only, repeated
from support.http import Answer, ask
from support.proxy_records import AGENCIES, RECORDS, link, record, value
from support.servers import web
from support.servers.web import Asked, answering, site

LOCAL = link("10.1000/local", "https://example.org/local")
Chain = tuple[Running, Running]
THERE = {"records": [*RECORDS, LOCAL], "agencies": AGENCIES}


@pytest.fixture
def chain(doi_proxy: Proxies, tmp_path: Path) -> Chain:
    """Two proxies, the second with the first as its upstream."""
    there = doi_proxy(THERE)
    local = link("10.1000/LOCAL", "https://example.org/here")
    return there, doi_proxy([local], upstream=there.url, cache=str(tmp_path / "cache.sqlite3"))


def test_local_records_come_first_and_are_not_asked_for(chain: Chain) -> None:
    there, here = chain
    assert ask(here.url, "/10.1000/local").headers["location"] == "https://example.org/here"
    assert ask(here.url, "/doiRA/10.1000/local,10.1045").json() == [
        {"DOI": "10.1000/local", "status": "Unknown"},
        {"DOI": "10.1045", "RA": "Crossref"},
    ]
    assert [request.target for request in there.log] == ["/doiRA/10.1045"]


def pass_time(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + seconds)


@pytest.mark.parametrize(("ttl", "seconds"), [(60, 60), (10**9, 86_400)])
def test_for_as_long_as_its_ttl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, doi_proxy: Proxies, ttl: int, seconds: int
) -> None:
    """The proxy caches values, each for its TTL, a day at most (P-24)."""
    first = "https://example.org/1"
    second = "https://example.org/2"
    there = doi_proxy([link("10.1000/x", first, ttl=ttl)])
    here = doi_proxy(upstream=there.url, cache=str(tmp_path / "c.sqlite3"))
    assert ask(here.url, "/10.1000/x").headers["location"] == first
    there.load([link("10.1000/x", second)])
    assert ask(here.url, "/10.1000/x").headers["location"] == first
    pass_time(monkeypatch, seconds + 1)
    target = ask(here.url, "/10.1000/x").headers["location"]
    assert target == second, f"a value with a TTL of {ttl} s is kept for longer than {seconds} s"


def test_auth_and_cert_go_past_the_cache(chain: Chain) -> None:
    """§3, §5: auth bypasses the cache, cert asks for an authenticated response (P-113 P-114 P-60 P-61)."""
    there, here = chain
    handles = "/api/handles/10.1000/1"
    paths = "/10.1000/1", "/10.1000/1?auth", f"{handles}?auth", f"{handles}?cert", "/10.1000/1?cert"
    assert [ask(here.url, path).status for path in paths] == [302, 302, 200, 200, 302]
    asked = ["", *["?auth"] * 2, *["?cert"] * 2]
    assert [request.target for request in there.log] == [f"{handles}{query}" for query in asked]


@pytest.mark.parametrize("flag", ["auth", "cert"])
@pytest.mark.parametrize("path", ["/10.1000/alias2", "/10.1000/alias2?noredirect"])
def test_auth_and_cert_count_for_each_name_of_a_chain(chain: Chain, path: str, flag: str) -> None:
    """Each name is resolved past the cache, the last one by the redirected client (P-60 P-61)."""
    there, here = chain
    separator = "&" if "?" in path else "?"
    ask(here.url, path)  # all names are cached
    cached = len(there.log)

    location = ask(here.url, f"{path}{separator}{flag}").headers["location"]
    ask(here.url, location)

    names = [request.target for request in there.log[cached:]]
    chained = ["alias2", "ALIAS", "target"]
    expected = [f"/api/handles/10.1000/{name}?{flag}" for name in (*chained, "target")]
    assert names == expected, f"asked past the cache: {names}"


class Gate:
    """An upstream that holds back its answers until it is opened."""

    def __init__(self) -> None:
        self.answer = answering(THERE)
        self.asked = threading.Event()
        self.opened = threading.Event()
        self.targets = list[str]()

    def __call__(self, asked: Asked) -> web.Answer:
        self.targets.append(asked.target)
        self.asked.set()
        assert self.opened.wait(60)
        return self.answer(asked)


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def slow(gate: Gate, doi_proxy: Proxies) -> Iterator[str]:
    """The URL of a proxy whose upstream is the gate."""
    with site(gate) as there:
        yield doi_proxy(upstream=there.url, cache=":memory:").url
        gate.opened.set()


def test_one_request_for_many_waiting_clients(slow: str, gate: Gate) -> None:
    with ThreadPoolExecutor(80) as pool:
        paths = ["/api/handles/10.1000/1"] * 50 + ["/10.1000/NONE"] * 20 + ["/10.1000/1?auth"] * 10
        statuses = pool.map(lambda path: ask(slow, path).status, paths)
        assert gate.asked.wait(20)
        time.sleep(0.3)  # let more requests arrive
        gate.opened.set()
        assert list(statuses) == [200] * 50 + [404] * 20 + [302] * 10
    handles = "/api/handles/10.1000"
    late = gate.targets.count(
        f"{handles}/1?auth"
    )  # on a busy machine, some arrive after the answer
    assert sorted(gate.targets) == [
        f"{handles}/1",
        *[f"{handles}/1?auth"] * late,
        f"{handles}/NONE",
    ]
    assert 0 < late < 10


def telling(asked: Asked) -> web.Answer:
    """Answer with what was asked: the query, the names or the Accept header."""
    path, _, query = asked.target.partition("?")
    if path.startswith("/api/handles/"):
        known = link(path.removeprefix("/api/handles/"), f"https://example.org/{query}")
        return answering([known])(asked)
    if path.startswith("/doiRA/"):
        names = path.removeprefix("/doiRA/").split(",")
        agencies = [{"DOI": name, "RA": f"agency of {name}"} for name in names]
        return web.Answer(200, web.JSON, json.dumps(agencies).encode())
    accept = asked.headers["accept"]
    return web.Answer(200, {"Content-Type": accept}, f"{path} as {accept}".encode())


HANDLES = "/api/handles/10.1000"
DIFFERENT = {
    "flags": [(f"{HANDLES}/1{query}", "*/*") for query in ("", "?auth", "?cert")],
    "names": [(f"{HANDLES}/{name}", "*/*") for name in "123"],
    "media types": [("/10.1000/1", accept) for accept in (CSL, BIBTEX, "text/turtle")],
    "names of metadata": [(f"/10.1000/{name}", CSL) for name in "123"],
    "agencies": [(f"/doiRA/10.1000/{names}", "*/*") for names in ("1", "2", "1,10.1000/2")],
}


@pytest.mark.parametrize("requests", DIFFERENT.values(), ids=DIFFERENT)
def test_parallel_requests_that_differ_get_the_answers_of_a_sequence(
    requests: list[tuple[str, str]], doi_proxy: Proxies, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Upstream holds the answers back until it has all requests; it gets them only if none is shared."""
    monkeypatch.setattr(_upstream, "WAIT_TIME", 600)
    all_asked = threading.Barrier(len(requests))
    path = only("kind of path", {path[: path.index("10.1000")] for path, _ in requests})

    def held_back(asked: Asked) -> web.Answer:
        if asked.target.startswith(f"{path}10.1000"):
            with suppress(threading.BrokenBarrierError):
                all_asked.wait(20)
        return telling(asked)

    def answers(upstream: web.Answering, threads: int) -> list[tuple[int, bytes]]:
        with site(upstream) as there, ThreadPoolExecutor(threads) as pool:
            url = doi_proxy(upstream=there.url, cache=":memory:").url
            asked = [
                pool.submit(ask, url, path, headers={"Accept": accept}, timeout=600)
                for path, accept in requests
            ]
            return [(one.result().status, one.result().body) for one in asked]

    assert answers(held_back, len(requests)) == answers(telling, 1)


def test_clients_that_leave_do_not_take_the_answer_from_the_others(slow: str, gate: Gate) -> None:
    with ThreadPoolExecutor(1) as pool:
        leaving = pool.submit(ask, slow, "/10.1000/1", timeout=0.3)
        assert gate.asked.wait(20)
        assert isinstance(leaving.exception(20), TimeoutError)
        staying = pool.submit(ask, slow, "/10.1000/1")
        assert ask(slow, "/healthz").status == 200  # others need not wait
        assert not staying.done()
        gate.opened.set()
        assert staying.result(20).status == 302
    exactly(1, "requests", gate.targets)


def let_them_wait(monkeypatch: pytest.MonkeyPatch, url: str, *waiting: Future[Any]) -> None:
    """Let the time pass for which clients wait, until all of them have an answer."""
    now = time.monotonic
    passed = 0
    while wait(waiting, timeout=0.2).not_done:
        passed += 9
        monkeypatch.setattr(time, "monotonic", lambda passed=passed: now() + passed)
        ask(url, "/healthz")  # the server looks at the clock


def test_cached_names_are_answered_however_many_new_ones_wait(
    slow: str, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "https://example.org/"
    known = link("10.1000/known", url) | {"metadata": {CSL: {"type": "book"}}}
    cached = [
        ("/10.1000/known", "*/*"),
        ("/api/handles/10.1000/KNOWN", "*/*"),
        ("/10.1000/known", CSL),
        ("/10.1000/none", "*/*"),
        ("/doiRA/10.1000/known,10.1000/none", "*/*"),
    ]
    stale = [("/10.1000/stale", "*/*"), ("/api/handles/10.1000/stale", "*/*")]
    refused = [
        ("/10.1000/new", "*/*"),
        ("/api/handles/10.1000/new", "*/*"),
        ("/10.1000/new", CSL),
        ("/10.1000/known?auth", "*/*"),
        ("/api/handles/10.1000/known?cert", "*/*"),
    ]
    gate.answer = answering(
        {
            "records": [known, link("10.1000/stale", url, ttl=60)],
            "agencies": {"10.1000": "Crossref"},
        }
    )
    gate.opened.set()

    def answer(path: str, accept: str) -> Answer:
        return ask(slow, path, headers={"Accept": accept})

    before = {case: answer(*case) for case in cached + stale}
    assert [seen.status for seen in before.values()] == [302, 200, 200, 404, 200, 302, 200]
    pass_time(monkeypatch, 61)
    gate.asked.clear()
    gate.opened.clear()
    with ThreadPoolExecutor(60) as pool:
        waiting = [pool.submit(answer, f"/10.1000/wait{number}", "*/*") for number in range(40)]
        assert gate.asked.wait(20)
        seen = {case: answer(*case) for case in cached}
        late = {case: pool.submit(answer, *case) for case in stale + refused}
        let_them_wait(monkeypatch, slow, *late.values(), *waiting)
    seen |= {case: answer.result() for case, answer in late.items()}
    assert {case: seen[case].body for case in before} == {
        case: one.body for case, one in before.items()
    }
    told = {case: (one.status, one.headers.get("retry-after")) for case, one in seen.items()}
    assert told == {case: (one.status, None) for case, one in before.items()} | dict.fromkeys(
        refused, (503, "20")
    )
    assert seen["/api/handles/10.1000/new", "*/*"].json()["responseCode"] == 2


def test_new_names_are_refused_at_once_if_too_many_wait(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_upstream, "MAX_LOOKUPS", 50)
    with site(gate) as there:
        source = open_source(None, upstream=there.url, cache=":memory:")

        async def ask_for_too_many() -> None:
            asked = [asyncio.create_task(source.lookup(f"10.1000/{name}")) for name in range(51)]
            done, waiting = await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
            refused = only("refused look-up", done)
            assert "too many look-ups" in str(refused.exception())
            exactly(50, "look-ups that wait", waiting)
            for answer in source.lookup("10.1000/new"), source.metadata("10.1000/new", CSL):
                with pytest.raises(BusyError, match="too many look-ups are waiting for upstream"):
                    await answer
            source.close()

        asyncio.run(ask_for_too_many())
        gate.opened.set()


def test_a_fleet_is_told_to_ask_a_slow_upstream_again(
    slow: str, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More new names than upstream answers in time: clients repeat a request after 503, never after 500."""
    accepts = {"/10.1000/new{}": "*/*", "/api/handles/10.1000/new{}": "*/*", "/10.1000/new{}?": CSL}
    cases = []
    for name in range(8):
        cases += [(path.format(name), accept) for path, accept in accepts.items()]
    with ThreadPoolExecutor(len(cases)) as pool:
        for expected in (503, "20"), (404, None):
            answers = [
                pool.submit(ask, slow, path, headers={"Accept": accept}) for path, accept in cases
            ]
            if not gate.opened.is_set():
                let_them_wait(monkeypatch, slow, *answers)
                gate.opened.set()
            seen = {
                (one.result().status, one.result().headers.get("retry-after")) for one in answers
            }
            assert seen == {expected}
    # look-ups continue when their clients have gone
    assert repeated(gate.targets) == [], gate.targets
    exactly(8, "requests", gate.targets)


def test_the_look_ups_of_a_request_share_its_time(
    slow: str, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record and the metadata take upstream longer together than a client waits."""
    now = time.monotonic
    opened = gate.opened
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask, slow, "/10.1000/1", headers={"Accept": CSL})
        for seconds in 5, 10:
            assert gate.asked.wait(20), seconds
            gate.asked.clear()
            monkeypatch.setattr(time, "monotonic", lambda seconds=seconds: now() + seconds)
            gate.opened = threading.Event()  # for the metadata
            opened.set()
            ask(slow, "/healthz")  # the server looks at the clock
        answer = asked.result(20)
        gate.opened.set()
    assert (answer.status, answer.headers.get("retry-after")) == (503, "20")


def test_loading_other_records_keeps_upstream_and_what_it_said(chain: Chain) -> None:
    there, here = chain
    ask(here.url, "/10.1000/1")
    here.load([])
    assert ask(here.url, "/10.1000/1").status == 302
    assert ask(here.url, "/10.1000/local").headers["location"] == "https://example.org/local"
    assert [request.target[-1] for request in there.log] == ["1", "l"]
    assert there.log[0].headers["user-agent"].startswith("doiuri-proxy/")


def test_what_is_no_doi_is_not_asked_for(chain: Chain) -> None:
    """Whether another handle exists is not known; what has not the form of a handle does not exist."""
    there, here = chain
    handles = "0.NA/10.2000", "10.1000/%00", "20.500.1/x"
    others = "favicon.ico", "10.1000"

    codes = {
        name: ask(here.url, f"/api/handles/{name}").json()["responseCode"]
        for name in (*handles, *others)
    }
    pages = {name: ask(here.url, f"/{name}").status for name in (*handles, *others)}

    assert codes == dict.fromkeys(handles, 2) | dict.fromkeys(others, 100)
    assert pages == dict.fromkeys(handles, 500) | dict.fromkeys(others, 404)
    assert there.log == []


def test_agencies_are_asked_for_in_one_request(chain: Chain) -> None:
    there, here = chain
    names = ",".join(f"10.1000/{name}" for name in ("1", "182", "none", "many"))
    assert ask(here.url, f"/doiRA/{names}").json() == ask(there.url, f"/doiRA/{names}").json()
    assert there.log[0].target == f"/doiRA/{names}"
    assert len(there.log) <= 3  # Which RA, and perhaps one look-up of a name that it does not know


@pytest.mark.parametrize("failing", ["1", "182", "none"])
def test_a_name_that_upstream_fails_on_is_unknown_among_others(
    failing: str, doi_proxy: Proxies
) -> None:
    """Neither Which RA nor the REST API says whether it exists."""
    names = [f"10.1000/{name}" for name in ("1", "182", "none")]
    failed = f"10.1000/{failing}"

    def upstream(asked: Asked) -> web.Answer:
        if asked.target == f"/api/handles/{failed}":
            return web.Answer(200, {"Content-Type": "text/html"}, b"<html>")
        answer = answering(THERE)(asked)
        if not asked.target.startswith("/doiRA/"):
            return answer
        items = [item for item in json.loads(answer.body) if item["DOI"] != failed]
        return answer._replace(body=json.dumps(items).encode())

    with site(answering(THERE)) as there:
        expected = ask(there.url, f"/doiRA/{','.join(names)}").json()
    expected[names.index(failed)] = {"DOI": failed, "status": "Unknown"}
    with site(upstream) as there:
        here = doi_proxy(upstream=there.url, cache=":memory:")
        told = ask(here.url, f"/doiRA/{','.join(names)}").json()

    assert_same(f"agencies, {failed} fails", told, expected)


def test_a_chain_of_aliases_through_upstream(doi_proxy: Proxies) -> None:
    there = [record("10.1000/b", value("HS_ALIAS", "10.1000/c"))]
    here = [
        record("10.1000/a", value("HS_ALIAS", "10.1000/b")),
        link("10.1000/c", "https://example.org/"),
    ]
    proxy = doi_proxy(here, upstream=doi_proxy(there).url, cache=":memory:")
    assert ask(proxy.url, "/10.1000/a").headers["location"] == "/10.1000/c"


def test_a_name_that_was_deleted_does_not_come_back_with_its_agency(
    chain: Chain, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, here = chain
    assert ask(here.url, "/doiRA/10.1000/1").json() == [{"DOI": "10.1000/1", "RA": "Crossref"}]

    there.load([])
    assert ask(here.url, "/api/handles/10.1000/1").status == 404
    pass_time(monkeypatch, 7200)

    deleted = [{"DOI": "10.1000/1", "status": "DOI does not exist"}]
    assert ask(here.url, "/doiRA/10.1000/1").json() == deleted


def test_upstream_is_asked_again_minutes_after_it_blocked_the_proxy(
    doi_proxy: Proxies, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A proxy runs for months: a block of an hour must not end it."""
    caplog.set_level("INFO", "doiuri")
    known = answering(THERE)
    blocked = [True]

    def answer(asked: Asked) -> web.Answer:
        return web.Answer(403, {}, b"<h1>Blocked</h1>") if blocked[0] else known(asked)

    with site(answer) as there:
        here = doi_proxy(upstream=there.url, cache=":memory:")
        statuses = [ask(here.url, f"/api/handles/10.1000/{n}").status for n in range(5)]
        assert (statuses, len(there.seen)) == ([500] * 5, 3)

        blocked[0] = False
        assert ask(here.url, "/api/handles/10.1000/1").status == 500
        now = time.monotonic
        monkeypatch.setattr(time, "monotonic", lambda: now() + 300)
        assert ask(here.url, "/api/handles/10.1000/1").status == 200

    host = there.url.removeprefix("http://")
    messages = [entry.getMessage() for entry in caplog.records if entry.name == "doiuri"]
    assert messages == [
        f"{host}: HTTP status 403; not asked again for 300 s",
        f"{host} answers again",
    ]


def test_readyz_and_the_log_say_when_upstream_refuses(
    doi_proxy: Proxies,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    refusing = True
    usual = answering([link("10.1000/1", "https://example.org/")])

    def answer(asked: Asked) -> web.Answer:
        return web.Answer(403, {}, b"blocked") if refusing else usual(asked)

    with site(answer) as there, caplog.at_level("INFO", "doiuri_proxy"):
        here = doi_proxy([LOCAL], upstream=there.url, cache=str(tmp_path / "cache.sqlite3"))
        assert ask(here.url, "/readyz").status == 200
        assert ask(here.url, "/10.1000/1").status == 500
        refused = ask(here.url, "/readyz")
        assert (refused.status, "403" in refused.json()["reason"]) == (503, True), refused
        assert ask(here.url, "/healthz").status == 200
        assert ask(here.url, "/10.1000/local").status == 302

        refusing = False
        assert ask(here.url, "/10.1000/1").status == 302
        assert ask(here.url, "/readyz").status == 200
    said = [record.getMessage() for record in caplog.records if "upstream" in record.getMessage()]
    exactly(2, "messages", said)
    assert "403" in said[0], said
    assert said[1] == "upstream answers again"
