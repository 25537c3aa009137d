"""The clients that run the contract; urllib starts without a global opener."""

from __future__ import annotations

import ssl
import urllib.request
from collections.abc import Iterator
from unittest import mock

import pytest
import urllib_doiuri
from support.clients import ALL_CLIENTS, KINDS, Client, HTTPXClients, client_of
from support.servers.tls import Authority
from support.servers.web import Site, any_record, site


@pytest.fixture(scope="session", autouse=True)
def _one_context() -> Iterator[None]:
    """Load the authorities of this machine once: that takes longer than a test."""
    context = ssl.create_default_context()
    with mock.patch("ssl._create_default_https_context", return_value=context):
        yield


@pytest.fixture(autouse=True)
def nothing_installed() -> Iterator[None]:
    urllib.request.install_opener(None)
    yield
    urllib_doiuri.uninstall()
    urllib.request.install_opener(None)


@pytest.fixture(params=ALL_CLIENTS)
def client(request: pytest.FixtureRequest) -> Iterator[Client]:
    with client_of(request.param) as opened:
        yield opened


@pytest.fixture(params=KINDS)
def clients(request: pytest.FixtureRequest) -> Iterator[HTTPXClients]:
    """httpx' clients: the synchronous one, and the asynchronous one on each of its event loops."""
    with HTTPXClients(request.param) as opened:
        yield opened


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def _any_site() -> Iterator[Site]:
    with site(any_record) as server:
        yield server


@pytest.fixture
def anything(_any_site: Site) -> Site:
    """A server that has a record of each name, and has seen nothing yet."""
    _any_site.seen.clear()
    return _any_site
