"""Entries of sphinxcontrib-bibtex: their DOIs are verified, and their links put right."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from doiuri import DOI, DOISyntaxError
from sphinx.transforms.post_transforms import SphinxPostTransform

from sphinx_doiuri._environment import Use, doi_data
from sphinx_doiuri._lines import place_in_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.environment import BuildEnvironment

_RAW = "https://doi.org/"  # what pybtex puts before the field "doi"


def collect_bibtex_uses(env: BuildEnvironment) -> None:
    """Add the DOIs of the entries that documents list to the uses in these documents."""
    uses = doi_data(env).uses
    for docname in [*uses]:
        uses[docname] = [use for use in uses[docname] if not use.entry]
        if not uses[docname]:
            del uses[docname]
    for docname, key, field in _entries(env):
        try:
            use = Use(DOI.parse(field), _location(env, docname, key), entry=key)
        except DOISyntaxError:
            continue
        uses.setdefault(docname, []).append(use)


def _entries(env: BuildEnvironment) -> Iterator[tuple[str, str, str]]:
    """Yield the document, the key and the field "doi" of each listed entry that has one."""
    for citation in env.domaindata.get("cite", {}).get("citations", ()):
        field = citation.entry.fields.get("doi", "").strip()
        if field:
            yield citation.bibliography_key.docname, citation.entry.key, field


def _location(env: BuildEnvironment, docname: str, key: str) -> str:
    """Return the file and line of an entry; the document that lists it if the line is not found."""
    for path in env.domaindata["cite"]["bibdata"].bibfiles:
        place = place_in_file(Path(path), f"{{{key},")
        if not place.endswith(":"):
            return place
    return docname


class CorrectBibtexLinks(SphinxPostTransform):
    """Encode the names in links that sphinxcontrib-bibtex writes raw."""

    default_priority = 58  # after BibliographyTransform (5)

    def run(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Change the links of a document before it is written."""
        raw = {f"{_RAW}{field}": field for _, _, field in _entries(self.env)}
        for link in self.document.findall(nodes.reference) if raw else ():
            field = raw.get(link.get("refuri", ""))
            if field is not None and "doi" not in link:
                try:
                    link["doi"] = DOI.parse(field)
                except DOISyntaxError:
                    continue
                link["refuri"], link["doi_card"] = link["doi"].url, False
