"""Citations and lists of references as documents have them: their nodes, roles, directive and domain."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.utils import unescape
from docutils_doiuri.nodes import Target, reference
from doiuri import DOI, DOISyntaxError
from doiuri.plugins import with_suggestion
from doiuri.rest import check_style
from sphinx import addnodes
from sphinx.domains import Domain
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.logging import get_node_location

from sphinx_doiuri._config import options
from sphinx_doiuri._environment import conditions_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from doiuri import Handle
    from sphinx.builders import Builder
    from sphinx.environment import BuildEnvironment

Form = Literal["p", "t"]
"""A citation in brackets, or as a part of the sentence."""

Scope = Literal["page", "project"]
"""Whose citations a list contains: those of its page, or of all documents."""

_DIGEST_BYTES = 4
_REFERENCES = frozenset({"ref", "any", "myst"})  # the roles that show titles
_SEPARATOR = re.compile(r"([,;]\s+)")

# What a process reads of documents, by document name
_READ = ("citations", "places", "titles", "targets")


class Citation(NamedTuple):
    """One citation in a document."""

    docname: str
    id: str
    """The id of its place in the document."""
    form: Form
    dois: tuple[DOI, ...]
    location: str
    """The source file and line, as ``file:line``."""
    conditions: tuple[tuple[str, str], ...] = ()
    """The directives ``only`` and ``ifconfig`` around it: their names and expressions."""


class Place(NamedTuple):
    """One list of references in a document."""

    docname: str
    scope: Scope
    style: str
    """The CSL style; "" for that of ``doi_reference_style``."""
    conditions: tuple[tuple[str, str], ...] = ()


class bibliography_list(nodes.General, nodes.Element):  # noqa: N801 (docutils: the class name is the element name)
    """The place of a list of references."""


def citations_in(document: nodes.Element) -> Iterator[nodes.inline]:
    """Yield the citations in a document or title; those in substitutions where they are used, not defined."""
    for node in document.findall(nodes.inline):
        if "doi_form" in node and not isinstance(node.parent, nodes.substitution_definition):
            yield node


def is_copy(citation: nodes.inline) -> bool:
    """Return whether a citation is in a table of contents; titles are copied there without their links."""
    return next(citation.findall(nodes.reference), None) is None


def _titles_with_citations(document: nodes.document) -> dict[str, nodes.TextElement]:
    """Return the titles, captions and rubrics with citations, by the ids and names they belong to."""
    titles = {}
    for citation in citations_in(document):
        title: nodes.Node | None = citation
        while title is not None and not isinstance(title, nodes.title | nodes.caption | nodes.rubric):
            title = title.parent
        if title is not None:
            owner = title if isinstance(title, nodes.rubric) else title.parent
            titles.update(dict.fromkeys([*owner["ids"], *owner["names"]], _copy(title)))
    return titles


def _copy(title: nodes.TextElement) -> nodes.TextElement:
    """Return a copy without the document, which would be stored with it."""
    copied = title.deepcopy()
    for node in copied.findall():
        vars(node).pop("_document", None)
    return copied


def _targets_of(document: nodes.document) -> set[str]:
    """Return the labels to which a document refers."""
    references = document.findall(addnodes.pending_xref)
    return {node["reftarget"] for node in references if node["reftype"] in _REFERENCES}


def entry_id(doi: Handle, docname: str, scope: Scope) -> str:
    """Return the id of the entry of a DOI: ASCII letters, digits and hyphens, whatever the name contains.

    :param doi: the DOI of the entry.
    :param docname: the document that has the list. Builders such as singlehtml put documents together.
    :param scope: the scope of the list.
    """
    return f"doi-{_slug(doi.name, f'{scope} {docname} {doi.key}')}"


def _slug(text: str, whole: str = "") -> str:
    """Return text that is valid in an id, with a digest that keeps it unique.

    :param text: what a reader should recognize.
    :param whole: what the digest is of; by default ``text``.
    """
    digest = hashlib.blake2s((whole or text).encode(), digest_size=_DIGEST_BYTES).hexdigest()
    return f"{nodes.make_id(text)[:60]}-{digest}".lstrip("-")


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


class DOIDomain(Domain):
    """Roles ``doi:p`` and ``doi:t``, and the directive ``doi:bibliography``."""

    name = "doi"
    label = "DOI"
    roles: ClassVar = {"p": CitationRole("p"), "t": CitationRole("t")}
    directives: ClassVar = {"bibliography": BibliographyDirective}
    initial_data: ClassVar = {name: {} for name in (*_READ, "rendered", "warned", "labels")}
    data_version = 4

    def __init__(self, env: BuildEnvironment) -> None:
        super().__init__(env)
        self.citations: dict[str, list[Citation]] = self.data["citations"]
        """The citations by document name, in the order of the document."""
        self.places: dict[str, list[Place]] = self.data["places"]
        """The lists of references by document name."""
        self.titles: dict[str, dict[str, nodes.TextElement]] = self.data["titles"]
        """The titles, captions and rubrics with citations, by document name and by the ids they belong to."""
        self.targets: dict[str, set[str]] = self.data["targets"]
        """The labels to which documents refer, by document name."""
        self.labels: dict[str, str] = self.data["labels"]
        """What references to labels of such titles show, by label."""
        self.rendered: dict[str, str] = self.data["rendered"]
        """A digest of what the citations and lists of a document show, by document name."""
        self.warned: dict[str, set[DOI]] = self.data["warned"]
        """The DOIs that were reported to have no metadata, by document name."""

    def clear_doc(self, docname: str) -> None:
        """Remove what a document contains."""
        for name in (*_READ, "rendered", "warned"):
            self.data[name].pop(docname, None)

    def merge_domaindata(self, docnames: AbstractSet[str], otherdata: dict[str, Any]) -> None:
        """Add what documents contain that another process has read."""
        for name in _READ:
            theirs = otherdata[name]
            self.data[name].update((doc, theirs[doc]) for doc in sorted(docnames) if doc in theirs)

    def process_doc(self, env: BuildEnvironment, docname: str, document: nodes.document) -> None:  # noqa: ARG002
        """Record the citations and lists of a document, and give each citation an id."""
        citations: list[Citation] = []
        for node in citations_in(document):
            node["doi_docname"] = docname
            if not is_copy(node):
                node["doi_id"] = id_ = f"doi-cite-{_slug(docname)}-{len(citations) + 1}"
                location, conditions = get_node_location(node) or docname, conditions_of(node)
                citations.append(
                    Citation(docname, id_, node["doi_form"], node["doi_cited"], location, conditions)
                )
        lists = []
        for place in document.findall(bibliography_list):
            place["doi_docname"] = docname
            lists.append(Place(docname, place["doi_scope"], place["doi_style"], conditions_of(place)))
        found = citations, lists, _titles_with_citations(document), _targets_of(document)
        for name, value in zip(_READ, found, strict=True):
            if value:
                self.data[name][docname] = value

    def resolve_any_xref(
        self,
        env: BuildEnvironment,  # noqa: ARG002
        fromdocname: str,  # noqa: ARG002
        builder: Builder,  # noqa: ARG002
        target: str,  # noqa: ARG002
        node: nodes.Element,  # noqa: ARG002
        contnode: nodes.Element,  # noqa: ARG002
    ) -> list[tuple[str, nodes.reference]]:
        """Return nothing: no cross-reference leads to a DOI."""
        return []


def domain_of(env: BuildEnvironment) -> DOIDomain:
    """Return the domain ``doi`` of an environment."""
    domain = env.get_domain("doi")
    assert isinstance(domain, DOIDomain)  # noqa: S101 (for mypy)
    return domain
