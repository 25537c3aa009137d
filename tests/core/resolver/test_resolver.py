"""One DOI: requests, stored answers, and how long they are fresh."""

from __future__ import annotations

import json
import pickle
import time
from collections.abc import Callable

import pytest
from doiuri import (
    DOI,
    BadRecord,
    DOINotFound,
    DOISyntaxError,
    Handle,
    NoValues,
    Prefix,
    ResolverUnavailable,
    ShortDOI,
    __version__,
)
from doiuri.plugins import Settings
from doiuri.resolver import Cause, Entry, Key, MemoryStore, Outcome, Resolver
from support.servers.faults import FAULTS, TARGET, reply, value
from support.servers.rest import found, handling, header, not_found, proxy, targets
from support.store_contract import Kept

DOI_ = DOI("10.1000/a")
AWAY = "http://127.0.0.1:1"


def outdated(base: str, answer: object, name: str = "10.1000/A") -> MemoryStore:
    """A store with a stale answer."""
    store = MemoryStore()
    entry = Entry(json.dumps(answer).encode(), "application/json", time.time() - 1)
    store.put_many({Key("record", base, name): entry})
    return store


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("10.1000/182", "/api/handles/10.1000/182"),
        ("10.1000/../x", "/api/handles/10.1000/..%2Fx"),
        ("10.1000/..", "/api/handles/10.1000%2F.."),
        ("10.1000//x", "/api/handles/10.1000//x"),
        ("10.1000/50%25off", "/api/handles/10.1000/50%2525off"),
        ("10.1000/a?b#c", "/api/handles/10.1000/a%3Fb%23c"),
        (
            "10.1002/(SICI)1<1::AID>3.0.CO;2-#",
            "/api/handles/10.1002/%28SICI%291%3C1%3A%3AAID%3E3.0.CO%3B2-%23",
        ),
        ("10.1000/überblick", "/api/handles/10.1000/%C3%BCberblick"),
    ],
)
def test_the_name_travels_untouched(name: str, target: str) -> None:
    with handling(proxy()) as server:
        assert Resolver(server.url, store=None).resolve(DOI(name)).doi.name == name
    assert targets(server) == [target]


def test_a_request_has_a_user_agent_and_no_credentials() -> None:
    with handling(proxy()) as server:
        Resolver(server.url, store=None, mailto="me@example.org").resolve(DOI_)
        Resolver(server.url, store=None, user_agent="mine/1").resolve(DOI_)
    first, second = server.requests
    agent = header(first, "User-Agent") or ""
    assert agent.startswith(f"doiuri/{__version__} (+https://")
    assert agent.endswith("; mailto:me@example.org)")
    assert header(second, "User-Agent") == "mine/1"
    assert header(first, "Accept") == "application/json"
    assert header(first, "Cookie") is header(first, "Authorization") is None


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


@pytest.mark.parametrize(("ttl", "seconds"), [(86400, 86400), (5, 5), (10**9, 30 * 86400), (None, 86400)])
def test_a_record_is_cached_for_its_shortest_ttl(ttl: int | None, seconds: float) -> None:
    store = Kept()
    values = value("URL", TARGET) | {"ttl": ttl}, value("X", "", 2) | {"ttl": ttl and 2 * ttl}
    values = tuple({k: v for k, v in one.items() if v is not None} for one in values)  # type: ignore[assignment]
    before = time.time()
    with handling(lambda _target: found("10.1000/a", *values)) as server:
        Resolver(server.url, store=store).resolve(DOI_)
    (entry,) = store.values()
    assert before + seconds <= entry.expires <= time.time() + seconds


def test_not_found_is_cached_for_an_hour() -> None:
    """A well-formed name need not be registered (N-061)."""
    store, before = Kept(), time.time()
    with handling(not_found_and_none) as server:
        resolver = Resolver(server.url, store=store)
        for _ in range(2):
            with pytest.raises(DOINotFound):
                resolver.resolve(DOI_)
            with pytest.raises(NoValues):
                resolver.resolve(DOI("10.1000/none"))
    assert len(server.requests) == 2
    for entry in store.values():
        assert before + 3600 <= entry.expires <= time.time() + 3600
    assert json.loads(store[Key("record", server.url, "10.1000/A")].body)["responseCode"] == 100


def not_found_and_none(target: str) -> bytes:
    name = target.removeprefix("/api/handles/")
    if name == "10.1000/none":
        return reply("200 OK", b'{"responseCode":200,"values":[],"handle":"10.1000/none"}')
    return not_found(name)


