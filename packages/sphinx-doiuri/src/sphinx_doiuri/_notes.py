"""Citations as footnotes, in styles of notes: made before docutils numbers footnotes, and read in its order.

Raised numbers of other styles stand after the punctuation, too.

A footnote of a citation and its mark have ``doi_made``. Of the citations, the text of a footnote has the part
"note", and a name that the text keeps before a mark has the part "name".
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.transforms.references import Footnotes
from doiuri.citations import move_mark
from sphinx import addnodes
from sphinx.ext.todo import todo_node
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform

from sphinx_doiuri._citations import citations_in, footnote_around, is_copy, slug
from sphinx_doiuri._config import citing
from sphinx_doiuri._environment import conditions_of

if TYPE_CHECKING:
    from collections.abc import Iterator

# todolist copies the first, and LaTeX fails at footnotes in the second
_WITHOUT_NOTES = (todo_node, nodes.rubric)


class MakeNotes(SphinxTransform):
    """Put each citation of the text into a footnote, which docutils numbers with those of the author."""

    # After SortFootnotes of MyST (618), before docutils numbers footnotes (620)
    default_priority = Footnotes.default_priority - 1

    def apply(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Change a document: move raised numbers, or make footnotes, as the style says."""
        if citing(self.config).raises_numbers:
            self._move_numbers()
        if not citing(self.config).makes_notes:
            return
        footnotes: list[nodes.footnote] = []
        for citation in [*citations_in(self.document)]:
            # A citation that another has taken into its note has no parent
            if citation.parent is not None and _becomes_note(citation):
                footnotes.append(self._make(citation, len(footnotes) + 1))
        if footnotes:
            _set_order(self.document, footnotes)
            _insert(self.document, footnotes)

    def _move_numbers(self) -> None:
        """Move raised numbers after the punctuation; those that follow one another at once are one citation."""
        stops_in_quotes = citing(self.config).stops_in_quotes
        for citation in [*citations_in(self.document)]:
            is_taken = citation.parent is None
            if not is_taken and citation["doi_form"] == "p" and not is_copy(citation):
                _take_following(citation, citation)
                _move(citation, stops_in_quotes=stops_in_quotes)

    def _make(self, citation: nodes.inline, number: int) -> nodes.footnote:
        """Return the footnote of a citation and those that follow it at once; put the mark into the text.

        A citation in a sentence, as in "Kahn (2001) says", leaves the name in the text, before the mark.
        """
        in_note = citation.deepcopy()
        in_note["doi_form"] = "p"
        in_note["doi_part"] = "note"
        name = f"doi-note-{slug(self.env.docname)}-{number}"
        mark = self._mark(name, citation)

        parent = citation.parent
        index = parent.index(citation)
        if citation["doi_form"] == "t":
            _leave_name(citation, in_note)
            parent.insert(index + 1, mark)
        else:
            parent[index] = mark
        _take_following(mark, in_note)

        # If the mark ends up in another document, this stands for it: a citation in the text, not a part of one
        mark["doi_note"] = in_note.deepcopy()
        del mark["doi_note"]["doi_part"]
        footnote = self._footnote(name, in_note, mark)
        _move(mark, stops_in_quotes=citing(self.config).stops_in_quotes)
        return footnote

    def _mark(self, name: str, citation: nodes.inline) -> nodes.footnote_reference:
        """Return the mark of the footnote with a name, which docutils is told of, for the place of a citation."""
        mark = nodes.footnote_reference("", auto=1, refname=name, ids=[f"{name}-mark"])
        mark["doi_made"] = True
        mark.source = citation.source
        mark.line = citation.line
        self.document.note_autofootnote_ref(mark)
        self.document.note_footnote_ref(mark)
        return mark

    def _footnote(
        self, name: str, text: nodes.inline, mark: nodes.footnote_reference
    ) -> nodes.footnote:
        """Return a footnote with a name, a text and a mark, which docutils is told of; it stands nowhere yet."""
        paragraph = nodes.paragraph("", "", text)
        footnote = nodes.footnote("", paragraph, auto=1, names=[name])
        footnote["doi_made"] = True
        footnote["doi_conditions"] = conditions_of(mark)
        footnote.source = mark.source
        footnote.line = mark.line
        for node in footnote.findall():
            node.document = self.document
        self.document.note_autofootnote(footnote)
        self.document.note_explicit_target(footnote, footnote)
        return footnote


