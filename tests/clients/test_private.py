"""Redirects lead into the user's own network only with ``private=True``, whoever the resolver is."""

from __future__ import annotations

import pytest
from support.clients.contract import CLIENTS, PAGE, REFUSED, Client
from support.servers.httpproxy import http_proxy
from support.servers.tls import Authority
from support.servers.web import resolver, site
from support.targets import PRIVATE_HOSTS, resolve_as

URI = "doi:10.1000/1"


def encoded(url: str) -> str:
    """A Location header: UTF-8, which http.server writes as Latin-1."""
    return url.encode().decode("latin-1")


@pytest.mark.parametrize("host", PRIVATE_HOSTS)
@pytest.mark.parametrize("accept", ["*/*", "application/x-bibtex"])
@pytest.mark.parametrize("client", CLIENTS, indirect=True)
def test_a_private_target_is_refused(client: Client, host: str, accept: str) -> None:
    """Even if the resolver is on this machine: strangers write the records that it serves."""
    with site(lambda _: PAGE) as landing:
        target = encoded(f"http://{host}:{landing.port}/a")
        with site(resolver({"10.1000/1": target})) as proxy:
            get = client.open(proxy.url, follow="target" if accept == "*/*" else "record")
            # httpx cannot read some of these hosts
            with pytest.raises(client.errors.failed, match=f"{REFUSED}|(?i:invalid URL)"):
                get(URI, headers={"Accept": accept})
        assert not landing.seen


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "resolver.example"])
def test_private_true_allows_it(client: Client, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    resolve_as(monkeypatch, "resolver.example", "127.0.0.1")
    with site(lambda _: PAGE) as landing, site(resolver({"10.1000/1": landing.at("localhost")})) as proxy:
        assert client.open(proxy.at(name), follow="target", private=True)(URI).body == PAGE.body
        with pytest.raises(client.errors.failed, match=REFUSED):
            client.open(proxy.at(name), follow="target")(URI)
        assert len(landing.seen) == 1


def test_a_name_that_resolves_to_this_machine_gets_no_request(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_as(monkeypatch, "agency.example", "127.0.0.1")
    with site(lambda _: PAGE) as landing:
        with site(resolver({"10.1000/1": landing.at("agency.example")})) as proxy:
            get = client.open(proxy.url, follow="target")
            for _ in range(2):
                with pytest.raises(
                    client.errors.failed, match=r"agency\.example \(127\.0\.0\.1\), in a private"
                ):
                    get(URI)
            assert not landing.seen
            get(landing.at("agency.example"))  # other requests are not checked
        assert len(landing.seen) == 1


def test_a_name_that_is_rebound_gets_no_request(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection counts, not only an earlier look-up."""
    resolve_as(
        monkeypatch, "agency.example", *(["8.8.8.8"] if client.kind == "requests" else []), "127.0.0.1"
    )
    with (
        site(lambda _: PAGE) as landing,
        site(resolver({"10.1000/1": landing.at("agency.example")})) as proxy,
    ):
        with pytest.raises(client.errors.failed, match=REFUSED):
            client.open(proxy.url, follow="target")(URI)
        assert not landing.seen


def test_a_refused_name_gets_no_tls_handshake(
    client: Client, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_as(monkeypatch, "agency.example", "127.0.0.1")
    with (
        site(lambda _: PAGE, tls=authority.server()) as landing,
        site(resolver({"10.1000/1": landing.at("agency.example")})) as proxy,
        pytest.raises(client.errors.failed, match=REFUSED),  # not an error about the certificate
    ):
        client.open(proxy.url, follow="target")(URI)


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
@pytest.mark.parametrize("secure", [False, True], ids=["forwarded", "tunnelled"])
def test_through_a_proxy_names_decide(
    client: Client, secure: bool, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_as(monkeypatch, "agency.example", "127.0.0.1")  # what the proxy connects to
    with site(lambda _: PAGE, tls=authority.server() if secure else None) as landing, http_proxy() as proxy:
        targets = {"10.1000/1": landing.at("agency.example"), "10.1000/2": landing.at("localhost")}
        with site(resolver(targets)) as server:
            get = client.open(server.url, follow="target", proxy=proxy.url, insecure=secure)
            assert get(URI).body == PAGE.body
            with pytest.raises(client.errors.failed, match="localhost, in a private network"):
                get("doi:10.1000/2")
        assert len(landing.seen) == 1


@pytest.mark.parametrize(
    "target",
    [
        r"http://127.0.0.1:1\@public.example/",
        "http://127.0.0.1:1 .public.example/",
        "http://[::1",
        "http://a:x/",
        "http://a.example:65536/",
        "http://a..example/",
        f"http://{'a' * 64}.example/",
        "ftp://localhost/x",
        "FILE:///etc/passwd",
        "javascript:alert(1)",
        "doi:10.1000/2",
    ],
)
@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("client", CLIENTS, indirect=True)
def test_only_valid_http_and_https_urls_are_opened(client: Client, private: bool, target: str) -> None:
    with site(resolver({"10.1000/1": target})) as proxy:
        with pytest.raises(client.errors.failed):
            client.open(proxy.url, follow="target", private=private)(URI)
        assert len(proxy.seen) == 1
