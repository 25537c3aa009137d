"""The pytest fixture ``doi_proxy``: local DOI proxies for tests."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri_proxy import Request, Running
    from doiuri_proxy.records._records import RecordsInput


class Proxies:
    """What the fixture gives: call it with records to start a proxy; all of them stop with the test.

    Its own ``url``, ``log`` and ``load`` are those of a first proxy, which starts when one of them is used,
    with the records of the mark ``doi_records`` (none: it knows no DOI).
    """

    def __init__(self, stack: contextlib.ExitStack, records: RecordsInput) -> None:
        """Keep what the first proxy will serve."""
        self._stack = stack
        self._records = records
        self._first: Running | None = None

    def __call__(self, records: RecordsInput | None = None, **options: Any) -> Running:
        """Start a proxy; records and options are those of `doiuri_proxy.running`."""
        from doiuri_proxy import running  # tests that need no proxy need not load it

        return self._stack.enter_context(running(records, **options))

    @property
    def first(self) -> Running:
        """The first proxy, started now if need be."""
        self._first = self._first or self(self._records)
        return self._first

    @property
    def url(self) -> str:
        """Where the first proxy answers."""
        return self.first.url

    @property
    def log(self) -> list[Request]:
        """What the first proxy was asked."""
        return self.first.log

    def load(self, records: RecordsInput) -> None:
        """Let the first proxy serve other records."""
        self.first.load(records)


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark."""
    config.addinivalue_line("markers", "doi_records(records): what the fixture doi_proxy serves first")


@pytest.fixture
def doi_proxy(request: pytest.FixtureRequest) -> Iterator[Proxies]:
    """Start local DOI proxies: ``doi_proxy(records).url``, or ``doi_proxy.url`` with the mark doi_records."""
    mark = request.node.get_closest_marker("doi_records")
    with contextlib.ExitStack() as stack:
        yield Proxies(stack, mark.args[0] if mark else [])
