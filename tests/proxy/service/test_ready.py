"""``/readyz``: whether the records can be read and upstream answers."""

import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from doiuri_proxy import Running, running
from doiuri_proxy.records import _source, _upstream
from support.command import run
from support.http import ask
from support.ports import refusing
from support.proxy_records import link


def ready(proxy: Running) -> tuple[int, dict[str, str]]:
    answer = ask(proxy.url, "/readyz")
    assert answer.headers["content-type"] == "application/json;charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    return answer.status, answer.json()


def test_records_in_memory_are_ready() -> None:
    with running([]) as proxy:
        assert ready(proxy) == (200, {"status": "ok", "records": "ok"})


def test_a_store_that_is_gone_or_damaged_is_not_ready(tmp_path: Path) -> None:
    store = tmp_path / "r.sqlite3"
    run("add", "10.1000/1", "https://example.org/", "--store", store)
    with running(store) as proxy:
        assert ready(proxy)[0] == 200
        aside = store.rename(tmp_path / "aside")
        status, body = ready(proxy)
        assert (status, body["status"]) == (503, "unavailable")
        assert "No such file" in body["records"]
        assert ask(proxy.url, "/healthz").status == 200
        aside.replace(store)
        for suffix in ("-wal", "-shm"):
            Path(f"{store}{suffix}").unlink(missing_ok=True)
        assert ready(proxy)[0] == 200


def test_a_cache_that_is_served_is_ready(tmp_path: Path) -> None:
    """It is no complete registry, and need not be one."""
    cache = tmp_path / "cache.sqlite3"
    with (
        running([link("10.1000/1", "https://example.org/")]) as upper,
        running(upstream=upper.url, cache=str(cache)) as proxy,
    ):
        ask(proxy.url, "/10.1000/1")
    with running(cache) as proxy:
        assert ready(proxy) == (200, {"status": "ok", "records": "ok"})


def test_upstream_is_asked_only_if_it_has_not_answered_lately(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        running([link("10.1000/1", "https://example.org/")]) as upper,
        running(upstream=upper.url, cache=":memory:") as proxy,
    ):
        for _ in range(3):
            assert ready(proxy) == (200, {"status": "ok", "records": "ok", "upstream": "ok"})
        assert [request.target for request in upper.log] == ["/api/handles/10.1000/182?auth"]
        monkeypatch.setattr(_upstream, "CHECK_INTERVAL", 0)
        assert ready(proxy)[0] == 200
        assert len(upper.log) == 2


def test_an_upstream_that_does_not_answer_is_not_ready() -> None:
    local = [link("10.1000/1", "https://example.org/")]
    with refusing() as port, running(local, upstream=f"http://127.0.0.1:{port}", cache=":memory:") as proxy:
        status, body = ready(proxy)
        assert (status, body["status"], body["records"]) == (503, "unavailable", "ok")
        assert "Connection refused" in body["upstream"]
        assert ask(proxy.url, "/healthz").status == 200
        assert ask(proxy.url, "/10.1000/1").status == 302


@pytest.mark.parametrize("clients", [0, _upstream.THREADS + 8])
def test_checks_do_not_wait_for_upstream(clients: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even when all threads are busy with look-ups that upstream does not answer."""
    for module in (_source, _upstream):
        monkeypatch.setattr(module, "CHECK_TIME", 0.2)
    with socket.create_server(("127.0.0.1", 0), backlog=200) as silent:
        upstream = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with running(upstream=upstream, cache=":memory:") as proxy, ThreadPoolExecutor() as pool:
            names = [f"/10.1000/{number}" for number in range(clients)]
            with ExitStack() as stack:
                for name in names:
                    stack.enter_context(sending(proxy.url, name))
                answers = [*pool.map(lambda _: ready(proxy), range(3))]
    for status, body in answers:
        assert (status, body["records"]) == (503, "ok")
        assert body["upstream"] != "ok"


def sending(url: str, target: str) -> socket.socket:
    """A connection on which a request was sent whose answer nobody reads."""
    parts = urlsplit(url)
    connection = socket.create_connection((parts.hostname, parts.port), timeout=20)
    connection.sendall(f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    return connection
