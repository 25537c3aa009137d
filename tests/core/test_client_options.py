"""The options of plugins for HTTP clients, and the URL that they request for a DOI."""

from __future__ import annotations

import pickle

import pytest
from doiuri import DOI, ShortDOI
from doiuri.plugins import ClientOptions

BIBTEX = "application/x-bibtex"
RECORD = "https://r.example/x/api/handles/10.1000/456%23789"
LINK = "https://r.example/x/10.1000/456%23789"


@pytest.mark.parametrize(
    ("follow", "accept", "url"),
    [
        ("record", None, RECORD),
        ("record", "*/*", RECORD),
        ("record", b"application/json", RECORD),
        ("record", BIBTEX, LINK),
        ("record", BIBTEX.encode(), LINK),
        ("target", None, LINK),
        ("target", BIBTEX, LINK),
    ],
)
def test_the_url_depends_on_follow_and_accept(follow: str, accept: str | bytes | None, url: str) -> None:
    options = ClientOptions.read("https://r.example/x/", follow=follow)
    assert options.request_url(DOI("10.1000/456#789"), accept) == url
    assert options.wants_record(accept) == (url == RECORD)


def test_a_short_doi_has_a_record_too() -> None:
    options = ClientOptions.read("https://r.example")
    assert options.request_url(ShortDOI("10/p54k")) == "https://r.example/api/handles/10/p54k"


@pytest.mark.parametrize(
    ("name", "value"), [("resolver", "ftp://x"), ("offline", "perhaps"), ("mailto", "me"), ("follow", "page")]
)
def test_an_invalid_option_is_named(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=f"^{name}: '{value}'"):
        ClientOptions.read(**{name: value})
    if name != "follow":
        monkeypatch.setenv(f"DOIURI_{name.upper()}", value)
        with pytest.raises(ValueError, match=f"^DOIURI_{name.upper()}: '{value}'"):
            ClientOptions.read()


def test_the_environment_is_read_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOIURI_RESOLVER", "https://one.example")
    assert ClientOptions.read().settings.base == "https://one.example"
    assert ClientOptions.read("https://two.example").settings.base == "https://two.example"
    monkeypatch.setenv("DOIURI_RESOLVER", "https://three.example")
    assert ClientOptions.read().settings.base == "https://three.example"


def test_options_are_values() -> None:
    options = ClientOptions.read("https://r.example", follow="target")
    assert pickle.loads(pickle.dumps(options)) == options
    assert len({options, ClientOptions.read("https://r.example/", follow="target")}) == 1
