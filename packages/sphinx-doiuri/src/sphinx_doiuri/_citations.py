"""Citations and lists of references as documents have them: their nodes, roles, directive and domain."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, get_args

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.utils import unescape
from docutils_doiuri.nodes import Target, reference
from doiuri import DOI, DOISyntaxError
from doiuri.citations import Around, CitationItem, Form, parse_citation
from doiuri.plugins import with_suggestion
from doiuri.works import Work
from sphinx import addnodes
from sphinx.domains import Domain
from sphinx.util import docname_join, logging
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.logging import get_node_location
from sphinx.util.nodes import clean_astext

from sphinx_doiuri._config import citing, options
from sphinx_doiuri._environment import conditions_of, kept_elsewhere, note_written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from doiuri import Handle
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.environment import BuildEnvironment

    from sphinx_doiuri._environment import Conditions

    Key = Handle | str

logger = logging.getLogger(__name__)

Scope = Literal["page", "project"]
"""Whose citations a list contains: those of its page, or of all documents."""

Part = Literal["", "name", "note"]
"""Of a citation that becomes a note: the name that stays in the text, or the note; "" for any other."""

_DIGEST_BYTES = 4
# The roles that show titles
_REFERENCES = frozenset({"ref", "numref", "doc", "any", "myst"})

# The data that come from reading a document, each by document name
_READ = ("citations", "places", "titles", "targets", "files", "styles", "insertions", "marks")


class DocumentCitation(NamedTuple):
    """One citation as a document has it."""

    docname: str
    id: str
    """The id of its place in the document; "" if another extension keeps it for another place."""
    form: Form
    cites: tuple[CitationItem, ...]
    location: str
    """The source file and line, as ``file:line``."""
    conditions: Conditions = ()
    around: Around = Around()
    """The text around it."""
    part: Part = ""
    note: int = 0
    """The number of the note that it stands in; 0 in the text."""


class ListPlace(NamedTuple):
    """The place of a list of references in a document, with what its directive says."""

    docname: str
    scope: Scope
    style: str
    """The CSL style; "" for that of ``doi_reference_style``."""
    types: tuple[str, ...]
    """The types of works that it lists; empty for all."""
    cites: tuple[CitationItem, ...]
    """What it lists even if nothing cites it."""
    links: bool = False
    """Whether it lists the DOIs that its scope links to, too."""
    location: str = ""
    conditions: Conditions = ()

    def lists(self, work: Work) -> bool:
        """Whether a work has a type that is listed."""
        return not self.types or work.type in self.types


class bibliography_list(nodes.General, nodes.Element):  # noqa: N801 (docutils: the class name is the element name)
    """The place of a list of references."""


def citations_in(document: nodes.Element) -> Iterator[nodes.inline]:
    """Yield the citations in a document or title; those in substitutions where they are used, not defined."""
    for node in document.findall(nodes.inline):
        if "doi_form" in node and not isinstance(node.parent, nodes.substitution_definition):
            yield node


def footnote_around(node: nodes.Node) -> nodes.footnote | None:
    """Return the footnote that a node stands in, or None."""
    parent = node.parent
    while parent is not None and not isinstance(parent, nodes.footnote):
        parent = parent.parent
    return parent


def _text_around(citation: nodes.inline) -> Around:
    """Return the nearest words before and after a citation in its paragraph."""
    in_note = footnote_around(citation) is not None
    return Around.of(_texts_before(citation), _texts_after(citation), in_note=in_note)


def _texts_before(node: nodes.Element) -> Iterator[str]:
    """Yield the texts before a node in its paragraph, the nearest first."""
    parent: nodes.Element = node.parent
    for sibling in reversed(parent[: parent.index(node)]):
        yield sibling.astext()
    if isinstance(parent, nodes.Inline):
        yield from _texts_before(parent)


def _texts_after(node: nodes.Element) -> Iterator[str]:
    """Yield the texts after a node in its paragraph, the nearest first."""
    parent: nodes.Element = node.parent
    for sibling in parent[parent.index(node) + 1 :]:
        yield sibling.astext()
    if isinstance(parent, nodes.Inline):
        yield from _texts_after(parent)


def is_copy(citation: nodes.inline) -> bool:
    """Return whether a citation is in a table of contents; titles are copied there without their links."""
    return next(citation.findall(nodes.reference), None) is None


# The text of these is copied, as text, into cross-references and the index
_TITLES = (nodes.title, nodes.caption, nodes.rubric, nodes.term, nodes.field_name)


def _titles_with_citations(document: nodes.document) -> dict[str, nodes.TextElement]:
    """Return the titles and the like that have citations, by the ids and names they belong to.

    The attribute ``doi_written`` of each is its text as it is copied.
    """
    titles: dict[str, nodes.TextElement] = {}
    for node in (*citations_in(document), *marks_in(document)):
        title = _title_around(node)
        if title is None:
            continue
        copied = _copy(title)
        copied["doi_written"] = clean_astext(title)
        for owner in _named_by(title):
            for name in (*owner["ids"], *owner["names"]):
                titles.setdefault(name, copied)
    return titles


def marks_in(document: nodes.Element) -> Iterator[nodes.footnote_reference]:
    """Yield the marks of the footnotes that were made of citations."""
    for mark in document.findall(nodes.footnote_reference):
        if "doi_made" in mark:
            yield mark


def _title_around(citation: nodes.Element) -> nodes.TextElement | None:
    """Return the title or the like that a citation stands in, or None if it is in running text."""
    node: nodes.Node | None = citation
    while node is not None:
        if isinstance(node, _TITLES):
            return node
        node = node.parent
    return None


def _named_by(title: nodes.TextElement) -> Iterator[nodes.Element]:
    """Yield the elements whose ids and names lead to a title.

    They are the element that has the title, such as a section; a rubric or a term itself; and a list, if it is
    the title of the first item.
    """
    if isinstance(title, nodes.rubric):
        yield title
        return
    if isinstance(title, nodes.term):
        yield title
    element = title.parent
    yield element
    parent = element.parent
    if isinstance(parent, nodes.definition_list | nodes.field_list) and parent[0] is element:
        yield parent


def _copy(title: nodes.TextElement) -> nodes.TextElement:
    """Return a copy without the marks of notes, and without its document, which would be pickled with it."""
    copied = title.deepcopy()
    for mark in [*marks_in(copied)]:
        mark.parent.remove(mark)
    for node in copied.findall():
        vars(node).pop("_document", None)
    return copied


def term_target(name: str) -> str:
    """Return what ``_targets_of`` calls a term."""
    return f"term {name}"


def _targets_of(document: nodes.document, docname: str) -> set[str]:
    """Return the labels, documents, headings and terms to which a document refers."""
    references = list(document.findall(addnodes.pending_xref))
    names = {node["reftarget"] for node in references if node["reftype"] in _REFERENCES}
    # "intro" or "../intro": a label, or a document relative to this one; "any" and MyST do not say which
    as_documents = {docname_join(docname, name) for name in names}
    # "intro#a-heading": MyST's links to headings of other documents
    headings = {
        f"{node['reftarget']}#{node['reftargetid']}"
        for node in references
        if node.get("reftargetid")
    }
    # MyST makes cross-references of [](#label) later
    links = document.findall(nodes.reference)
    labels = {link["refuri"].removeprefix("#") for link in links if link.get("id_link")}
    terms = {term_target(node["reftarget"]) for node in references if node["reftype"] == "term"}
    return names | as_documents | headings | labels | terms


# What comes with these packages inserts nothing of other documents
_OWN_NODES = re.compile(r"docutils\.|docutils_doiuri\b|sphinx\.addnodes\Z|sphinx_doiuri\b")


def _has_insertions(document: nodes.document) -> bool:
    """Return whether a document has an empty node of another extension, such as that of ``todolist``."""
    return any(
        not node.children and not _OWN_NODES.match(type(node).__module__)
        for node in document.findall(nodes.Element)
    )


def entry_id(key: Key, docname: str, scope: Scope) -> str:
    """Return the id of the entry of a work: ASCII letters, digits and hyphens, whatever the name contains.

    Builders such as singlehtml put documents together, so it depends on the document that has the list.
    """
    if isinstance(key, str):
        unique = slug(key, f"{scope} {docname} @{key}")
    else:
        unique = slug(key.name, f"{scope} {docname} {key.key}")
    return f"doi-{unique}"


def slug(text: str, whole: str = "") -> str:
    """Return text that is valid in an id, with a digest of ``whole`` that keeps it unique."""
    digest = hashlib.blake2s((whole or text).encode(), digest_size=_DIGEST_BYTES).hexdigest()
    return f"{nodes.make_id(text)[:60]}-{digest}".lstrip("-")


class CitationRole(SphinxRole):
    """``:doi:p:`see 10.1000/182, p. 12; @knuth1984``` for a citation in brackets, ``:doi:t:`` in a sentence.

    A citation consists of links to the DOIs until ``ResolveCitations`` writes it; if the works are unknown,
    it stays so.

    :param form: "p", "t", "year" or "author".
    """

    def __init__(self, form: Form) -> None:
        super().__init__()
        self._form = form

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the citation, and no messages; ``ReadDOIs`` reports text that is not a citation."""
        node = self._node()
        self.set_source_info(node)
        note_written(self.inliner.document, node)
        return [node], []

    def _node(self) -> nodes.Element:
        """Return the citation, which consists of links to the DOIs until it is written.

        If the text of the role is not a citation, return the source as *problematic*; its attribute
        ``doi_error`` says why.
        """
        classes = self.options.get("classes", ())
        try:
            cites = read_cites(unescape(self.text), self.env)
        except ValueError as error:
            advised = with_suggestion(error) if isinstance(error, DOISyntaxError) else error
            return nodes.problematic(self.rawtext, self.rawtext, doi_error=str(advised))
        citation = nodes.inline(
            self.rawtext, "", classes=["doi-citation", *classes], doi_form=self._form
        )
        # Kept as attributes because a copy in a table of contents has no links to read them from, and other
        # extensions may copy the citation as soon as it stands in the document.
        citation["doi_cites"] = cites
        citation["doi_docname"] = self.env.docname
        for number, link in enumerate(plain_links(cites, self.config)):
            if number > 0:
                citation += nodes.Text("; ")
            citation += link
        return citation


