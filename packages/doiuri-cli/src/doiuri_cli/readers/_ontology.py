"""Ontologies: RDF/XML as XML; of OBO, the lines without escapes; of others, such as Turtle, comments and IRIs.

An IRI is the name of what it identifies, in other files too: it is never fixed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doiuri_cli.readers._code import read_code
from doiuri_cli.readers._markup import read_html
from doiuri_cli.readers._part import Part, may_mention, undo, unwritable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri_cli.files import Source

_XML = re.compile(r"\s*<(?:\?xml|!|[A-Za-z][\w.:-]*[\s>])")  # not an IRI


_LINE = re.compile(r"[^\r\n]+")
_OBO_ESCAPE = re.compile(
    r"\\[][(){}:,]"
)  # of a character of a name; OBO Flat File Format 1.4, §1.5


def read_ontology(source: Source) -> Iterator[Part]:
    """Return the text: as XML, or else the comments, and without fixes the rest."""
    if _XML.match(source.text):
        yield from read_html(source)
    elif source.path.lower().endswith(".obo"):
        yield from _lines_of_obo(source.text)
    else:
        yield from read_code(source)


def _lines_of_obo(text: str) -> Iterator[Part]:
    for line in _LINE.finditer(text):
        if may_mention(line[0]):
            value, places = undo(text, [line.span()], _OBO_ESCAPE, lambda escape: escape[0][1])
            yield Part(value, places=places, encode=unwritable)
