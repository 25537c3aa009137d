"""Links to doi.org that authors write out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from doiuri import DOI, DOISyntaxError, find

if TYPE_CHECKING:
    from collections.abc import Iterator


def hardcoded_doi(link: nodes.Element) -> DOI | None:
    """Return the DOI of a link to doi.org; None for any other link, and for those of the role.

    :param link: a reference.
    """
    uri = link.get("refuri", "")
    if "doi.org" not in uri.lower() or "doi" in link:
        return None
    try:
        return _as_meant(link, DOI.from_url(uri))
    except DOISyntaxError:
        return None


def hardcoded_links(document: nodes.document) -> Iterator[tuple[nodes.reference, DOI]]:
    """Yield the links to doi.org in a document with their DOIs."""
    for link in document.findall(nodes.reference):
        doi = hardcoded_doi(link)
        if doi is not None and not isinstance(link.parent, nodes.substitution_definition):
            yield link, doi


def _as_meant(link: nodes.Element, doi: DOI) -> DOI:
    """Return the DOI of a URL in running text, which docutils ends at ``<`` even inside a name."""
    if link.parent is None or "`" in link.rawsource or link.astext() != link["refuri"]:
        return doi
    following = link.parent[link.parent.index(link) + 1 :][:1]
    match = next(find(link.astext() + "".join(node.astext() for node in following)), None)
    return match.doi if match else doi
