r"""TeX: its accents and symbols, and the text that it shows."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from doiuri._patterns import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ACCENTS", "SYMBOLS", "plain_text", "rich_text"]


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

_FORMATS = {
    **dict.fromkeys(("emph", "textit", "textsl", "em", "it", "itshape", "sl"), "i"),
    **dict.fromkeys(("textbf", "bf", "bfseries"), "b"),
    **dict.fromkeys(("textsuperscript", "^"), "sup"),
    **dict.fromkeys(("textsubscript", "_"), "sub"),
}
_TOKEN = lazy(
    r"\\(?P<accent>[`'^\"~=.]|[uvHckrdb](?![A-Za-z]))\s*(?:\{\s*\\?(?P<braced>[A-Za-z])\s*\}|\\?(?P<bare>[A-Za-z]))"
    r"|\\href\s*\{[^{}]*\}"
    r"|\\(?P<name>[A-Za-z]+)\*?(?:\{\}|[ \t]*)|\\(?P<sign>[%&#$_{}])|\\(?P<space>[ ,;:!/\\-])"
    r"|(?P<open>\{)|(?P<close>\})|(?P<math>\$|\\[()])|(?P<script>[\^_])(?P<one>[^\s{}$\\])?|(?P<tie>~)"
    r"|(?P<dash>---?)|(?P<quote>``?|'')|(?P<other>[^\\{}$^_~`'-]+|.)",
    re.DOTALL,
)
_QUOTES = {"``": "“", "`": "‘", "''": "”"}
_WORD = lazy(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_LONGEST_SMALL = 4  # letters of "with", which has no capital in title case; longer words have
_SINGLE_QUOTED = lazy(r"(‘[^‘’']*)'(?!\w)")
_SENTENCE_START = lazy(r"(?:^|[:?!.])[\s“‘\"'(]*(?:</?\w+>)*\Z")


def plain_text(tex: str) -> str:
    r"""Return the text that TeX shows, without markup: commands that are not known show their arguments.

    >>> plain_text(r"{\"U}ber {\emph{Drosophila}} -- \'etude")
    'Über Drosophila – étude'
    """
    return _finished("".join(text for text, kind in _shown(tex) if kind != "tag"))


def rich_text(tex: str, *, sentence_case: bool = False) -> str:
    r"""Return the text that TeX shows, with the tags of CSL's rich text.

    :param sentence_case: lower the capitals of words in title case, as BibTeX does; braces protect them. Text
        with other words that are not capitalized is in sentence case already, and stays

    >>> rich_text(r"The \emph{Use} of H$_2$O in {France}", sentence_case=True)
    'The <i>use</i> of H<sub>2</sub>O in France'
    """
    pieces = [*_shown(tex)]
    text = "".join(piece for piece, _ in pieces)
    if sentence_case:
        kept = "".join(("x" if kind else " ") * len(piece) for piece, kind in pieces)
        words = [word for word in _WORD.finditer(text) if "x" not in kept[slice(*word.span())]]
        if not any(len(word[0]) > _LONGEST_SMALL and word[0].islower() for word in words):
            for word in words:
                start, end = word.span()
                if _is_lowered(text, word):
                    text = text[:start] + word[0].lower() + text[end:]
    return _finished(text)


def _finished(text: str) -> str:
    return _SINGLE_QUOTED.sub(r"\1’", " ".join(text.split()))


def _is_lowered(text: str, word: re.Match[str]) -> bool:
    is_capitalized = word[0] == "A" or (word[0][0].isupper() and word[0][1:].islower())
    has_stop = (
        text[word.end() : word.end() + 1] == "." and text[word.end() + 1 : word.end() + 2].strip()
    )
    before = text[max(0, word.start() - 30) : word.start()]
    return is_capitalized and not has_stop and not _SENTENCE_START.search(before)


def _shown(tex: str) -> Iterator[tuple[str, str]]:
    """Yield pieces of the text and their kinds: "tag", "protected" if the case is to stay, or ""."""
    closers: list[
        tuple[str, bool]
    ] = []  # of each open brace: the tag that closes it, and whether it protects
    opening = ""  # the format of the brace that comes next
    is_math = follows_command = False
    for token in _TOKEN.finditer(tex):
        name, kind = (
            token["name"] or "",
            "protected" if is_math or any(p for _, p in closers) else "",
        )
        command, follows_command = follows_command, bool(name)
        if token["open"]:
            closers.append((f"</{opening}>" if opening else "", not command))
            if opening:
                yield f"<{opening}>", "tag"
            opening = ""
        elif token["close"]:
            if closers:
                yield closers.pop()[0], "tag"
        elif token["math"]:
            is_math = not is_math
        elif name in _FORMATS:
            if tex.startswith("{", token.end()):
                opening = _FORMATS[name]
            elif closers:  # a switch, such as {\em …}
                yield f"<{_FORMATS[name]}>", "tag"
                closers[-1] = f"</{_FORMATS[name]}>{closers[-1][0]}", closers[-1][1]
        elif token["script"] and is_math:
            opening, follows_command = _FORMATS[token["script"]], True
            if token["one"]:
                yield from ((f"<{opening}>", "tag"), (token["one"], kind), (f"</{opening}>", "tag"))
                opening = ""
        elif text := _meaning(token):
            yield text, kind


def _meaning(token: re.Match[str]) -> str:
    if token["accent"]:
        return unicodedata.normalize(
            "NFC", (token["braced"] or token["bare"]) + ACCENTS[token["accent"]]
        )
    if token["name"]:
        return SYMBOLS.get(token["name"], "")
    if token["dash"]:
        return "–" if len(token["dash"]) == 2 else "—"
    if token["quote"]:
        return _QUOTES[token["quote"]]
    if token["tie"] or token["space"]:
        return "" if token["space"] in ("/", "-", "!") else " "
    return token["sign"] or token["other"] or (token["script"] and token[0]) or ""
