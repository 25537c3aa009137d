"""Python: comments, and strings that are statements by themselves, which document what is around them.

The text is not compiled, so a program for another version, or one that cannot run, is read too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doiuri_cli.readers._blank import may_mention
from doiuri_cli.readers._part import Part
from doiuri_cli.readers._rst import without_code
from doiuri_cli.readers.strings import _python as literals
from doiuri_cli.readers.strings import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri_cli.files import Source

# No sign of a DOI: as in may_mention, but of a long run of digits and dots only the start is read
_OTHER = (
    r"1(?!0(?:\.(?:[0-9.]{0,30}+(?:[/:\\%&{}<\xad]|(?=[\u200b\u2060])|\ufeff)|[0-9.]{31})|[\\&{<]))"
    r"|[dD](?![oO][iI])"
)
# Code, and comments and strings without a sign of a DOI
_QUIET = re.compile(
    r"(?>(?:[^#'\"]++"
    rf"|\#(?>(?:[^\r\n1dD]++|{_OTHER}){{0,200}})(?=[\r\n])"
    rf"|'(?!'')(?>(?:[^'\\\r\n1dD]++|\\[^\r\n1dD]|{_OTHER}){{0,200}})'"
    rf'|"(?!"")(?>(?:[^"\\\r\n1dD]++|\\[^\r\n1dD]|{_OTHER}){{0,200}})"'
    rf"|\'\'\'(?>(?:[^'\\1dD]++|\\[^1dD]|'(?!'')|{_OTHER}){{0,2000}})\'\'\'"
    rf'|"""(?>(?:[^"\\1dD]++|\\[^1dD]|"(?!"")|{_OTHER}){{0,2000}})"""'
    r"){0,500})"
)
_TOKEN = re.compile(r"#[^\r\n]*+|\'\'\'|\"\"\"|['\"]")
_BRACKET = re.compile(
    r"(?P<opening>[(\[{])|(?P<closing>[)\]}])|^(?P<statement>[ \t]*+(?:class|def|async[ ]def)\b)"
    r"|#[^\r\n]*+"
    r"|\'\'\'(?>(?:[^'\\]++|\\.|'(?!'')){0,9999})(?:\'\'\')?|'(?>(?:[^'\\\r\n]++|\\.){0,9999})'?"
    r'|"""(?>(?:[^"\\]++|\\.|"(?!"")){0,9999})(?:""")?|"(?>(?:[^"\\\r\n]++|\\.){0,9999})"?',
    re.MULTILINE | re.DOTALL,
)
# What opens no bracket that it does not close; a line with a statement is left to _BRACKET
_SIMPLE_STRING = r"'(?!'')[^'\\\r\n]*+'|\"(?!\"\")[^\"\\\r\n]*+\""
_BALANCED = re.compile(
    rf"(?>(?:[^()\[\]{{}}#'\"\n]++|\#[^\r\n]*+|{_SIMPLE_STRING}|\n(?![ \t]*+(?:class|def|async)\b)"
    rf"|[(\[{{](?>(?:[^()\[\]{{}}#'\"\n]++|{_SIMPLE_STRING}){{0,100}})[)\]}}]){{0,500}})"
)
_CLOSING = {
    "'": re.compile(r"[^'\\\r\n]*+(?>(?:\\(?:\r\n|.)[^'\\\r\n]*+){0,1000})", re.DOTALL),
    '"': re.compile(r'[^"\\\r\n]*+(?>(?:\\(?:\r\n|.)[^"\\\r\n]*+){0,1000})', re.DOTALL),
    "'''": re.compile(r"[^'\\]*+(?>(?:(?:\\.|'(?!''))[^'\\]*+){0,1000})", re.DOTALL),
    '"""': re.compile(r'[^"\\]*+(?>(?:(?:\\.|"(?!""))[^"\\]*+){0,1000})', re.DOTALL),
}
_PREFIX = re.compile(r"(?<![0-9A-Za-z_])[rRuUbBfFtT]{1,2}\Z")
_LONGEST_PREFIX = 2
_HEAD = re.compile(r"(?:[ \t]*+(?:class|def|async[ ]def)\b[^\r\n]*:)?[ \t\f]*")
_MARGIN = re.compile(r"\n([ \t]*+)(?=\S)")
_LINE = 500  # how far back the start of the line is looked for; this keeps the time linear
_END = re.compile(r"[ \t\f]*+(?:[;#\r\n]|\Z)")


def read(source: Source) -> Iterator[Part]:
    """Return the comments as text, and the docstrings as reStructuredText."""
    if may_mention(source.text):
        yield from parts_of_code(source.text)


def parts_of_code(text: str) -> Iterator[Part]:
    """Return the comments and docstrings of a program that may mention a DOI, as parts of its text."""
    brackets = _Brackets(text)
    place = 0
    while quiet := _QUIET.match(text, place):
        token = _TOKEN.match(text, quiet.end())
        place = token.end() if token else quiet.end()
        if token is None:
            if quiet.end() == len(text):
                return
        elif token[0][0] == "#":
            if may_mention(token[0]):
                yield Part(token[0][1:], start=token.start() + 1, encode=one_line)
        else:
            end = _string_end(text, place, token[0])
            closed = end + len(token[0]) if text.startswith(token[0], end) else end
            if may_mention(text[place:end]):
                prefix = _prefix(text, token.start())
                if _is_statement(text, token.start() - len(prefix), closed) and not brackets.open_at(
                    token.start()
                ):
                    yield from _docstring(text, (place, end), token[0], prefix.lower())
            place = closed


class _Brackets:
    """Whether brackets are open, asked for one place after the other."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0
        self._depth = 0

    def open_at(self, place: int) -> bool:
        """Return whether a bracket is open where a string starts."""
        position = self._place
        while (balanced := _BALANCED.match(self._text, position, place)) and (
            token := _BRACKET.search(self._text, balanced.end(), place)
        ):
            position = token.end()
            match token.lastgroup:
                case "opening":
                    self._depth += 1
                case "closing":
                    self._depth = max(0, self._depth - 1)
                case "statement":
                    self._depth = 0  # no bracket holds one: what came before was not Python
        self._place = place
        return self._depth > 0


def _string_end(text: str, start: int, quotes: str) -> int:
    """Return where the closing quotes of a string are; if it has none, where the line or the text ends."""
    closing = _CLOSING[quotes]
    end = start
    while piece := closing.match(text, end):
        if piece.end() == end or text.startswith(quotes, piece.end()):
            return piece.end()
        end = piece.end()
    return end


def _prefix(text: str, start: int) -> str:
    prefix = _PREFIX.search(text, max(0, start - _LONGEST_PREFIX - 1), start)
    return prefix[0] if prefix else ""


def _is_statement(text: str, start: int, end: int) -> bool:
    """Return whether a string is a statement: nothing else but the head of its function is on the line."""
    earliest = max(0, start - _LINE)
    line = max(text.rfind("\n", earliest, start), text.rfind("\r", earliest, start)) + 1
    if line == 0 < earliest or text[max(0, line - 3) : line].rstrip("\r\n").endswith("\\"):
        return False
    return _HEAD.fullmatch(text, line, start) is not None and _END.match(text, end) is not None


def _docstring(text: str, span: tuple[int, int], quotes: str, prefix: str) -> Iterator[Part]:
    start, end = span
    if prefix.strip("ru"):
        return
    raw = "r" in prefix
    encode = literals.encoder(quotes, raw=raw)
    if "\r" not in text[start:end] and (raw or "\\" not in text[start:end]):
        yield Part(_without_code(text[start:end]), "rst", start=start, encode=encode)
        return
    decoded = literals.decode(text, span, raw=raw)
    yield Part(_without_code(decoded.text), "rst", places=decoded.places, encode=encode)


def _without_code(docstring: str) -> str:
    """Return a docstring without code; its first line counts as indented like the others (PEP 257)."""
    margin = min((margin[1] for margin in _MARGIN.finditer(docstring)), key=len, default="")
    return without_code(margin + docstring)[len(margin) :]