def read_cites(text: str, env: BuildEnvironment) -> tuple[CitationItem, ...]:
    """Return what a document cites, and note the files that this depends on.

    :raises DOISyntaxError: if a part contains no DOI and no id.
    :raises ValueError: if no file of works has an id.
    """
    of_project = citing(env.config)
    note_files(env, of_project.locale_files)  # with the terms of locators
    if "@" in text:
        note_files(env, options(env.config).works)
    return parse_citation(text, of_project.locale, of_project.library.ids)


def note_files(env: BuildEnvironment, paths: Iterable[str]) -> None:
    """Note that what is read depends on these files, with their digests: a file may get an older time."""
    noted = domain_of(env).files.setdefault(env.docname, {})
    for path in paths:
        noted[path] = citing(env.config).digest(path)


def note_style(env: BuildEnvironment, style: str) -> None:
    """Note that a document has a list in a style, with the style's digest: if it is wrong, an error says so."""
    noted = domain_of(env).styles.setdefault(env.docname, {})
    noted[style] = citing(env.config).style_digest(style)


def outdated_documents(
    app: Sphinx,
    env: BuildEnvironment,
    added: set[str],  # noqa: ARG001
    changed: set[str],  # noqa: ARG001
    removed: set[str],  # noqa: ARG001
) -> list[str]:
    """Return the documents to read again: files or styles are others, or marks stand elsewhere.

    Handles ``env-get-outdated``.
    """
    of_project = citing(app.config)
    domain = domain_of(env)
    outdated = []
    for docname, file_digests in domain.files.items():
        if any(of_project.digest(path) != digest for path, digest in file_digests.items()):
            outdated.append(docname)
    for docname, style_digests in domain.styles.items():
        if any(of_project.style_digest(style) != old for style, old in style_digests.items()):
            outdated.append(docname)
    new_marks = marks_of(app.config)
    outdated += (docname for docname, old_marks in domain.marks.items() if old_marks != new_marks)
    return outdated


