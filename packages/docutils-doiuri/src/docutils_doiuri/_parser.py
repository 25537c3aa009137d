"""The parser that docutils loads for ``--parser=docutils_doiuri``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils.parsers import rst

from docutils_doiuri._role import register
from docutils_doiuri._settings import SPEC
from docutils_doiuri._transforms import LinkDOIs, VerifyDOIs

if TYPE_CHECKING:
    from docutils import nodes
    from docutils.transforms import Transform


class Parser(rst.Parser):
    """The reStructuredText parser of docutils, extended by the role ``doi`` and by links to ``doi:`` URIs.

    Its settings, such as ``doi_text``, are also options of the ``docutils`` command: ``--doi-text``.
    """

    settings_spec = (*rst.Parser.settings_spec, *SPEC)
    """docutils' settings for reStructuredText, and those of links to DOIs."""

    def get_transforms(self) -> list[type[Transform]]:
        """Return the transforms of docutils, and the one for ``doi:`` URIs."""
        return [*super().get_transforms(), LinkDOIs]

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Register the role, and parse a document.

        :param inputstring: the source text.
        :param document: the document to fill.
        """
        register()
        VerifyDOIs.add_to(document)
        super().parse(inputstring, document)
