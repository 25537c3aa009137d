"""Each test starts without a global opener."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator

import pytest
import urllib_doiuri


@pytest.fixture(autouse=True)
def nothing_installed() -> Iterator[None]:
    urllib.request.install_opener(None)
    yield
    urllib_doiuri.uninstall()
    urllib.request.install_opener(None)