def test_the_same_name_in_another_case_is_in_the_store() -> None:
    with handling(proxy()) as server:
        resolver = Resolver(server.url, store=MemoryStore())
        resolver.resolve(DOI("10.1000/abc"))
        assert resolver.resolve(DOI("10.1000/ABC")).url == "https://example.org/10.1000/abc"
        resolver.resolve(DOI("10.1000/É"))
        resolver.resolve(DOI("10.1000/é"))  # another name: Z39.84 section 4 speaks of ASCII letters
    assert len(server.requests) == 3


def answer(code: int, name: str = "10.1000/a") -> bytes:
    content = {"responseCode": code, "handle": name, "values": [value("URL", TARGET)]}
    return json.dumps(content, separators=(",", ":")).encode()


# What a store has about a name: an answer, whether it is this resolver's, and seconds until it expires;
# whether the server is asked; status and staleness if the server does not answer
STORED: dict[str, tuple[tuple[bytes, bool, float] | None, bool, tuple[str, bool]]] = {
    "nothing": (None, True, ("unknown", False)),
    "a record": ((answer(1), True, 60), False, ("found", False)),
    "a record in another case": ((answer(1, "10.1000/A"), True, 60), False, ("found", False)),
    "a stale record": ((answer(1), True, -1), True, ("found", True)),
    "a record of another resolver": ((answer(1), False, 60), True, ("unknown", False)),
    "a definite no": ((answer(100), True, 60), False, ("not-found", False)),
    "a stale no": ((answer(100), True, -1), True, ("unknown", False)),
    "a no of another resolver": ((answer(100), False, 60), True, ("unknown", False)),
}


@pytest.mark.parametrize("method", ["resolve_many", "verify"])
@pytest.mark.parametrize(("stored", "asked", "away"), STORED.values(), ids=STORED)
def test_fresh_entries_answer_and_a_stale_record_serves_only_if_the_server_does_not(
    stored: tuple[bytes, bool, float] | None, asked: bool, away: tuple[str, bool], method: str
) -> None:
    dois, store = [DOI("10.1000/b"), DOI_, DOI("10.1000/b")], MemoryStore()
    with handling(proxy()) as server:
        for base in (server.url, AWAY):
            entries = [("10.1000/B", answer(1, "10.1000/b"), base, 60.0)]
            if stored is not None:
                entries.append(("10.1000/A", stored[0], base if stored[1] else "http://other", stored[2]))
            for key, body, of, seconds in entries:
                entry = Entry(body, "application/json", time.time() + seconds)
                store.put_many({Key("record", of, key): entry})
        unanswered = [*getattr(Resolver(AWAY, store=store), method)(dois)]
        online = [*getattr(Resolver(server.url, store=store), method)(dois)]
        again = [*getattr(Resolver(server.url, store=store, offline=True), method)(dois)]
    assert [(one.status, one.stale) for one in unanswered] == [("found", False), away, ("found", False)]
    assert [target for target in targets(server) if "/api/" in target] == ["/api/handles/10.1000/a"] * asked
    assert [one.status for one in online] == ["found", "found" if asked else away[0], "found"]
    assert [(one.status, one.stale) for one in again] == [(one.status, False) for one in online]


@pytest.mark.parametrize("limits", [{"timeout": 0.1}, {"budget": 0.1}])
def test_a_stale_record_serves_while_the_server_hangs(limits: dict[str, float]) -> None:
    record = {"responseCode": 1, "handle": "10.1000/a", "values": [value("URL", TARGET)]}
    fault = next(fault for fault in FAULTS if fault.name == "a header byte a second")
    with fault.serve() as server:
        resolver = Resolver(server.url, store=outdated(server.url, record), **limits)  # type: ignore[arg-type]
        assert resolver.resolve(DOI_).url == TARGET
        assert resolver.resolve(DOI_, type="URL").url == TARGET
        (outcome,) = resolver.resolve_many([DOI_])
        assert (outcome.status, outcome.stale) == ("found", True)
        (outcome,) = resolver.verify([DOI_])
        assert (outcome.status, outcome.stale) == ("found", True)


def test_offline_sends_no_requests() -> None:
    with handling(proxy()) as server:
        resolver = Resolver(server.url, store=MemoryStore(), offline=True)
        with pytest.raises(ResolverUnavailable, match="offline"):
            resolver.resolve(DOI_)
        with pytest.raises(ResolverUnavailable, match="offline"):
            resolver.metadata(DOI_, "text/plain")
        outcomes = [*resolver.resolve_many([DOI_]), *resolver.verify([DOI_]), *resolver.works([DOI_])]
        assert [outcome.status for outcome in outcomes] == ["unknown"] * 3
        assert all("offline" in outcome.reason for outcome in outcomes)
    assert not server.requests


def alias(target: str) -> tuple[dict[str, object], ...]:
    return (value("HS_ALIAS", target),)


