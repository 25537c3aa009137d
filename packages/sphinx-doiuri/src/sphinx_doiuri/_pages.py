"""What the pages show: marked links to missing DOIs, hover cards, and links that suit each format."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from docutils import nodes
from docutils_doiuri.nodes import doi_references
from doiuri.plugins.display import breakable
from sphinx.transforms.post_transforms import SphinxPostTransform

from sphinx_doiuri._citations import domain_of
from sphinx_doiuri._config import switch
from sphinx_doiuri._environment import doi_data, hardcoded_links
from sphinx_doiuri._locale import _

if TYPE_CHECKING:
    from collections.abc import Callable

    from doiuri.records import Work
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment
    from sphinx.writers.html5 import HTML5Translator
    from sphinx.writers.latex import LaTeXTranslator

_STATIC = Path(__file__).parent / "static"
_STYLE = "doiuri.css"
_LONGEST = 300  # characters of a title, or of a name
_AUTHORS_SHOWN = 3


class link_with_card(nodes.reference):  # noqa: N801 (docutils: the class name is the element name)
    """A link with a hover card."""


class line_break(nodes.Inline, nodes.Element):  # noqa: N801
    """A place where a long name may be broken."""


class struck(nodes.inline):  # noqa: N801
    """The text of a link to a DOI that does not exist."""


class Details(NamedTuple):
    """The text of a hover card."""

    title: str
    byline: str
    """The authors and the year, as in ``Ada Byron, 1843``; of more than three, only the first."""
    journal: str
    """The title of the journal or book."""


def details_of(work: Work) -> Details | None:
    """Return the text of the card of a work, empty where the metadata has none; None if there is no title."""
    if not work.title:
        return None
    parts = [_shown(str(name)) for name in work.authors]
    if len(parts) > _AUTHORS_SHOWN:
        parts[1:] = ["et al."]
    if work.year is not None:
        parts.append(str(work.year))
    return Details(_shown(work.title), ", ".join(parts), _shown(work.container))


def _shown(text: str) -> str:
    text = "".join(character for character in text if character.isprintable())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"


class MarkMissing(SphinxPostTransform):
    """Give links to DOIs that do not exist the class ``doi-not-found``, in all formats."""

    default_priority = 800

    def run(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Change the links of a document before it is written."""
        outcomes = doi_data(self.env).outcomes
        if "not-found" not in outcomes.values():
            return
        links = [(link, link["doi"]) for link in doi_references(self.document)]
        for link, doi in [*links, *hardcoded_links(self.document)]:
            if outcomes.get(doi) == "not-found":
                link["classes"].append("doi-not-found")
                link.setdefault("reftitle", _("This DOI was not found."))


class FinishForHTML(SphinxPostTransform):
    """Give links hover cards, let long names wrap, and strike out DOIs that do not exist in every theme."""

    default_priority = 810
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Change the links of a document before it is written."""
        if switch(self.config, "doi_details"):
            self._add_cards()
        _break_names(self.document, lambda link: breakable(link.astext()))
        for link in self.document.findall(nodes.reference):
            # The writer expects an image with a link to be the only child
            is_image = len(link) == 1 and isinstance(link[0], nodes.image)
            if "doi-not-found" in link["classes"] and not is_image:
                link[:] = [struck("", "", *link.children)]

    def _add_cards(self) -> None:
        known = doi_data(self.env).works
        for number, link in enumerate(list(doi_references(self.document))):
            work = known.get(link["doi"])
            details = details_of(work) if work else None
            if details and link.get("doi_card", True) and not any(link.findall(nodes.image)):
                card = link_with_card(link.rawsource, "", *link.children, **link.attributes)
                card["doi_details"], card["doi_number"] = details, number
                link.replace_self(card)


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

    def _parts(self, link: nodes.reference) -> list[str]:
        """Return the parts of a text; LaTeX breaks URLs by itself, and titles also become bookmarks."""
        text = link.astext()
        whole = text == link.get("refuri") or isinstance(link.parent, nodes.title)
        return [text] if whole else breakable(text, 0)


def _break_names(document: nodes.document, parts: Callable[[nodes.reference], list[str]]) -> None:
    """Allow line breaks in the names that are texts of links, between their parts."""
    for link in doi_references(document):
        if link.get("support_smartquotes") is False:
            first, *others = parts(link)
            link[:] = [nodes.Text(first)]
            for part in others:
                link += [line_break(), nodes.Text(part)]


def add_nodes(app: Sphinx) -> None:
    """Tell the builders how to write the nodes of this module."""
    app.add_node(link_with_card, html=(visit_link_with_card, depart_link_with_card))
    app.add_node(
        line_break, html=(_writes("<wbr />"), _writes("")), latex=(_writes(r"\allowbreak{}"), _writes(""))
    )
    app.add_node(struck, html=(_writes("<s>"), _writes("</s>")))


def _writes(text: str) -> Callable[[HTML5Translator | LaTeXTranslator, nodes.Node], None]:
    def write(self: HTML5Translator | LaTeXTranslator, node: nodes.Node) -> None:  # noqa: ARG001
        self.body.append(text)

    return write


def visit_link_with_card(self: HTML5Translator, node: link_with_card) -> None:
    """Write the link, with the text of the card in its accessible name."""
    if self.builder.name == "epub":  # e-book readers support neither hovering nor popovers
        self.visit_reference(node)
        return
    title, *others = node["doi_details"]
    name = _attribute(f"{node.astext()}: {'. '.join(filter(None, (title.rstrip('.'), *others)))}")
    self.body.append('<span class="doi-details">')
    self.visit_reference(node)
    self.body[-1] = self.body[-1].replace("<a ", f'<a aria-label="{name}" ', 1)


def depart_link_with_card(self: HTML5Translator, node: link_with_card) -> None:
    """Write the card, and the button that opens it on touch screens."""
    self.depart_reference(node)
    if self.builder.name == "epub":
        return
    details: Details = node["doi_details"]
    label = _attribute(_("About %s") % node.astext())
    card = f"doi-card-{node['doi_number']}"
    texts = filter(None, (details.byline, details.journal))
    lines = "".join(f'<span class="doi-card-byline">{escape(text)}</span>' for text in texts)
    self.body.append(
        f'<button type="button" class="doi-more" popovertarget="{card}" aria-label="{label}">i</button>'
        f'<span class="doi-card" id="{card}" role="tooltip" popover="auto">'
        f'<span class="doi-card-title">{escape(details.title)}</span>{lines}</span></span>'
    )


def _attribute(text: str) -> str:
    return escape(" ".join(text.split()))


def copy_style(app: Sphinx, env: BuildEnvironment) -> None:
    """Make Sphinx copy the style sheet if there are cards or lists of references. Handles ``env-updated``."""
    is_needed = switch(app.config, "doi_details") or bool(domain_of(env).places)
    if app.builder.format == "html" and is_needed:
        app.config.html_static_path = [*app.config.html_static_path, str(_STATIC)]


def link_style(
    app: Sphinx,
    pagename: str,  # noqa: ARG001
    templatename: str,  # noqa: ARG001
    context: dict[str, Any],  # noqa: ARG001
    doctree: nodes.document | None,
) -> None:
    """Link the style sheet from a page with cards or a list of references. Handles ``html-page-context``."""
    for node in doctree.findall(nodes.Element) if doctree is not None else ():
        if isinstance(node, link_with_card) or "doi-bibliography" in node["classes"]:
            app.add_css_file(_STYLE)
            return
