"""The public module for extensions: nodes that hold a DOI, also when copied and pickled."""

from __future__ import annotations

import doctest
import pickle
from copy import deepcopy

from docutils import nodes
from docutils.core import publish_doctree
from docutils_doiuri import Parser
from docutils_doiuri import nodes as doi_nodes
from docutils_doiuri.nodes import doi_references
from doiuri import DOI

TEXT = (
    ":doi:`10.1000/A#b`, `x <doi:10.1000/%C3%A1>`_ and |s|\n\n.. |s| replace:: :doi:`10.1000/c`\n"
)
DOIS = [DOI("10.1000/A#b"), DOI("10.1000/á"), DOI("10.1000/c")]
OFF = {"doi_resolve": False, "output_encoding": "unicode"}


def document() -> nodes.document:
    return publish_doctree(TEXT, parser=Parser(), settings_overrides=OFF)


def dois(doctree: nodes.document) -> list[DOI]:
    found = [link["doi"] for link in doi_references(doctree)]
    assert all(type(doi) is DOI for doi in found)
    return found


def test_every_name_is_documented_and_the_example_is_true() -> None:
    assert all(getattr(doi_nodes, name).__doc__ for name in doi_nodes.__all__)
    assert doctest.testmod(doi_nodes).failed == 0


def test_documents_copies_and_pickles_hold_the_doi_as_written() -> None:
    doctree = document()
    assert [doi.name for doi in dois(doctree)] == [doi.name for doi in DOIS]
    assert dois(deepcopy(doctree)) == DOIS
    paragraph = pickle.loads(pickle.dumps(next(iter(doctree.findall(nodes.paragraph)))))
    assert [link["doi"] for link in paragraph.findall(nodes.reference)] == DOIS


def test_an_attribute_of_somebody_else_is_no_doi() -> None:
    doctree = document()
    doctree += nodes.paragraph("", "", nodes.reference("", "x", doi="10.1000/1"))
    assert dois(doctree) == DOIS