def test_auth_bypasses_the_store_for_the_whole_chain() -> None:
    with handling(proxy({"10.1000/0": alias("10.1000/1"), "10.1000/1": (value("URL", TARGET),)})) as server:
        resolver = Resolver(server.url, store=MemoryStore())
        resolver.resolve("10.1000/0")
        resolver.resolve("10.1000/0", auth=True)
    assert [target.rpartition("/")[2] for target in targets(server)] == ["0", "1", "0?auth", "1?auth"]


CHAIN = {f"10.1000/{n}": alias(f"10.1000/{n + 1}") for n in range(30)}
RECORDS = CHAIN | {
    "10/ABCD": alias("10.1000/A"),
    "10.1000/A": (value("URL", TARGET),),
    "10.1000/ME": alias("10.1000/me"),
    "10.1000/PING": alias("10.1000/PONG"),
    "10.1000/PONG": alias("10.1000/PING"),
    "10.1000/LOST": alias("10.1000/NOWHERE"),
    "10.1000/ODD": alias("20.500/odd"),
    "10.1000": (value("X", "prefix"),),
}
ALIASES = [
    (ShortDOI("10/abcd"), "found", ""),
    (DOI("10.1000/me"), "unknown", "alias loop"),
    (DOI("10.1000/ping"), "unknown", "alias loop"),
    (DOI("10.1000/0"), "unknown", "alias loop"),
    (DOI("10.1000/lost"), "not-found", "10.1000/NOWHERE"),
    (DOI("10.1000/odd"), "unknown", "20.500/odd"),
    (Prefix("10.1000"), "found", ""),
]


@pytest.mark.parametrize(("doi", "status", "reason"), ALIASES)
@pytest.mark.parametrize("again", [False, True], ids=["asked", "stored"])
def test_aliases(doi: DOI, status: str, reason: str, again: bool) -> None:
    with handling(proxy(RECORDS)) as server:
        resolver = Resolver(server.url, store=MemoryStore())
        outcomes = [*resolver.resolve_many([doi]), *(resolver.resolve_many([doi]) if again else ())]
    outcome = outcomes[-1]
    assert (outcome.doi, outcome.status) == (doi, status)
    assert reason in outcome.reason
    assert len(server.requests) <= 21
    assert again or len(server.requests) == len(set(targets(server)))


def test_an_alias_leads_to_the_end_of_the_chain() -> None:
    """HS_ALIAS names the handle to resolve in place of the one asked for (P-58)."""
    with handling(proxy(RECORDS)) as server:
        resolver = Resolver(server.url, store=MemoryStore())
        for _ in range(2):
            record = resolver.resolve("10/abcd")
            assert (record.doi, record.url) == (DOI("10.1000/A"), TARGET)
        assert len(server.requests) == 2
        assert resolver.resolve("10/abcd", type="HS_ALIAS").alias == "10.1000/A"
        with pytest.raises(BadRecord):
            resolver.resolve("10.1000/ping")
        with pytest.raises(DOINotFound) as caught:
            resolver.resolve("10.1000/lost")
        assert caught.value.doi == DOI("10.1000/lost")


def test_names_too_long_to_ask_for_are_unknown() -> None:
    doi = DOI("10.1000/" + "x" * 20_000)
    with handling(proxy()) as server:
        resolver = Resolver(server.url, store=None)
        with pytest.raises(ResolverUnavailable, match="too long"):
            resolver.resolve(doi)
        outcomes = [*resolver.resolve_many([doi]), *resolver.verify([doi]), *resolver.works([doi])]
        assert {outcome.status for outcome in outcomes} == {"unknown"}
    assert not server.requests


@pytest.mark.parametrize(
    "make",
    [
        lambda: Resolver(AWAY, store=None).resolve_many([], budget=0),
        lambda: Resolver(AWAY, store=None).resolve(DOI_, budget=-1),
        lambda: Resolver(AWAY, store=None).metadata(DOI_, "text/plain", budget=0),
        lambda: Resolver(AWAY, store=None).metadata(DOI_, "text/plain\r\nX: y"),
    ],
)
def test_impossible_arguments_raise_value_error(make: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        make()


@pytest.mark.parametrize("argument", ["store", "session", "progress", "transport"])
def test_arguments_of_the_wrong_type_raise_type_error(argument: str) -> None:
    with pytest.raises(TypeError, match=f"{argument} .* 5"):
        Resolver(**{argument: 5})  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["resolve_many", "verify", "agencies", "check"])
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


def test_a_single_look_up_refuses_what_is_neither_a_doi_nor_text() -> None:
    for thing in (None, b"10.1000/a", 10.1000):
        with pytest.raises(TypeError, match="expected a DOI or a str, not"):
            Resolver(AWAY, store=None).resolve(thing)  # type: ignore[arg-type]


