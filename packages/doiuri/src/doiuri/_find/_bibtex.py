"""DOIs in BibTeX and LaTeX: escapes undone, protective braces dropped, values broken over lines joined."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, ClassVar

from doiuri._find._markup import Scanner, VisibleText, interrupted_name_start
from doiuri._patterns import lazy
from doiuri.tex import ACCENTS, SYMBOLS

if TYPE_CHECKING:
    from doiuri._find._markup import Construct

_NO_BRACES = str.maketrans("", "", "{}")  # of a subscript
_CHARACTERS = {",": " ", "lt": "<", "less": "<", "gt": ">", "backslash": "\\"}
_SYMBOL = "|".join(sorted(SYMBOLS, key=len, reverse=True))
_ESCAPE = rf"""
    # a character, as in \_
    \\ (?P<escaped> [%&\#$_{{}}\ ,] )
    |
    # a letter with an accent, as in \"a and \c c
    \\ (?P<accent> [`'^"~=.] | [uvHckrdb] (?! [A-Za-z] ) )
    \s?
    (?: \{{ \\? (?P<letter> [A-Za-z] ) \}}
    |   \\? (?P<bare> [A-Za-z] ) (?! [A-Za-z]* \{{ )
    )
    |
    # the command for a character, as in \textless
    \\ (?P<symbol> {_SYMBOL} )
    (?: \{{\}} | (?! [A-Za-z] ) [ \t]? )
    |
    # math, as in $<$ and $_2$
    (?: \$ | \\\( | \\ensuremath\{{ )
    \\?
    (?P<math>
        _ (?: [0-9A-Za-z] | \{{ [0-9A-Za-z]{{1,9}} \}} )
    |   [<>_~\#%^&] | lt | gt | less | backslash
    )
    (?: \$ | \\\) | \}} )
    |
    # what shows nothing
    (?P<nothing>
        \\[-/]
    |   \\text (?: sub | super ) script (?= \{{ )
    |   \\ (?: allowbreak | string ) (?! [A-Za-z] ) [ \t]?
    )
"""

_FIELD = lazy(r"(?<![A-Za-z_-])(doi|url|ee|link)\Z", re.IGNORECASE)
# What programs leave behind a name: the query of its page, the next field of JSON
_REMAINS = lazy(
    r"""
    \? (?: seq | ref | origin | journalCode | casa_token | needAccess | utm_[a-z]+ ) =
    | ","
    """,
    re.VERBOSE,
)
_FIELD_LENGTH = 50  # with the white space before the "="
_VALUE_TOKEN = rf"(?P<escape> {_ESCAPE} ) | [{{}}] | %? [ \t]* [\r\n] \s*"
_IN_VALUE = lazy(_VALUE_TOKEN, re.DOTALL | re.VERBOSE)
_IN_VALUE_WITH_ENTITIES = lazy(
    rf"""
    # left by a program that escaped the value for HTML, and perhaps by another one for TeX
    (?P<entity>
        \\?& (?: amp; )*
        (?: \\?\# (?: [0-9]{{1,7}} | [xX][0-9a-fA-F]{{1,6}} ) | [A-Za-z][A-Za-z0-9]{{1,31}} )
        ;
    )
    | {_VALUE_TOKEN}
    """,
    re.DOTALL | re.VERBOSE,
)
_AMPERSANDS = lazy("&(?:amp;)+(?=.)")  # of an entity that was escaped again
_BRACE = lazy(r"\\.|[{}]", re.DOTALL)  # or an escape, which may be that of a brace
_QUOTED = lazy(r"[^\"\\]*+(?:\\.[^\"\\]*+)*", re.DOTALL)
_NOT_IN_NAMES = frozenset(["", " ", "=", "{", ",", "\n", '"'])
# Longer values are prose. The bounds also keep the time linear, for values hold values.
_LONGEST_VALUE = 1000
_MOST_BRACES = 20
_NAME_LENGTH = 200  # how far back the start of the name is looked for that a brace is in
_NOTHING = r"(?>(?:[{}]|[ \t]*[\r\n]\s*+)+)"


class BibTeX(Scanner):
    r"""BibTeX or LaTeX.

    The value of a field or a command that is one DOI is a construct: ``doi = {10.1000/a\_b}``. Any other value is
    read as running text, in which braces may protect a part of a name: ``10.1000/{ABC}``.
    """

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
        rf"""
        (?P<command> \\ (?P<name> url | href | doi | path | nolinkurl ) [ \t]* \{{ )
        |
        (?P<field>
            = (?: (?<= [iIlLeEkK]= ) | (?<= [iIlLeEkK\s]\s= ) )    # as in "doi", "url", "ee", "link"
            \s* [{{"]
        )
        | (?P<escape> {_ESCAPE} )
        | (?P<brace> \{{ (?<! [ ={{,\n"]\{{ ) | \}} )         # in a word, as in 10.1000/{{ABC}}
        | (?P<tie> ~+ )
        | (?P<stop> \\ (?: [A-Za-z]+ \*? \{{? | . ) )        # any other command, where a name ends
        """,
        re.DOTALL | re.VERBOSE,
    )
    delimiters: ClassVar = {"}": ("= {", "={", "\\url{", "\\doi{"), '"': ('= "', '="')}

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._protective: set[int] = set()  # closing braces that only protect a part of a name

    def meaning(self, token: re.Match[str], end: int) -> str | Construct | None:  # noqa: ARG002 - a value may contain the end of a block
        """Return what readers see for an escape or a brace, or the construct of a command or a field."""
        match token.lastgroup:
            case "escape":
                return _unescaped(token)
            case "tie":
                return " "  # in prose; in a value or a URL it is itself
            case "brace":
                return "" if self._is_protective(token.start()) else None
            case "command":  # \url{https://doi.org/10.1000/182}
                return self._value(token.end(), labelled=token["name"] == "doi")
            case "field":  # doi = {10.1000/182}
                field = _field(self.text, token.start())
                if field:
                    return self._value(token.end(), labelled=field == "doi")
                return None
            case _:  # any other command, at which a name ends
                return (), token.end()

    def _value(self, start: int, *, labelled: bool) -> Construct:
        """Return the construct of the value whose delimiter is just before ``start``.

        It ends with the value if that is one DOI. Any other value is running text: the construct is empty, and
        ends at ``start``.

        :param labelled: whether the field or command is for DOIs.
        """
        text = self.text
        running_text = (), start
        value_end = self._value_end(start)
        if text.find("10", start, value_end) < 0:
            return running_text

        name_start, end = _without_braces(text, start, value_end)
        name_end = end
        remains = _REMAINS.search(text, name_start, end)
        if remains is not None:
            name_end = remains.start()
        name_span = name_start, name_end

        if text.find("&", *name_span) < 0:
            value = VisibleText.replacing(text, name_span, _IN_VALUE, _unescaped)
        else:  # the pattern is slower
            value = VisibleText.replacing(text, name_span, _IN_VALUE_WITH_ENTITIES, _without_entity)

        mention = value.whole(labelled=labelled)
        if mention is None:
            return running_text
        return ((mention,), end)

    def _value_end(self, start: int) -> int:
        """Return where the value ends whose delimiter is just before ``start``; ``start`` if that is not known."""
        if self.text[start - 1] == "{":
            return _closer(self.text, start - 1) or start
        quoted = _QUOTED.match(self.text, start, start + _LONGEST_VALUE)
        if quoted is None or not self.text.startswith('"', quoted.end()):
            return start
        return quoted.end()

    def _is_protective(self, place: int) -> bool:
        """Return whether the brace only protects a part of a name, as in ``10.1000/{ABC}``.

        A closing brace is known to be protective once its opening brace has been asked about.
        """
        if self.text[place] == "}":
            return place in self._protective
        if not self._is_in_name(place):
            return False
        closer = _closer(self.text, place)
        if closer is None:
            return False
        self._protective.add(closer)
        return True

    def _is_in_name(self, place: int) -> bool:
        """Return whether a name may go on after the opening brace at ``place``, as in ``10.1000/{ABC}``.

        The text between "10." and the brace must be without white space and quotation marks.
        """
        if self.text[place - 1 : place] in _NOT_IN_NAMES:
            return False
        start = self.text.rfind("10.", max(0, place - _NAME_LENGTH), place)
        if start < 0:
            return False
        name = self.text[start:place]
        if any(mark in name for mark in ' \t\r\n"'):
            return False
        follows_other_brace = name.endswith("}") and place - 1 not in self._protective
        return not follows_other_brace


def _without_entity(token: re.Match[str]) -> str:
    """Return the character that an entity stands for, and what TeX shows for any other token.

    The entity may have been escaped again: "&amp;lt;" is "<", too.
    """
    if token["entity"] is None:
        return _unescaped(token)
    from html import unescape  # slow to import, and rarely needed

    entity = _AMPERSANDS.sub("&", token["entity"].replace("\\", ""))
    return unescape(entity)


def _unescaped(token: re.Match[str]) -> str:
    r"""Return what TeX shows for an escape, and nothing for a brace or line break in a value.

    Not ``doiuri.tex.plain_text``: it strips the blank of ``\,``, where a name ends, and drops the mark of
    ``$_2$``, which programs write for "_2".
    """
    if token["accent"]:  # \"a, \c{c}
        letter = token["letter"] or token["bare"]
        return unicodedata.normalize("NFC", letter + ACCENTS[token["accent"]])
    if token["symbol"]:  # \textless{}
        return SYMBOLS[token["symbol"]]
    characters: str = token["escaped"] or token["math"] or ""
    is_subscript = len(characters) > 1 and characters.startswith("_")  # $_2$, $_{12}$
    if is_subscript:
        return characters.translate(_NO_BRACES)
    return _CHARACTERS.get(characters, characters)


def _field(text: str, place: int) -> str | None:
    """Return the name of the field whose "=" is at ``place``; None if it is not one that holds DOIs or links."""
    before_sign = text[max(0, place - _FIELD_LENGTH) : place].rstrip()
    field = _FIELD.search(before_sign, max(0, len(before_sign) - len("link")))
    if field is None:
        return None
    return field[1].lower()


def _without_braces(text: str, start: int, end: int) -> tuple[int, int]:
    """Return start and end of ``text[start:end]`` without the braces around all of it: ``{10.1000/182}``."""
    while start < end and text[start] == "{" and _closer(text, start) == end - 1:
        start += 1
        end -= 1
    return start, end


def _closer(text: str, place: int) -> int | None:
    """Return where the brace that opens at ``place`` is closed; None if that is too far."""
    opened = 0
    depth = 0
    for brace in _BRACE.finditer(text, place, place + _LONGEST_VALUE):
        match brace[0]:
            case "{":
                opened += 1
                depth += 1
            case "}":
                depth -= 1
        if depth == 0:
            return brace.start()
        if opened > _MOST_BRACES:
            break
    return None
