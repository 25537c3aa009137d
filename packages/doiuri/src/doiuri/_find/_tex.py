"""What TeX shows for its escapes, accents and symbols."""

import re
import unicodedata


def _pairs(words: str) -> dict[str, str]:
    listed = words.split()
    return dict(zip(listed[::2], listed[1::2], strict=True))


# Accent commands and the combining characters they stand for
_ACCENTS = _pairs(
    "` \u0300 ' \u0301 ^ \u0302 \" \u0308 ~ \u0303 = \u0304 . \u0307"
    " u \u0306 v \u030c H \u030b c \u0327 k \u0328 r \u030a d \u0323"
)
_SYMBOLS = _pairs(
    "textless < textgreater > textunderscore _ textpercent % textdollar $ textasciitilde ~ textasciicircum ^"
    " textbar | textbackslash \\ slash / textquotesingle ' textquotedbl \" textendash \u2013"
    " textbraceleft { textbraceright } lbrace { rbrace } ss ß o ø O Ø l ł L Ł ae æ AE Æ oe œ OE Œ aa å AA Å"
    " dh ð DH Ð th þ TH Þ i ı j ȷ"
)
_PLAIN = {",": " ", "lt": "<", "less": "<", "gt": ">"}
_NAMES = "|".join(sorted(_SYMBOLS, key=len, reverse=True))

# An escape, with groups for ``shown``; in patterns that ignore case, the symbols' case still counts
EDIT = (
    r"(?-i:\\(?P<escaped>[%&#$_{} ,])"
    r"|\\(?P<accent>[`'^\"~=.]|[uvHckrd](?![A-Za-z]))\s?(?:\{\\?(?P<letter>[A-Za-z])\}|\\?(?P<bare>[A-Za-z])"
    r"(?![A-Za-z]*\{))"
    rf"|\\(?P<symbol>{_NAMES})(?:\{{\}}|(?![A-Za-z])[ \t]?)"
    r"|(?:\$|\\\(|\\ensuremath\{)\\?(?P<math>[<>_~#%^&]|lt|gt|less)(?:\$|\\\)|\})"
    r"|(?P<nothing>\\[-/]|\\(?:allowbreak|string)(?![A-Za-z])[ \t]?))"
)


def shown(mark: re.Match[str]) -> str:
    """Return what readers see for a match of EDIT."""
    if mark["accent"]:
        return unicodedata.normalize("NFC", (mark["letter"] or mark["bare"]) + _ACCENTS[mark["accent"]])
    if mark["symbol"]:
        return _SYMBOLS[mark["symbol"]]
    escaped: str = mark["escaped"] or mark["math"] or ""
    return _PLAIN.get(escaped, escaped)
