"""``on_reply``: called with what came of each request."""

import pytest
from doiuri.resolver import Reply, Resolver, TransportError
from doiuri_proxy import running
from support.ports import refusing
from support.proxy_records import link


def test_each_request_is_reported_once() -> None:
    seen: list[Reply | TransportError | TimeoutError] = []
    with running([link("10.1000/1", "https://example.org/")]) as proxy:
        resolver = Resolver(proxy.url, store=":memory:", on_reply=seen.append)
        assert [outcome.status for outcome in resolver.resolve_many(["10.1000/1", "10.1000/2"])] == [
            "found",
            "not-found",
        ]
        resolver.resolve("10.1000/1")  # from the store
        assert len(proxy.log) == 2
    assert sorted(reply.status for reply in seen if isinstance(reply, Reply)) == [200, 404]
    assert {reply.headers["Content-Type"] for reply in seen if isinstance(reply, Reply)} == {
        "application/json;charset=utf-8"
    }


def test_failures_are_reported_with_their_error() -> None:
    seen: list[Reply | TransportError | TimeoutError] = []
    with refusing() as port:
        resolver = Resolver(f"http://127.0.0.1:{port}", store=None, on_reply=seen.append)
        assert [outcome.status for outcome in resolver.resolve_many(["10.1000/1"])] == ["unknown"]
    assert seen
    assert all(isinstance(error, TransportError) for error in seen)
    assert "Connection refused" in str(seen[0])


def test_a_transport_of_the_user_s_own_is_observed_too() -> None:
    class Slow:
        def get(self, request: object) -> Reply:
            raise TimeoutError

    seen: list[Reply | TransportError | TimeoutError] = []
    resolver = Resolver(store=None, transport=Slow(), on_reply=seen.append, rate=None, budget=1)
    assert [outcome.status for outcome in resolver.resolve_many(["10.1000/1"])] == ["unknown"]
    assert seen
    assert all(isinstance(error, TimeoutError) for error in seen)


@pytest.mark.parametrize("error", [TimeoutError("of the metrics"), TransportError("mine"), ValueError("bug")])
def test_what_it_raises_is_not_the_servers_failure(error: Exception) -> None:
    seen: list[object] = []

    def fail(reply: object) -> None:
        seen.append(reply)
        raise error

    with running([link("10.1000/1", "https://example.org/")]) as proxy:
        for budget in (None, 100):
            resolver = Resolver(proxy.url, store=None, on_reply=fail, budget=budget)
            with pytest.raises(type(error), match=str(error)):
                resolver.resolve("10.1000/1")
            with pytest.raises(type(error), match=str(error)):
                list(resolver.resolve_many(["10.1000/1"]))
        assert len(seen) == len(proxy.log) == 4
        assert Resolver(proxy.url, store=None).resolve("10.1000/1").url == "https://example.org/"


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(TypeError, match="on_reply must be callable"):
        Resolver(store=None, on_reply=7)  # type: ignore[arg-type]
