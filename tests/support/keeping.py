"""An extension of Sphinx that stores the nodes of a directive while it runs, as exercises and needs do.

It inserts copies of all nodes stored so far at another directive: at once, before references are resolved,
or when pages are written, as todolist does.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective, new_document

KEPT: list[nodes.container] = []


class kept_here(nodes.General, nodes.Element):  # noqa: N801 - as docutils writes names of nodes
    """Where the stored nodes are to be inserted."""


def copies() -> list[nodes.container]:
    return [box.deepcopy() for box in KEPT]


class Keep(SphinxDirective):
    has_content = True

    def run(self) -> list[nodes.Node]:
        box = nodes.container("", *self.parse_content_to_nodes())
        KEPT.append(box.deepcopy())
        return [box]


class Insert(SphinxDirective):
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        if self.arguments == ["now"]:
            return [*copies()]
        return [kept_here(when=self.arguments[0])]


class InsertEarly(SphinxPostTransform):
    default_priority = 1

    def run(self, **_options: Any) -> None:
        for node in list(self.document.findall(kept_here)):
            if node["when"] == "early":
                node.replace_self(copies())


def insert_late(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    for node in list(doctree.findall(kept_here)):
        boxes = copies()
        document = new_document("")
        document += boxes
        app.env.resolve_references(document, docname, app.builder)
        node.replace_self(boxes)


def setup(app: Sphinx) -> None:
    KEPT.clear()
    app.add_node(kept_here)
    app.add_directive("keep", Keep)
    app.add_directive("insert", Insert)
    app.add_post_transform(InsertEarly)
    app.connect("doctree-resolved", insert_late)
