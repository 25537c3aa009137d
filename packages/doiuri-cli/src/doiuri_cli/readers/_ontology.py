"""Ontologies: RDF/XML as XML; of OBO, the lines without escapes; of others, comments, IRIs and literals.

The others are Turtle and its relatives, and OWL in functional and in Manchester syntax.

An IRI is the name of what it identifies, in other files too: it is never fixed.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from doiuri_cli.readers._code import read_code
from doiuri_cli.readers._markup import read_html
from doiuri_cli.readers._part import Part, may_mention, undo, unwritable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri_cli.files import Source

_XML = re.compile(r"\s*<(?:\?xml|!|[A-Za-z][\w.:-]*[\s>])")  # not an IRI


# RDF 1.1 Turtle, §6.4; OWL 2 in functional syntax has the escapes of quotation marks and backslashes
_LITERAL = re.compile(
    r"""
    <[^<>"{}|^`\\\s]*>                                 # an IRI may hold "#"
    |   \#[^\r\n]*                                      # a comment may hold quotation marks
    |   \"{3}(?P<long>[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*)\"{3}
    |   "(?P<quoted>[^"\\\r\n]*+(?:\\.[^"\\\r\n]*+)*)"
    |   '(?P<single>[^'\\\r\n]*+(?:\\.[^'\\\r\n]*+)*)'
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[tbnrf\"'\\])")
_CONTROLS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}

_LINE = re.compile(r"[^\r\n]+")
# Of a character of a name; OBO Flat File Format 1.4, §1.5
_OBO_ESCAPE = re.compile(r"\\[][(){}:,]")


def read_ontology(source: Source) -> Iterator[Part]:
    """Return the text: as XML, or else the comments, and the rest without fixes.

    Of the rest, literals with escapes are parts of their own, and blanks stand in their place.
    """
    if _XML.match(source.text):
        yield from read_html(source)
    elif source.path.lower().endswith(".obo"):
        yield from _lines_of_obo(source.text)
    else:
        rest: list[str] = []
        last = 0
        for start, end in _literals_with_escapes(source.text):
            value, places = undo(source.text, [(start, end)], _ESCAPE, _meaning)
            yield Part(value, places=places, encode=unwritable)
            rest += [source.text[last:start], " " * (end - start)]
            last = end
        rest.append(source.text[last:])
        yield from read_code(replace(source, text="".join(rest)))


def _literals_with_escapes(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the literals that may mention DOIs and have escapes, which ``find`` does not know."""
    if "\\" not in text:
        return
    for literal in _LITERAL.finditer(text):
        if literal.lastgroup and "\\" in literal[literal.lastgroup] and may_mention(literal[0]):
            yield literal.span(literal.lastgroup)


def _meaning(escape: re.Match[str]) -> str:
    """Return what an escape of Turtle stands for; itself if its number is that of no character."""
    code = escape[0][1:]
    if code[0] in "uU":
        number = int(code[1:], 16)
        is_character = number <= sys.maxunicode and not 0xD800 <= number < 0xE000
        return chr(number) if is_character else escape[0]
    return _CONTROLS.get(code, code)


def _lines_of_obo(text: str) -> Iterator[Part]:
    """Yield the lines that may mention a DOI, without their escapes; nothing is fixed."""
    for line in _LINE.finditer(text):
        if may_mention(line[0]):
            value, places = undo(text, [line.span()], _OBO_ESCAPE, lambda escape: escape[0][1])
            yield Part(value, places=places, encode=unwritable)
