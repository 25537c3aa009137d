"""One DOI: requests, stored answers, how long they are fresh, and what notebooks and tables show."""

from __future__ import annotations

import json
import pickle
import time
from collections.abc import Callable, Iterable
from inspect import signature
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from doiuri import (
    DOI,
    BadRecord,
    DOINotFound,
    DOISyntaxError,
    Handle,
    NoValues,
    Prefix,
    Record,
    ResolutionError,
    ResolverUnavailable,
    ShortDOI,
    __version__,
)
from doiuri.records import Data, Value
from doiuri.resolver import Cause, Entry, Key, MemoryStore, Outcome, Resolver, Settings
from doiuri.rest import CSL_JSON
from doiuri.works import Work
from doiuri_proxy import resolver_for
from support.proxy_records import value
from support.servers.faults import FAULTS, TARGET, Fault, record, reply, says
from support.servers.rest import found, handling, header, proxy, targets
from support.store_contract import Kept

DOI_ = DOI("10.1000/a")
AWAY = "http://127.0.0.1:1"


def test_a_request_has_the_name_untouched_a_user_agent_and_no_credentials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither those of netrc, nor cookies that an answer has set."""
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password x\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    names = ["10.1000//x/../50%25off?b#c", "10.1000/überblick/.."]
    usual = proxy()
    with handling(
        lambda at: usual(at).replace(b"\r\n", b"\r\nSet-Cookie: a=b; Path=/\r\n", 1)
    ) as server:
        first = Resolver(server.url, store=None, mailto="me@example.org").resolve(DOI(names[0]))
        second = Resolver(server.url, store=None, user_agent="mine/1").resolve(DOI(names[1]))
    assert [first.doi.name, second.doi.name] == names
    paths = ["10.1000//x/..%2F50%2525off%3Fb%23c", "10.1000/%C3%BCberblick%2F.."]
    assert targets(server) == [f"/api/handles/{path}" for path in paths]
    sent, other = server.requests
    agent = header(sent, "User-Agent") or ""
    assert agent.startswith(f"doiuri/{__version__} (+https://")
    assert agent.endswith("; mailto:me@example.org)")
    assert header(other, "User-Agent") == "mine/1"
    assert header(sent, "Accept") == "application/json"
    for secret in ("Cookie", "Authorization"):
        assert {header(request, secret) for request in server.requests} == {None}, secret


def test_parameters() -> None:
    # DOI resolution documentation section 5: type and index may come several times and together
    with handling(proxy()) as server:
        resolver = Resolver(server.url, store=None)
        resolver.resolve(DOI_, type=("URL", "10320/loc"), index=1, auth=True)
        resolver.resolve(DOI_, type="URL", cert=True)
    queries = [target.partition("?")[2] for target in targets(server)]
    assert queries == ["type=URL&type=10320%2Floc&index=1&auth", "type=URL&cert"]


@pytest.mark.parametrize("selected", [{"type": "URL"}, {"index": 1}], ids=str)
def test_a_selection_is_not_taken_for_the_record(selected: dict[str, object]) -> None:
    values = value("URL", TARGET), value("EMAIL", "a@example.org", 2)
    with handling(proxy({"10.1000/A": values})) as server:
        resolver = Resolver(server.url, store=MemoryStore())
        resolver.resolve(DOI_, **selected)  # type: ignore[arg-type]
        assert len(resolver.resolve(DOI_).values) == 2
        assert len(server.requests) == 2
        # from the stored record, without another request
        assert [v.type for v in resolver.resolve(DOI_, type="email").values] == ["EMAIL"]
        assert [v.type for v in resolver.resolve(DOI_, type="X", index=1).values] == ["URL"]
        with pytest.raises(NoValues):
            resolver.resolve(DOI_, index=3)
        assert len(server.requests) == 2
        resolver.resolve(DOI_, auth=True)
        assert len(server.requests) == 3


Ask = Callable[[Resolver, list[DOI]], Iterable[Outcome]]
HOUR = 3600
DAY = 24 * HOUR
MONTH = 30 * DAY
RIS = "application/x-research-info-systems"
METADATA = {"metadata": {CSL_JSON: {"title": "A"}, RIS: "TY", "application/x-bibtex": "@book{a}"}}


def lasting(*ttls: int) -> dict[str, object]:
    """A record whose values have these TTLs."""
    return {
        "values": [value("URL", TARGET, index) | {"ttl": ttl} for index, ttl in enumerate(ttls, 1)]
    }


# What is asked, the members of the record, if there is one, and the seconds for which the answer is fresh
LIFETIMES: dict[str, tuple[Ask, dict[str, object] | None, float]] = {
    "the shortest TTL": (Resolver.resolve_many, lasting(7, 5, 9), 5),
    "a TTL of a day": (Resolver.resolve_many, lasting(DAY), DAY),
    "a TTL of years": (Resolver.resolve_many, lasting(10**9), DAY),
    "no such DOI": (Resolver.resolve_many, None, HOUR),
    "no values": (Resolver.resolve_many, {"values": []}, HOUR),
    "the agency": (Resolver.agencies, lasting(5), MONTH),
    "a work": (Resolver.works, METADATA | lasting(5), MONTH),
    "BibTeX": (Resolver.bibtex_many, METADATA | lasting(5), MONTH),
    "metadata": (
        lambda resolver, dois: resolver.metadata_many(dois, RIS),
        METADATA | lasting(5),
        DAY,
    ),
    "no metadata": (Resolver.works, lasting(DAY), DAY),
}


@pytest.mark.parametrize(("ask", "record", "seconds"), LIFETIMES.values(), ids=LIFETIMES)
def test_how_long_an_answer_is_fresh(
    ask: Ask, record: dict[str, object] | None, seconds: float
) -> None:
    """A well-formed name need not be registered (N-061)."""
    store = Kept()
    before = time.time()
    items = [] if record is None else [{"handle": DOI_.name, **record}]
    resolver = resolver_for({"records": items, "agencies": {"10.1000": "Crossref"}}, store=store)
    first, again = (
        list(ask(one, [DOI_])) for one in (resolver, Resolver(store=store, offline=True))
    )
    assert [one.status for one in first] == [one.status for one in again]
    for entry in store.values():
        assert before + seconds <= entry.expires <= time.time() + seconds


def test_a_record_without_a_ttl_is_fresh_for_a_day() -> None:
    store = Kept()
    before = time.time()
    bare = value("URL", TARGET)
    del bare["ttl"]
    with handling(lambda _target: found("10.1000/a", bare)) as server:
        Resolver(server.url, store=store).resolve(DOI_)
    assert [before + DAY <= entry.expires <= time.time() + DAY for entry in store.values()] == [
        True
    ]


IN_A_CENTURY = "2126-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("ttl", "seconds"),
    [(0, 0), (60, 60), (DAY, DAY), (DAY + 1, DAY), (10**9, DAY), (IN_A_CENTURY, DAY)],
)
def test_a_changed_value_is_returned_after_its_ttl_and_after_a_day_at_the_latest(
    ttl: int | str, seconds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values change, the name stays; resolving it gives the current ones (U-08, N-014, N-035).

    It can take up to 24 hours before a new value is returned (P-25): a longer TTL does not change that.
    """
    now = time.time()
    records = {"10.1000/A": (value("URL", "https://example.org/old") | {"ttl": ttl},)}
    moments = {"at once": 0, "before": max(seconds - 1, 0), "after": seconds + 1}
    urls = {}

    with handling(proxy(records)) as server:
        resolver = Resolver(server.url, store=MemoryStore())
        for moment, later in moments.items():
            monkeypatch.setattr(time, "time", lambda later=later: now + later)
            urls[moment] = resolver.resolve(DOI_).url
            records["10.1000/A"] = (value("URL", "https://example.org/new"),)

    seen = {moment: str(url).rpartition("/")[2] for moment, url in urls.items()}
    kept = "old" if seconds else "new"
    expected = {"at once": "old", "before": kept, "after": "new"}
    assert seen == expected, f"a TTL of {ttl}: {seen}, changed after {seconds} s"


