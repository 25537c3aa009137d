"""The transforms that write citations, lists of references, and link texts with authors and titles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils_doiuri.nodes import doi_references
from doiuri.plugins.display import needs_work
from doiuri.records import reference_parts
from sphinx.errors import NoUri
from sphinx.transforms.post_transforms import SphinxPostTransform

from sphinx_doiuri._citations import bibliography_list, citations_in, entry_id, is_copy
from sphinx_doiuri._config import options
from sphinx_doiuri._listings import listings_of, show_text
from sphinx_doiuri._locale import _

if TYPE_CHECKING:
    from doiuri import Handle
    from doiuri.records import Reference
    from sphinx.builders import Builder

    from sphinx_doiuri._citations import Scope
    from sphinx_doiuri._listings import Listing, Listings

_BACK = "\N{UPWARDS ARROW}"
_HANGING = r"\hangindent=2em\hangafter=1\noindent{}"


class ResolveCitations(SphinxPostTransform):
    """Give citations their labels, and link them to their entries, or else to the DOIs."""

    default_priority = 60  # after OnlyNodeTransform (50), before the transforms that show URLs (400)

    def run(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Change the citations of a document before it is written."""
        listings = listings_of(self.env)
        if listings is not None:
            for node in list(citations_in(self.document)):
                self._resolve(node, listings)

    def _resolve(self, node: nodes.inline, listings: Listings) -> None:
        if is_copy(node):
            show_text(node, listings)
            return
        node["ids"].append(node["doi_id"])  # not earlier: titles are copied with their ids
        listing = listings.of_citations_in(node["doi_docname"])
        links = list(node.findall(nodes.reference))
        waiting = iter(links)
        node.children = []
        for part in listing.parts(node["doi_form"], tuple(link["doi"] for link in links)):
            if part.doi is None:
                node += nodes.Text(part.text)
            elif listing.bibliography.get(part.doi) is None:
                node += next(waiting)  # the plain link
            else:
                node += self._link(next(waiting), part.text, listing, node["doi_docname"], listings.builder)

    def _link(
        self, plain: nodes.reference, text: str, listing: Listing, docname: str, builder: Builder
    ) -> nodes.reference:
        link = nodes.reference(plain.rawsource, text, **plain.attributes)
        link["classes"] = [*plain["classes"]]
        link.source, link.line = plain.source, plain.line
        del link["support_smartquotes"]  # the text is no name
        if listing.docname:
            address = entry_id(link["doi"], listing.docname, listing.scope)
            _lead_to(link, builder, docname, listing.docname, address)
        return link


class ResolveBibliographies(SphinxPostTransform):
    """Put the lists of references in their places."""

    default_priority = 61

    def run(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Change the lists of a document before it is written."""
        listings = listings_of(self.env)
        done: set[tuple[str, Scope]] = set()
        for node in list(self.document.findall(bibliography_list)):
            place = (node["doi_docname"], node["doi_scope"])
            listing = listings.of_list(*place) if listings else None
            if listings is None or listing is None or not listing.bibliography.references:
                node.parent.remove(node)
                continue
            is_target = place not in done and listing.docname == place[0]
            done.add(place)
            entries = _Entries(listings, listing, node, numbered=options(self.config).citation == "number")
            node.replace_self(entries.list_of(is_target))


class _Entries:
    """The entries of one list as nodes."""

    def __init__(self, listings: Listings, listing: Listing, node: nodes.Element, *, numbered: bool) -> None:
        self._listings = listings
        self._listing = listing
        self._node = node
        self._numbered = numbered
        self._format = listings.builder.format

    def list_of(self, is_target: bool) -> nodes.Element:
        """Return the list: numbered, or in HTML one whose bullets the style sheet hides.

        :param is_target: whether citations lead to this list.
        """
        entries = [self._entry(entry, is_target) for entry in self._listing.bibliography.references]
        if not self._numbered and self._format != "html":
            return nodes.container("", *entries, classes=[*self._node["classes"]])
        items: nodes.Element = nodes.bullet_list("")
        if self._numbered:
            items = nodes.enumerated_list("", enumtype="arabic", prefix="", suffix=".")
        items["classes"] = [*self._node["classes"]]
        for entry in entries:
            ids, entry["ids"] = entry["ids"], []
            items += nodes.list_item("", entry, ids=ids)
        return items

    def _entry(self, entry: Reference, is_target: bool) -> nodes.paragraph:
        paragraph = nodes.paragraph()
        if self._format == "latex" and not self._numbered:
            paragraph += nodes.raw("", _HANGING, format="latex")
        if is_target:
            address = entry_id(entry.doi, self._node["doi_docname"], self._listing.scope)
            if self._format == "html":
                paragraph["ids"] = [address]
            else:
                paragraph += nodes.target("", "", ids=[address])
        for part in reference_parts(entry.doi, self._listings.entry_text(entry, self._node["doi_style"])):
            paragraph += nodes.Text(part.text) if part.doi is None else self._link(part.doi, part.text)
        if self._format == "html":
            paragraph += self._back(entry)
        return paragraph

    def _link(self, doi: Handle, text: str) -> nodes.reference:
        url = doi.link(self._listings.base)
        link = nodes.reference("", text, internal=False, refuri=url, doi=doi, classes=["doi"])
        link["support_smartquotes"] = False
        link["doi_card"] = False  # the entry says it all
        return link

    def _back(self, entry: Reference) -> list[nodes.Node]:
        """Return the links to the places that cite an entry."""
        citations = self._listing.cited[entry.doi]
        back: list[nodes.Node] = []
        for number, citation in enumerate(citations, 1):
            text = f"{_BACK}{number}" if len(citations) > 1 else _BACK
            title = _("Cited in %s") % self._listings.title(citation.docname)
            link = nodes.reference("", text, reftitle=title)
            from_docname = self._node["doi_docname"]
            if _lead_to(link, self._listings.builder, from_docname, citation.docname, citation.id):
                back += [nodes.Text("\N{NO-BREAK SPACE}" if number == 1 else " "), link]
        return [nodes.inline("", "", *back, classes=["doi-back"])] if back else []


class NameWorks(SphinxPostTransform):
    """Show authors, year and title in links if ``doi_text`` asks for them."""

    default_priority = 59  # before there are lists, whose links stay

    def run(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Change the links of a document before it is written."""
        shared, listings = options(self.config), listings_of(self.env)
        if listings is None or not needs_work(shared.text):
            return
        for link in doi_references(self.document):
            work = listings.works.get(link["doi"])
            is_name = link.get("support_smartquotes") is False and "doi_form" not in link.parent
            if work is not None and is_name:
                link[:] = [nodes.Text(shared.display(link["doi"], work, listings.words))]
                del link["support_smartquotes"]


def _lead_to(link: nodes.reference, builder: Builder, from_docname: str, docname: str, address: str) -> bool:
    """Make a link lead to a place in a document; False if this build does not contain it."""
    try:
        uri = builder.get_relative_uri(from_docname, docname)
    except NoUri:
        return False
    link.attributes.pop("refuri", None)
    if from_docname == docname or builder.name == "singlehtml":
        link["refid"] = address
    else:
        link["refuri"] = f"{uri}#{address}"
    link["internal"] = True
    return True