def marks_of(config: Config) -> tuple[bool, ...]:
    """Return what decides where marks stand: whether citations become notes, or are raised, and the language."""
    of_project = citing(config)
    has_marks = of_project.makes_notes or of_project.raises_numbers
    return (
        of_project.makes_notes,
        of_project.raises_numbers,
        has_marks and of_project.stops_in_quotes,
    )


def plain_links(cites: tuple[CitationItem, ...], config: Config) -> Iterator[nodes.reference]:
    """Yield a link for each cite; that of a work without a DOI leads nowhere yet."""
    for cite in cites:
        if not isinstance(cite.key, DOI):
            yield nodes.reference("", f"@{cite.key}", internal=False)
            continue
        link = reference("", Target(cite.key, cite.typed), options(config))
        if not cite.typed.startswith("@"):  # it may be an id
            link["doi_typed"] = cite.typed
        yield link


def _scope(argument: str) -> str:
    return str(directives.choice(argument, ("page", "project")))


def _types(argument: str) -> tuple[str, ...]:
    """Return the types in the option ``type=book, article-journal``.

    :raises ValueError: if it is another filter, or names what is not a type of CSL.
    """
    variable, _, listed = argument.partition("=")
    types = tuple(part.strip() for part in listed.split(","))
    if variable.strip() != "type":
        raise ValueError("write type= and types of CSL, such as type=book, article-journal")
    for name in types:
        if Work("", {"type": name}).type != name:
            raise ValueError(f"{name!r} is not a type of CSL, such as book and article-journal")
    return types


