"""DOIs in BibTeX and LaTeX: escapes undone, protective braces dropped, values broken over lines joined."""

from __future__ import annotations

import re
import unicodedata
from functools import cached_property
from typing import TYPE_CHECKING

from doiuri._find._patterns import lazy
from doiuri._find._plain import SIMPLE, simple_value
from doiuri._find._rendered import Rendered
from doiuri._find._scan import MOST, Scanner, no_name

if TYPE_CHECKING:
    from doiuri._find._scan import Part


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
_NO_BRACES = str.maketrans("", "", "{}")  # of a subscript
_CHARACTERS = {",": " ", "lt": "<", "less": "<", "gt": ">", "backslash": "\\"}
_SYMBOL = "|".join(sorted(_SYMBOLS, key=len, reverse=True))
_ESCAPE = (
    r"\\(?P<escaped>[%&#$_{} ,])"
    r"|\\(?P<accent>[`'^\"~=.]|[uvHckrd](?![A-Za-z]))\s?(?:\{\\?(?P<letter>[A-Za-z])\}|\\?(?P<bare>[A-Za-z])"
    r"(?![A-Za-z]*\{))"
    rf"|\\(?P<symbol>{_SYMBOL})(?:\{{\}}|(?![A-Za-z])[ \t]?)"
    r"|(?:\$|\\\(|\\ensuremath\{)\\?(?P<math>_(?:[0-9A-Za-z]|\{[0-9A-Za-z]{1,9}\})"
    r"|[<>_~#%^&]|lt|gt|less|backslash)(?:\$|\\\)|\})"
    r"|(?P<nothing>\\[-/]|\\(?:allowbreak|string)(?![A-Za-z])[ \t]?)"
)

_FIELD = lazy(r"(?<![A-Za-z_-])(doi|url|ee|link)\Z", re.IGNORECASE)
# What programs leave behind a name: the query of its page, the next field of JSON
_REMAINS = lazy(r"\?(?:seq|ref|origin|journalCode|casa_token|needAccess|utm_[a-z]+)=|\",\"")
_FIELD_LENGTH = 50  # with the white space before the "="
_IN_VALUE = lazy(rf"(?P<escape>{_ESCAPE})|[{{}}]|%?[ \t]*[\r\n]\s*", re.DOTALL)
_BRACE = lazy(r"\\.|[{}]", re.DOTALL)
_IN_BRACES = r"[^{}\\]++|\\."
_BRACED = lazy(  # with braces one level deep
    rf"\{{(?>(?:{_IN_BRACES}|\{{(?>(?:{_IN_BRACES}){{0,{MOST}}})\}}){{0,{MOST}}})\}}", re.DOTALL
)
_QUOTED = lazy(r"[^\"\\]*+(?:\\.[^\"\\]*+)*", re.DOTALL)
_NOT_IN_NAMES = frozenset(["", " ", "=", "{", ",", "\n", '"'])
# Longer values are prose. The bounds also keep the time linear, for values hold values.
_LONGEST_VALUE = 1000
_MOST_BRACES = 20
_NAME_LENGTH = 200  # how far back the start of the name is looked for that a brace is in

# For skipping: a command that is a part by itself, the start of a value that may be a DOI, and running text
_COMMAND = (
    rf"\\(?!(?:{_SYMBOL}|url|href|doi|path|nolinkurl|ensuremath|allowbreak|string|[uvHckrd])(?![A-Za-z]))"
    r"[A-Za-z]++\*?+\{?+"
)
_FIELD_START = r"[ \t]*+(?:doi|DOI|url|Url|URL|ee|link)[ \t]{0,20}+="
_VALUE = rf"(?:\n{_FIELD_START}[ \t]*+[{{\"]|\\(?:url|href|doi|path|nolinkurl)[ \t]*+\{{)"
_NOTHING = r"(?>(?:[{}]|[ \t]*[\r\n]\s*+)+)"
_NO_NAME = no_name(rf"(?:\$|\\(?!%[^2])|{_NOTHING}[0-9./:%\\$])", rf"(?:\\[-/as]|{_NOTHING}[0.\\])")
_ORDINARY = r"[^\\$1\n]*+"
_RUNNING = (
    rf"{_ORDINARY}(?>(?:(?:{_NO_NAME}|\n(?!{_FIELD_START})|\\[%&#$_{{}} ,]"
    r"|\\(?:[`'^\"~=.]|[vHckrd](?=\{))(?:\{[A-Za-z]\}|[A-Za-z](?![A-Za-z]*+\{))"
    rf"|\$(?![_<>~#%^&\\]|lt|gt|less|backslash)){_ORDINARY}){{0,{MOST}}})"
)


