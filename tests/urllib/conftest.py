"""Every test begins without a global opener and without settings in the environment."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator

import pytest
import urllib_doiuri
from support.environment import without_settings


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    without_settings(monkeypatch)
    urllib.request.install_opener(None)
    yield
    urllib_doiuri.uninstall()
    urllib.request.install_opener(None)
