import pytest


@pytest.fixture(autouse=True)
def empty_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No build sees what another stored, nor a server that is not its own."""
    monkeypatch.setenv("DOIURI_RESOLVER", "http://127.0.0.1:9")
    monkeypatch.setenv("DOIURI_CACHE", str(tmp_path_factory.mktemp("cache") / "cache.sqlite"))
