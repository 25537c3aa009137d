"""TeX reduced to plain text, as titles and names in BibTeX need it."""

from __future__ import annotations

import re
import unicodedata

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