def test_services_and_metadata_beside_the_url_are_part_of_the_record() -> None:
    """A record holds more than where to find a thing (U-11), sent or stored."""
    values = [
        value("EMAIL", "someone@example.org"),
        value("URL", TARGET, index=2),
        value("https://example.org/service", "10.1000/service", index=3),
        value("700050", "20200102030405", index=4),
        value("DESC", {"title": ["Ä"]}, fmt="of-tomorrow", index=5),
    ]
    with handling(proxy({"10.1000/A": tuple(values)})) as server:
        resolver = Resolver(server.url, store=MemoryStore())
        for place in ("the answer", "the store"):
            found = resolver.resolve(DOI_)
            kept = [one.to_json() for one in found.values]
            lost = [one for one in values if one not in kept]
            assert not lost, f"not in {place}: {lost}"
            assert found.url == TARGET
        selected = resolver.resolve(DOI_, type="EMAIL").values
    assert [one.data.text for one in selected] == ["someone@example.org"]


def test_the_same_name_in_another_case_is_in_the_store() -> None:
    with handling(proxy()) as server:
        resolver = Resolver(server.url, store=MemoryStore())
        resolver.resolve(DOI("10.1000/abc"))
        assert resolver.resolve(DOI("10.1000/ABC")).url == "https://example.org/10.1000/abc"
        resolver.resolve(DOI("10.1000/É"))
        resolver.resolve(DOI("10.1000/é"))  # another name: Z39.84 section 4 speaks of ASCII letters
    assert len(server.requests) == 3


