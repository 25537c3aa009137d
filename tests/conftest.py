"""What holds for all tests."""

import os

import pytest
from doiuri.resolver import _process
from hypothesis import HealthCheck, settings

# A property is true or not, however busy the machine is
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

# Nothing steers the tests from outside: no proxies, no certificates, no credentials, no cache of the user's
for name in [*os.environ]:
    ours = name.lower().endswith("_proxy") or name.startswith("DOIURI_")
    if ours or name in {"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "NETRC"}:
        del os.environ[name]
os.environ["DOIURI_CACHE"] = ":memory:"


@pytest.fixture(autouse=True)
def _strangers() -> None:
    """A test meets each server for the first time: ports are used again; answers and refusals are kept."""
    _process._servers.clear()
    _process._stores.pop(":memory:", None)