def _leave_name(citation: nodes.inline, in_note: nodes.inline) -> None:
    """Divide a citation in a sentence: the prefix and the author stay there, the rest is for the note.

    Of "see Kahn (2001, p. 5)", "see Kahn" stays, and "2001, p. 5" is the note.
    """
    cites = citation["doi_cites"]
    names = (replace(cite, label="", locator="", suffix="") for cite in cites)
    citation["doi_cites"] = tuple(names)
    citation["doi_form"] = "author"
    citation["doi_part"] = "name"
    without_author = (replace(cite, prefix="", no_author=True) for cite in cites)
    in_note["doi_cites"] = tuple(without_author)


def _becomes_note(citation: nodes.inline) -> bool:
    """Return whether a citation stands where a footnote can be made of it."""
    if citation["doi_form"] not in {"p", "t"} or is_copy(citation):
        return False
    if footnote_around(citation) is not None:
        return False
    return not any(isinstance(node, _WITHOUT_NOTES) for node in _around(citation))


def _around(node: nodes.Node) -> Iterator[nodes.Node]:
    """Yield the nodes that a node stands in, the innermost first."""
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent


def _take_following(mark: nodes.Element, citation: nodes.inline) -> None:
    """Move what citations in brackets cite that follow a mark at once, or after a space, to its citation."""
    parent = mark.parent
    after_mark = parent.index(mark) + 1
    while True:
        # The next node, or a space and the node after it
        next_nodes = parent[after_mark : after_mark + 2]
        if next_nodes and not _is_space(next_nodes[0]):
            next_nodes = next_nodes[:1]
        following = next_nodes[-1] if next_nodes else None
        if not isinstance(following, nodes.inline) or following.get("doi_form") != "p":
            return

        citation["doi_cites"] += following["doi_cites"]
        citation += [nodes.Text("; "), *following.children]
        following.parent = None  # which tells those who go through the citations that it was taken
        del parent[after_mark : after_mark + len(next_nodes)]


def _is_space(node: nodes.Node | None) -> bool:
    return isinstance(node, nodes.Text) and not node.strip()


def _move(mark: nodes.Element, *, stops_in_quotes: bool) -> None:
    """Move the punctuation that follows a mark before it, and delete the space before: of "so ¹." make "so.¹"."""
    parent = mark.parent
    index = parent.index(mark)
    if _is_space(_previous(mark)):
        del parent[index - 1]
        index -= 1

    node_before = _previous(mark)
    follows_text = isinstance(node_before, nodes.Text)
    text_before = _text_before(mark)
    node_after = parent[index + 1] if index + 1 < len(parent) else None
    text_after = node_after.astext() if isinstance(node_after, nodes.Text) else ""

    # Only a text can take a stop into its quotation marks, not one in an element, such as *this*
    into_quotes = stops_in_quotes and follows_text
    new_before, new_after = move_mark(text_before, text_after, stops_in_quotes=into_quotes)
    if text_after != new_after:
        parent[index + 1 : index + 2] = [nodes.Text(new_after)] if new_after else []
    if follows_text:
        parent[index - 1] = nodes.Text(new_before)
        return

    punctuation = new_before.removeprefix(text_before.rstrip())
    if not punctuation and _is_mark(node_before):
        punctuation = "\N{NO-BREAK SPACE}"  # "1 2", not "12"
    if punctuation:
        parent.insert(index, nodes.Text(punctuation))


def _previous(node: nodes.Element) -> nodes.Node | None:
    """Return the sibling before a node."""
    index = node.parent.index(node)
    return node.parent[index - 1] if index > 0 else None


def _is_mark(node: nodes.Node | None) -> bool:
    """Return whether a node is the mark of a footnote, or a citation that may be a raised number."""
    is_citation = isinstance(node, nodes.inline) and node.get("doi_form") == "p"
    return is_citation or isinstance(node, nodes.footnote_reference)


def _text_before(mark: nodes.Element) -> str:
    """Return the text that readers see before a mark, and before those that stand at its side."""
    node = _previous(mark)
    while isinstance(node, nodes.Element) and _is_mark(node):
        node = _previous(node)
    return "" if node is None else node.astext()


def _set_order(document: nodes.document, made: list[nodes.footnote]) -> None:
    """Let docutils number footnotes in the order of their marks; those of the author keep their order.

    A mark ``[#name]_`` has the note of that name, and the marks ``[#]_`` have the notes without a name in turn.
    """
    ours = set(made)
    of_author = [note for note in document.autofootnotes if note not in ours]
    by_name = {name: note for note in document.autofootnotes for name in note["names"]}
    unnamed = iter([note for note in of_author if not note["names"] and not note["dupnames"]])
    ordered: dict[nodes.footnote, None] = {}
    for mark in document.findall(nodes.footnote_reference):
        if mark.get("auto") != 1 or isinstance(mark.parent, nodes.substitution_definition):
            continue
        note = by_name.get(mark["refname"]) if "refname" in mark else next(unnamed, None)
        if note is not None:
            ordered[note] = None
    without_mark = [note for note in of_author if note not in ordered]
    document.autofootnotes[:] = [*ordered, *without_mark]


