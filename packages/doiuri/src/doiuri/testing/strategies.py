"""Hypothesis strategies for DOIs, and for the spellings that people and programs use.

Needs ``doiuri[testing]``. All names are valid. What often breaks programs is frequent: runs of slashes, dot
segments, percent signs and escapes in either case, brackets, entities, non-ASCII letters in both cases.
"""

from __future__ import annotations

import re

from doiuri import DOI, FINAL, LINK, URI, encode

try:
    from hypothesis import strategies as st
    from hypothesis.strategies import SearchStrategy
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"{error}: pip install 'doiuri[testing]'", name=error.name) from None

__all__ = ["case_pairs", "dois", "names", "prefixes", "spelled_texts", "spelled_uris", "suffixes"]

_TRICKY = "/./..//%%2F%41#?&;:,+<>()[]{}\\|^`\"'~-_= \u00a0éÁ\u0301\u212aſ日😀"
_SEGMENT = st.sampled_from((".", "..", "", "...", "a", ".a", "%2E"))
_SEGMENTS = st.lists(_SEGMENT, min_size=2, max_size=7).map("/".join)
_DIGIT = st.sampled_from("0123456789abcdefABCDEF")
_ESCAPE = st.builds("%{}{}".format, _DIGIT, _DIGIT)
_ENTITY = st.sampled_from("&amp; &lt; &#60; &#x3C; &lt &#60 &#0; &nosuch;".split())  # noqa: SIM905
_CASED = st.sampled_from("aAbBzZéÉñÑßẞσΣςΩωдДЖжıİſＡａ")
_GRAPHIC = st.characters(exclude_categories=("C", "Zl", "Zp"))
_LABELS = ("", "doi:", "DOI:", "doi: ", "DOI ", "info:doi/", "urn:doi:", "hdl:")
_LINKS = (
    "https://doi.org/",
    "http://dx.doi.org/",
    "HTTPS://WWW.DOI.ORG/",
    "//doi.org/",
    "doi.org/api/handles/",
)
_WHITE = st.text(" \t\r\n", max_size=2)
# A percent-escape, or any other character
_TOKEN = re.compile("%[0-9A-Fa-f]{2}|.", re.DOTALL)


def prefixes() -> SearchStrategy[str]:
    """Return a strategy for prefixes such as ``10.1000`` and ``10.1000.10``."""
    number = st.text("0123456789", min_size=1, max_size=6)
    numbers = st.lists(number, min_size=1, max_size=3)
    return numbers.map(lambda registrant: ".".join(["10", *registrant]))


def suffixes(max_size: int = 30) -> SearchStrategy[str]:
    """Return a strategy for suffixes.

    :param max_size: the greatest length, in characters.
    """
    character = st.sampled_from(_TRICKY) | _GRAPHIC
    characters = st.text(character, min_size=1, max_size=max_size)

    part = _SEGMENTS | _ESCAPE | _ENTITY | _CASED | st.text(_GRAPHIC, max_size=3)
    of_parts = st.lists(part, min_size=1, max_size=6).map("".join)
    with_entity = st.builds("{}{}".format, characters, _ENTITY)
    of_any_length = of_parts | with_entity
    cut = of_any_length.map(lambda suffix: suffix[:max_size])
    return characters | cut.filter(bool)


def names(max_size: int = 30) -> SearchStrategy[str]:
    """Return a strategy for DOI names.

    :param max_size: the greatest length of the suffix, in characters.
    """
    return st.builds("{}/{}".format, prefixes(), suffixes(max_size))


def dois(max_size: int = 30) -> SearchStrategy[DOI]:
    """Return a strategy for DOIs.

    :param max_size: the greatest length of the suffix, in characters.
    """
    return names(max_size).map(DOI.from_name)


@st.composite
def case_pairs(draw: st.DrawFn) -> tuple[str, str]:
    """Return a strategy for pairs of names that differ only in the case of letters, ASCII or not."""
    name = draw(names())
    other = "".join(draw(_in_any_case(character)) for character in name)
    return name, other


@st.composite
def spelled_uris(draw: st.DrawFn) -> tuple[str, DOI]:
    """Return a strategy for pairs of a ``doi:`` URI and its DOI.

    The URIs have unneeded escapes, and hexadecimal digits in either case.
    """
    doi = draw(dois(12))
    scheme = draw(st.sampled_from(["doi:", "DOI:", "Doi:"]))
    profile = draw(st.sampled_from([URI, FINAL]))
    tokens = _TOKEN.findall(encode(doi.name, profile))
    spelled = "".join(draw(_spellings(token)) for token in tokens)
    return scheme + spelled, doi


@st.composite
def spelled_texts(draw: st.DrawFn) -> tuple[str, DOI]:
    """Return a strategy for pairs of a text for ``DOI.parse`` and its DOI.

    The texts have labels, links, brackets and white space.
    """
    doi = draw(dois())
    label = draw(st.sampled_from(_LABELS + _LINKS))
    profile = draw(st.sampled_from([URI, LINK, FINAL]))
    white_before = draw(_WHITE)
    white_after = draw(_WHITE)
    text = white_before + label + encode(doi.name, profile) + white_after
    if draw(st.booleans()):
        text = f"<{text}>"
    return text, doi


def _in_any_case(character: str) -> SearchStrategy[str]:
    """Return a strategy for the character and, if that is one character, its other case."""
    other = character.swapcase()
    if other == character or len(other) > 1:
        return st.just(character)
    return st.sampled_from([character, other])


def _spellings(token: str) -> SearchStrategy[str]:
    """Return a strategy for the ways to write an escape, or a character: bare, or escaped."""
    if len(token) > 1:
        return st.sampled_from(_in_each_case(token))
    escape = f"%{ord(token):02X}"
    return st.sampled_from([token, *_in_each_case(escape)])


def _in_each_case(escape: str) -> list[str]:
    """Return an escape with each of its two digits in upper and in lower case."""
    high = escape[1]
    low = escape[2]
    return [
        escape,
        escape.lower(),
        f"%{high.lower()}{low}",
        f"%{high}{low.lower()}",
    ]
