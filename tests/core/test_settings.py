"""The settings that all plugins share: options win over the environment, bad values are named."""

from collections.abc import Callable
from pathlib import Path

import pytest
from doiuri import DOI, __version__
from doiuri.plugins import Settings, user_agent
from doiuri.resolver import Resolver
from doiuri.rest import agency_url, record_url

FULL = {
    "DOIURI_RESOLVER": "http://localhost:8000/",
    "DOIURI_OFFLINE": "1",
    "DOIURI_MAILTO": "me@example.org",
    "DOIURI_CACHE": "/tmp/store",
}


def test_defaults() -> None:
    assert Settings.from_environ(environ={}) == Settings("https://doi.org", False, None, None)


def test_environment() -> None:
    assert Settings.from_environ(environ=FULL) == Settings(
        "http://localhost:8000", True, "me@example.org", "/tmp/store"
    )


def test_options_win() -> None:
    settings = Settings.from_environ(
        "https://proxy.example/doi/", False, "mailto:you@example.org", Path("here"), FULL
    )
    assert settings == Settings("https://proxy.example/doi", False, "you@example.org", "here")


def test_empty_variables_count_as_not_set() -> None:
    assert Settings.from_environ(environ=dict.fromkeys(FULL, "")) == Settings()


def test_user_agent() -> None:
    own = f"doiuri/{__version__} (+https://github.com/doiuri/doiuri)"
    assert user_agent() == own
    assert user_agent("sphinx-doiuri") == f"sphinx-doiuri/0.1.0 {own}"
    assert user_agent("doiuri", "me@example.org").endswith("; mailto:me@example.org)")


@pytest.mark.parametrize("base", ["http://müller.example/", "http://１２７.0.0.1", "http://a.example/ü"])
def test_bases_beyond_ascii_are_refused_everywhere_alike(base: str) -> None:
    """HTTP clients differ in what they make of them, some raise UnicodeError."""
    doi = DOI("10.1000/182")
    doors: list[Callable[[], object]] = [
        lambda: Settings.from_environ(base, environ={}),
        lambda: Settings.from_environ(environ={"DOIURI_RESOLVER": base}),
        lambda: doi.link(base),
        lambda: record_url(doi, base=base),
        lambda: agency_url([doi], base=base),
        lambda: Resolver(base),
    ]
    for door in doors:
        with pytest.raises(ValueError, match="is not ASCII: write its host as xn--…"):
            door()
