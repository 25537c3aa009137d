"""DOIs in BibTeX and LaTeX: escapes undone, protective braces dropped, values broken over lines joined."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, ClassVar

from doiuri._find._markup import Rendered, Scanner, interrupted_name_start
from doiuri._patterns import lazy
from doiuri.tex import ACCENTS, SYMBOLS

if TYPE_CHECKING:
    from doiuri._find._markup import Part

_NO_BRACES = str.maketrans("", "", "{}")  # of a subscript
_CHARACTERS = {",": " ", "lt": "<", "less": "<", "gt": ">", "backslash": "\\"}
_SYMBOL = "|".join(sorted(SYMBOLS, key=len, reverse=True))
_ESCAPE = (
    r"\\(?P<escaped>[%&#$_{} ,])"
    r"|\\(?P<accent>[`'^\"~=.]|[uvHckrdb](?![A-Za-z]))\s?(?:\{\\?(?P<letter>[A-Za-z])\}|\\?(?P<bare>[A-Za-z])"
    r"(?![A-Za-z]*\{))"
    rf"|\\(?P<symbol>{_SYMBOL})(?:\{{\}}|(?![A-Za-z])[ \t]?)"
    r"|(?:\$|\\\(|\\ensuremath\{)\\?(?P<math>_(?:[0-9A-Za-z]|\{[0-9A-Za-z]{1,9}\})"
    r"|[<>_~#%^&]|lt|gt|less|backslash)(?:\$|\\\)|\})"
    r"|(?P<nothing>\\[-/]|\\text(?:sub|super)script(?=\{)|\\(?:allowbreak|string)(?![A-Za-z])[ \t]?)"
)

_FIELD = lazy(r"(?<![A-Za-z_-])(doi|url|ee|link)\Z", re.IGNORECASE)
# What programs leave behind a name: the query of its page, the next field of JSON
_REMAINS = lazy(r"\?(?:seq|ref|origin|journalCode|casa_token|needAccess|utm_[a-z]+)=|\",\"")
_FIELD_LENGTH = 50  # with the white space before the "="
_IN_VALUE = lazy(rf"(?P<escape>{_ESCAPE})|[{{}}]|%?[ \t]*[\r\n]\s*", re.DOTALL)
_BRACE = lazy(r"\\.|[{}]", re.DOTALL)
_DEPTH = {"{": 1, "}": -1}
_QUOTED = lazy(r"[^\"\\]*+(?:\\.[^\"\\]*+)*", re.DOTALL)
_NOT_IN_NAMES = frozenset(["", " ", "=", "{", ",", "\n", '"'])
# Longer values are prose. The bounds also keep the time linear, for values hold values.
_LONGEST_VALUE = 1000
_MOST_BRACES = 20
_NAME_LENGTH = 200  # how far back the start of the name is looked for that a brace is in
_NOTHING = r"(?>(?:[{}]|[ \t]*[\r\n]\s*+)+)"


class BibTeX(Scanner):
    """BibTeX or LaTeX."""

    names = (
        lazy(
            interrupted_name_start(
                rf"(?:\$|\\(?!%[^2])|{_NOTHING}[0-9./:%\\$])", rf"(?:\\[-/as]|{_NOTHING}[0.\\])"
            )
        ),
    )
    # Before an entry, a field or a blank line
    boundary = lazy(r"\n(?=[ \t]*+(?:@|[A-Za-z_-]++[ \t]*+=|\r?(?:\n|\Z)))")
    first = lazy(r"[\\{}$~=]")
    token = lazy(
        r"(?P<command>\\(?P<name>url|href|doi|path|nolinkurl)[ \t]*\{)"
        r"|(?P<field>=(?:(?<=[iIlLeEkK]=)|(?<=[iIlLeEkK\s]\s=))\s*[{\"])"  # as in "doi", "url", "ee", "link"
        rf"|(?P<escape>{_ESCAPE})|(?P<brace>\{{(?<![ ={{,\n\"]\{{)|\}})|(?P<tie>~+)"
        r"|(?P<stop>\\(?:[A-Za-z]+\*?\{?|.))",
        re.DOTALL,
    )
    delimiters: ClassVar = {"}": ("= {", "={", "\\url{", "\\doi{"), '"': ('= "', '="')}

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._protective: set[int] = set()  # closing braces that only protect a part of a name

    def meaning(self, token: re.Match[str], end: int) -> str | Part | None:  # noqa: ARG002 - values go on
        match token.lastgroup:
            case "escape":
                return _unescaped(token)
            case "tie":
                return " "  # in prose; in a value or a URL it is itself
            case "brace":
                return "" if self._is_protective(token.start()) else None
            case "command":
                return self._value(token.end(), labelled=token["name"] == "doi")
            case "field":
                field = _field(self.text, token.start())
                return self._value(token.end(), labelled=field == "doi") if field else None
            case _:
                return (), token.end()

    def _value(self, start: int, *, labelled: bool) -> Part:
        """The value whose delimiter is just before ``start``; if it is not one DOI, it is running text."""
        text = self.text
        first, end = start, self._value_end(start)
        if text.find("10", first, end) < 0:
            return (), start
        while first < end and text[first] == "{" and _closer(text, first) == end - 1:
            first, end = first + 1, end - 1
        remains = _REMAINS.search(text, first, end)
        stop = remains.start() if remains else end
        mention = Rendered.replacing(text, (first, stop), _IN_VALUE, _unescaped).whole(
            labelled=labelled
        )
        return ((), start) if mention is None else ((mention,), end)

    def _value_end(self, start: int) -> int:
        if self.text[start - 1] == "{":
            return _closer(self.text, start - 1) or start
        quoted = _QUOTED.match(self.text, start, start + _LONGEST_VALUE)
        return quoted.end() if quoted and self.text.startswith('"', quoted.end()) else start

    def _is_protective(self, place: int) -> bool:
        """Return whether TeX shows nothing for the brace, as in ``10.1000/{ABC}``.

        A closing brace is known to be protective once its opening brace has been asked about.
        """
        if self.text[place] == "}":
            return place in self._protective
        closer = _closer(self.text, place) if self._is_in_name(place) else None
        if closer is None:
            return False
        self._protective.add(closer)
        return True

    def _is_in_name(self, place: int) -> bool:
        if self.text[place - 1 : place] in _NOT_IN_NAMES:
            return False
        window = self.text[max(0, place - _NAME_LENGTH) : place]
        name = window[max(window.rfind("10."), 0) :]
        if not name.startswith("10.") or any(mark in name for mark in ' \t\r\n"'):
            return False
        return name[-1] != "}" or place - 1 in self._protective


def _unescaped(token: re.Match[str]) -> str:
    r"""Return what TeX shows for an escape, and nothing for a brace or line break in a value.

    Not ``doiuri.tex.plain_text``: it strips the blank of ``\,``, where a name ends, and drops the mark of
    ``$_2$``, which programs write for "_2".
    """
    if token["accent"]:
        return unicodedata.normalize(
            "NFC", (token["letter"] or token["bare"]) + ACCENTS[token["accent"]]
        )
    if token["symbol"]:
        return SYMBOLS[token["symbol"]]
    character: str = token["escaped"] or token["math"] or ""
    if len(character) > 1 and character[0] == "_":
        return character.translate(_NO_BRACES)
    return _CHARACTERS.get(character, character)


def _field(text: str, place: int) -> str | None:
    """Return the name of the field whose "=" is at ``place``, if it is one that holds DOIs."""
    before = text[max(0, place - _FIELD_LENGTH) : place].rstrip()
    field = _FIELD.search(before, max(0, len(before) - len("link")))
    return field[1].lower() if field else None


def _closer(text: str, place: int) -> int | None:
    """Return where the brace that opens at ``place`` is closed; None if that is too far."""
    depth = count = 0
    for brace in _BRACE.finditer(text, place, place + _LONGEST_VALUE):
        depth += _DEPTH.get(brace[0], 0)
        count += brace[0] == "{"
        if depth == 0:
            return brace.start()
        if count > _MOST_BRACES:
            break
    return None
