"""Hypothesis strategies for DOIs, and for the spellings that people and programs use.

Needs ``doiuri[testing]``. All names are valid. Characters that break programs are frequent: slashes, dots,
percent signs, brackets, letters beyond ASCII.
"""

from __future__ import annotations

from urllib.parse import quote

from doiuri import DOI, FINAL, LINK, URI, encode

try:
    from hypothesis import strategies as st
    from hypothesis.strategies import SearchStrategy
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"{error}: pip install 'doiuri[testing]'", name=error.name) from None

__all__ = ["dois", "names", "prefixes", "spelled_texts", "spelled_uris", "suffixes"]

_TRICKY = "/./..//%%2F%41#?&;:,+<>()[]{}\\|^`\"'~-_= \u00a0éÁ\u0301\u212aſ日😀"
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
    return st.text(st.sampled_from(_TRICKY) | _GRAPHIC, min_size=1, max_size=max_size)


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
def spelled_uris(draw: st.DrawFn) -> tuple[str, DOI]:
    """Return a pair of a ``doi:`` URI and its DOI; with unneeded escapes, and hex digits in either case."""
    doi = draw(dois(12))
    text = encode(doi.name, draw(st.sampled_from([URI, FINAL])))
    spelled = "".join(draw(st.sampled_from(_spellings(token))) for token in _tokens(text))
    return draw(st.sampled_from(["doi:", "DOI:", "Doi:"])) + spelled, doi


@st.composite
def spelled_texts(draw: st.DrawFn) -> tuple[str, DOI]:
    """Return a pair of a text for ``DOI.parse`` and its DOI: with labels, links, brackets and white space."""
    doi = draw(dois())
    text = draw(st.sampled_from(_LABELS + _LINKS)) + encode(
        doi.name, draw(st.sampled_from([URI, LINK, FINAL]))
    )
    white = st.text(" \t\r\n", max_size=2)
    text = draw(white) + text + draw(white)
    return (f"<{text}>" if draw(st.booleans()) else text), doi


def _tokens(text: str) -> list[str]:
    first, *parts = text.split("%")
    return [*first, *(token for part in parts for token in (f"%{part[:2]}", *part[2:]))]


def _spellings(token: str) -> list[str]:
    if len(token) > 1:
        return [token, token.lower()]
    return [token, f"%{ord(token):02X}", f"%{ord(token):02x}", quote(token, safe="/")]
