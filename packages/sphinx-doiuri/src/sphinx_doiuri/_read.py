"""Read a document: the role ``doi``, ``doi:`` URIs, and warnings of what is not a DOI."""

from __future__ import annotations

import re
from copy import copy
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils_doiuri.nodes import (
    cut_link,
    link_mentions,
    link_uri,
    longer_names,
    parse_arxiv_target,
    parse_target,
    restore_contents,
    role_node,
    set_lines,
    source_text,
)
from doiuri import DOI, DOISyntaxError, encode
from sphinx import addnodes
from sphinx.errors import FiletypeNotFoundError
from sphinx.transforms import SphinxTransform
from sphinx.util import get_filetype, logging
from sphinx.util.docutils import SphinxRole

from sphinx_doiuri._citations import citations_in
from sphinx_doiuri._config import mention_rule, options, switch
from sphinx_doiuri._environment import hardcoded_doi, note_written, sort_out_kept
from sphinx_doiuri._locale import __

if TYPE_CHECKING:
    from collections.abc import Sequence

    from docutils.parsers.rst.states import Inliner

logger = logging.getLogger(__name__)

_EMBEDDED = re.compile(r"<(doi:[^<>]*)>`__?\Z", re.IGNORECASE)
_EXPLICIT = re.compile(r"(?:\.\. _.*?:|\.\. __:|__)\s+(doi:.*)\Z", re.IGNORECASE | re.DOTALL)
_SPECIAL = frozenset("%\\`")  # characters that have a meaning in a role
_TAIL = re.compile(r"[?#].+")  # of a URL: its query and fragment
# Not at the end of a line, where it wraps the text
_INNER_SPACE = re.compile(r"(?<=[^\s\\])[ \t]+(?=\S)")


class DOIRole(SphinxRole):
    """``:doi:`10.1000/182``` and ``:doi:`Title <10.1000/182>```; ``!`` gives the text without the link.

    If there is no DOI, the source is shown as *problematic* text. ``ReadDOIs`` reports that, and the advice
    on DOIs, because it knows the line.
    """

    parse = staticmethod(parse_target)
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
        classes = self.options.get("classes", ())
        node = role_node(self.rawtext, self.escaped, options(self.config), classes, self.parse)
        self.set_source_info(node)
        note_written(self.inliner.document, node)
        return [node], []


class ArXivRole(DOIRole):
    """``:arxiv:`2301.00001``` and ``:arxiv:`Title <hep-th/9901001v2>```."""

    parse = staticmethod(parse_arxiv_target)


_UNLINKED = (
    addnodes.desc_signature,
    addnodes.desc_inline,
    addnodes.pending_xref,
    addnodes.literal_emphasis,
    addnodes.literal_strong,
    addnodes.manpage,
    addnodes.download_reference,
)


