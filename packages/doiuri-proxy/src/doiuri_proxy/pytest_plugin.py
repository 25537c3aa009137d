"""The pytest fixtures ``doi_proxy``, with the mark ``doi_records``, and ``registered_dois``.

pytest imports this in every run: keep that cheap.
"""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from doiuri_proxy import Request, Running
    from doiuri_proxy.records._files import PathOrData


class Proxies:
    """The value of the fixture ``doi_proxy``.

    Call it to start a proxy. ``url``, ``log`` and ``load`` are those of the default proxy, which starts on
    first use with the records of the mark ``doi_records``, or without records. All proxies stop when the test
    ends.
    """

    def __init__(self, stack: contextlib.ExitStack, records: PathOrData) -> None:
        """Stop the proxies with ``stack``; ``records`` are those of the default proxy."""
        self._stack = stack
        self._records = records
        self._default: Running | None = None

    def __call__(self, records: PathOrData | None = None, **options: Any) -> Running:
        """Start another proxy and return it.

        :param records: as for `doiuri_proxy.running`
        :param options: the other arguments of `doiuri_proxy.running`
        """
        from doiuri_proxy import running

        return self._stack.enter_context(running(records, **options))

    @property
    def default(self) -> Running:
        """The default proxy."""
        if self._default is None:
            self._default = self(self._records)
        return self._default

    @property
    def url(self) -> str:
        """The base URL of the default proxy."""
        return self.default.url

    @property
    def log(self) -> list[Request]:
        """The requests that the default proxy has answered, in order."""
        return self.default.log

    def load(self, records: PathOrData) -> None:
        """Let the default proxy serve other records; see `Running.load`."""
        self.default.load(records)


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark."""
    config.addinivalue_line(
        "markers", "doi_records(records): the records that the fixture doi_proxy serves"
    )


@pytest.fixture
def doi_proxy(request: pytest.FixtureRequest) -> Iterator[Proxies]:
    """Local DOI proxies: `doi_proxy.url`, with the mark `doi_records`, or `doi_proxy(records).url`."""
    mark = request.node.get_closest_marker("doi_records")
    records = mark.args[0] if mark else []
    stack = contextlib.ExitStack()
    yield Proxies(stack, records)
    # Stopping takes 0.2 s, and the next test need not wait for it.
    threading.Thread(target=stack.close, name="doi_proxy").start()


@pytest.fixture(scope="session")
def registered_dois() -> Callable[..., None]:
    """The function `doiuri.testing.assert_registered`, as in `registered_dois(["10.1000/182"])`."""
    from doiuri.testing import assert_registered

    return assert_registered
