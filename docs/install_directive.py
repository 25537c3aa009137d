"""The directive ``doiuri-install``: the commands that install packages, now and when they are on PyPI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective
from support.manual.installing import install_lines

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata


class Install(SphinxDirective):
    """The commands for the packages that its arguments name."""

    required_arguments = 1
    optional_arguments = 9

    def run(self) -> list[nodes.Node]:
        """Return the block."""
        text = "\n".join(install_lines(*self.arguments))
        return [nodes.literal_block(text, text, language="sh")]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directive."""
    app.add_directive("doiuri-install", Install)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
