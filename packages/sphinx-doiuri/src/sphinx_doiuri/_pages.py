"""What the pages show: marked links to missing DOIs, hover cards, and links that suit each format."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils_doiuri.nodes import doi_references, follow_longer_name
from doiuri.plugins import DOI_ORG
from doiuri.plugins.display import SCRIPT, STYLE_SHEET, breakable, card, details_of
from sphinx.transforms.post_transforms import SphinxPostTransform

from sphinx_doiuri._citations import domain_of
from sphinx_doiuri._compat import statuses_of
from sphinx_doiuri._config import options, switch
from sphinx_doiuri._environment import doi_data, hardcoded_links
from sphinx_doiuri._lists import lists_of
from sphinx_doiuri._locale import _
from sphinx_doiuri._references import back_link, isolated

if TYPE_CHECKING:
    from collections.abc import Callable

    from doiuri import DOI
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment
    from sphinx.writers.html5 import HTML5Translator
    from sphinx.writers.latex import LaTeXTranslator

    from sphinx_doiuri._lists import Lists


_STYLED = {"doi-bibliography", "doi-citation"}  # classes of what the style sheet is for


class link_with_card(nodes.reference):  # noqa: N801 (docutils: the class name is the element name)
    """A link with a hover card."""


class line_break(nodes.Inline, nodes.Element):  # noqa: N801
    """A place where a long name may be broken."""


class struck(nodes.inline):  # noqa: N801
    """The text of a link to a DOI that does not exist."""


class FollowLongerNames(SphinxPostTransform):
    """Make links lead to names that are registered only with the punctuation after them."""

    default_priority = 50  # before all others that look at DOIs

    def run(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Change the links of a document before it is written."""
        statuses = statuses_of(self.env)
        for link, doi in _links_with_dois(self.document):
            if "doi_longer" in link:
                base = options(self.config).link if "doi" in link else DOI_ORG
                follow_longer_name(link, doi, statuses, base)


def _links_with_dois(document: nodes.document) -> list[tuple[nodes.reference, DOI]]:
    """Return all links to DOIs, with these: ours, and the author's to doi.org."""
    links = [(link, link["doi"]) for link in doi_references(document)]
    return [*links, *hardcoded_links(document)]


