"""The directive ``doi:bibliography``: the place of a list of references."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from docutils.parsers.rst import directives
from doiuri.rest import check_style
from sphinx.util.docutils import SphinxDirective

from sphinx_doiuri.references._nodes import bibliography_list

if TYPE_CHECKING:
    from docutils import nodes


def _scope(argument: str) -> str:
    return str(directives.choice(argument, ("page", "project")))


def _style(argument: str) -> str:
    return check_style(directives.unchanged_required(argument).strip())


class BibliographyDirective(SphinxDirective):
    """``.. doi:bibliography::`` with the options ``:scope:`` and ``:style:``."""

    option_spec: ClassVar = {"scope": _scope, "style": _style, "class": directives.class_option}

    def run(self) -> list[nodes.Node]:
        """Return the place of the list."""
        node = bibliography_list(
            self.block_text,
            classes=["doi-bibliography", *self.options.get("class", ())],
            doi_scope=self.options.get("scope", "page"),
            doi_style=self.options.get("style", ""),
        )
        self.set_source_info(node)
        return [node]