PORTAL = Fault("a captive portal", says(reply("200 OK", b"<html>Please log in", kind="text/html")))
HANGS = next(fault for fault in FAULTS if fault.name == "a header byte a second")


@pytest.mark.parametrize(
    ("fault", "limits"),
    [(PORTAL, {}), (HANGS, {"timeout": 0.1}), (HANGS, {"budget": 0.1})],
    ids=["a captive portal", "a timeout", "a budget"],
)
def test_a_stale_record_serves_selections_and_aliases_too(
    fault: Fault, limits: dict[str, float]
) -> None:
    with fault.serve() as server:
        store = MemoryStore()
        bodies = {
            "10.1000/A": (record("10.1000/a"), -1),
            "10.1000/FRESH": (record("10.1000/fresh", *alias("10.1000/a")), 60),
            "10.1000/EMPTY": (b'{"responseCode":200,"handle":"10.1000/empty","values":[]}', -1),
        }
        for key, (body, seconds) in bodies.items():
            entry = Entry(body, "application/json", time.time() + seconds)
            store.put_many({Key("record", server.url, key): entry})
        resolver = Resolver(server.url, store=store, **limits)  # type: ignore[arg-type]
        assert resolver.resolve(DOI_).url == TARGET
        assert (
            resolver.resolve(DOI_, type="URL").url == resolver.resolve(DOI_, index=1).url == TARGET
        )
        both = [DOI_, DOI("10.1000/empty")]  # without values the name exists, too
        outcomes = [
            *resolver.resolve_many([DOI_]),
            *resolver.check(both, batch=True),
            *resolver.check(both),
        ]
        assert [(one.status, one.stale) for one in outcomes] == [("found", True)] * 5
        if "budget" not in limits:  # with time left to look up what the alias leads to
            (outcome,) = resolver.resolve_many(["10.1000/FRESH"])
            assert (outcome.record and outcome.record.url, outcome.stale) == (TARGET, True)
        with pytest.raises((BadRecord, ResolverUnavailable)):
            resolver.resolve("10.1000/b", type="URL")


@pytest.mark.parametrize(
    ("name", "options", "why"),
    [("a", {"offline": True}, "offline"), ("x" * 20_000, {}, "too long")],
    ids=["offline", "too long"],
)
def test_nothing_is_sent_offline_or_about_a_name_that_is_too_long(
    name: str, options: dict[str, bool], why: str
) -> None:
    dois = [DOI(f"10.1000/{name}")]
    with handling(proxy()) as server:
        resolver = Resolver(server.url, store=MemoryStore(), **options)  # type: ignore[arg-type]
        with pytest.raises(ResolverUnavailable, match=why):
            resolver.metadata(dois[0], "text/plain")
        outcomes = [
            *resolver.resolve_many(dois),
            *resolver.check(dois, batch=True),
            *resolver.works(dois),
        ]
    assert [(one.status, why in one.reason) for one in outcomes] == [("unknown", True)] * 3
    assert not server.requests


