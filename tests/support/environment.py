"""An environment in which nothing is set that steers the plugins."""

import os

import pytest


def without_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take proxies, certificates and this project's settings out of the environment."""
    for name in [*os.environ]:
        ours = name.lower().endswith("_proxy") or name.startswith("DOIURI_")
        if ours or name in {"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "NETRC"}:
            monkeypatch.delenv(name)
