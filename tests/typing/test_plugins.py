"""What type checkers infer in plugins and in a reader for the command; mypy reads this, pytest runs it."""

from collections.abc import Iterator, Sequence
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
from doiuri_cli import Part, Reader, ReadError, Source
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


def read(source: Source) -> Iterator[Part]:
    """Return the lines that are not comments."""
    if not source.text:
        raise ReadError("the file is empty")
    start = 0
    for line in source.text.splitlines(keepends=True):
        if not line.startswith("# "):
            yield Part(line, "text", start)
        start += len(line)


def test_a_function_is_a_reader() -> None:
    reader: Reader = read
    (part,) = reader(Source.from_bytes("a.org", b"# 10.1000/1\nSee 10.1000/182.\n"))
    assert_type(part, Part)
    assert_type((part.text, part.syntax), tuple[str, str])
    assert_type(part.places, Sequence[int] | None)
    assert part.span(4, 15) == (16, 27)
    with pytest.raises(ReadError):
        list(reader(Source("a.org", "")))
