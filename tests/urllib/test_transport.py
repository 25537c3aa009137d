"""The request goes through the opener's own https: its certificates, proxies and timeouts; threads; fork."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import HTTPSHandler, ProxyHandler, Request, build_opener, install_opener, urlopen

import pytest
import urllib_doiuri
from doiuri_proxy import running
from support.servers.httpproxy import http_proxy
from support.servers.tls import Authority
from support.servers.web import Answer, record, resolver, site
from urllib_doiuri import DOIHandler

TARGETS = {"10.1000/182": "http://x.example/"}


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls"))


@pytest.mark.parametrize("installed", [True, False])
def test_urlopen_with_a_context(authority: Authority, installed: bool) -> None:
    with site(resolver(TARGETS), tls=authority.server()) as server:
        if installed:
            urllib_doiuri.install(server.url)
        base = None if installed else server.url
        with urllib_doiuri.urlopen(
            "doi:10.1000/182", context=authority.trusting(), resolver=base
        ) as response:
            assert json.load(response)["handle"] == "10.1000/182"
        with pytest.raises(URLError) as caught:
            urllib_doiuri.urlopen("doi:10.1000/182", resolver=base)
        assert isinstance(caught.value.reason, ssl.SSLCertVerificationError)


def test_the_openers_own_https_handler_is_used(authority: Authority) -> None:
    with site(resolver(TARGETS), tls=authority.server()) as server:
        install_opener(build_opener(HTTPSHandler(context=authority.trusting())))
        urllib_doiuri.install(server.url)
        with urlopen("doi:10.1000/182") as response:
            assert json.load(response)["handle"] == "10.1000/182"


def test_a_context_for_one_call_leaves_the_installed_handler_where_it_is(authority: Authority) -> None:
    with running([record("10.1000/182", "http://x.example/")]) as proxy:
        urllib_doiuri.install(proxy.url)
        urllib_doiuri.urlopen("doi:10.1000/182", context=authority.trusting()).close()
        urlopen("doi:10.1000/182").close()
        urllib_doiuri.uninstall()
        with pytest.raises(URLError, match="unknown url type"):
            urlopen("doi:10.1000/182")


def test_an_http_proxy_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with site(resolver(TARGETS)) as server, http_proxy() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.replace("//", "//user:pass@"))
        with urllib_doiuri.urlopen("doi:10.1000/182", resolver=server.url) as response:
            assert json.load(response)["handle"] == "10.1000/182"
            assert response.url == f"{server.url}/api/handles/10.1000/182"
        assert proxy.seen == [f"GET {server.url}/api/handles/10.1000/182"]
        assert proxy.credentials == ["Basic dXNlcjpwYXNz"]
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        urllib_doiuri.urlopen("doi:10.1000/182", resolver=server.url).close()
        assert len(proxy.seen) == 1
        assert len(server.seen) == 2


def test_https_goes_through_the_proxys_tunnel(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    with site(resolver(TARGETS), tls=authority.server()) as server, http_proxy() as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        opened = urllib_doiuri.urlopen("doi:10.1000/182", context=authority.trusting(), resolver=server.url)
        with opened as response:
            assert json.load(response)["handle"] == "10.1000/182"
        assert proxy.seen == [f"CONNECT 127.0.0.1:{server.port}"]


def test_credentials_for_the_resolver_also_pass_an_http_proxy_only_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with site(lambda _: Answer()) as landing, http_proxy() as proxy:
        with site(resolver({"10.1000/1": landing.at("localhost")})) as server:
            monkeypatch.setenv("http_proxy", proxy.url)
            request = Request("doi:10.1000/1", headers={"Authorization": "Bearer s3cret"})
            urllib_doiuri.urlopen(request, resolver=server.url, follow="target").close()
            assert server.seen[0].headers["authorization"] == "Bearer s3cret"
        assert "authorization" not in landing.seen[0].headers
        assert len(proxy.seen) == 2


@pytest.mark.parametrize("name", ["doi_proxy", "DOI_PROXY"])
def test_a_doi_proxy_in_the_environment_is_not_in_the_way(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with running([record("10.1000/182", "http://x.example/")]) as proxy:
        monkeypatch.setenv(name, "http://127.0.0.1:9/")
        for opener in (
            build_opener(DOIHandler(proxy.url)),
            build_opener(ProxyHandler(), DOIHandler(proxy.url)),
        ):
            with opener.open("doi:10.1000/182") as response:
                assert json.load(response)["handle"] == "10.1000/182"
        urllib_doiuri.install(proxy.url)
        urlopen("doi:10.1000/182").close()


def test_many_threads_at_once() -> None:
    names = [f"10.1000/{number}" for number in range(60)]
    with site(resolver(dict.fromkeys(names[::2], "http://x.example/"))) as server:
        urllib_doiuri.install(server.url)

        def ask(name: str) -> str | int:
            try:
                with urlopen(f"doi:{name}") as response:
                    return str(json.load(response)["handle"])
            except HTTPError as error:
                error.close()
                return error.code

        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(ask, names))
    assert answers == [404 if number % 2 else name for number, name in enumerate(names)]


SCRIPT = """
import json, os, sys
from urllib.request import urlopen
import urllib_doiuri
urllib_doiuri.install()
urlopen("doi:10.1000/182").close()
child = os.fork()
with urlopen("doi:10.1000/182") as response:
    ok = json.load(response)["handle"] == "10.1000/182"
if child:
    ok = ok and os.waitpid(child, 0)[1] == 0
os._exit(0 if ok else 1)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_after_a_fork_both_sides_ask() -> None:
    with site(resolver(TARGETS)) as server:
        environment = {**os.environ, "DOIURI_RESOLVER": server.url}
        done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, timeout=300, check=False)
        assert done.returncode == 0
        assert len(server.seen) == 3


def test_importing_needs_nothing_but_the_standard_library_and_the_core() -> None:
    probe = (
        "import sys; before = {*sys.modules}; import urllib_doiuri;"
        " urllib_doiuri.install(); print(*{*sys.modules} - before)"
    )
    done = subprocess.run([sys.executable, "-I", "-c", probe], capture_output=True, text=True, check=True)
    names = {name.partition(".")[0] for name in done.stdout.split()}
    foreign = {name for name in names - sys.stdlib_module_names if not name.startswith("_")}
    assert foreign == {"doiuri", "urllib_doiuri"}


def test_the_package_says_that_it_is_typed() -> None:
    assert Path(urllib_doiuri.__file__).with_name("py.typed").exists()
