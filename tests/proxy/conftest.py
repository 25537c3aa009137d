"""One proxy shared by all tests that only send requests."""

from collections.abc import Iterator

import pytest
from doiuri_proxy import Running, running
from support.proxy_records import AGENCIES, RECORDS


@pytest.fixture(scope="session")
def proxy() -> Iterator[Running]:
    with running({"records": RECORDS, "agencies": AGENCIES}) as one:
        yield one


@pytest.fixture(scope="session")
def url(proxy: Running) -> str:
    return proxy.url
