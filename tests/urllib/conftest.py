"""Each test starts without a global opener."""

from __future__ import annotations

import ssl
import urllib.request
from collections.abc import Iterator
from unittest import mock

import pytest
import urllib_doiuri


@pytest.fixture(scope="session", autouse=True)
def _one_context() -> Iterator[None]:
    """Load the authorities of this machine once: that takes longer than a test."""
    context = ssl.create_default_context()
    with mock.patch("ssl._create_default_https_context", return_value=context):
        yield


@pytest.fixture(autouse=True)
def nothing_installed() -> Iterator[None]:
    urllib.request.install_opener(None)
    yield
    urllib_doiuri.uninstall()
    urllib.request.install_opener(None)
