"""Works and formatted references from records, without a server."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from doiuri import plugins
from doiuri.resolver import Resolver
from doiuri.testing import resolver_for
from markdown_doiuri import _verification

Serve = Callable[[Path | Iterable[dict[str, Any]]], list[str]]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Serve:
    """A function that makes the extension ask these records; it returns the list of openings to come."""

    def serve(records: Path | Iterable[dict[str, Any]]) -> list[str]:
        opened: list[str] = []

        def open_resolver(options: plugins.Options, distribution: str, store: Any = None) -> Resolver:
            if store is None and (options.lock or options.settings.offline):
                return plugins.open_resolver(options, distribution)
            opened.append(distribution)
            offline = options.settings.offline
            return resolver_for(records, store=store, offline=offline, budget=options.budget)

        monkeypatch.setattr(_verification, "open_resolver", open_resolver)
        return opened

    return serve
