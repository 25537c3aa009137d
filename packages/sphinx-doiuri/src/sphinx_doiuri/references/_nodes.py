"""The nodes of citations and lists of references, before the works are known."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Literal

from docutils import nodes
from sphinx import addnodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri import Handle

Form = Literal["p", "t"]
"""A citation in brackets, or as a part of the sentence."""

Scope = Literal["page", "project"]
"""Whose citations a list contains: those of its page, or of all documents."""

_DIGEST_BYTES = 4
_REFERENCES = frozenset({"ref", "any", "myst"})  # the roles that show titles


class bibliography_list(nodes.General, nodes.Element):  # noqa: N801 (docutils: the class name is the element name)
    """The place of a list of references."""


def citations_in(document: nodes.Element) -> Iterator[nodes.inline]:
    """Yield the citations in a document or title; those in substitutions where they are used, not defined."""
    for node in document.findall(nodes.inline):
        if "doi_form" in node and not isinstance(node.parent, nodes.substitution_definition):
            yield node


def is_copy(citation: nodes.inline) -> bool:
    """Return whether a citation is in a table of contents; titles are copied there without their links."""
    return next(citation.findall(nodes.reference), None) is None


def titles_with_citations(document: nodes.document) -> dict[str, nodes.TextElement]:
    """Return the titles, captions and rubrics with citations, by the ids and names they belong to."""
    titles = {}
    for citation in citations_in(document):
        title: nodes.Node | None = citation
        while title is not None and not isinstance(title, nodes.title | nodes.caption | nodes.rubric):
            title = title.parent
        if title is not None:
            owner = title if isinstance(title, nodes.rubric) else title.parent
            titles.update(dict.fromkeys([*owner["ids"], *owner["names"]], _copy(title)))
    return titles


def _copy(title: nodes.TextElement) -> nodes.TextElement:
    """Return a copy without the document, which would be stored with it."""
    copied = title.deepcopy()
    for node in copied.findall():
        vars(node).pop("_document", None)
    return copied


def targets_of(document: nodes.document) -> set[str]:
    """Return the labels to which a document refers."""
    references = document.findall(addnodes.pending_xref)
    return {node["reftarget"] for node in references if node["reftype"] in _REFERENCES}


def entry_id(doi: Handle, docname: str, scope: Scope) -> str:
    """Return the id of the entry of a DOI: ASCII letters, digits and hyphens, whatever the name contains.

    :param doi: the DOI of the entry.
    :param docname: the document that has the list. Builders such as singlehtml put documents together.
    :param scope: the scope of the list.
    """
    return f"doi-{slug(doi.name, f'{scope} {docname} {doi.key}')}"


def slug(text: str, whole: str = "") -> str:
    """Return text that is valid in an id, with a digest that keeps it unique.

    :param text: what a reader should recognize.
    :param whole: what the digest is of; by default ``text``.
    """
    digest = hashlib.blake2s((whole or text).encode(), digest_size=_DIGEST_BYTES).hexdigest()
    return f"{nodes.make_id(text)[:60]}-{digest}".lstrip("-")