def _insert(document: nodes.document, made: list[nodes.footnote]) -> None:
    """Put footnotes beside the last one of the author's, in their order; else at the end of the page."""
    ours = set(made)
    of_author: list[nodes.footnote] = []
    for note in document.findall(nodes.footnote):
        if note not in ours and note.get("auto") == 1 and _is_on_each_page(note):
            of_author.append(note)
    if not of_author:
        document += [note for note in document.autofootnotes if note in ours]
        return

    # The footnotes that stand side by side with it, such as those at the end of a section
    parent = of_author[-1].parent
    end = parent.index(of_author[-1]) + 1
    start = end - 1
    while start > 0 and isinstance(parent[start - 1], nodes.footnote):
        start -= 1
    neighbours = parent[start:end]
    together = {*neighbours, *made}
    numbered = [note for note in document.autofootnotes if note in together]
    with_own_labels = [note for note in neighbours if note not in numbered]  # such as [1] or [*]
    parent[start:end] = [*with_own_labels, *numbered]


def _is_on_each_page(note: nodes.footnote) -> bool:
    """Return whether a footnote of the author's is shown whenever its page is, and not in a docstring or a box."""
    is_in_text = isinstance(note.parent, nodes.document | nodes.section)
    is_in_docstring = any(isinstance(node, addnodes.desc) for node in _around(note))
    return is_in_text and not is_in_docstring and not conditions_of(note)


class HideURLs(SphinxPostTransform):
    """Hide the URLs of notes from ``latex_show_urls``, which would put footnotes for them into the notes."""

    default_priority = 399  # before ShowUrlsTransform (400)
    formats = ("latex",)

    def run(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Change the links in the notes of a document, and in the names before their marks."""
        for citation in citations_in(self.document):
            if not citation.get("doi_part"):
                continue
            for link in citation.findall(nodes.reference):
                if "refuri" in link:
                    link["doi_hidden"] = link.attributes.pop("refuri")


class RestoreURLs(SphinxPostTransform):
    """Put back what ``HideURLs`` hid."""

    default_priority = 401
    formats = ("latex",)

    def run(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Change the links of a document."""
        for link in self.document.findall(nodes.reference):
            if "doi_hidden" in link:
                link["refuri"] = link.attributes.pop("doi_hidden")


class NumberCitations(SphinxTransform):
    """Note of each citation the number of its note, and when readers meet it: as its mark stands."""

    default_priority = Footnotes.default_priority + 1

    def apply(self, **kwargs: Any) -> None:  # noqa: ARG002
        """Change the citations of a document."""
        if not citing(self.config).makes_notes:
            return
        for order, citation in enumerate(self._in_reading_order()):
            citation["doi_order"] = order
            note = footnote_around(citation)
            if note is not None:
                citation["doi_number"] = _number_of(note)

    def _in_reading_order(self) -> list[nodes.inline]:
        """Return the citations: those in a note after the first mark of it, and those without a mark last."""
        in_notes: dict[str, list[nodes.inline]] = {}
        for note in self.document.findall(nodes.footnote):
            citations = [*citations_in(note)]
            in_notes |= dict.fromkeys(note["ids"], citations)
        ordered: dict[nodes.inline, None] = {}
        for node in self.document.findall(nodes.Element):
            if isinstance(node, nodes.footnote_reference):
                ordered |= dict.fromkeys(in_notes.get(node.get("refid", ""), ()))
            elif isinstance(node, nodes.inline) and _is_in_text(node):
                ordered[node] = None
        # Those that are in the order already keep their places
        return list(ordered | dict.fromkeys(citations_in(self.document)))


def _is_in_text(node: nodes.inline) -> bool:
    """Return whether a node is a citation that stands in no footnote."""
    if "doi_form" not in node or isinstance(node.parent, nodes.substitution_definition):
        return False
    return footnote_around(node) is None


def _number_of(note: nodes.footnote) -> int:
    """Return the number of a footnote; 0 if it has a symbol."""
    label = note[0].astext() if isinstance(note[0], nodes.label) else ""
    return int(label) if label.isdecimal() else 0