@pytest.mark.parametrize("length", [15_999, 16_000, 16_001])
def test_a_name_is_asked_about_if_its_url_has_no_more_than_16_000_characters(length: int) -> None:
    with handling(proxy()) as server:
        beginning = f"{server.url}/api/handles/10.1000/"
        name = DOI(f"10.1000/{'x' * (length - len(beginning))}")
        (outcome,) = Resolver(server.url, store=None).resolve_many([name])

    expected = "found" if length <= 16_000 else "unknown"
    assert outcome.status == expected, f"a URL of {length} characters: {outcome.reason:.200}"
    assert len(server.requests) == (length <= 16_000), f"a URL of {length} characters was sent"


def alias(target: str) -> tuple[dict[str, object], ...]:
    return (value("HS_ALIAS", target),)


def test_auth_bypasses_the_store_for_the_whole_chain() -> None:
    with handling(
        proxy({"10.1000/0": alias("10.1000/1"), "10.1000/1": (value("URL", TARGET),)})
    ) as server:
        resolver = Resolver(server.url, store=MemoryStore())
        resolver.resolve("10.1000/0")
        resolver.resolve("10.1000/0", auth=True)
    assert [target.rpartition("/")[2] for target in targets(server)] == [
        "0",
        "1",
        "0?auth",
        "1?auth",
    ]


RECORDS = {f"10.1000/{n}": alias(f"10.1000/{n + 1}") for n in range(21)} | {
    "10.1000/21": (value("URL", TARGET),),
    "10/ABCD": alias("10.1000/A"),
    "10.1000/A": (value("URL", TARGET),),
    "10.1000/ME": alias("10.1000/me"),
    "10.1000/PING": alias("10.1000/PONG"),
    "10.1000/PONG": alias("10.1000/PING"),
    "10.1000/LOST": alias("10.1000/NOWHERE"),
    "10.1000/ODD": alias("20.500/odd"),
    "10.1000/LITERAL": alias("10.1000/%41"),
    "10.1000": (value("X", "prefix"),),
}
ALIASES = {
    "a short DOI": (ShortDOI("10/abcd"), "found", ""),
    "20 aliases, as many as the proxy follows": (DOI("10.1000/1"), "found", ""),
    "21 aliases": (DOI("10.1000/0"), "unknown", "alias loop or too many aliases: 21 followed"),
    "itself": (DOI("10.1000/me"), "unknown", "alias loop"),
    "a loop": (DOI("10.1000/ping"), "unknown", "alias loop"),
    "not registered": (DOI("10.1000/lost"), "not-found", "10.1000/NOWHERE"),
    "a literal name": (DOI("10.1000/literal"), "not-found", "10.1000/%41"),
    "no DOI": (DOI("10.1000/odd"), "unknown", "20.500/odd"),
    "no alias": (Prefix("10.1000"), "found", ""),
}


@pytest.mark.parametrize(("doi", "status", "reason"), ALIASES.values(), ids=ALIASES)
def test_aliases_lead_to_the_end_of_the_chain(doi: Handle, status: str, reason: str) -> None:
    """HS_ALIAS names the handle to resolve in place of the one asked for (P-58)."""
    with handling(proxy(RECORDS)) as server:
        resolver = Resolver(server.url, store=MemoryStore())
        for _ in range(2):
            (outcome,) = resolver.resolve_many([doi])
            assert (outcome.doi, outcome.status) == (doi, status)
            assert reason in outcome.reason
        assert len(server.requests) <= 21
        assert resolver.resolve("10/abcd").doi == DOI("10.1000/A")
        assert resolver.resolve("10/abcd", type="HS_ALIAS").alias == "10.1000/A"


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: Resolver(AWAY, store=None).resolve_many([], budget=0), ValueError),
        (lambda: Resolver(AWAY, store=None).resolve(DOI_, budget=-1), ValueError),
        (lambda: Resolver(AWAY, store=None).metadata(DOI_, "text/plain", budget=0), ValueError),
        (lambda: Resolver(AWAY, store=None).metadata(DOI_, "text/plain\r\nX: y"), ValueError),
        (lambda: Resolver(AWAY, store=None).resolve(b"10.1000/a"), TypeError),  # type: ignore[arg-type]
        (lambda: Resolver(AWAY, store=5), TypeError),  # type: ignore[arg-type]
        (lambda: Resolver(AWAY, session=5), TypeError),  # type: ignore[arg-type]
        (lambda: Resolver(AWAY, progress=5), TypeError),  # type: ignore[arg-type]
        (lambda: Resolver(AWAY, transport=5), TypeError),  # type: ignore[arg-type]
        (lambda: pickle.dumps(Resolver(AWAY, store=None)), TypeError),
    ],
)
def test_impossible_arguments_are_refused(
    make: Callable[[], object], error: type[Exception]
) -> None:
    with pytest.raises(error, match=r"positive|not|must"):
        make()


