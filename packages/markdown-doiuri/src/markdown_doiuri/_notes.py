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
    """Puts the marks of citations where readers expect them, and makes footnotes in styles of notes.

    1. In a style of raised numbers, each citation becomes a mark after the punctuation: ``so [@kahn].`` is
       ``so.[@kahn]``.
    2. In a style of notes, a mark is put in the place of each citation, which moves into a new footnote.
    3. Notes get their numbers, those of the author included, in the order of their marks, and citations the
       order in which readers meet them.

    :param inform: called with a message that is no problem.
    """

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

        made_by: FootnoteExtension | None = None
        if citing.makes_notes and citations.page:
            footnotes = self._footnotes()
            if footnotes is None:
                self._tell_no_footnotes()
            else:
                maker = _NoteMaker(root, footnotes, citations, citing.stops_in_quotes)
                if maker.make(f"doi-{self._options.place}"):
                    made_by = footnotes
        _Order(root, citations, made_by).set()

    def _footnotes(self) -> FootnoteExtension | None:
        """Return the extension footnotes, or None if it is not in use."""
        for extension in self.md.registeredExtensions:
            if isinstance(extension, FootnoteExtension):
                return extension
        return None

    def _tell_no_footnotes(self) -> None:
        """Say that there are no footnotes; it is a problem only if the author has asked for them."""
        if self._options.shared.notes:
            self._report.add([Problem("notes", _NO_FOOTNOTES)])
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
    """The marks in a text: raised numbers, or those of notes.

    :param stops_in_quotes: whether a full stop stands before the quotation mark that closes a quotation.
    """

    def __init__(self, root: Element, citations: Citations, stops_in_quotes: bool) -> None:
        self._citations = citations
        self._stops_in_quotes = stops_in_quotes
        self._parents = {child: parent for parent, child in with_parents(root)}
        self._marks: set[Element] = set()

    def move_numbers(self) -> None:
        """Move raised numbers after the punctuation; those that follow one another at once are one citation."""
        cited = self._citations.cited
        for element in list(cited):
            is_taken = element not in cited  # into the citation before it
            if not is_taken and cited[element].form == "p":
                cited[element] = self._with_following(element, cited[element])
                self._marks.add(element)
                self._citations.raised.add(element)
                self._move(element)

    def _with_following(self, mark: Element, citation: InlineCitation) -> InlineCitation:
        """Return a citation with those in brackets that follow its mark at once, which are removed.

        ``[@kahn] [@li]`` is one citation, as ``[@kahn; @li]`` is.
        """
        cited = self._citations.cited
        parent = self._parents[mark]
        while not (mark.tail or "").strip():
            following = _next_sibling(parent, mark)
            if following not in cited or cited[following].form != "p":
                break
            taken = cited.pop(following)
            citation = citation._replace(cites=(*citation.cites, *taken.cites))
            mark.tail = following.tail
            parent.remove(following)
        return citation

    def _move(self, mark: Element) -> None:
        """Move the punctuation that follows a mark before it, and delete the space before.

        With [1] for the mark, ``so [1], and`` becomes ``so,[1] and``, and ``*so* [1].`` becomes ``*so*.[1]``.
        """
        parent = self._parents[mark]
        siblings = list(parent)
        index = siblings.index(mark)
        before = siblings[index - 1] if index > 0 else None
        text = (parent.text if before is None else before.tail) or ""
        has_text = text.strip() != ""

        if has_text:
            text_before, mark.tail = move_mark(
                text, mark.tail or "", stops_in_quotes=self._stops_in_quotes
            )
        else:
            # The words stand in another element, which cannot take a stop into its quotation marks
            words = self._text_before(parent, siblings[:index])
            with_stop, mark.tail = move_mark(words, mark.tail or "", stops_in_quotes=False)
            text_before = with_stop.removeprefix(words.rstrip())
            if not text_before and before in self._marks:
                text_before = _APART
        if before is None:
            parent.text = text_before
        else:
            before.tail = text_before

        if not mark.tail and _next_sibling(parent, mark) in self._marks:
            mark.tail = _APART

    def _text_before(self, parent: Element, siblings: list[Element]) -> str:
        """Return the nearest words before a mark, and before those that stand at its side."""
        while siblings and siblings[-1] in self._marks and not (siblings[-1].tail or "").strip():
            siblings = siblings[:-1]
        return next((text for text in _texts_before(parent, siblings) if text.strip()), "")


