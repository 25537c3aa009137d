"""What the look-up shows on the pages: a class on links that lead nowhere, and the hover cards."""

import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils_doiuri import doi_references
from doiuri import DOI
from sphinx.transforms.post_transforms import SphinxPostTransform

from sphinx_doiuri._config import switch
from sphinx_doiuri._environment import state
from sphinx_doiuri._locale import _

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

    from sphinx_doiuri._details import Details

_STATIC = Path(__file__).parent / "static"
_STYLE = "doiuri.css"
_BREAK = re.compile(r"(?<=[/.:;,)>_])(?<!doi:)(?<!10\.)|(?=[(<])")  # behind a mark, or before a bracket


class link_with_card(nodes.reference):  # noqa: N801 (docutils' custom: the class is the element's name)
    """A link with a hover card."""


class MarkMissing(SphinxPostTransform):
    """Give links to DOIs that do not exist the class ``doi-not-found``, in every format."""

    default_priority = 800

    def run(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Go over a document that is about to be written."""
        outcomes = state(self.env).outcomes
        if "not-found" not in outcomes.values():
            return
        for link in doi_references(self.document):
            if outcomes.get(DOI(link["doi"])) == "not-found":
                link["classes"].append("doi-not-found")
                link.setdefault("reftitle", _("This DOI was not found."))


class EncodeMore(SphinxPostTransform):
    """Escape what is lawful in a link, but not what the writers make of it: ``$`` in LaTeX, ``'`` in roff."""

    default_priority = 820
    formats = ("latex", "man")

    def run(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Go over a document that is about to be written."""
        for link in doi_references(self.document):
            link["refuri"] = link["refuri"].replace("$", "%24").replace("'", "%27")


class BreakNames(SphinxPostTransform):
    """Let a long name wrap in LaTeX, which breaks words at hyphens only and runs out of the column."""

    default_priority = 830
    formats = ("latex",)

    def run(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Go over a document that is about to be written; titles go into bookmarks too, and stay plain."""
        for link in doi_references(self.document):
            text = link.astext()
            ours = link.get("support_smartquotes") is False and text != link["refuri"]  # LaTeX wraps links
            if ours and not isinstance(link.parent, nodes.title):
                first, *others = filter(None, _BREAK.split(text))
                link[:] = [nodes.Text(first)]
                for part in others:
                    link += [nodes.raw("", r"\allowbreak{}", format="latex"), nodes.Text(part)]


class AddCards(SphinxPostTransform):
    """Give links in HTML a hover card, where something is known about what they lead to."""

    default_priority = 810
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Go over a document that is about to be written."""
        known = state(self.env).details
        for number, link in enumerate(list(doi_references(self.document)) if known else ()):
            details = known.get(DOI(link["doi"]))
            if details and not any(link.findall(nodes.image)):
                card = link_with_card(link.rawsource, "", *link.children, **link.attributes)
                card["doi_details"], card["doi_number"] = details, number
                link.replace_self(card)


def visit_link_with_card(self: "HTML5Translator", node: link_with_card) -> None:
    """Write the link, whose accessible name says what the card shows."""
    if self.builder.name == "epub":  # readers of books know neither hovering nor popovers
        self.visit_reference(node)
        return
    name = _attribute(f"{node.astext()}: {_summary(node['doi_details'])}")
    self.body.append('<span class="doi-details">')
    self.visit_reference(node)
    self.body[-1] = self.body[-1].replace("<a ", f'<a aria-label="{name}" ', 1)


def depart_link_with_card(self: "HTML5Translator", node: link_with_card) -> None:
    """Write the card, and the button that opens it where nothing can hover."""
    self.depart_reference(node)
    if self.builder.name == "epub":
        return
    details: Details = node["doi_details"]
    label = _attribute(_("About %s") % node.astext())
    card = f"doi-card-{node['doi_number']}"
    byline = f'<span class="doi-card-byline">{escape(details.byline())}</span>' if details.byline() else ""
    self.body.append(
        f'<button type="button" class="doi-more" popovertarget="{card}" aria-label="{label}">i</button>'
        f'<span class="doi-card" id="{card}" role="tooltip" popover="auto">'
        f'<span class="doi-card-title">{escape(details.title)}</span>{byline}</span></span>'
    )


def _summary(details: "Details") -> str:
    return ". ".join(filter(None, (details.title.rstrip("."), details.byline())))


def _attribute(text: str) -> str:
    return escape(" ".join(text.split()))


def offer_style(app: "Sphinx") -> None:
    """Have the style sheet of the cards copied, where cards are wanted."""
    if app.builder.format == "html" and switch(app.config, "doi_details"):
        app.config.html_static_path = [*app.config.html_static_path, str(_STATIC)]


def link_style(
    app: "Sphinx",
    pagename: str,  # noqa: ARG001
    templatename: str,  # noqa: ARG001
    context: dict[str, Any],  # noqa: ARG001
    doctree: nodes.document | None,
) -> None:
    """Link the style sheet from a page that has cards."""
    if doctree is not None and next(iter(doctree.findall(link_with_card)), None) is not None:
        app.add_css_file(_STYLE)
