"""Settings and fixtures for all tests."""

import os

import pytest
from doiuri.resolver import _process
from hypothesis import HealthCheck, settings

# Property tests have no deadline: the machine may be busy
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

# Keep the user's proxies, certificates, credentials and cache out of the tests
for name in [*os.environ]:
    ours = name.lower().endswith("_proxy") or name.startswith("DOIURI_")
    if ours or name in {"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "NETRC"}:
        del os.environ[name]
os.environ["DOIURI_CACHE"] = ":memory:"


@pytest.fixture(autouse=True)
def _strangers() -> None:
    """Forget servers and answers: another test may use the same port."""
    _process._servers.clear()
    _process._stores.pop(":memory:", None)