@pytest.mark.parametrize("method", ["resolve_many", "agencies", "check"])
def test_a_batch_refuses_what_is_not_iterable_or_a_single_doi_at_the_call(method: str) -> None:
    ask = getattr(Resolver(AWAY, store=None), method)
    for thing in (None, 5, DOI):
        with pytest.raises(TypeError, match="expected an iterable of DOIs, not"):
            ask(thing)
    for one in ("10.1000/a", DOI_, b"10.1000/a"):
        with pytest.raises(TypeError, match=r"pass \["):
            ask(one)
    with pytest.raises(TypeError, match="progress must be callable, not 5"):
        ask([], progress=5)


def test_settings_are_the_arguments_or_defaults() -> None:
    given: dict[str, Any] = {
        "timeout": 3,
        "budget": 4.5,
        "concurrency": 2,
        "rate": 0.5,
        "user_agent": "me/1",
    }
    resolver = Resolver(AWAY, store=None, offline=True, mailto="me@example.org", **given)
    assert resolver.settings == Settings(AWAY, offline=True, mailto="me@example.org", **given)
    settings = Resolver(store=None).settings
    assert settings.user_agent.startswith(f"doiuri/{__version__} ")
    assert settings == Settings(rate=10, user_agent=settings.user_agent)


@pytest.mark.parametrize("name", [*signature(Resolver).parameters])
def test_an_argument_that_is_set_later_is_refused(name: str) -> None:
    """``resolver.offline = True`` went on to send requests."""
    resolver = Resolver(AWAY, store=None)
    with pytest.raises(AttributeError, match=rf"make another one: Resolver\({name}=…\)"):
        setattr(resolver, name, True)


def test_settings_come_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pytest.TempPathFactory
) -> None:
    with handling(proxy()) as server:
        monkeypatch.setenv("DOIURI_RESOLVER", server.url + "/")
        monkeypatch.setenv("DOIURI_MAILTO", "env@example.org")
        monkeypatch.setenv("DOIURI_CACHE", str(tmp_path))
        with Resolver() as resolver:
            assert resolver.settings.base == server.url
            resolver.resolve(DOI_)
        assert "mailto:env@example.org" in (header(server.requests[0], "User-Agent") or "")
        monkeypatch.setenv("DOIURI_OFFLINE", "1")
        with Resolver() as resolver, Resolver(offline=False, store=None) as online:
            assert resolver.settings.offline
            assert resolver.resolve(DOI_).url  # stored by the first
            with pytest.raises(ResolverUnavailable):
                resolver.resolve("10.1000/b")
            assert online.resolve("10.1000/b").url


def test_outcomes_are_values() -> None:
    with handling(proxy()) as server:
        resolver = Resolver(server.url, store=MemoryStore())
        (asked,) = resolver.resolve_many([DOI_])
        (stored,) = resolver.resolve_many([DOI_])
    assert asked == stored
    assert hash(asked) == hash(stored)
    assert pickle.loads(pickle.dumps(stored)) == asked
    assert Outcome(DOI_, "unknown") != asked
    with pytest.raises(AttributeError):
        stored.status = "unknown"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("status", "error"),
    [("not-found", DOINotFound), ("no-values", NoValues), ("unknown", ResolverUnavailable)],
)
def test_an_outcome_can_be_raised(status: Any, error: type[ResolutionError]) -> None:
    outcome = Outcome(DOI_, status, cause=Cause("budget", detail="a reason"))
    assert not outcome.found
    with pytest.raises(error) as caught:
        outcome.raise_for_status()
    assert (type(caught.value), caught.value.reason, caught.value.doi) == (error, "a reason", DOI_)
    assert Outcome(DOI_, "found").found
    Outcome(DOI_, "found").raise_for_status()


