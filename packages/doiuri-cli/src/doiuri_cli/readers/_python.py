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

_TOKEN = re.compile(
    r"(?P<comment>#[^\r\n]*+)"
    r"|(?P<quotes>'''|\"\"\"|['\"])"
    r"|(?P<opening>[(\[{])|(?P<closing>[)\]}])"
    r"|^(?P<statement>[ \t]*+(?:class|def|async[ ]def)\b)",
    re.MULTILINE,
)
_CLOSING = {
    "'": re.compile(r"[^'\\\r\n]*+(?>(?:\\(?:\r\n|.)[^'\\\r\n]*+){0,1000})", re.DOTALL),
    '"': re.compile(r'[^"\\\r\n]*+(?>(?:\\(?:\r\n|.)[^"\\\r\n]*+){0,1000})', re.DOTALL),
    "'''": re.compile(r"[^'\\]*+(?>(?:(?:\\.|'(?!''))[^'\\]*+){0,1000})", re.DOTALL),
    '"""': re.compile(r'[^"\\]*+(?>(?:(?:\\.|"(?!""))[^"\\]*+){0,1000})', re.DOTALL),
}
_PREFIX = re.compile(r"(?<![0-9A-Za-z_])[rRuUbBfFtT]{1,2}\Z")
_LONGEST_PREFIX = 2
_LINE_START = re.compile(
    r"(?:\A|(?<![\\\r])\n|(?<!\\)\r\n?)(?:[ \t]*+(?:class|def|async[ ]def)\b[^\r\n]*:)?[ \t\f]*\Z"
)
_MARGIN = re.compile(r"\n([ \t]*+)(?=\S)")
_LINE = 500  # how far back the start of the line is looked for; this keeps the time linear
_END = re.compile(r"[ \t\f]*+(?:[;#\r\n]|\Z)")


def read(source: Source) -> Iterator[Part]:
    """Return the comments as text, and the docstrings as reStructuredText."""
    if may_mention(source.text):
        yield from parts_of_code(source.text)


def parts_of_code(text: str) -> Iterator[Part]:
    """Return the comments and docstrings of a program, as parts of its text."""
    depth = place = 0
    while token := _TOKEN.search(text, place):
        place = token.end()
        match token.lastgroup:
            case "comment":
                if may_mention(token[0]):
                    yield Part(token[0][1:], start=token.start() + 1, encode=one_line)
            case "quotes":
                end = _string_end(text, place, token[0])
                prefix = _prefix(text, token.start())
                if depth == 0 and _is_statement(text, token.start() - len(prefix), end + len(token[0])):
                    yield from _docstring(text, (place, end), token[0], prefix.lower())
                place = min(end + len(token[0]), len(text)) if text.startswith(token[0], end) else end
            case "opening":
                depth += 1
            case "closing":
                depth = max(0, depth - 1)
            case "statement":
                depth = 0  # no bracket holds one: what came before was not Python
            case _:
                pass


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
    window = text[max(0, start - _LINE) : start]
    first = _LINE_START.search(window)
    if first is None or (first.start() == 0 < start - len(window) and window[0] not in "\r\n"):
        return False
    return _END.match(text, end) is not None


def _docstring(text: str, span: tuple[int, int], quotes: str, prefix: str) -> Iterator[Part]:
    start, end = span
    if not may_mention(text[start:end]) or prefix.strip("ru"):
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
