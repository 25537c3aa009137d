"""TeX: text and commands without comments and verbatim text."""

from __future__ import annotations

import re
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