def _next_sibling(parent: Element, element: Element) -> Element | None:
    siblings = list(parent)
    following = siblings[siblings.index(element) + 1 :]
    return following[0] if following else None


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

    def make(self, prefix: str) -> bool:
        """Make the footnotes; return whether there are any. Citations in the author's own notes stay there.

        :param prefix: what the names of the notes begin with.
        """
        cited = self._citations.cited
        in_notes = {part for item in _items(self._root).values() for part in item.iter()}
        made: dict[str, Element] = {}  # by the names of the notes, the citations in them
        for element in list(cited):
            is_taken = element not in cited  # into the note of the citation before it
            if is_taken or element in in_notes or element in self._citations.unlinked:
                continue
            name = self._new_name(prefix, len(made) + 1)
            made[name] = self._put_mark(element, self._new_mark(name))
        if made:
            self._add_notes(made)
        return bool(made)

    def _new_name(self, prefix: str, number: int) -> str:
        name = f"{prefix}{number}"
        while name in self._footnotes.footnotes:
            name = f"{name}-"
        return name

    def _new_mark(self, name: str) -> Element:
        """Return a mark as the extension makes it; it gets its number later."""
        mark = Element("sup", {"id": self._footnotes.makeFootnoteRefId(name, found=True)})
        link = Element("a", {"class": _MARK})
        link.set("href", f"#{self._footnotes.makeFootnoteId(name)}")
        mark.append(link)
        self._marks.add(mark)
        return mark

    def _put_mark(self, element: Element, mark: Element) -> Element:
        """Put the mark in the place of a citation, or after its name; return the citation for the note.

        ``[see @kahn, p. 3]`` becomes the mark. ``@kahn [p. 3]`` becomes the author's name and the mark, and the
        note has the rest, such as the title and the page.
        """
        cited = self._citations.cited
        citation = cited[element]
        parent = self._parents[element]
        index = list(parent).index(element)
        mark.tail = element.tail
        element.tail = None
        if citation.form == "t":
            parent.insert(index + 1, mark)
            names = [replace(cite, label="", locator="", suffix="") for cite in citation.cites]
            cited[element] = citation._replace(form="author", cites=tuple(names))
            self._citations.notes[element] = CitationNote(part="name")

            note = Element(element.tag, dict(element.attrib))
            rest = [replace(cite, prefix="", no_author=True) for cite in citation.cites]
            citation = citation._replace(form="p", cites=tuple(rest))
        else:
            parent[index] = mark
            note = element
        self._parents[mark] = parent
        cited[note] = self._with_following(mark, citation)
        self._citations.notes[note] = CitationNote(part="note")
        self._move(mark)
        return note

    def _add_notes(self, made: Mapping[str, Element]) -> None:
        """Let the extension make the notes, after those of the author, and put the citations into them."""
        footnotes = self._footnotes
        items_of_author = list(_items(self._root).values())
        of_author = footnotes.footnotes
        footnotes.footnotes = OrderedDict()  # the notes of the author are on the page already
        for name in made:
            footnotes.setFootnote(name, "x")  # the citation replaces the text

        if items_of_author:
            div = footnotes.makeFootnotesDiv(self._root)
            items = [] if div is None else list(div.iterfind("ol/li"))
            self._parents[items_of_author[-1]].extend(items)
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

    :param made_by: the extension with which notes were made; None if none were made.
    """

    def __init__(
        self, root: Element, citations: Citations, made_by: FootnoteExtension | None
    ) -> None:
        self._root = root
        self._citations = citations
        self._made_by = made_by
        self._items = _items(root)

    def set(self) -> None:
        """Number the notes if some were made, and say of each citation what is around it."""
        order = list(self._items)
        if self._made_by is not None:
            marks = [mark for mark in self._marks() if mark in self._items]
            order = list(dict.fromkeys([*marks, *order]))
        numbers = {id_: number for number, id_ in enumerate(order, 1)}
        if self._made_by is not None:
            self._number(self._made_by, numbers)

        cited: dict[Element, InlineCitation] = {}
        notes: dict[Element, CitationNote] = {}
        parents = {child: parent for parent, child in with_parents(self._root)}
        for element, number in self._in_order(numbers):
            cited[element] = self._citations.cited[element]
            before = _texts_to_start(element, parents)
            after = _texts_to_end(element, parents)
            around = Around.of(before, after, in_note=number > 0)
            note = self._citations.notes.get(element, CitationNote())
            notes[element] = note._replace(around=around, number=number)
        if self._made_by is None:  # without marks of ours, the order is that of the source
            cited = {element: cited[element] for element in self._citations.cited}
        self._citations.cited = cited
        self._citations.notes = notes

    def _marks(self) -> Iterator[str]:
        """Yield the ids of the notes that marks lead to."""
        for link in self._root.iter("a"):
            if link.get("class") == _MARK:
                yield link.get("href", "")[1:]

    def _number(self, footnotes: FootnoteExtension, numbers: Mapping[str, int]) -> None:
        """Show the numbers of notes in their marks and in the titles of links back, and sort the notes."""
        text = footnotes.getConfig("SUPERSCRIPT_TEXT")
        title = footnotes.getConfig("BACKLINK_TITLE")
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
        """Yield the citations with the numbers of their notes, 0 in the text.

        Those in a note come after its first mark; those in notes without a mark come last.
        """
        cited = self._citations.cited
        in_notes = {part for item in self._items.values() for part in item.iter()}
        without_mark = dict.fromkeys(self._items)
        for element in self._root.iter():
            if element in in_notes:
                continue
            if element in cited:
                yield element, 0
            id_ = element.get("href", "")[1:]
            if element.get("class") == _MARK and id_ in without_mark:
                del without_mark[id_]
                yield from self._in_note(id_, numbers)
        for id_ in without_mark:
            yield from self._in_note(id_, numbers)

    def _in_note(self, id_: str, numbers: Mapping[str, int]) -> Iterator[tuple[Element, int]]:
        for element in self._items[id_].iter():
            if element in self._citations.cited:
                yield element, numbers[id_]


def _texts_to_start(element: Element, parents: Mapping[Element, Element]) -> Iterator[str]:
    """Yield the texts before an element in its paragraph, the nearest first.

    They may stand in the elements around it, such as the "so" of ``so *[@kahn]*``.
    """
    parent = parents[element]
    siblings = list(parent)
    yield from _texts_before(parent, siblings[: siblings.index(element)])
    if parent.tag in _INLINE:
        yield from _texts_to_start(parent, parents)


def _texts_before(parent: Element, siblings: list[Element]) -> Iterator[str]:
    """Yield the texts before an element, the nearest first."""
    for sibling in reversed(siblings):
        yield _visible(sibling.tail or "")
        yield _visible("".join(sibling.itertext()))
    yield _visible(parent.text or "")


def _texts_to_end(element: Element, parents: Mapping[Element, Element]) -> Iterator[str]:
    """Yield the texts after an element in its paragraph, the nearest first."""
    parent = parents[element]
    siblings = list(parent)
    yield _visible(element.tail or "")
    for sibling in siblings[siblings.index(element) + 1 :]:
        yield _visible("".join(sibling.itertext()))
        yield _visible(sibling.tail or "")
    if parent.tag in _INLINE:
        yield from _texts_to_end(parent, parents)


def _visible(text: str) -> str:
    """Return text without what stands for links back."""
    return unescaped(text.replace(NBSP_PLACEHOLDER, "").replace(FN_BACKLINK_TEXT, ""))