class MarkMissing(SphinxPostTransform):
    """Give links to DOIs that do not exist the class ``doi-not-found``, in all formats."""

    default_priority = 800

    def run(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Change the links of a document before it is written."""
        statuses = doi_data(self.env).statuses
        if "not-found" not in statuses.values():
            return
        for link, doi in _links_with_dois(self.document):
            if statuses.get(doi) == "not-found":
                if "doi-not-found" not in link["classes"]:
                    link["classes"].append("doi-not-found")
                link.setdefault("reftitle", _("This DOI was not found."))


class FinishForHTML(SphinxPostTransform):
    """Give links hover cards, let long names wrap, and strike out DOIs that do not exist in every theme."""

    default_priority = 810
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Change the links of a document before it is written."""
        lists = lists_of(self.env)
        # E-book readers support neither hovering nor popovers
        has_cards = switch(self.config, "doi_details")
        if has_cards and lists and lists.builder.name != "epub":
            self._add_cards(lists)
        _break_names(self.document, lambda _link, text: breakable(text))
        for link in self.document.findall(nodes.reference):
            # The writer expects an image with a link to be the only child
            is_image = len(link) == 1 and isinstance(link[0], nodes.image)
            is_struck = len(link) == 1 and isinstance(link[0], struck)
            if "doi-not-found" in link["classes"] and not is_image and not is_struck:
                link[:] = [struck("", "", *link.children)]

    def _add_cards(self, lists: Lists) -> None:
        """Replace the links to DOIs whose works are known by links with cards; those of lists need none."""
        for link in list(doi_references(self.document)):
            work = lists.works.get(link["doi"])
            details = None if work is None else details_of(work, lists.words)
            has_image = any(link.findall(nodes.image))
            if details is None or has_image or not link.get("doi_card", True):
                continue
            if isinstance(link, link_with_card):  # when this runs again
                continue
            with_card = link_with_card(link.rawsource, "", *link.children, **link.attributes)
            with_card["doi_details"] = details
            link.replace_self(with_card)


class EscapeLinks(SphinxPostTransform):
    """Escape characters that are legal in a URL but that the writers break: ``$`` in LaTeX, ``'`` in roff."""

    default_priority = 820
    formats = ("latex", "man")

    def run(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Change the links of a document before it is written."""
        for link in doi_references(self.document):
            if "refuri" in link:
                link["refuri"] = link["refuri"].replace("$", "%24").replace("'", "%27")


class BreakNamesInLaTeX(SphinxPostTransform):
    """Allow line breaks in names in LaTeX, which would break them at hyphens only."""

    default_priority = 830
    formats = ("latex",)

    def run(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Change the links of a document before it is written."""
        _break_names(self.document, self._parts)

    def _parts(self, link: nodes.reference, text: str) -> list[str]:
        """Return the parts of a text in a link between which LaTeX may break a line."""
        # LaTeX breaks URLs by itself; titles also become bookmarks of the PDF, which have no line breaks
        is_url = text == link.get("refuri")
        if is_url or isinstance(link.parent, nodes.title):
            return [text]
        return breakable(text, width=0)  # short texts, too


def _break_names(
    document: nodes.document, parts: Callable[[nodes.reference, str], list[str]]
) -> None:
    """Allow line breaks in the names that are texts of links, between their parts."""
    for link in doi_references(document):
        if link.get("support_smartquotes") is not False or any(link.findall(line_break)):
            continue
        for text in list(link.findall(nodes.Text)):  # in a style's formats
            first_part, *next_parts = parts(link, str(text))
            broken: list[nodes.Node] = [nodes.Text(first_part)]
            for part in next_parts:
                broken += [line_break(), nodes.Text(part)]
            text.parent.replace(text, broken)


def add_nodes(app: Sphinx) -> None:
    """Tell the builders how to write the nodes of this module."""
    app.add_node(back_link, html=(visit_back_link, None))  # it ends as any reference
    app.add_node(isolated, html=(_writes("<bdi>"), _writes("</bdi>")))
    app.add_node(link_with_card, html=(visit_link_with_card, depart_link_with_card))
    app.add_node(
        line_break,
        html=(_writes("<wbr />"), _writes("")),
        latex=(_writes(r"\allowbreak{}"), _writes("")),
    )
    app.add_node(struck, html=(_writes("<s>"), _writes("</s>")))


def _writes(text: str) -> Callable[[HTML5Translator | LaTeXTranslator, nodes.Node], None]:
    """Return a method of a writer that writes a text for a node."""

    def write(self: HTML5Translator | LaTeXTranslator, node: nodes.Node) -> None:  # noqa: ARG001
        self.body.append(text)

    return write


def visit_link_with_card(self: HTML5Translator, node: link_with_card) -> None:
    """Write the link, which the card describes."""
    cards = vars(self).setdefault("doi_cards", 0)
    vars(self)["doi_cards"] = cards + 1
    node["doi_card_id"] = f"doi-card-{cards}"
    self.body.append('<span class="doi-details">')
    self.visit_reference(node)
    described = f'<a aria-describedby="{node["doi_card_id"]}" '
    self.body[-1] = self.body[-1].replace("<a ", described, 1)


def visit_back_link(self: HTML5Translator, node: back_link) -> None:
    """Write a link from an entry back to a citation, with its role and a name that says where it leads."""
    self.visit_reference(node)
    attributes = f'role="doc-backlink" aria-label="{escape(node["reftitle"])}"'
    self.body[-1] = self.body[-1].replace("<a ", f"<a {attributes} ", 1)


def depart_link_with_card(self: HTML5Translator, node: link_with_card) -> None:
    """Write the card, and the button that opens it on touch screens."""
    self.depart_reference(node)
    label = _("About %s") % node.astext()
    self.body.append(card(node["doi_details"], node["doi_card_id"], label))
    self.body.append("</span>")


def copy_style(app: Sphinx, env: BuildEnvironment) -> None:
    """Make Sphinx copy the style sheet if there are cards, citations or lists of references."""
    domain = domain_of(env)
    uses_style = switch(app.config, "doi_details") or domain.places or domain.citations
    if app.builder.format == "html" and uses_style:
        app.config.html_static_path = [*app.config.html_static_path, str(STYLE_SHEET.parent)]


def link_style(
    app: Sphinx,
    pagename: str,  # noqa: ARG001
    templatename: str,  # noqa: ARG001
    context: dict[str, Any],  # noqa: ARG001
    doctree: nodes.document | None,
) -> None:
    """Link the style sheet from a page with cards, citations or a list. Handles ``html-page-context``."""
    if doctree is None:
        return
    for node in doctree.findall(nodes.Element):
        if isinstance(node, link_with_card) or not _STYLED.isdisjoint(node["classes"]):
            app.add_css_file(STYLE_SHEET.name)
            if switch(app.config, "doi_details"):
                app.add_js_file(SCRIPT.name, loading_method="defer")
            return
