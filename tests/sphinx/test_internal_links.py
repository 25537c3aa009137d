"""Every link inside of a project leads to a place that is there: from all kinds of nodes, on pages of any name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.checks import assert_same, repeated
from support.pages import dead_links, pages_of
from support.sphinx_build import build, write

CONF = """\
extensions = ["sphinx_doiuri"]
doi_works, doi_resolve, doi_lock = "works.json", False, None
project, version, copyright = "Book", "1", "us"
suppress_warnings = ["image.not_readable"]
numfig = True

def setup(app):
    app.connect("doctree-resolved", move)

def move(app, tree, docname):
    # To the end of the last page, as extensions for solutions and endnotes do
    from docutils import nodes
    boxes = [box for box in tree.findall(nodes.container) if "moved" in box["classes"]]
    *_, last = tree.findall(nodes.section)
    for box in boxes:
        box.parent.remove(box)
        last += box
"""
WORKS = [{"id": "ants", "title": "Ants", "author": [{"family": "Li"}]}]
INDEX = "T\n=\n\n.. toctree::\n   :glob:\n   :numbered:\n\n   *\n   */*\n\nAs :doi:t:`@ants` says\n"
# Whatever Sphinx copies, moves or numbers
PAGE = """\
.. _label-{0}:

On :doi:p:`@ants`
=================

.. contents::

As :doi:t:`@ants` says [#n]_, :ref:`label-0`, :ref:`index <genindex>`, :numref:`table-{0}`, :term:`Ant {0} @ants`

.. [#n] Note :doi:p:`@ants`

.. only:: html or epub or latex or texinfo or xml

   Only :doi:p:`@ants`

.. container:: moved

   Moved :doi:p:`@ants`

.. _table-{0}:

.. list-table:: Table :doi:p:`@ants`

   * - Cell :doi:p:`@ants`

.. figure:: x.png

   Caption :doi:p:`@ants`

.. glossary::

   Ant {0} :doi:p:`@ants`
     What it means

.. index:: entry {0}

.. rubric:: Rubric :doi:p:`@ants`

Last :doi:p:`@ants`
-------------------

.. doi:bibliography::
   :scope: {1}
"""
CITATIONS = 10
"""On each of the pages."""
NAMES = ["a b", "c%20d", "e#f", "g?h", "ü/ñ ö"]

# The builder, the names, the links in its output that lead nowhere, and the places that it has twice
Check = Callable[[Path], list[str]]


def on_pages(out: Path) -> list[str]:
    return dead_links(pages_of(out))


def ours_on_pages(out: Path) -> list[str]:
    """Without what Sphinx links: references of one page to pages with such names are broken."""
    return [link for link in dead_links(pages_of(out)) if "doi-" in link]


def in_latex(out: Path) -> list[str]:
    text = (out / "book.tex").read_text("utf-8")
    labels = re.findall(r"\\label\{\\detokenize\{(.+?)\}\}", text)
    linked = re.findall(r"\\hyperref\[\\detokenize\{(.+?)\}\]", text)
    return repeated(labels) + sorted({*linked} - {*labels})


def in_texinfo(out: Path) -> list[str]:
    text = (out / "book.texi").read_text("utf-8")
    anchors = re.findall(r"@(?:anchor\{|node )(.+?)[},\n]", text)
    return repeated(anchors) + sorted({*re.findall(r"@ref\{(.+?)[,}]", text)} - {*anchors})


def in_xml(out: Path) -> list[str]:
    wrong = []
    for path in out.rglob("*.xml"):
        elements = [*ElementTree.parse(path).iter()]
        ids = " ".join(element.get("ids", "") for element in elements).split()
        linked = {element.get("refid") for element in elements} - {None}
        wrong += repeated(ids) + [f"{path.name}#{id_}" for id_ in linked if id_ not in ids]
    return wrong


# Sphinx 8 does not quote names in directories, and ends a name in LaTeX at "#"
BUILDERS: dict[str, tuple[list[str], Check, str]] = {
    "html": (NAMES, on_pages, "*.html"),
    "dirhtml": (["a b", "ü/ñ ö"], on_pages, "*.html"),
    "singlehtml": (NAMES, ours_on_pages, "*.html"),
    "epub": (NAMES, on_pages, "*.xhtml"),
    "latex": ([name for name in NAMES if "#" not in name], in_latex, "*.tex"),
    "texinfo": (NAMES, in_texinfo, "*.texi"),
    "xml": (NAMES, in_xml, "*.xml"),
}


@pytest.mark.parametrize("builder", BUILDERS)
def test_every_link_leads_to_a_place_that_is_there(builder: str, tmp_path: Path) -> None:
    names, lead_nowhere, pattern = BUILDERS[builder]
    scopes = ["project", "page"]
    pages = {f"{name}.rst": PAGE.format(i, scopes[i % 2]) for i, name in enumerate(names)}
    source = write(
        tmp_path / "src",
        {"conf.py": CONF, "works.json": json.dumps(WORKS), "index.rst": INDEX, **pages},
    )

    built = build(source, tmp_path / "out", builder)

    assert_same(f"the links of {builder} that lead nowhere", lead_nowhere(built.out), [])
    shown = "".join(path.read_text("utf-8") for path in built.out.rglob(pattern))
    linked = re.findall(r"(?:doi-ants-|@ref\{\w+,,Li)", shown)
    assert len(linked) > len(names) * CITATIONS, f"{builder} has few links to entries: {linked}"
