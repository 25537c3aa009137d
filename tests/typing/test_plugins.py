"""What type checkers infer in a plugin's code; mypy reads this, pytest runs it."""

from typing import Literal, assert_type

import httpx
import httpx2
import httpx_doiuri.httpx2
import pytest
from doiuri import DOI
from doiuri.plugins import Options, Settings, open_resolver, user_agent
from doiuri.plugins.clients import ClientOptions
from doiuri.plugins.display import check_display, display
from doiuri.resolver import Resolver
from httpx_doiuri import AsyncClient, Client


def test_options() -> None:
    options = Options.read({"doi_timeout": "2", "other": object()}, prefix="doi_", environ={})
    assert_type(options, Options)
    assert_type(options.settings, Settings)
    assert_type(options.resolve, bool)
    assert_type((options.timeout, options.budget), tuple[float, float])
    assert_type(options.lock, str | None)
    assert_type((options.text, options.link), tuple[str, str])
    assert_type(options.display(DOI("10.1000/182")), str)


def test_settings() -> None:
    settings = Settings.from_environ(offline="yes", environ={})
    assert_type((settings.base, settings.offline), tuple[str, bool])
    assert_type((settings.mailto, settings.cache), tuple[str | None, str | None])
    assert_type(ClientOptions.read(offline=True).follow, Literal["record", "target"])


def test_helpers() -> None:
    assert_type(display(DOI("10.1000/182"), check_display("{name}")), str)
    assert_type(user_agent("doiuri", "me@example.org"), str)
    assert_type(ClientOptions.query({"type": ["URL"], "auth": True}), str)
    with open_resolver(Options.read({"offline": True}), "doiuri") as resolver:
        assert_type(resolver, Resolver)


def test_httpx_clients() -> None:
    with Client(follow="target", timeout=5, follow_redirects=True) as client:
        assert_type(client, Client)
        assert_type(client.doi_options, ClientOptions)
        assert_type(client.build_request("GET", "doi:10.1000/182", params={"type": "URL"}), httpx.Request)
    with httpx_doiuri.httpx2.Client() as other:
        request = other.build_request("GET", "doi:10.1000/182")
        assert_type(request, httpx2.Request)
        assert_type(other.params, httpx2.QueryParams)
    with pytest.raises(ValueError, match="follow"):
        AsyncClient(follow="page")  # type: ignore[arg-type]


def test_wrong_use() -> None:
    with pytest.raises(AttributeError):
        Options.read({}).timeout = 5  # type: ignore[misc]
    with pytest.raises(TypeError):
        Options()  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        display("10.1000/182")  # type: ignore[arg-type]