class BibliographyDirective(SphinxDirective):
    """``.. doi:bibliography::``: a list of what its page or the project cites."""

    option_spec: ClassVar = {
        "scope": _scope,
        "style": directives.unchanged_required,
        "nocite": directives.unchanged_required,
        "links": directives.flag,
        "filter": _types,
        "class": directives.class_option,
    }

    def run(self) -> list[nodes.Node]:
        """Return the node that stands for the list; it contains links to the works of ``nocite``."""
        style = self.options.get("style", "").strip()
        if style:
            note_style(self.env, style)
        try:
            citing(self.config).styles(style)
        except ValueError as error:
            raise self.error(str(error)) from None
        cites = tuple(self._nocite())
        place = ListPlace(
            docname="",  # as yet
            scope=self.options.get("scope", "page"),
            style=style,
            types=self.options.get("filter", ()),
            cites=cites,
            links="links" in self.options,
        )
        node = bibliography_list(
            self.block_text,
            *plain_links(cites, self.config),
            classes=["doi-bibliography", *self.options.get("class", ())],
            doi_place=place,
        )
        for part in (node, *node.children):
            self.set_source_info(part)
        return [node]

    def _nocite(self) -> list[CitationItem]:
        """Return the works that are listed though nothing cites them; warn of what is not a work."""
        listed = self.options.get("nocite", "")
        if "@" in listed or "*" in listed:
            note_files(self.env, options(self.config).works)

        def report(_part: str, error: ValueError) -> None:
            location = self.get_location()
            logger.warning("%s", error, type="doi", subtype="syntax", location=location)

        return citing(self.config).read_nocite(listed, report)