class LinkMentions(SphinxTransform):
    """Make links of the DOIs in running text, as the options say."""

    default_priority = 690  # after ExternalTargets (640); before ReadDOIs, which looks at the links

    def apply(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Change a document, and warn of what has a label, but is not a DOI."""
        rule = mention_rule(self.config)
        invalid = link_mentions(
            self.document, rule, options(self.config), self.env.parser, _UNLINKED
        )
        set_lines(self.document, invalid)
        for element in invalid:
            logger.warning(element["doi_error"], type="doi", subtype="syntax", location=element)


class ReadDOIs(SphinxTransform):
    """Turn references to ``doi:`` URIs into links, and warn of what is not a DOI.

    The attribute ``doi_typed`` keeps what the author typed until ``DOICollector`` has recorded it.
    """

    # After ExternalTargets (640), which resolves references; before SmartQuotes (750)
    default_priority = 700

    def apply(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Change a document."""
        candidates = self._candidates()
        # The links in a citation have no source text: the citation has it
        outside_citations = [node for node in candidates if "doi_form" not in node.parent]
        set_lines(self.document, [*citations_in(self.document), *outside_citations])

        for node in candidates:
            if isinstance(node, nodes.target):
                self._read_target(node)
            elif isinstance(node.get("doi"), DOI) or "doi_error" in node:
                self._read_role(node)
            elif is_doi_uri(node["refuri"]):
                self._read_reference(node)
            else:
                self._read_link_to_doi_org(node)

    def _candidates(self) -> list[nodes.Element]:
        """Return the nodes to look at; those in a substitution are looked at where it is used."""
        return [
            node
            for node in self.document.findall(nodes.Element)
            if _is_candidate(node) and not isinstance(node.parent, nodes.substitution_definition)
        ]

    def _warn(self, node: nodes.Element, subtype: str, message: str) -> None:
        logger.warning(message, type="doi", subtype=subtype, location=node)

    def _read_role(self, node: nodes.Element) -> None:
        """Report the error of a role, or note what its author typed: the name, unless the role has noted it."""
        if "doi_error" in node:
            self._warn(node, "syntax", node.attributes.pop("doi_error"))
        else:
            node.attributes.setdefault("doi_typed", node["doi"].name)

    def _read_target(self, node: nodes.target) -> None:
        """Rewrite a ``.. _name: doi:…``; references to it have its URI already."""
        explicit = _EXPLICIT.match(node.rawsource)
        if explicit:
            self._look_for_space(node, explicit[1], node["refuri"])
        try:
            link_uri(node, options(self.config))
        except DOISyntaxError as error:
            # The error of an embedded URI, as in `text <doi:...>`_, is reported with the reference
            if explicit:
                self._warn(node, "syntax", str(error))

    def _read_reference(self, node: nodes.Element) -> None:
        """Turn a reference to a ``doi:`` URI into a link, or show its source if the URI is not a DOI."""
        uri = node["refuri"]
        embedded = _EMBEDDED.search(node.rawsource)
        if embedded:
            self._look_for_space(node, embedded[1], uri)
        try:
            link_uri(node, options(self.config))
        except DOISyntaxError as error:
            text = source_text(node)
            problem = nodes.problematic(text, text)
            problem.source = node.source
            problem.line = node.line
            node.replace_self(problem)
            if embedded or "name" not in node:  # otherwise it is reported with its target
                self._warn(problem, "syntax", str(error))
        else:
            node["doi_typed"] = uri

    def _look_for_space(self, node: nodes.Element, written: str, uri: str) -> None:
        """Warn of white space in a target: docutils removes it, even if it is part of the name.

        :param written: the target as it is in the source, such as "doi:10.1000/a b".
        :param uri: the target without white space.
        """
        if not _INNER_SPACE.search(written):
            return
        meant = re.sub(r"\s+", " ", _without_scheme(written)).strip()
        message = __(
            "reStructuredText removes white space from a target, so this links to %s; for %r write doi:%s"
        )
        values = (_without_scheme(uri), meant, encode(meant))
        self._warn(node, "target-space", message % values)

    def _read_link_to_doi_org(self, node: nodes.Element) -> None:
        """Report what is wrong with a link to doi.org, note what else it may mean, and fill it if it is empty."""
        cut = cut_link(node)
        if cut is not None:
            message = __("the link ends before %r; write %s") % (cut.left_out, cut.url)
            self._warn(node, "raw-link", message)
        longer = longer_names(node)
        if longer:
            node["doi_longer"] = longer
        has_image = any(node.findall(nodes.image))
        if switch(self.config, "doi_hardcoded_links") and not has_image:
            self._report_hardcoded(node)
        if not node.children:
            self._show_name(node)

    def _show_name(self, node: nodes.Element) -> None:
        """Show the DOI in a link to doi.org without a text, which MyST makes of ``[](https://doi.org/…)``."""
        doi = hardcoded_doi(node)
        if doi is not None:
            node += nodes.Text(options(self.config).display(doi))
            node["doi"] = doi
            node["classes"].append("doi")
            node["support_smartquotes"] = False

    def _report_hardcoded(self, node: nodes.Element) -> None:
        """Report a link to doi.org that could be a role."""
        doi = _written_doi(node)
        if doi is None:
            return
        uri = node["refuri"]
        role = self._role_for(node, doi)
        lost = _TAIL.search(uri)
        if lost is None:
            message = __("hardcoded link %s could be replaced by %s") % (uri, role)
        else:
            message = __("hardcoded link %s could be replaced by %s, which drops %s") % (
                uri,
                role,
                lost[0],
            )
        self._warn(node, "hardcoded", message)

    def _role_for(self, link: nodes.Element, doi: DOI) -> str:
        """Return the source of a role that could stand for a link, such as ":doi:`Title <10.1000/182>`"."""
        name = doi.name if _SPECIAL.isdisjoint(doi.name) else doi.uri
        text = " ".join(link.astext().split())
        content = name if not text or text == link["refuri"] else f"{text} <{name}>"
        if self._is_markdown(link):
            return f"{{doi}}`{content}`"
        return f":doi:`{content}`"

    def _is_markdown(self, node: nodes.Element) -> bool:
        """Whether a link was written in MyST, and not in reStructuredText inside it."""
        try:
            kind = get_filetype(self.config.source_suffix, node.source or "")
        except FiletypeNotFoundError:  # a docstring
            return False
        return kind != "restructuredtext" and not node.rawsource.endswith("_")


class FindKept(SphinxTransform):
    """Find the citations and links that other extensions have kept for another place."""

    default_priority = 1  # before Locale (20) replaces what is translated

    def apply(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Note them in a document."""
        sort_out_kept(self.document)


class RestoreContents(SphinxTransform):
    """Undo typographic quotes and dashes in the names in a table of contents."""

    default_priority = 760  # after SmartQuotes (750)

    def apply(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Change a document."""
        restore_contents(self.document)


def _written_doi(link: nodes.Element) -> DOI | None:
    """Return the DOI in a link to doi.org as it was written; None for any other link."""
    cut = cut_link(link)
    return hardcoded_doi(link) if cut is None else cut.doi


def is_doi_uri(uri: str) -> bool:
    """Return whether a URI begins like that of a DOI."""
    return uri[:4].lower() == "doi:"


def _without_scheme(uri: str) -> str:
    """Return what follows ``doi:``."""
    return uri.partition(":")[2]


def _is_candidate(node: nodes.Element) -> bool:
    uri = node.get("refuri", "")
    if "doi_error" in node:
        return True
    if isinstance(node, nodes.reference):
        return isinstance(node.get("doi"), DOI) or is_doi_uri(uri) or _written_doi(node) is not None
    return isinstance(node, nodes.target) and is_doi_uri(uri)
