"""The documents as they are read: ``doi:`` references become links, and what is odd is said."""

import re
from typing import Any

from docutils import nodes
from docutils_doiuri import as_written, link_uri, remarks
from doiuri import DOI, DOISyntaxError, encode, find
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

from sphinx_doiuri._config import options, switch
from sphinx_doiuri._lines import set_line
from sphinx_doiuri._locale import __

logger = logging.getLogger(__name__)

_EMBEDDED = re.compile(r"<(doi:[^<>]*)>`__?\Z", re.IGNORECASE)
_EXPLICIT = re.compile(r"(?:\.\. _.*?:|\.\. __:|__)\s+(doi:.*)\Z", re.IGNORECASE | re.DOTALL)
_SPECIAL = frozenset("%\\`")  # what is not itself in a role
_INNER_SPACE = re.compile(r"(?<=[^\s\\])[ \t]+(?=\S)")  # at a line's end it only wraps the text


class ReadDOIs(SphinxTransform):
    """Turn references to ``doi:`` URIs into links, and warn about every DOI that is odd or none."""

    default_priority = 700  # after ExternalTargets (640), which resolves named ones; before SmartQuotes (750)

    def apply(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Go over the document once."""
        found = self._candidates()
        for node in found:  # before any is replaced: the lines of those written alike depend on their order
            set_line(node)
        for node in found:
            if isinstance(node, nodes.target):
                self._target(node)
            elif "doi" in node or "doi_error" in node:
                self._role(node)
            elif _is_doi_uri(node["refuri"]):
                self._reference(node)
            else:
                self._hardcoded(node)

    def _candidates(self) -> list[nodes.Element]:
        hardcoded = switch(self.config, "doi_hardcoded_links")
        return [
            node
            for node in self.document.findall(nodes.Element)
            if _is_candidate(node, hardcoded=hardcoded)
            and not isinstance(node.parent, nodes.substitution_definition)  # it is looked at where it is used
        ]

    def _say(self, node: nodes.Element, subtype: str, message: str) -> None:
        logger.warning(message, type="doi", subtype=subtype, location=node)

    def _role(self, node: nodes.Element) -> None:
        if "doi_error" in node:
            self._say(node, "syntax", node.attributes.pop("doi_error"))
        else:
            for code, message in remarks(node.attributes.pop("doi_typed", node["doi"])):
                self._say(node, code, message)

    def _target(self, node: nodes.target) -> None:
        """A ``.. _name: doi:…``; the references to it have taken over the URI already."""
        written = _EXPLICIT.match(node.rawsource)
        if written:
            self._look_for_space(node, written[1], node["refuri"])
        try:
            link_uri(node, options(self.config))
        except DOISyntaxError as error:
            if written:  # what is embedded in a reference is reported there
                self._say(node, "syntax", str(error))

    def _reference(self, node: nodes.Element) -> None:
        uri = node["refuri"]
        written = _EMBEDDED.search(node.rawsource)
        if written:
            self._look_for_space(node, written[1], uri)
        try:
            link_uri(node, options(self.config))
        except DOISyntaxError as error:
            text = as_written(node)
            problem = nodes.problematic(text, text)
            problem.source, problem.line = node.source, node.line
            node.replace_self(problem)
            if written or "name" not in node:  # else its target is elsewhere, and is reported there
                self._say(problem, "syntax", str(error))
        else:
            for code, message in remarks(uri):
                self._say(node, code, message)

    def _look_for_space(self, node: nodes.Element, written: str, uri: str) -> None:
        """Docutils takes white space out of a target, which changes the name where it was part of it."""
        if not _INNER_SPACE.search(written):
            return
        meant = re.sub(r"\s+", " ", written[4:]).strip()
        self._say(
            node,
            "target-space",
            __("reStructuredText drops white space in a target, so this links to %s; write doi:%s for %r")
            % (uri[4:], encode(meant), meant),
        )

    def _hardcoded(self, node: nodes.Element) -> None:
        """Report a link to doi.org that could be a role."""
        try:
            doi = _as_meant(node, DOI.from_url(node["refuri"]))
        except DOISyntaxError:
            return
        name = doi.name if _SPECIAL.isdisjoint(doi.name) else doi.uri
        text = node.astext()
        role = f":doi:`{name}`" if not text or text == node["refuri"] else f":doi:`{text} <{name}>`"
        self._say(node, "hardcoded", __("hard-coded link %s could be %s") % (node["refuri"], role))


def _as_meant(link: nodes.Element, doi: DOI) -> DOI:
    """The DOI of a link that an author just wrote down: docutils ends such a one at ``<``."""
    if link.parent is None or "`" in link.rawsource or link.astext() != link["refuri"]:
        return doi
    behind = link.parent[link.parent.index(link) + 1 :][:1]
    match = next(find(link.astext() + "".join(node.astext() for node in behind)), None)
    return match.doi if match else doi


def _is_doi_uri(uri: str) -> bool:
    return uri[:4].lower() == "doi:"


def _is_candidate(node: nodes.Element, *, hardcoded: bool) -> bool:
    uri = node.get("refuri", "")
    if isinstance(node, nodes.reference):
        return "doi" in node or _is_doi_uri(uri) or (hardcoded and bool(uri))
    if isinstance(node, nodes.target):
        return _is_doi_uri(uri)
    return isinstance(node, nodes.problematic) and "doi_error" in node