class DOIDomain(Domain):
    """Roles ``doi:p``, ``doi:t``, ``doi:year``, ``doi:author``, and the directive ``doi:bibliography``."""

    name = "doi"
    label = "DOI"
    roles: ClassVar = {form: CitationRole(form) for form in get_args(Form)}
    directives: ClassVar = {"bibliography": BibliographyDirective}
    initial_data: ClassVar = {name: {} for name in (*_READ, "rendered", "warned")}
    data_version = 14

    def __init__(self, env: BuildEnvironment) -> None:
        super().__init__(env)
        self.citations: dict[str, list[DocumentCitation]] = self.data["citations"]
        """The citations by document name, in the order of the document."""
        self.places: dict[str, list[ListPlace]] = self.data["places"]
        """The lists of references by document name."""
        self.titles: dict[str, dict[str, nodes.TextElement]] = self.data["titles"]
        """The titles and the like with citations, by document name and by the ids they belong to."""
        self.targets: dict[str, set[str]] = self.data["targets"]
        """The labels and documents to which documents refer, by document name."""
        self.files: dict[str, dict[str, bytes | None]] = self.data["files"]
        """Digests of the files that reading depended on, by document name and path."""
        self.styles: dict[str, dict[str, bytes]] = self.data["styles"]
        """Digests of the styles of lists, by document name and by what the list calls them."""
        self.insertions: dict[str, bool] = self.data["insertions"]
        """The documents into which other extensions may insert what they keep of other documents."""
        self.marks: dict[str, tuple[bool, ...]] = self.data["marks"]
        """How the citations of documents were read, as ``marks_of`` returns it."""
        self.rendered: dict[str, dict[str, str]] = self.data["rendered"]
        """Digests of what the pages of each builder show, by document name and builder."""
        self.warned: dict[str, set[tuple[str, DOI | str]]] = self.data["warned"]
        """The codes of warnings that were given, with their DOIs or fields of BibTeX, by document name."""

    def clear_doc(self, docname: str) -> None:
        """Remove what a document contains."""
        for name in (*_READ, "rendered", "warned"):
            self.data[name].pop(docname, None)

    def merge_domaindata(self, docnames: AbstractSet[str], otherdata: dict[str, Any]) -> None:
        """Add what documents contain that another process has read."""
        for name in _READ:
            theirs = otherdata[name]
            for docname in sorted(docnames):
                if docname in theirs:
                    self.data[name][docname] = theirs[docname]

    def process_doc(self, env: BuildEnvironment, docname: str, document: nodes.document) -> None:
        """Record the citations and lists of a document, and give each citation an id.

        What a document does not have is not recorded.
        """
        contents = {
            "citations": self._read_citations(docname, document),
            "places": self._read_places(docname, document),
            "marks": marks_of(env.config) if any(citations_in(document)) else None,
            "titles": _titles_with_citations(document),
            "targets": _targets_of(document, docname),
            "insertions": _has_insertions(document),
        }
        for name, content in contents.items():
            if content:
                self.data[name][docname] = content

    def _read_citations(self, docname: str, document: nodes.document) -> list[DocumentCitation]:
        """Return the citations of a document, and give each an id.

        After them come those that other extensions keep for another place, which have no id.
        """
        citations: list[DocumentCitation] = []
        # A citation in a note is read where its mark stands. Without notes, none has "doi_order", so that all are
        # equal and stay in the order of the document.
        in_order = sorted(citations_in(document), key=lambda node: node.get("doi_order", 0))
        for node in in_order:
            node["doi_docname"] = docname
            if is_copy(node):  # the title itself has the citation that counts
                continue
            node["doi_id"] = f"doi-cite-{slug(docname)}-{len(citations) + 1}"
            node["doi_around"] = _text_around(node)
            citation = _citation(node, docname)._replace(
                id=node["doi_id"],
                conditions=conditions_of(node),
                around=node["doi_around"],
                part=node.get("doi_part", ""),
                note=node.get("doi_number", 0),
            )
            citations.append(citation)
        kept = [node for node in kept_elsewhere(document) if "doi_form" in node]
        return citations + [_citation(node, docname) for node in kept]

    def _read_places(self, docname: str, document: nodes.document) -> list[ListPlace]:
        """Return the lists of a document, and note in each where it is."""
        places = []
        for node in document.findall(bibliography_list):
            node["doi_place"] = node["doi_place"]._replace(
                docname=docname,
                location=get_node_location(node) or docname,
                conditions=conditions_of(node),
            )
            places.append(node["doi_place"])
        return places

    def resolve_any_xref(
        self, *_arguments: object, **_options: object
    ) -> list[tuple[str, nodes.reference]]:
        """Return nothing: no cross-reference leads to a DOI."""
        return []


def _citation(node: nodes.Element, docname: str) -> DocumentCitation:
    """Return the citation of a node, without its place."""
    location = get_node_location(node) or docname
    return DocumentCitation(docname, "", node["doi_form"], node["doi_cites"], location)


def domain_of(env: BuildEnvironment) -> DOIDomain:
    """Return the domain ``doi`` of an environment."""
    domain = env.get_domain("doi")
    assert isinstance(domain, DOIDomain)  # noqa: S101 (for mypy)
    return domain
