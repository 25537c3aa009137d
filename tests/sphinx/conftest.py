from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def empty_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test an empty cache, and a resolver that does not answer."""
    monkeypatch.setenv("DOIURI_RESOLVER", "http://127.0.0.1:9")
    monkeypatch.setenv("DOIURI_CACHE", str(tmp_path_factory.mktemp("cache") / "cache.sqlite"))
