"""Proxies for tests: the context manager and the fixture."""

import socket
import subprocess
import sys
from urllib.request import urlopen

import pytest
from doiuri_proxy import RecordsError, running
from doiuri_proxy.pytest_plugin import Proxies
from support.checks import exactly
from support.http import ask
from support.ports import free_port
from support.proxy_records import link

RECORD = link("10.1000/x", "https://example.org/")


def test_running_serves_logs_and_stops() -> None:
    with running([RECORD]) as proxy:
        with urlopen(f"{proxy.url}/api/handles/10.1000/x?pretty") as answer:
            assert answer.status == 200
        ask(proxy.url, "/10.1000/x", "HEAD", headers={"Accept": "text/html"})
        assert [(request.method, request.target) for request in proxy.log] == [
            ("GET", "/api/handles/10.1000/x?pretty"),
            ("HEAD", "/10.1000/x"),
        ]
        assert proxy.log[1].headers["accept"] == "text/html"
    with pytest.raises(ConnectionRefusedError):
        ask(proxy.url, "/10.1000/x")


def test_running_on_a_given_port() -> None:
    port = free_port()
    with running([RECORD], port=port) as first, pytest.raises(OSError, match="in use"):
        running([RECORD], port=port).__enter__()
    with running([RECORD], port=port) as second:
        assert second.url == first.url


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
def test_running_on_ipv6() -> None:
    with running([RECORD], host="::1") as proxy:
        assert proxy.url.startswith("http://[::1]:")
        assert urlopen(f"{proxy.url}/healthz").read() == b'{"status":"ok"}'


def test_load_replaces_the_records_or_keeps_the_old_ones() -> None:
    with running([RECORD]) as proxy:
        proxy.load([link("10.1000/y", "https://example.org/")])
        assert [ask(proxy.url, f"/10.1000/{name}").status for name in "xy"] == [404, 302]
        with pytest.raises(RecordsError):
            proxy.load([{"handle": "10.1000/z"}])
        assert [ask(proxy.url, f"/10.1000/{name}").status for name in "xy"] == [404, 302]


def test_fixture_starts_as_many_as_wanted(doi_proxy: Proxies) -> None:
    one = doi_proxy([RECORD])
    two = doi_proxy(country="gb")
    assert [ask(proxy.url, "/10.1000/x").status for proxy in (one, two)] == [302, 404]


@pytest.mark.doi_records([RECORD])
def test_fixture_with_the_mark(doi_proxy: Proxies) -> None:
    assert ask(doi_proxy.url, "/10.1000/x").status == 302
    doi_proxy.load([])
    assert ask(doi_proxy.url, "/10.1000/x").status == 404
    exactly(2, "requests", doi_proxy.log)


def test_public_names_load_on_first_use() -> None:
    """pytest imports the plugin in every run, so that must not import the server."""
    code = (
        "import sys, doiuri_proxy.pytest_plugin as plugin, doiuri_proxy as face\n"
        "print('uvicorn' in sys.modules, 'doiuri' in sys.modules)\n"
        "print(*[getattr(face, name).__name__ for name in face.__all__], hasattr(face, 'nothing'))\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (
        run.stdout
        == "False False\nRecords RecordsError Request Response Running answer resolver_for running False\n"
    )
