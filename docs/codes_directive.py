"""The directive ``doiuri-codes``: what ``doiuri rule --all`` says, as sections of the manual."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri_cli.rules import RULES
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from docutils import nodes
    from doiuri_cli.rules import Rule
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

FIXES = {
    "safe": "``doiuri fix`` corrects it; the DOI stays the same.",
    "unsafe": "``doiuri fix --unsafe-fixes`` corrects it if only the corrected DOI is registered.",
    "": "",
}


class Codes(SphinxDirective):
    """A table of all codes, then a section for each."""

    def run(self) -> list[nodes.Node]:
        """Return the table and the sections."""
        lines = [".. list-table::", "   :class: stacked", "   :header-rows: 1", ""]
        lines += row("code", "severity", "fix", "meaning")
        for rule in RULES.values():
            fix = f"{rule.fix or 'no'} fix"
            lines += row(
                f":ref:`{rule.code} <code-{rule.code}>`", rule.severity.label, fix, rst(rule.summary)
            )
        for rule in RULES.values():
            lines += section(rule)
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def row(*cells: str) -> list[str]:
    """Return the lines of a row."""
    return [f"   {'* -' if not index else '  -'} {cell}" for index, cell in enumerate(cells)]


def section(rule: Rule) -> list[str]:
    """Return the lines of the section about a rule."""
    lines = ["", f".. _code-{rule.code}:", "", rule.code, "-" * len(rule.code), ""]
    lines += [f"*{rule.severity.label.capitalize()}.* {rst(rule.summary)} {rst(rule.reason)}", ""]
    lines += ["Example:", "", *literal(rule.example)]
    if rule.instead:
        lines += ["Write:", "", *literal(rule.instead)]
    return [*lines, FIXES[rule.fix]]


def literal(text: str) -> list[str]:
    """Return the lines of a literal block."""
    return [".. code-block:: text", "", *(f"   {line}" for line in text.splitlines()), ""]


def rst(text: str) -> str:
    """Return a text with its literals in reStructuredText."""
    return text.replace("`", "``")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directive."""
    app.add_directive("doiuri-codes", Codes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
