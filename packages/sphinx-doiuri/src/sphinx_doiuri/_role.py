"""The role ``doi`` for Sphinx."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils_doiuri.nodes import parse_target, reference, unlinked
from doiuri import DOISyntaxError
from sphinx.util.docutils import SphinxRole

from sphinx_doiuri._config import options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from docutils.parsers.rst.states import Inliner


class DOIRole(SphinxRole):
    """``:doi:`10.1000/182``` and ``:doi:`Title <10.1000/182>```; ``!`` gives the text without the link.

    If there is no DOI, the source is shown as *problematic* text. ``ReadDOIs`` reports that, and the advice
    on DOIs, because it knows the line.
    """

    escaped: str  # the text with docutils' NUL escapes, which distinguish "\<" from "<"

    def __call__(
        self,
        name: str,
        rawtext: str,
        text: str,
        lineno: int,
        inliner: Inliner,
        options: dict[str, Any] | None = None,
        content: Sequence[str] = (),
    ) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Keep the escaped text, and call ``run``; the arguments are docutils' own."""
        role = copy(self)  # Sphinx would overwrite the options that the directive "role" sees
        role.escaped = text
        return super(DOIRole, role).__call__(name, rawtext, text, lineno, inliner, options, content)

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the link, and no messages."""
        node = self._node([*self.options.get("class", ()), *self.options.get("classes", ())])
        self.set_source_info(node)
        return [node], []

    def _node(self, classes: list[str]) -> nodes.Element:
        shared = options(self.config)
        if self.escaped.startswith("!"):
            return unlinked(self.rawtext, self.escaped, shared, classes)
        try:
            target = parse_target(self.escaped)
        except DOISyntaxError as error:
            return nodes.problematic(self.rawtext, self.rawtext, doi_error=str(error))
        node = reference(self.rawtext, target, shared, classes)
        node["doi_typed"] = target.typed
        return node
