"""The nodes of citations and lists of references, before the works are known."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Literal

from docutils import nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri import Handle

Form = Literal["p", "t"]
"""A citation in brackets, or as a part of the sentence."""

Scope = Literal["page", "project"]
"""Whose citations a list contains: those of its page, or of all documents."""

_DIGEST_BYTES = 4


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
