"""The role ``doi``."""

from copy import copy
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils_doiuri import read_target, reference, unlinked
from doiuri import DOISyntaxError
from sphinx.util.docutils import SphinxRole

from sphinx_doiuri._config import options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from docutils.parsers.rst.states import Inliner


class DOIRole(SphinxRole):
    """``:doi:`10.1000/182```, with or without a title; ``!`` in front gives the text without the link.

    What is to be said about the DOI is said by ``ReadDOIs``, which knows the line; what is no DOI becomes
    problematic text.
    """

    escaped: str  # the role's text with docutils' NUL escapes, which tell "\<" from "<"

    def __call__(
        self,
        name: str,
        rawtext: str,
        text: str,
        lineno: int,
        inliner: "Inliner",
        options: dict[str, Any] | None = None,
        content: "Sequence[str]" = (),
    ) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Note the text as docutils hands it over, and go on as every Sphinx role."""
        one = copy(self)  # Sphinx would write over the options that the directive "role" finds here
        one.escaped = text
        return super(DOIRole, one).__call__(name, rawtext, text, lineno, inliner, options, content)

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the link."""
        node = self._node([*self.options.get("class", ()), *self.options.get("classes", ())])
        self.set_source_info(node)
        return [node], []

    def _node(self, classes: list[str]) -> nodes.Element:
        shown = options(self.config)
        if self.escaped.startswith("!"):
            return unlinked(self.rawtext, self.escaped, shown, classes)
        try:
            target = read_target(self.escaped)
        except DOISyntaxError as error:
            return nodes.problematic(self.rawtext, self.rawtext, doi_error=str(error))
        node = reference(self.rawtext, target, shown, classes)
        node["doi_typed"] = target.typed
        return node
