r"""TeX: its accents and symbols, and the text that it shows."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from doiuri._patterns import lazy

if TYPE_CHECKING:
    import re

__all__ = ["ACCENTS", "SYMBOLS", "plain_text"]


def _pairs(words: str) -> dict[str, str]:
    listed = words.split()
    return dict(zip(listed[::2], listed[1::2], strict=True))


ACCENTS = _pairs(
    "` \u0300 ' \u0301 ^ \u0302 \" \u0308 ~ \u0303 = \u0304 . \u0307"
    " u \u0306 v \u030c H \u030b c \u0327 k \u0328 r \u030a d \u0323 b \u0331"
)
"""Accent commands, without the backslash, and the combining characters that they stand for."""

SYMBOLS = _pairs(
    "textless < textgreater > textunderscore _ textpercent % textdollar $ textasciitilde ~ textasciicircum ^"
    " textbar | textbackslash \\ slash / textquotesingle ' textquotedbl \" textquoteleft \u2018"
    " textquoteright \u2019 textendash \u2013 textemdash \u2014 textbraceleft { textbraceright }"
    " lbrace { rbrace } ss ß o ø O Ø l ł L Ł ae æ AE Æ oe œ OE Œ aa å AA Å dh ð DH Ð dj đ DJ Đ"
    " th þ TH Þ i ı j ȷ alpha α beta β gamma γ delta δ epsilon ε lambda λ mu μ pi π sigma σ"
    " omega ω infty ∞ times × LaTeX LaTeX TeX TeX"
)
"""Commands, without the backslash, and the characters that they stand for."""

_TOKEN = lazy(
    r"\\(?P<accent>[`'^\"~=.]|[uvHckrdb](?![A-Za-z]))\s*(?:\{\s*\\?(?P<braced>[A-Za-z])\s*\}|\\?(?P<bare>[A-Za-z]))"
    r"|\\(?P<name>[A-Za-z]+)\*?(?:\{\}|[ \t]*)|\\(?P<sign>[%&#$_{}])|\\(?P<space>[ ,;:!/\\-])"
    r"|(?P<brace>[{}$]|\\[()])|(?P<tie>~)|(?P<dash>---?)"
)


def plain_text(tex: str) -> str:
    r"""Return the text that TeX shows, without markup: commands that are not known show their arguments.

    >>> plain_text(r"{\"U}ber {\emph{Drosophila}} -- \'etude")
    'Über Drosophila – étude'
    """
    return " ".join(unicodedata.normalize("NFC", _TOKEN.sub(_meaning, tex)).split())


def _meaning(token: re.Match[str]) -> str:
    if token["accent"]:
        return (token["braced"] or token["bare"]) + ACCENTS[token["accent"]]
    if token["name"]:
        return SYMBOLS.get(token["name"], "")
    if token["sign"]:
        return token["sign"]
    if token["dash"]:
        return "–" if len(token["dash"]) == 2 else "—"
    return " " if token["tie"] or (token["space"] or "/") not in "/-!" else ""
