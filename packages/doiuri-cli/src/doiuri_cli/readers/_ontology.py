"""Ontologies: RDF/XML as XML; of other syntaxes, such as Turtle and N-Triples, comments and IRIs.

An IRI is the name of what it identifies, in other files too: it is never fixed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doiuri_cli.readers._code import read_code
from doiuri_cli.readers._markup import read_html

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri_cli.files import Source
    from doiuri_cli.readers._part import Part

_XML = re.compile(r"\s*<(?:\?xml|!|[A-Za-z][\w.:-]*[\s>])")  # not an IRI


def read_ontology(source: Source) -> Iterator[Part]:
    """Return the text: as XML, or else the comments, and without fixes the rest."""
    yield from read_html(source) if _XML.match(source.text) else read_code(source)