class BibTeX(Scanner):
    """BibTeX or LaTeX."""

    first = lazy(r"[\\{}$~=]")
    token = lazy(
        r"(?P<command>\\(?P<name>url|href|doi|path|nolinkurl)[ \t]*\{)"
        r"|(?P<field>=(?:(?<=[iIlLeEkK]=)|(?<=[iIlLeEkK\s]\s=))\s*[{\"])"  # as in "doi", "url", "ee", "link"
        rf"|(?P<escape>{_ESCAPE})|(?P<brace>\{{(?<![ ={{,\n\"]\{{)|\}})|(?P<tie>~+)"
        r"|(?P<stop>\\(?:[A-Za-z]+\*?\{?|.))",
        re.DOTALL,
    )

    running = lazy(_RUNNING)
    # Ends before a value that has a name in it, not after its start
    skipped = lazy(rf"(?:(?>(?:{_COMMAND}|{_VALUE})?){_RUNNING}(?={_COMMAND}|{_VALUE})){{0,{MOST}}}")
    frequent = lazy(rf"{_VALUE}(?:(?<=\{{)(?=[^\s{{}}\"]++\}})|(?<=\")(?=[^\s{{}}\"]++\")){SIMPLE}(?=[}}\"])")

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._braces = _Braces(text)

    def replacement(self, token: re.Match[str]) -> str | None:
        match token.lastgroup:
            case "escape":
                return _unescaped(token)
            case "tie":
                return " "  # in prose; in a value or a URL it is itself
            case "brace" if self._braces.is_protective(token.start()):
                return ""
            case _:
                return None

    def part(self, token: re.Match[str]) -> Part | None:
        match token.lastgroup:
            case "command":
                return self._value(token.end(), labelled=token["name"] == "doi")
            case "field":
                field = _field(self.text, token.start())
                return self._value(token.end(), labelled=field == "doi") if field else None
            case "brace":
                return None
            case _:
                return (), token.end()

    def _value(self, start: int, *, labelled: bool) -> Part:
        """The value whose delimiter is just before ``start``; if it is not one DOI, it is running text."""
        text = self.text
        first, end = start, self._value_end(start)
        if not _may_be_a_doi(text, first, end):
            return (), start
        while first < end and text[first] == "{" and self._braces.closer(first) == end - 1:
            first, end = first + 1, end - 1
        if simple := simple_value(text, first, end):
            return (simple,), end
        remains = _REMAINS.search(text, first, end)
        stop = remains.start() if remains else end
        mention = Rendered.replacing(text, (first, stop), _IN_VALUE, _unescaped).whole(labelled=labelled)
        return ((), start) if mention is None else ((mention,), end)

    def _value_end(self, start: int) -> int:
        if self.text[start - 1] == "{":
            return self._braces.closer(start - 1) or start
        quoted = _QUOTED.match(self.text, start, start + _LONGEST_VALUE + 2)
        return quoted.end() if quoted else start


def _unescaped(token: re.Match[str]) -> str:
    """Return what TeX shows for an escape, and nothing for a brace or line break in a value."""
    if token["accent"]:
        return unicodedata.normalize("NFC", (token["letter"] or token["bare"]) + _ACCENTS[token["accent"]])
    if token["symbol"]:
        return _SYMBOLS[token["symbol"]]
    character: str = token["escaped"] or token["math"] or ""
    if len(character) > 1 and character[0] == "_":
        return character.translate(_NO_BRACES)
    return _CHARACTERS.get(character, character)


def _field(text: str, place: int) -> str | None:
    """Return the name of the field whose "=" is at ``place``, if it is one that holds DOIs."""
    before = text[max(0, place - _FIELD_LENGTH) : place].rstrip()
    field = _FIELD.search(before, max(0, len(before) - len("link")))
    return field[1].lower() if field else None


def _may_be_a_doi(text: str, start: int, end: int) -> bool:
    is_prose = end - start > _LONGEST_VALUE or text.count("{", start, end) > _MOST_BRACES
    return not is_prose and text.find("10", start, end) >= 0


class _Braces:
    """The braces of a text: which close which, and which only protect a part of a name."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._protective: set[int] = set()  # closing braces

    def closer(self, place: int) -> int | None:
        """Return where the brace that opens at ``place`` is closed."""
        braced = _BRACED.match(self._text, place)
        return braced.end() - 1 if braced else self._closers.get(place)

    @cached_property
    def _closers(self) -> dict[int, int]:
        """Where each brace of the text is closed, by where it opens."""
        closers: dict[int, int] = {}
        opened: list[int] = []
        for brace in _BRACE.finditer(self._text):
            if brace[0] == "{":
                opened.append(brace.start())
            elif brace[0] == "}" and opened:
                closers[opened.pop()] = brace.start()
        return closers

    def is_protective(self, place: int) -> bool:
        """Return whether TeX shows nothing for the brace, as in ``10.1000/{ABC}``.

        A closing brace is known to be protective once its opening brace has been asked about.
        """
        if self._text[place] == "}":
            return place in self._protective
        closer = self.closer(place) if self._is_in_name(place) else None
        if closer is None:
            return False
        self._protective.add(closer)
        return True

    def _is_in_name(self, place: int) -> bool:
        if self._text[place - 1 : place] in _NOT_IN_NAMES:
            return False
        window = self._text[max(0, place - _NAME_LENGTH) : place]
        name = window[max(window.rfind("10."), 0) :]
        if not name.startswith("10.") or any(mark in name for mark in ' \t\r\n"'):
            return False
        return name[-1] != "}" or place - 1 in self._protective
