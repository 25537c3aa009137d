"""The transforms that write citations, lists of references, and link texts with authors and titles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils_doiuri.nodes import doi_references
from doiuri.citations import Around, Span, text_of
from doiuri.plugins.display import by_direction, needs_work
from doiuri_csl import merge
from sphinx import addnodes
from sphinx.errors import NoUri
from sphinx.transforms.post_transforms import SphinxPostTransform

from sphinx_doiuri._citations import (
    bibliography_list,
    citations_in,
    entry_id,
    is_copy,
    marks_in,
    plain_links,
)
from sphinx_doiuri._config import options
from sphinx_doiuri._lists import lists_of, show_text, title_of
from sphinx_doiuri._locale import _

if TYPE_CHECKING:
    from doiuri.citations import ListEntry
    from doiuri_csl import Format, Run
    from sphinx.builders import Builder

    from sphinx_doiuri._citations import Key, ListPlace, Part
    from sphinx_doiuri._lists import CopiedTitle, Lists, ScopedList

_BACK = "\N{UPWARDS ARROW}"
# The innermost first; a format that docutils has no node for becomes the class of an inline node
_FORMATS: dict[Format, type[nodes.TextElement]] = {
    "italic": nodes.emphasis,
    "oblique": nodes.emphasis,
    "light": nodes.inline,
    "small-caps": nodes.inline,
    "bold": nodes.strong,
    "subscript": nodes.subscript,
    "superscript": nodes.superscript,
    "underline": nodes.inline,
}
_SCRIPTS: frozenset[Format] = frozenset({"subscript", "superscript"})
_HANGING = r"\hangindent=2em\hangafter=1\noindent{}"


class back_link(nodes.reference):  # noqa: N801 (docutils: the class name is the element name)
    """A link from an entry back to a citation."""


class isolated(nodes.inline):  # noqa: N801
    """Text from right to left, which leaves the order of what is around it as it is."""


class ResolveCitations(SphinxPostTransform):
    """Give citations their texts and links, and put lists in their places.

    1. Notes of citations that this build leaves out go; a mark without its note becomes the citation.
    2. Each citation shows what ``Lists`` says, with links to entries, or else to DOIs or URLs.
    3. What is copied of titles with citations, in links and the index, shows what the title shows.
    4. Each list of references takes the place of its node.
    """

    # After OnlyNodeTransform (50), before the transforms that show URLs (400)
    default_priority = 60

    _lists: Lists
    _docname: str
    _used_ids: set[str]
    """The ids in the document so far; only the first citation, and the first entry of a work, has its id."""

    def run(self, docname: str = "", **kwargs: Any) -> None:  # noqa: ARG002
        """Change a document before it is written.

        :param docname: its name; by default the one that Sphinx notes while it applies transforms.
        """
        lists = lists_of(self.env)
        if lists is None:  # outside of a build
            for node in list(self.document.findall(bibliography_list)):
                node.parent.remove(node)
            return

        self._lists = lists
        self._docname = docname or self.env.docname
        # This runs again for what arrives later
        self._used_ids = vars(self.document).setdefault("doi_ids", set())
        resolved = vars(self.document).setdefault("doi_resolved", set())

        notes = self._finish_notes()
        self._write_without_notes(notes)
        for citation in list(citations_in(self.document)):
            if citation not in resolved:
                self._resolve(citation)
                resolved.add(citation)
        self._show_titles()
        for node in list(self.document.findall(bibliography_list)):
            place = node["doi_place"]
            list_nodes: list[nodes.Node] = []
            # A list that this build leaves out is in no document; ifconfig removes its node later
            if place in lists.documents.places_in(place.docname):
                list_nodes = _ListWriter(
                    lists, node, self._docname_at(node), self._used_ids
                ).write()
            node.parent.replace(node, list_nodes)

    def _finish_notes(self) -> set[str]:
        """Remove the notes of citations that this build leaves out; return the ids of those that remain.

        In LaTeX their text is upright, whatever surrounds the mark.
        """
        ids: set[str] = set()
        for note in list(self.document.findall(nodes.footnote)):
            citation = next(citations_in(note), None)
            if "doi_made" in note and citation is not None:
                if citation["doi_id"] not in self._lists.cites_in(citation["doi_docname"]):
                    note.parent.remove(note)
                    continue
                if self._lists.builder.format == "latex" and not note.get("doi_upright"):
                    citation.parent.insert(0, nodes.raw("", r"\normalfont{}", format="latex"))
                    note["doi_upright"] = True
            ids.update(note["ids"])
        return ids

    def _write_without_notes(self, notes: set[str]) -> None:
        """Put citations into the places of marks whose notes are in another document.

        Other extensions insert marks in other documents.

        :param notes: the ids of the notes in this one
        """
        for mark in [*marks_in(self.document)]:
            if mark.get("refid") not in notes:
                citation = mark["doi_note"].deepcopy()
                citation["doi_around"] = Around("(", ")")
                mark.parent.replace(mark, [nodes.Text(" ("), citation, nodes.Text(")")])

    def _resolve(self, node: nodes.inline) -> None:
        """Write a citation where it stands, which need not be the document that it was written in.

        Other extensions copy citations: ``todolist``, for instance, into another document. The copy may have
        been resolved already, so its content is written again from the attributes.
        """
        lists = self._lists
        if is_copy(node):
            show_text(node, lists)
            return

        docname = self._docname_at(node)
        self._set_id(node, docname)

        written_in = node["doi_docname"]
        # The lists lack the citations that this build leaves out
        cites = lists.cites_in(written_in).get(node.get("doi_id"), node["doi_cites"])
        keys = [cite.key for cite in cites]
        links = dict(zip(keys, plain_links(cites, self.config), strict=True))
        around = node.get("doi_around")
        part: Part = node.get("doi_part", "")

        node.children = []
        for span in lists.spans(written_in, node["doi_form"], cites, around, part):
            text = _nodes(span, lists.builder.format)
            key = span.target
            if key is None:
                node += text
                continue
            link = links[key].deepcopy()
            link[:] = text
            self._lead_to_work(link, key, docname, lists.of_citations_in(written_in))
            leads_somewhere = key not in lists.works or "refuri" in link or "refid" in link
            node += link if leads_somewhere else text

    def _show_titles(self) -> None:
        """Show citations in the entries of the index, and in links that show titles or terms."""
        titles = self._lists.titles
        for index in self.document.findall(addnodes.index):
            docname = self._docname_at(index)
            index["entries"] = [titles.index_entry(entry, docname) for entry in index["entries"]]

        if not titles.copied:
            return
        for link in self.document.findall(nodes.reference):
            docname = self._docname_at(link)
            with_id = titles.copied.get(_target_id(link), [])
            # Documents may have the same ids; the titles of this one come first
            in_document = [title for title in with_id if title.docname == docname]
            in_others = [title for title in with_id if title.docname != docname]
            for title in (*in_document, *in_others):
                _show_title(link, title)

    def _docname_at(self, node: nodes.Node) -> str:
        """Return the document that a node stands in, even if the builder puts documents together."""
        parent = node.parent
        while parent is not None:
            # inline_all_toctrees marks files and sections; what is outside of sections keeps its document
            if isinstance(parent, addnodes.start_of_file | nodes.section) and "docname" in parent:
                return str(parent["docname"])
            if isinstance(parent, nodes.document) and "source" in parent:
                return self.env.path2doc(parent["source"]) or self._docname
            parent = parent.parent
        return self._docname

    def _set_id(self, node: nodes.inline, docname: str) -> None:
        """Give a citation its id; a copy has none, as entries link back to the original."""
        id_ = node.get("doi_id")
        node["ids"] = [given for given in node["ids"] if given != id_]
        # Extensions resolve copies in a document of their own, which has no source
        is_original = docname == node["doi_docname"] and bool(self.document.get("source"))
        if id_ is not None and is_original and id_ not in self._used_ids:
            self._used_ids.add(id_)
            node["ids"].append(id_)

    def _lead_to_work(
        self, link: nodes.reference, key: Key, docname: str, scoped_list: ScopedList
    ) -> None:
        """Make the link of a work lead to its entry, or else to its DOI or URL; as it is read it leads to a DOI.

        :param key: the DOI, or the id of a work that has none.
        :param docname: the document that the citation stands in.
        :param scoped_list: the list of the citation.
        """
        link.attributes.pop("doi_typed", None)  # noted when the document was read
        work = self._lists.works.get(key)
        if work is None:
            return

        link.attributes.pop("support_smartquotes", None)  # the text is no longer the name
        url = work.csl.get("URL")
        if isinstance(key, str) and url:
            link["refuri"] = url
        if scoped_list.references.get(key) is not None and self._lists.is_listed(work, scoped_list):
            id_ = entry_id(key, scoped_list.docname, scoped_list.scope)
            _lead_to(link, self._lists.builder, docname, scoped_list.docname, id_)


def _target_id(link: nodes.reference) -> str:
    """Return the id to which a link inside the project leads; "" if it leads to a document, or elsewhere."""
    if "refid" in link:
        return str(link["refid"])
    if not link.get("internal"):
        return ""
    return str(link.get("refuri", "")).rpartition("#")[2]


def _show_title(link: nodes.reference, title: CopiedTitle) -> None:
    """Replace the copy of a title, in the text of a link, by the title as it is shown."""
    for text in list(link.findall(nodes.Text)):
        new_text = text.replace(title.copied_text, title.text)
        # It was copied before quotes became typographic
        if _letters(text) == _letters(title.copied_text):
            new_text = title.text
        text.parent.replace(text, nodes.Text(new_text))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


class _ListWriter:
    """One list of references as nodes.

    :param docname: the document that the list stands in.
    :param used_ids: the ids in the document so far; only the first entry of a work has its id.
    """

    def __init__(self, lists: Lists, node: nodes.Element, docname: str, used_ids: set[str]) -> None:
        self._lists = lists
        self._docname = docname
        self._used_ids = used_ids
        self._place: ListPlace = node["doi_place"]
        self._is_numbered = lists.at(self._place).references.is_numbered
        self._format = lists.builder.format
        self._classes = node["classes"]
        self._entry_classes: list[str] = []
        if self._format == "html":
            # The classes of lists in citeproc-js, pandoc and doiuri-csl
            self._classes = [*self._classes, "csl-bib-body"]
            self._entry_classes = ["csl-entry"]

    def write(self) -> list[nodes.Node]:
        """Return numbered lists, each of consecutive numbers; or one list without numbers.

        In HTML the list without numbers has bullets, which the style sheet hides.
        """
        entries = self._lists.entries(self._place)
        if not entries:
            return []
        if self._is_numbered:
            return [self._numbered(group) for group in _consecutive(entries)]
        if self._format == "html":
            items = [self._item(entry) for entry in entries]
            return [nodes.bullet_list("", *items, classes=[*self._classes])]
        paragraphs = [self._entry(entry) for entry in entries]
        return [nodes.container("", *paragraphs, classes=[*self._classes])]

    def _numbered(self, entries: list[ListEntry]) -> nodes.enumerated_list:
        """Return entries of consecutive numbers as a list; the first number is that of the first entry."""
        items = [self._item(entry) for entry in entries]
        numbered = nodes.enumerated_list(
            "", *items, classes=[*self._classes], enumtype="arabic", prefix="", suffix="."
        )
        first = entries[0].number
        if first > 1:
            numbered["start"] = first
        return numbered

    def _item(self, entry: ListEntry) -> nodes.list_item:
        paragraph = self._entry(entry)
        ids = paragraph["ids"]
        paragraph["ids"] = []
        return nodes.list_item("", paragraph, ids=ids, classes=[*self._entry_classes])

    def _entry(self, entry: ListEntry) -> nodes.paragraph:
        """Return an entry, with its id unless the list is a copy in another document."""
        paragraph = nodes.paragraph()
        if self._format == "latex" and not self._is_numbered:
            paragraph += nodes.raw("", _HANGING, format="latex")

        id_ = entry_id(entry.key, self._place.docname, self._place.scope)
        is_copy = self._docname != self._place.docname
        if not is_copy and id_ not in self._used_ids:
            self._used_ids.add(id_)
            if self._format == "html":
                paragraph["ids"] = [id_]
            else:
                paragraph += nodes.target("", "", ids=[id_])

        for span in entry.spans:
            text = _nodes(span, self._format)
            paragraph += text if span.target is None else self._link(span.target, text)
        if self._format == "html":
            paragraph += self._back(entry)
        return paragraph

    def _link(self, target: Key, text: list[nodes.Node]) -> nodes.reference:
        """Return the link of a part of an entry to a DOI or, if it is a string, to a URL."""
        if isinstance(target, str):
            return nodes.reference("", "", *text, internal=False, refuri=target)
        link = nodes.reference("", "", *text, internal=False, doi=target, classes=["doi"])
        link["refuri"] = target.link(self._lists.base)
        link["support_smartquotes"] = False
        link["doi_card"] = False  # the entry says it all
        return link

    def _back(self, entry: ListEntry) -> list[nodes.Node]:
        """Return the links to the citations that lead to an entry: one arrow, or a numbered arrow for each.

        A citation that is kept for another document has no id. A name in the text has a note, which has a link.
        """
        back: list[nodes.Node] = []
        citations = self._lists.at(self._place).works[entry.key]
        citations = [citation for citation in citations if citation.id and citation.part != "name"]
        for number, citation in enumerate(citations, 1):
            text = f"{_BACK}{number}" if len(citations) > 1 else _BACK
            title = _("Cited in %s") % title_of(self._lists.builder.env, citation.docname)
            link = back_link("", text, reftitle=title)
            if _lead_to(link, self._lists.builder, self._docname, citation.docname, citation.id):
                space = "\N{NO-BREAK SPACE}" if number == 1 else " "
                back += [nodes.Text(space), link]
        return [nodes.inline("", "", *back, classes=["doi-back"])] if back else []


def _consecutive(entries: list[ListEntry]) -> list[list[ListEntry]]:
    """Return entries in groups of consecutive numbers: of 1, 2, 5 the groups 1, 2 and 5."""
    groups: list[list[ListEntry]] = []
    for entry in entries:
        if groups and entry.number == groups[-1][-1].number + 1:
            groups[-1].append(entry)
        else:
            groups.append([entry])
    return groups


def _nodes(span: Span, output: str) -> list[nodes.Node]:
    """Return the text of a span, in the nodes of its formats.

    :param output: the format of the builder; plain text has characters for what is raised or lowered.
    """
    runs = span.runs
    if output == "text":
        runs = merge(_without_scripts(run) for run in runs)
    if output != "html":
        return [_formatted(run, nodes.Text(run.text)) for run in runs]
    return [_formatted(run, *_isolated(run.text)) for run in runs]


def _isolated(text: str) -> list[nodes.Node]:
    """Return a text with what runs from right to left in nodes of its own."""
    return [
        isolated("", "", nodes.Text(part)) if is_rtl else nodes.Text(part)
        for part, is_rtl in by_direction(text)
    ]


def _without_scripts(run: Run) -> Run:
    """Return a run with characters such as "²" in place of raised and lowered text."""
    return run._replace(text=text_of([Span((run,))]), formats=run.formats - _SCRIPTS)


def _formatted(run: Run, *text: nodes.Node) -> nodes.Node:
    """Return the text of a run, in nodes, inside one node for each of its formats."""
    node = text[0] if len(text) == 1 else nodes.inline("", "", *text)
    for name, node_class in _FORMATS.items():
        if name not in run.formats:
            continue
        node = node_class("", "", node)
        if node_class is nodes.inline:
            node["classes"] = [name]
    return node


class NameWorks(SphinxPostTransform):
    """Show authors, year and title in links if ``doi_text`` asks for them."""

    default_priority = 59  # before ResolveCitations (60): links in lists stay as they are

    def run(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Change the links of a document before it is written."""
        shared = options(self.config)
        lists = lists_of(self.env)
        if lists is None or not needs_work(shared.text):
            return
        for link in doi_references(self.document):
            work = lists.works.get(link["doi"])
            # A link in running text shows what is written there
            is_name = link.get("support_smartquotes") is False and "doi_written" not in link
            is_in_list = not link.get("doi_card", True)
            # What authors write stays, and so do entries of lists; ResolveCitations writes citations.
            if work is None or not is_name or is_in_list or "doi_cites" in link.parent:
                continue
            text = shared.display(link["doi"], work, lists.words)
            link[:] = [nodes.Text(text)]
            del link["support_smartquotes"]


def _lead_to(
    link: nodes.reference, builder: Builder, from_docname: str, docname: str, id_: str
) -> bool:
    """Make a link lead to an id in a document; return whether this build contains the document."""
    try:
        uri = builder.get_relative_uri(from_docname, docname)
    except NoUri:
        return False
    link.attributes.pop("refuri", None)
    # In LaTeX, a refid would mean another place once an extension moves the link to another document
    is_near = from_docname == docname and builder.format != "latex"
    if is_near or builder.name == "singlehtml":
        link["refid"] = id_
    else:
        link["refuri"] = f"{uri}#{id_}"
    link["internal"] = True
    return True
