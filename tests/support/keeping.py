"""An extension of Sphinx that stores the nodes of a directive while it runs, as exercises, needs and blogs do.

It inserts copies of all nodes stored so far at another directive: at once, before references are resolved,
after all transforms, or when pages are written, as todolist does with references and others without.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective, new_document


class kept_here(nodes.General, nodes.Element):  # noqa: N801 - as docutils writes names of nodes
    """Where the stored nodes are to be inserted."""


def kept(env: BuildEnvironment) -> dict[str, list[nodes.Element]]:
    """The stored nodes by document."""
    stored: dict[str, list[nodes.Element]] = vars(env).setdefault("kept", {})
    return stored


def copies(env: BuildEnvironment) -> list[nodes.Element]:
    stored = kept(env)
    return [box.deepcopy() for docname in sorted(stored) for box in stored[docname]]


def keep(env: BuildEnvironment, box: nodes.Element) -> None:
    kept(env).setdefault(env.docname, []).append(box.deepcopy())


class Keep(SphinxDirective):
    has_content = True
    option_spec: ClassVar = {"hidden": directives.flag}

    def run(self) -> list[nodes.Node]:
        box = nodes.container("", *self.parse_content_to_nodes())
        keep(self.env, box)
        return [] if "hidden" in self.options else [box]


class Insert(SphinxDirective):
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        if self.arguments == ["now"]:
            return [*copies(self.env)]
        return [kept_here(when=self.arguments[0])]


def insert(env: BuildEnvironment, document: nodes.Element, when: str) -> None:
    for node in list(document.findall(kept_here)):
        if node["when"] == when:
            node.replace_self(copies(env))


class InsertEarly(SphinxPostTransform):
    default_priority = 1
    when = "early"

    def run(self, **_options: Any) -> None:
        insert(self.env, self.document, self.when)


class InsertLast(InsertEarly):
    default_priority = 950
    when = "last"


def insert_late(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    insert(app.env, doctree, "resolved")
    for node in list(doctree.findall(kept_here)):
        boxes = copies(app.env)
        document = new_document("")
        document += boxes
        app.env.resolve_references(document, docname, app.builder)
        node.replace_self(boxes)


def keep_read(app: Sphinx, doctree: nodes.document) -> None:
    """Keep the admonitions of a document as ``sphinx.ext.todo`` does: as they were read, with their ids."""
    for box in doctree.findall(nodes.admonition):
        keep(app.env, box)


def purge(_app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    kept(env).pop(docname, None)


def merge(
    _app: Sphinx, env: BuildEnvironment, docnames: Iterable[str], other: BuildEnvironment
) -> None:
    kept(env).update({name: kept(other)[name] for name in docnames if name in kept(other)})


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_node(kept_here)
    app.add_directive("keep", Keep)
    app.add_directive("insert", Insert)
    app.add_post_transform(InsertEarly)
    app.add_post_transform(InsertLast)
    app.connect("doctree-read", keep_read, priority=900)
    app.connect("doctree-resolved", insert_late)
    app.connect("env-purge-doc", purge)
    app.connect("env-merge-info", merge)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
