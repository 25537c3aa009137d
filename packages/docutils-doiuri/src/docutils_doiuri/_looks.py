"""How links look in HTML: those to DOIs that do not exist are struck out, and long names may be broken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from docutils.writers import UnfilteredWriter, Writer
from doiuri.plugins import breakable

if TYPE_CHECKING:
    from collections.abc import Iterable

_OPENING = '<s title="This DOI was not found.">'  # docutils writes no title of a link
_CLOSING = "</s>"
_BREAK = "<wbr />"


def finish_links(document: nodes.document, links: Iterable[nodes.reference]) -> None:
    """Change what is inside the links of a document if it becomes HTML.

    :param document: the document, whose other transforms have read the text of its links.
    :param links: the links to DOIs in the document; those to DOIs that do not exist have their class.
    """
    if not _becomes_html(document):
        return
    for link in links:
        if len(link) == 1 and isinstance(link[0], nodes.image):
            continue  # the writer expects an image with a link to be the only child
        if _is_in_docinfo(link):
            continue  # writers and Pelican take the plain text of fields as metadata, raw nodes included
        if link.get("support_smartquotes") is False:
            first, *others = breakable(link.astext())
            link[:] = [nodes.Text(first)]
            for part in others:
                link += [_html(_BREAK), nodes.Text(part)]
        if "doi-not-found" in link["classes"]:
            link[:] = [_html(_OPENING), *link.children, _html(_CLOSING)]


def _becomes_html(document: nodes.document) -> bool:
    """Return whether the document is written as HTML, and not kept for any format."""
    writer = document.transformer.components.get("writer")
    return (
        isinstance(writer, Writer)
        and "html" in writer.supported  # pseudoxml.Writer.supports("html") is True
        and not isinstance(writer, UnfilteredWriter)
    )


def _is_in_docinfo(node: nodes.Element) -> bool:
    parent = node.parent
    while parent is not None and not isinstance(parent, nodes.docinfo):
        parent = parent.parent
    return parent is not None


def _html(text: str) -> nodes.raw:
    return nodes.raw("", text, format="html")
