"""TeX: text and commands without comments and verbatim text; and what plain text TeX shows."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from doiuri_cli.readers._blank import Closers, blanked, stretches
from doiuri_cli.readers._part import Part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri_cli.files import Source

_VERBATIM = ("verbatim", "Verbatim", "lstlisting", "minted", "alltt", "comment", "filecontents")
_OPENER = re.compile(
    rf"\\(?:begin\{{(?P<name>(?:{'|'.join(_VERBATIM)})\*?)\}}|(?P<off>iffalse)(?![A-Za-z])|(?P<end>end\{{document\}}))"
)
_CLOSERS = {
    **{
        name: re.compile(rf"\\end\{{{re.escape(name)}\}}")
        for first in _VERBATIM
        for name in (first, f"{first}*")
    },
    "iffalse": re.compile(r"\\fi(?![A-Za-z])"),
}
_IN_LINE = re.compile(
    r"\\(?:url|href|doi|path|nolinkurl)[ \t]*\{[^{}\r\n]*\}"  # where a "%" is itself
    r"|(?P<code>\\(?:verb\*?|lstinline|mintinline\{[a-z]*\})(?P<mark>[^\sA-Za-z0-9*\[{\\])[^\r\n]*?(?P=mark)|%[^\r\n]*)"
    r"|\\."
)
_ACCENTS = dict(
    zip(
        ["`", "'", "^", '"', "~", "=", ".", "u", "v", "H", "c", "k", "r", "d", "b"],
        "\u0300\u0301\u0302\u0308\u0303\u0304\u0307\u0306\u030c\u030b\u0327\u0328\u030a\u0323\u0331",
        strict=True,
    )
)
_SYMBOLS = {
    "ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å",
    "AA": "Å", "dh": "ð", "DH": "Ð", "th": "þ", "TH": "Þ", "dj": "đ", "DJ": "Đ", "i": "ı", "j": "ȷ",
    "textendash": "–", "textemdash": "—", "textquoteright": "’", "textquoteleft": "‘", "textless": "<",
    "textgreater": ">", "textunderscore": "_", "textbackslash": "\\", "slash": "/", "alpha": "α",
    "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "lambda": "λ", "mu": "μ", "pi": "π",
    "sigma": "σ", "omega": "ω", "infty": "∞", "times": "×", "LaTeX": "LaTeX", "TeX": "TeX",
}  # fmt: skip
_TOKEN = re.compile(
    r"\\(?P<accent>[`'^\"~=.]|[uvHckrdb](?![A-Za-z]))\s*(?:\{\s*\\?(?P<braced>[A-Za-z])\s*\}|\\?(?P<bare>[A-Za-z]))"
    r"|\\(?P<name>[A-Za-z]+)\*?(?:\{\}|[ \t]*)|\\(?P<sign>[%&#$_{}])|\\(?P<space>[ ,;:!/\\-])"
    r"|(?P<brace>[{}$]|\\[()])|(?P<tie>~)|(?P<dash>---?)"
)


def read(source: Source) -> Iterator[Part]:
    """Return the whole text, with blanks in the place of what is not read."""
    yield Part(without_code(source.text), "tex")


def without_code(text: str) -> str:
    """Return TeX with blanks in the place of comments and verbatim text."""
    text = blanked(text, _comments(text))
    return blanked(text, _verbatim(text))


def _comments(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of comments and short verbatim text, on the lines that may mention a DOI."""
    for start, end in stretches(text, "\n"):
        if text.find("%", start, end) >= 0 or text.find("\\", start, end) >= 0:
            for token in _IN_LINE.finditer(text, start, end):
                if token["code"]:
                    yield token.span()


def _verbatim(text: str) -> Iterator[tuple[int, int]]:
    closers = Closers(text)
    position = 0
    while (opener := _OPENER.search(text, position)) is not None:
        position = opener.end()
        if opener["end"]:
            yield position, len(text)
            return
        end = closers.end(_CLOSERS[opener["name"] or opener["off"]], position)
        if end is not None:
            yield position, end
            position = end


def plain_text(tex: str) -> str:
    r"""Return the text that TeX shows, without markup: commands that are not known show their arguments.

    >>> plain_text(r"{\"U}ber {\emph{Drosophila}} -- \'etude")
    'Über Drosophila – étude'
    """
    return " ".join(unicodedata.normalize("NFC", _TOKEN.sub(_meaning, tex)).split())


def _meaning(token: re.Match[str]) -> str:
    if token["accent"]:
        return (token["braced"] or token["bare"]) + _ACCENTS[token["accent"]]
    if token["name"]:
        return _SYMBOLS.get(token["name"], "")
    if token["sign"]:
        return token["sign"]
    if token["dash"]:
        return "–" if len(token["dash"]) == 2 else "—"
    return " " if token["tie"] or (token["space"] or "/") not in "/-!" else ""