@pytest.mark.parametrize("text", ["no DOI", "doi:10.1000/a#b", " 10.1000/a\0b ", "10/abc!"])
def test_an_invalid_outcome_raises_what_parsing_raises(text: str) -> None:
    with pytest.raises(DOISyntaxError) as expected:
        Handle.parse(text)
    (outcome,) = Resolver(store=None, offline=True).resolve_many([text])
    assert not outcome.found
    with pytest.raises(DOISyntaxError) as caught:
        outcome.raise_for_status()
    assert caught.value.args == expected.value.args


def test_an_outcome_is_a_row_of_a_table_that_json_can_hold() -> None:
    record = Record(DOI_, [Value(1, "URL", Data("string", "https://a.example/"))])
    work = Work(DOI_, {"type": "book", "title": "A title", "issued": {"date-parts": [[1987]]}})
    full = Outcome(DOI_, "found", record, "Crossref", stale=True, work=work)
    (invalid,) = Resolver(store=None, offline=True).check(["no DOI"])

    rows = json.loads(json.dumps([full.to_dict(), invalid.to_dict()]))

    assert rows[0] == {
        "doi": DOI_.name,
        "text": "",
        "status": "found",
        "agency": "Crossref",
        "reason": "",
        "stale": True,
        "url": "https://a.example/",
        "title": "A title",
        "year": 1987,
    }
    assert rows[1] == dict.fromkeys(rows[0]) | {
        "text": "no DOI",
        "status": "invalid",
        "reason": invalid.reason,
        "stale": False,
    }


X = DOI("10.1000/x")
HOSTILE = "</td><script>alert('1')</script>\"&amp;\ud800"


def shown(outcome: Outcome) -> str:
    html = outcome._repr_html_()
    assert html.encode()
    return html


def test_what_is_known_has_a_row() -> None:
    record = Record(X, [Value(1, "URL", Data("string", "https://a.example/?a=1&b=2"))])
    assert shown(Outcome(X, "found", record, "Crossref", stale=True)) == (
        '<table><caption><a href="https://doi.org/10.1000/x">doi:10.1000/x</a></caption><tbody>'
        "<tr><th>status</th><td>found (stale)</td></tr><tr><th>agency</th><td>Crossref</td></tr>"
        '<tr><th>URL</th><td><a href="https://a.example/?a=1&amp;b=2">https://a.example/?a=1&amp;b=2</a></td></tr>'
        "</tbody></table>"
    )


def test_unknown_values_have_no_row() -> None:
    offline = Outcome(X, "unknown", cause=Cause("offline", detail="offline: request not sent"))
    rows = [
        shown(outcome).count("<tr>") for outcome in (offline, Outcome(X, "found", Record(X, [])))
    ]
    assert rows == [2, 1]


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(None, "invalid", text=HOSTILE, cause=Cause("invalid", detail=HOSTILE)),
        Outcome(DOI("10.1000/</a><script>'\""), "found", agency=HOSTILE),
        Outcome(X, "found", Record(X, [Value(1, "URL", Data("string", "javascript:alert(1)"))])),
        Outcome(
            X,
            "found",
            Record(X, [Value(1, "URL", Data("string", "https://a.example/'\"><script>"))]),
        ),
        Outcome(X, "found", work=Work(X, {"title": "&lt;script&gt; <x onclick=alert(1)>"})),
    ],
)
def test_hostile_answers_are_text(outcome: Outcome) -> None:
    table = ElementTree.fromstring(shown(outcome))
    assert {element.tag for element in table.iter()} <= {
        "table",
        "caption",
        "tbody",
        "tr",
        "th",
        "td",
        "a",
    }
    links = [element.attrib for element in table.iter() if element.attrib]
    assert all([*link] == ["href"] and link["href"].startswith("https://") for link in links)


def test_long_texts_are_cut() -> None:
    long = "x" * 1_000_000
    assert (
        len(shown(Outcome(None, "invalid", text=long, cause=Cause("invalid", detail=long)))) < 700
    )