def test_a_resolver_is_not_pickled() -> None:
    with pytest.raises(TypeError, match="a Resolver cannot be pickled: make one in each process"):
        pickle.dumps(Resolver(store=None))


ATTRIBUTES = {
    "base": "http://127.0.0.1:1",
    "offline": True,
    "timeout": 3,
    "budget": 4.5,
    "concurrency": 2,
    "rate": 0.5,
    "mailto": "me@example.org",
    "user_agent": "mine/1",
}


def test_settings_are_the_arguments_or_defaults() -> None:
    resolver = Resolver(store=None, **ATTRIBUTES)  # type: ignore[arg-type]
    assert {name: getattr(resolver.settings, name) for name in ATTRIBUTES} == ATTRIBUTES
    settings = Resolver(store=None).settings
    assert settings.user_agent.startswith(f"doiuri/{__version__} ")
    assert settings == Settings(rate=10, user_agent=settings.user_agent)
    assert Resolver(AWAY, store=None).settings.rate is None


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
        (asked,), (stored,) = resolver.resolve_many([DOI_]), resolver.resolve_many([DOI_])
    assert asked == stored
    assert hash(asked) == hash(stored)
    assert pickle.loads(pickle.dumps(stored)) == asked
    assert Outcome(DOI_, "unknown") != asked
    with pytest.raises(AttributeError):
        stored.status = "unknown"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("outcome", "error"),
    [
        (Outcome(DOI_, "not-found", cause=Cause("not-found", detail="no such DOI")), DOINotFound),
        (Outcome(DOI_, "no-values", cause=Cause("no-values", detail="no values")), NoValues),
        (Outcome(DOI_, "unknown", cause=Cause("budget", detail="timeout")), ResolverUnavailable),
        (Outcome(None, "invalid", text="no DOI", cause=Cause("invalid", detail="a reason")), DOISyntaxError),
    ],
)
def test_an_outcome_can_be_raised(outcome: Outcome, error: type[Exception]) -> None:
    assert not outcome.found
    with pytest.raises(error) as caught:
        outcome.raise_for_status()
    assert type(caught.value) is error
    assert caught.value.reason == outcome.reason  # type: ignore[attr-defined]
    assert getattr(caught.value, "doi", None) == outcome.doi
    assert Outcome(DOI_, "found").found
    Outcome(DOI_, "found").raise_for_status()


@pytest.mark.parametrize("text", ["no DOI", "doi:10.1000/a#b", " 10.1000/a\0b ", "10/abc!"])
def test_an_invalid_outcome_raises_what_parsing_raises(text: str) -> None:
    with pytest.raises(DOISyntaxError) as expected:
        Handle.parse(text)
    (outcome,) = Resolver(store=None, offline=True).resolve_many([text])
    with pytest.raises(DOISyntaxError) as caught:
        outcome.raise_for_status()
    assert caught.value.args == expected.value.args


def test_a_stale_record_serves_a_selection_behind_a_captive_portal() -> None:
    record = {"responseCode": 1, "handle": "10.1000/a", "values": [value("URL", TARGET)]}
    portal = reply("200 OK", b"<html>Please log in", kind="text/html")
    with handling(lambda _target: portal) as server:
        resolver = Resolver(server.url, store=outdated(server.url, record))
        assert resolver.resolve(DOI_).url == TARGET
        assert resolver.resolve(DOI_, type="URL").url == resolver.resolve(DOI_, index=1).url == TARGET
        with pytest.raises(BadRecord):
            resolver.resolve("10.1000/b", type="URL")


def test_a_stale_record_serves_behind_an_alias() -> None:
    with handling(lambda _target: reply("500 Internal Server Error", b"{}")) as server:
        target = {"responseCode": 1, "handle": "10.1000/a", "values": [value("URL", TARGET)]}
        store = outdated(server.url, target)
        record = json.dumps({"responseCode": 1, "handle": "10.1000/FRESH", "values": alias("10.1000/a")})
        entry = Entry(record.encode(), "application/json", time.time() + 60)
        store.put_many({Key("record", server.url, "10.1000/FRESH"): entry})
        (outcome,) = Resolver(server.url, store=store).resolve_many(["10.1000/FRESH"])
        assert (outcome.record and outcome.record.url, outcome.stale) == (TARGET, True)


def test_as_many_aliases_are_followed_as_the_proxy_follows() -> None:
    chain = {f"10.1000/{n}": alias(f"10.1000/{n + 1}") for n in range(21)}
    with handling(proxy({**chain, f"10.1000/{21}": (value("URL", TARGET),)})) as server:
        resolver = Resolver(server.url, store=None)
        assert resolver.resolve("10.1000/1").url == TARGET
        with pytest.raises(BadRecord, match="too many aliases: 21 followed"):
            resolver.resolve("10.1000/0")
