"""The fast way through DOI.parse gives what the general way gives."""

from __future__ import annotations

import pytest
from doiuri import DOI, DOISyntaxError, _parse
from doiuri._names import doi_flaw
from doiuri.testing.strategies import dois
from hypothesis import given
from hypothesis import strategies as st

_HEADS = ("doi:", "https://doi.org/")
_PIECES = st.sampled_from(
    (
        "%",
        "%2",
        "%28",
        "%2528",
        "%%28",
        "%3a",
        "%C3",
        "%A9",
        "%00",
        "%20",
        " ",
        "#",
        "?",
        "/",
        "<",
        ">",
        "a",
        "é",
    )
)


def _generally(text: str) -> str:
    spelling = _parse.typed(text)
    if spelling.ambiguous is not None or doi_flaw(spelling.name):
        raise DOISyntaxError(text, 0, "no DOI")
    return spelling.name


@given(st.sampled_from(_HEADS), st.lists(_PIECES, max_size=8).map("".join))
def test_odd_names_are_read_alike(head: str, suffix: str) -> None:
    text = f"{head}10.1000/{suffix}"
    if name := _parse.frequent(text):
        assert name == _generally(text)


@given(dois())
def test_uris_and_links_are_read_alike(doi: DOI) -> None:
    for text in (doi.name, doi.uri, doi.url):
        if name := _parse.frequent(text):
            assert name == _generally(text)
        assert DOI.parse(text).name == _generally(text)


@pytest.mark.parametrize(
    "text",
    [
        "doi:10.1000/182",
        "https://doi.org/10.1000/182",
        "doi:10.1002/%28SICI%291%3C2%3E3",
        "https://doi.org/10.26321/%C3%81",
    ],
)
def test_the_most_frequent_spellings_take_the_fast_way(text: str) -> None:
    assert _parse.frequent(text) == _generally(text)
