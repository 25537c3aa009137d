"""Citations as footnotes of Python-Markdown's extension ``footnotes``, in styles of notes; raised numbers."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from doiuri.citations import Around, move_mark
from markdown.extensions.footnotes import (
    FN_BACKLINK_TEXT,
    NBSP_PLACEHOLDER,
    FootnoteExtension,
    FootnoteTreeprocessor,
)
from markdown.treeprocessors import Treeprocessor

from markdown_doiuri._links import with_parents
from markdown_doiuri._references import CitationNote
from markdown_doiuri._report import Problem
from markdown_doiuri._stash import unescaped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from markdown import Markdown

    from markdown_doiuri._mentions import InlineCitation
    from markdown_doiuri._options import MarkdownOptions
    from markdown_doiuri._references import Citations
    from markdown_doiuri._report import Problems

_NO_FOOTNOTES = (
    'citations stay in the text; for the footnotes of the style, load the extension "footnotes"'
)
_APART = "\N{NO-BREAK SPACE}"  # "1 2", not "12"
_MARK = "footnote-ref"
_BACK = "footnote-backref"
_INLINE = frozenset("a abbr b del em i ins mark q s small span strong sub sup u".split())  # noqa: SIM905


class NotesTreeprocessor(Treeprocessor):
    """Makes a footnote of each citation in a text, in one numbering with those of the author."""

    def __init__(
        self,
        md: Markdown,
        options: MarkdownOptions,
        citations: Citations,
        report: Problems,
        inform: Callable[[str], object],
    ) -> None:
        super().__init__(md)
        self._options = options
        self._citations = citations
        self._report = report
        self._inform = inform

    def run(self, root: Element) -> None:
        """Put marks in the places of citations, and add the notes, whose text is written later."""
        citations = self._citations
        citations.notes = {}
        citing = self._options.citing
        if not citations.cited:
            return
        if citing.raises_numbers:
            _Marks(root, citations, citing.stops_in_quotes).move_numbers()
        if not citing.styles().citations.is_note:
            return
        footnotes = self._footnotes()
        made: dict[str, Element] = {}
        if citing.makes_notes and citations.page:
            if footnotes is None:
                self._tell()
            else:
                maker = _NoteMaker(root, footnotes, citations, citing.stops_in_quotes)
                made = maker.make(f"doi-{self._options.place}")
        _Order(root, footnotes, citations, made).set()

    def _footnotes(self) -> FootnoteExtension | None:
        """Return the extension footnotes, or None if it is not in use."""
        for extension in self.md.registeredExtensions:
            if isinstance(extension, FootnoteExtension):
                return extension
        return None

    def _tell(self) -> None:
        """Say that there are no footnotes; it is a problem only if the author has asked for them."""
        if self._options.shared.notes:
            self._report.of_list([Problem("notes", _NO_FOOTNOTES)])
        else:
            self._inform(_NO_FOOTNOTES)


def _items(root: Element) -> dict[str, Element]:
    """Return the notes on a page, by their ids, in the order in which they stand there."""
    items = {}
    for div in root.iter("div"):
        if div.get("class") == "footnote":
            for item in div.iterfind("ol/li"):
                items[item.get("id", "")] = item
    return items


def _is_mark(sup: Element) -> bool:
    return len(sup) == 1 and sup[0].get("class") == _MARK


class _Marks:
    """The marks in a text: raised numbers, or those of notes."""

    def __init__(self, root: Element, citations: Citations, stops_in_quotes: bool) -> None:
        self._citations = citations
        self._stops_in_quotes = stops_in_quotes
        self._parents = {child: parent for parent, child in with_parents(root)}
        self._marks: set[Element] = set()

    def move_numbers(self) -> None:
        """Move raised numbers after the punctuation; those that follow one another at once are one citation."""
        cited = self._citations.cited
        for element in list(cited):
            if element in cited and cited[element].form == "p":
                cited[element] = self._with_following(element, cited[element])
                self._marks.add(element)
                self._citations.raised.add(element)
                self._move(element)

    def _with_following(self, mark: Element, citation: InlineCitation) -> InlineCitation:
        """Return a citation with those in brackets that follow its mark at once, which are removed."""
        cited = self._citations.cited
        parent = self._parents[mark]
        while not (mark.tail or "").strip():
            siblings = list(parent)
            following = siblings[siblings.index(mark) + 1 :][:1]
            if not following or following[0] not in cited or cited[following[0]].form != "p":
                break
            taken = cited.pop(following[0])
            citation = citation._replace(cites=(*citation.cites, *taken.cites))
            mark.tail = following[0].tail
            parent.remove(following[0])
        return citation

    def _move(self, mark: Element) -> None:
        """Move the punctuation that follows a mark before it, and delete the space before."""
        parent = self._parents[mark]
        siblings = list(parent)
        index = siblings.index(mark)
        before = siblings[index - 1] if index > 0 else None
        text = (parent.text if before is None else before.tail) or ""
        visible = text if text.strip() else self._text_before(parent, siblings[:index])

        # Only a text of its own can take a stop into its quotation marks
        into_quotes = self._stops_in_quotes and bool(text.strip())
        moved_before, mark.tail = move_mark(visible, mark.tail or "", stops_in_quotes=into_quotes)
        if not text.strip():
            moved_before = moved_before.removeprefix(visible.rstrip())
            if not moved_before and before in self._marks:
                moved_before = _APART
        if before is None:
            parent.text = moved_before
        else:
            before.tail = moved_before
        if not mark.tail and siblings[index + 1 :][:1] and siblings[index + 1] in self._marks:
            mark.tail = _APART

    def _text_before(self, parent: Element, siblings: list[Element]) -> str:
        """Return the nearest words before a mark, and before those that stand at its side."""
        while siblings and siblings[-1] in self._marks and not (siblings[-1].tail or "").strip():
            siblings = siblings[:-1]
        return next((text for text in _texts_before(parent, siblings) if text.strip()), "")


class _NoteMaker(_Marks):
    """Makes the footnotes of a page: marks in the text, and notes that hold the citations."""

    def __init__(
        self,
        root: Element,
        footnotes: FootnoteExtension,
        citations: Citations,
        stops_in_quotes: bool,
    ) -> None:
        super().__init__(root, citations, stops_in_quotes)
        self._root = root
        self._footnotes = footnotes
        self._marks |= {sup for sup in root.iter("sup") if _is_mark(sup)}

    def make(self, prefix: str) -> dict[str, Element]:
        """Make the footnotes; return the citations that are their texts, by the ids of the notes.

        :param prefix: what the names of the notes begin with
        """
        cited = self._citations.cited
        in_notes = {part for item in _items(self._root).values() for part in item.iter()}
        made: dict[str, Element] = {}
        for element in list(cited):
            is_left_out = element in in_notes or element in self._citations.unlinked
            if is_left_out or element not in cited:  # another has taken it into its note
                continue
            name = self._new_name(prefix, len(made) + 1)
            made[name] = self._replace(element, self._mark(name))
        if made:
            self._add(made)
        return {self._footnotes.makeFootnoteId(name): element for name, element in made.items()}

    def _new_name(self, prefix: str, number: int) -> str:
        name = f"{prefix}{number}"
        while name in self._footnotes.footnotes:
            name = f"{name}-"
        return name

    def _mark(self, name: str) -> Element:
        """Return a mark as the extension makes it; it gets its number later."""
        mark = Element("sup", {"id": self._footnotes.makeFootnoteRefId(name, found=True)})
        link = Element("a", {"class": _MARK})
        link.set("href", f"#{self._footnotes.makeFootnoteId(name)}")
        mark.append(link)
        self._marks.add(mark)
        return mark

    def _replace(self, element: Element, mark: Element) -> Element:
        """Put the mark in the place of a citation, or after its name; return the citation for the note."""
        cited = self._citations.cited
        citation = cited[element]
        parent = self._parents[element]
        index = list(parent).index(element)
        mark.tail = element.tail
        element.tail = None
        note = element
        if citation.form == "t":
            parent.insert(index + 1, mark)
            names = [replace(c, label="", locator="", suffix="") for c in citation.cites]
            cited[element] = citation._replace(form="author", cites=tuple(names))
            self._citations.notes[element] = CitationNote(part="name")
            rest = [replace(c, prefix="", no_author=True) for c in citation.cites]
            note = Element(element.tag, dict(element.attrib))
            citation = citation._replace(form="p", cites=tuple(rest))
        else:
            parent[index] = mark
        self._parents[mark] = parent
        cited[note] = self._with_following(mark, citation)
        self._citations.notes[note] = CitationNote(part="note")
        self._move(mark)
        return note

    def _add(self, made: Mapping[str, Element]) -> None:
        """Let the extension make the notes, and put the citations into them."""
        footnotes = self._footnotes
        theirs = _items(self._root)
        of_author = footnotes.footnotes
        footnotes.footnotes = OrderedDict()
        for name in made:
            footnotes.setFootnote(name, "x")
        if theirs:
            div = footnotes.makeFootnotesDiv(self._root)
            items = [] if div is None else list(div.iterfind("ol/li"))
            last = list(theirs.values())[-1]
            self._parents[last].extend(items)
        else:
            FootnoteTreeprocessor(footnotes).run(self._root)
            items = list(_items(self._root).values())
        for element, item in zip(made.values(), items, strict=True):
            paragraph = item[0]
            paragraph.text = ""
            element.tail = NBSP_PLACEHOLDER
            paragraph.insert(0, element)
        footnotes.footnotes = OrderedDict([*of_author.items(), *footnotes.footnotes.items()])


class _Order:
    """Brings notes and citations into the order in which readers meet them: that of the marks.

    :param made: the citations that are the texts of notes, by the ids of these
    """

    def __init__(
        self,
        root: Element,
        footnotes: FootnoteExtension | None,
        citations: Citations,
        made: Mapping[str, Element],
    ) -> None:
        self._root = root
        self._footnotes = footnotes
        self._citations = citations
        self._made = made
        self._items = _items(root)

    def set(self) -> None:
        """Number the notes if some were made, and say of each citation what is around it."""
        order = list(self._items)
        if self._made:
            marks = [mark for mark in self._marks() if mark in self._items]
            order = list(dict.fromkeys([*marks, *order]))
        numbers = {id_: number for number, id_ in enumerate(order, 1)}
        if self._made:
            self._number(numbers)

        cited: dict[Element, InlineCitation] = {}
        notes: dict[Element, CitationNote] = {}
        parents = {child: parent for parent, child in with_parents(self._root)}
        for element, number in self._in_order(numbers):
            cited[element] = self._citations.cited[element]
            around = _text_around(element, parents, in_note=number > 0)
            noted = self._citations.notes.get(element, CitationNote())
            notes[element] = noted._replace(around=around, number=number)
        if not self._made:  # without marks of ours, the order is that of the source
            cited = {element: cited[element] for element in self._citations.cited}
        self._citations.cited = cited
        self._citations.notes = notes

    def _marks(self) -> Iterator[str]:
        """Yield the ids of the notes that marks lead to."""
        for link in self._root.iter("a"):
            if link.get("class") == _MARK:
                yield link.get("href", "")[1:]

    def _number(self, numbers: Mapping[str, int]) -> None:
        """Show the numbers of notes, and sort these."""
        assert self._footnotes is not None  # noqa: S101 (it has made them)
        text = self._footnotes.getConfig("SUPERSCRIPT_TEXT")
        title = self._footnotes.getConfig("BACKLINK_TITLE")
        for link in self._root.iter("a"):
            id_ = link.get("href", "")[1:]
            if link.get("class") == _MARK and id_ in numbers:
                link.text = text.format(numbers[id_])
        for id_, item in self._items.items():
            for link in item.iter("a"):
                if link.get("class") == _BACK:
                    link.set("title", title.format(numbers[id_]))
        for div in self._root.iter("div"):
            if div.get("class") == "footnote":
                for listed in div.iterfind("ol"):
                    listed[:] = sorted(listed, key=lambda item: numbers[item.get("id", "")])

    def _in_order(self, numbers: Mapping[str, int]) -> Iterator[tuple[Element, int]]:
        """Yield the citations with the numbers of their notes: those in a note after its first mark."""
        cited = self._citations.cited
        in_notes = {part for item in self._items.values() for part in item.iter()}
        met: set[str] = set()
        for element in self._root.iter():
            if element in in_notes:
                continue
            if element in cited:
                yield element, 0
            id_ = element.get("href", "")[1:]
            if element.get("class") == _MARK and id_ in self._items and id_ not in met:
                met.add(id_)
                yield from self._in_note(id_, numbers)
        for id_ in self._items:
            if id_ not in met:
                yield from self._in_note(id_, numbers)

    def _in_note(self, id_: str, numbers: Mapping[str, int]) -> Iterator[tuple[Element, int]]:
        for element in self._items[id_].iter():
            if element in self._citations.cited:
                yield element, numbers[id_]


def _text_around(element: Element, parents: Mapping[Element, Element], *, in_note: bool) -> Around:
    """Return the nearest words before and after a citation in its paragraph."""
    before = ""
    after = ""
    node = element
    while node is element or node.tag in _INLINE:
        parent = parents[node]
        siblings = list(parent)
        index = siblings.index(node)
        for text in _texts_before(parent, siblings[:index]):
            if before.strip():
                break
            before = text + before
        for text in _texts_after(siblings[index:]):
            if after.strip():
                break
            after += text
        node = parent
    return Around(before, after, in_note=in_note)


def _texts_before(parent: Element, siblings: list[Element]) -> Iterator[str]:
    """Yield the texts before an element, the nearest first."""
    for sibling in reversed(siblings):
        yield _visible(sibling.tail or "")
        yield _visible("".join(sibling.itertext()))
    yield _visible(parent.text or "")


def _texts_after(elements: list[Element]) -> Iterator[str]:
    """Yield the texts after the first of these elements."""
    yield _visible(elements[0].tail or "")
    for sibling in elements[1:]:
        yield _visible("".join(sibling.itertext()))
        yield _visible(sibling.tail or "")


def _visible(text: str) -> str:
    """Return text without what stands for links back."""
    return unescaped(text.replace(NBSP_PLACEHOLDER, "").replace(FN_BACKLINK_TEXT, ""))
