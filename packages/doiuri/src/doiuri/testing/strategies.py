"""Hypothesis strategies for DOIs, and for the spellings that people and programs use.

Needs ``doiuri[testing]``. All names are valid. What often breaks programs is frequent: runs of slashes, dot
segments, percent signs and escapes in either case, brackets, entities, non-ASCII letters in both cases.
"""

from __future__ import annotations

from urllib.parse import quote

from doiuri import DOI, FINAL, LINK, URI, encode

try:
    from hypothesis import strategies as st
    from hypothesis.strategies import SearchStrategy
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"{error}: pip install 'doiuri[testing]'", name=error.name) from None

__all__ = ["case_pairs", "dois", "names", "prefixes", "spelled_texts", "spelled_uris", "suffixes"]

_TRICKY = "/./..//%%2F%41#?&;:,+<>()[]{}\\|^`\"'~-_= \u00a0éÁ\u0301\u212aſ日😀"
_ENTITIES = ("&amp;", "&lt;", "&#60;", "&#x3C;", "&lt", "&#60", "&#0;", "&nosuch;")
_SEGMENTS = st.lists(
    st.sampled_from((".", "..", "", "...", "a", ".a", "%2E")), min_size=2, max_size=7
)
_DIGIT = st.sampled_from("0123456789abcdefABCDEF")
_PIECES = st.one_of(
    _SEGMENTS.map("/".join),  # runs of dot segments and slashes
    st.builds("%{}{}".format, _DIGIT, _DIGIT),
    st.sampled_from(_ENTITIES),
    st.sampled_from("aAbBzZéÉñÑßẞσΣςΩωдДЖжıİſＡａ"),
)
_GRAPHIC = st.characters(exclude_categories=("C", "Zl", "Zp"))
_LABELS = ("", "doi:", "DOI:", "doi: ", "DOI ", "info:doi/", "urn:doi:", "hdl:")
_LINKS = (
    "https://doi.org/",
    "http://dx.doi.org/",
    "HTTPS://WWW.DOI.ORG/",
    "//doi.org/",
    "doi.org/api/handles/",
)


def prefixes() -> SearchStrategy[str]:
    """Return a strategy for prefixes such as ``10.1000`` and ``10.1000.10``."""
    number = st.text("0123456789", min_size=1, max_size=6)
    return st.lists(number, min_size=1, max_size=3).map(lambda numbers: ".".join(["10", *numbers]))


def suffixes(max_size: int = 30) -> SearchStrategy[str]:
    """Return a strategy for suffixes.

    :param max_size: the greatest length, in characters.
    """
    characters = st.text(st.sampled_from(_TRICKY) | _GRAPHIC, min_size=1, max_size=max_size)
    pieces = st.lists(_PIECES | st.text(_GRAPHIC, max_size=3), min_size=1, max_size=6).map("".join)
    ends = st.builds("{}{}".format, characters, st.sampled_from(_ENTITIES))
    whole = (pieces | ends).map(lambda text: text[:max_size])
    return characters | whole.filter(bool)


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
    return name, "".join(draw(st.sampled_from(_cases(character))) for character in name)


@st.composite
def spelled_uris(draw: st.DrawFn) -> tuple[str, DOI]:
    """Return a strategy for pairs of a ``doi:`` URI and its DOI.

    The URIs have unneeded escapes, and hexadecimal digits in either case.
    """
    doi = draw(dois(12))
    text = encode(doi.name, draw(st.sampled_from([URI, FINAL])))
    spelled = "".join(draw(st.sampled_from(_spellings(token))) for token in _tokens(text))
    return draw(st.sampled_from(["doi:", "DOI:", "Doi:"])) + spelled, doi


@st.composite
def spelled_texts(draw: st.DrawFn) -> tuple[str, DOI]:
    """Return a strategy for pairs of a text for ``DOI.parse`` and its DOI.

    The texts have labels, links, brackets and white space.
    """
    doi = draw(dois())
    text = draw(st.sampled_from(_LABELS + _LINKS)) + encode(
        doi.name, draw(st.sampled_from([URI, LINK, FINAL]))
    )
    white = st.text(" \t\r\n", max_size=2)
    text = draw(white) + text + draw(white)
    return (f"<{text}>" if draw(st.booleans()) else text), doi


def _cases(character: str) -> list[str]:
    """Return the character, and its other case if that is one character."""
    return [
        character,
        *(other for other in {character.swapcase()} - {character} if len(other) == 1),
    ]


def _tokens(text: str) -> list[str]:
    first, *parts = text.split("%")
    return [*first, *(token for part in parts for token in (f"%{part[:2]}", *part[2:]))]


def _spellings(token: str) -> list[str]:
    """Return the ways to write an escape, or a character: bare, or escaped with digits in any case."""
    escape = token if len(token) > 1 else f"%{ord(token):02X}"
    high, low = escape[1], escape[2]
    cases = [escape, escape.lower(), f"%{high.lower()}{low}", f"%{high}{low.lower()}"]
    return cases if len(token) > 1 else [token, *cases, quote(token, safe="/")]
