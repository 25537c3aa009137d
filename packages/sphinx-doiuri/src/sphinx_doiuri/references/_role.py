"""The roles ``doi:p`` and ``doi:t``: citations of one or several DOIs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.utils import unescape
from docutils_doiuri.nodes import Target, reference
from doiuri import DOI, DOISyntaxError
from doiuri.plugins import with_suggestion
from sphinx.util.docutils import SphinxRole

from sphinx_doiuri._config import options

if TYPE_CHECKING:
    from sphinx_doiuri.references._nodes import Form

_SEPARATOR = re.compile(r"([,;]\s+)")


class CitationRole(SphinxRole):
    """``:doi:p:`10.1000/182; 10.1000/183``` for a citation in brackets, ``:doi:t:`` for one in a sentence.

    Until the works are known, and if they are not, a citation consists of the links to the DOIs.

    :param form: "p" or "t".
    """

    def __init__(self, form: Form) -> None:
        super().__init__()
        self._form = form

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the citation, and no messages; ``ReadDOIs`` reports text that is not a DOI."""
        node = self._node()
        self.set_source_info(node)
        return [node], []

    def _node(self) -> nodes.Element:
        shared = options(self.config)
        classes = [*self.options.get("class", ()), *self.options.get("classes", ())]
        citation = nodes.inline(self.rawtext, "", classes=["doi-citation", *classes], doi_form=self._form)
        for number, typed in enumerate(split_dois(unescape(self.text))):
            try:
                target = Target(DOI.parse(typed), typed)
            except DOISyntaxError as error:
                return nodes.problematic(self.rawtext, self.rawtext, doi_error=str(with_suggestion(error)))
            if number:
                citation += nodes.Text("; ")
            link = reference("", target, shared)
            link["doi_typed"] = typed
            citation += link
        # For copies in tables of contents, which have no links
        citation["doi_cited"] = tuple(link["doi"] for link in citation.findall(nodes.reference))
        return citation


def split_dois(text: str) -> list[str]:
    """Return the DOIs in a text, separated by ``,`` or ``;`` and white space.

    Names may contain these too, so a separator counts only if a DOI follows it.

    >>> split_dois("10.1000/a,b; 10.1000/c, d, doi:10.1000/e")
    ['10.1000/a,b', '10.1000/c, d', 'doi:10.1000/e']
    """
    first, *rest = _SEPARATOR.split(text)
    parts = [first]
    for separator, piece in zip(rest[::2], rest[1::2], strict=True):
        if _is_doi(piece):
            parts.append(piece)
        else:
            parts[-1] += separator + piece
    return [part.strip() for part in parts]


def _is_doi(text: str) -> bool:
    try:
        DOI.parse(text)
    except DOISyntaxError:
        return False
    return True
