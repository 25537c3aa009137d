"""The fast ways through DOI.parse and DOI.url give what the general ways give."""

from __future__ import annotations

import pytest
from doiuri import DOI, LINK, DOISyntaxError, _parse, encode
from doiuri._names import doi_flaw
from doiuri.testing.strategies import dois
from hypothesis import example, given
from hypothesis import strategies as st

_HEADS = (
    "",
    "doi:",
    "https://doi.org/",
    "https://doi.org/doi:",
    "doi:https://doi.org/",
    "doi:doi:",
    "DOI:",
    "<",
)
_PIECES = [
    "%", "%2", "%28", "%2528", "%%28", "%%41", "%3a", "%3D", "=", "==", "%C3", "%A9", "%c3%a9", "%00", "%0A",
    "%20", "%2F", "/", "//", "/.", "/..", "#", "?", "<", ">", "a", "é", "\\", "\\x41", "%5C", ".", "1",
    "doi:", "10.1", "\ud800", "１", " ", "\n", "\t", "\u00a0",
]  # fmt: skip
_SUFFIXES = st.lists(st.sampled_from(_PIECES), max_size=8).map("".join)


def _generally(text: str) -> str | None:
    try:
        spelling = _parse.typed(text)
    except DOISyntaxError:
        return None
    return None if spelling.ambiguous is not None or doi_flaw(spelling.name) else spelling.name


def _parsed(text: str) -> str | None:
    try:
        return DOI.parse(text).name
    except DOISyntaxError:
        return None


@given(st.sampled_from(_HEADS), st.sampled_from(["10.1000/", "10.1000", "10.1.2/", "10./", "10/"]), _SUFFIXES)
@example("https://doi.org/", "10.1000/", "")
@example("doi:", "10.1000/", "a#b")
@example("doi:", "10.1000/", "a=\nb%41")
@example("", "10.1000/", "a\n")
@example("https://doi.org/", "10.1000/", "a?b")
@example("", "10.1000/", "%%2F41%41%41")
def test_odd_names_are_read_alike(head: str, prefix: str, suffix: str) -> None:
    text = head + prefix + suffix
    assert _parsed(text) == _generally(text)


@given(dois())
def test_names_uris_and_links_are_read_alike(doi: DOI) -> None:
    for text in (doi.name, doi.uri, doi.url):
        assert _parsed(text) == _generally(text)


@given(dois())
def test_links_are_those_of_the_encoder(doi: DOI) -> None:
    assert doi.url == f"https://doi.org/{encode(doi.name, LINK)}"


@pytest.mark.parametrize("label", ["", "doi:", "https://doi.org/"])
@pytest.mark.parametrize(
    "name", ["10.1000/182", "10.1002/%28SICI%291%3C2%3E3", "10.26321/%C3%81", "10.26321/Á"]
)
def test_the_most_frequent_spellings_take_the_fast_way(
    label: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = _generally(label + name)
    monkeypatch.setattr(_parse, "typed", None)
    assert DOI.parse(label + name).name == expected
