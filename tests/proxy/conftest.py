"""One proxy for all tests that only ask."""

from collections.abc import Iterator

import pytest
from doiuri_proxy import Running, running
from support.proxy_records import AGENCIES, RECORDS


@pytest.fixture(autouse=True)
def _no_cache_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DOIURI_RESOLVER", "DOIURI_OFFLINE", "DOIURI_MAILTO"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DOIURI_CACHE", ":memory:")


@pytest.fixture(scope="session")
def proxy() -> Iterator[Running]:
    with running({"records": RECORDS, "agencies": AGENCIES}) as one:
        yield one


@pytest.fixture(scope="session")
def url(proxy: Running) -> str:
    return proxy.url
