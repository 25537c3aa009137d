"""Citations and the list of references in the tree of a page."""

from __future__ import annotations

import html
import re
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple
from xml.etree.ElementTree import Element, SubElement

from doiuri import DOI
from doiuri.citations import Around, as_in_note
from doiuri.plugins.display import by_direction, details_of
from markdown.blockprocessors import BlockProcessor
from markdown.extensions import toc
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString

from markdown_doiuri._links import mark_missing, unlink, with_parents
from markdown_doiuri._report import MARKER, Problem
from markdown_doiuri._stash import literal, slug

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping
    from typing import TypeAlias

    import doiuri_csl as csl
    from doiuri import Handle
    from doiuri.citations import Bibliography, Citing, EntryCache, Reference, Span
    from doiuri.plugins.survey import Answer
    from doiuri.works import Work
    from markdown import Markdown
    from markdown.blockparser import BlockParser

    from markdown_doiuri._links import Links
    from markdown_doiuri._mentions import InlineCitation
    from markdown_doiuri._options import MarkdownOptions
    from markdown_doiuri._report import Problems

    Key: TypeAlias = Handle | str

_LINE = re.compile(rf"^[ \t]*+{re.escape(MARKER)}[ \t]*+$\n?", re.MULTILINE)


class PlaceProcessor(BlockProcessor):
    """Makes a paragraph of a line that marks the place of the list."""

    def __init__(self, parser: BlockParser, report: Problems) -> None:
        super().__init__(parser)
        self._report = report

    def test(self, parent: Element, block: str) -> bool:  # noqa: ARG002
        """Return whether the block has such a line."""
        return MARKER in block and _LINE.search(block) is not None

    def run(self, parent: Element, blocks: list[str]) -> None:
        """Add the text before the line, and a paragraph for the line; leave the text after it."""
        before, after = _LINE.split(blocks.pop(0), maxsplit=1)
        if before:
            self.parser.parseBlocks(parent, [before.rstrip("\n")])
        SubElement(parent, "p").text = MARKER
        self._report.markers += 1
        if after:
            blocks.insert(0, after)


def marked_places(root: Element) -> list[tuple[Element, Element]]:
    """Return the paragraphs that mark places of the list, as pairs of a parent and the paragraph in it."""
    return [
        (parent, child)
        for parent, child in with_parents(root)
        if child.tag == "p" and child.text == MARKER and not len(child)
    ]


_ID = re.compile(r"""\sid\s*=\s*["']?([^\s"'>]+)""", re.IGNORECASE)


class CitationNote(NamedTuple):
    """Where a citation stands in a style of notes, and which part of a citation it is."""

    around: Around = Around()
    """The text around it."""
    part: Literal["", "name", "note"] = ""
    """Of a citation that becomes a note: the name that stays in the text, or the note; "" for any other."""
    number: int = 0
    """The number of the note that it stands in; 0 in the text."""


@dataclass(slots=True)
class Citations:
    """The citations of a page, in order, and what is known about the works.

    The tree processors hand it on: that of links collects the citations and the answers, that of notes moves
    citations into notes, that of headings sets texts of links, and that of references writes the citations.
    """

    links: Links
    page: bool = True
    """Whether the text is a page; the citations of other texts link to the DOIs."""
    cited: dict[Element, InlineCitation] = field(default_factory=dict)
    raised: set[Element] = field(default_factory=set)
    """The citations that are raised numbers and nothing else."""
    unlinked: Container[Element] = ()
    """The elements in which nothing is linked."""
    in_headings: Container[Element] = ()
    """The elements in headings, which have no cards."""
    listed: tuple[Key, ...] = ()
    """The works that are listed, in the order of their citations."""
    untitled: dict[Element, DOI] = field(default_factory=dict)
    """The links without a text of their own that show metadata."""
    answers: dict[DOI, Answer] = field(default_factory=dict)
    """What is known about the DOIs of the page; on a site with one list, about those of all pages."""
    notes: dict[Element, CitationNote] = field(default_factory=dict)
    """In a style of notes, where the citations stand; in the order of ``cited``."""
    entries: EntryCache | None = None
    """The texts of the entries of other pages and builds; those of this page are added."""

    def begin(
        self, page: bool, unlinked: Container[Element], in_headings: Container[Element]
    ) -> None:
        """Begin a text."""
        self.page = page
        self.unlinked = unlinked
        self.in_headings = in_headings
        self.cited = {}
        self.raised = set()
        self.untitled = {}


def works_of(answers: Mapping[DOI, Answer]) -> dict[DOI, Work]:
    """Return the works that are known."""
    return {doi: answer.work for doi, answer in answers.items() if answer.work is not None}


def bibliography_of(
    citing: Citing, cited: Iterable[Key], answers: Mapping[DOI, Answer]
) -> Bibliography:
    """Return the works that are cited, in the order of their citations.

    A DOI with a definite answer, but no work in it, has no metadata; others may have some.
    """
    definite = [doi for doi, answer in answers.items() if answer.cause is None]
    works: dict[DOI, Work | None] = dict.fromkeys(definite)
    works |= works_of(answers)
    return citing.bibliography(cited, works)


HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_BACK = "↩"
# The classes of lists in citeproc-js, pandoc and doiuri-csl
_LIST_CLASS = "csl-bib-body"
_ENTRY_CLASS = "csl-entry"
# A page has no style sheet of ours unless it has cards
_HANGING = "list-style: none; padding-left: 2em; text-indent: -2em"
# The minimum size of what is clicked (WCAG 2.2, 2.5.8)
_TARGET = (
    "display: inline-block; min-height: 24px; min-width: 24px; text-align: center; text-indent: 0"
)
# The outermost first
_FORMATS: dict[csl.Format, tuple[str] | tuple[str, dict[str, str]]] = {
    "italic": ("em",),
    "oblique": ("em",),
    "light": ("span", {"style": "font-weight: lighter"}),
    "small-caps": ("span", {"style": "font-variant: small-caps"}),
    "bold": ("strong",),
    "subscript": ("sub",),
    "superscript": ("sup",),
    "underline": ("u",),
}


def add_text(element: Element, text: str) -> None:
    """Add text at the end of an element."""
    if len(element):
        element[-1].tail = AtomicString((element[-1].tail or "") + literal(text))
    else:
        element.text = AtomicString((element.text or "") + literal(text))


class ReferencesTreeprocessor(Treeprocessor):
    """Writes the citations of a page, and its list of references.

    :param writer: returns what writes a page with these citations and ids, or None if it has nothing to write.
    """

    def __init__(
        self,
        md: Markdown,
        citations: Citations,
        writer: Callable[[Citations, set[str]], Writer | None],
        options: MarkdownOptions,
        report: Problems,
    ) -> None:
        super().__init__(md)
        self._citations = citations
        self._writer = writer
        self._options = options
        self._report = report

    def run(self, root: Element) -> None:
        """Write the citations in ``root``, in place, and the list at its marker or at the end."""
        used = used_ids(root, self.md) if self._citations.listed else set()
        writer = self._writer(self._citations, used)
        entries = None if writer is None else writer.write()

        reasons = [*self._options.citing.library.problems]
        if writer is not None:
            self._report.add(self._options.misspelt)
            reasons += writer.problems
        self._report.add(Problem("citations", reason) for reason in reasons)

        has_numbers = writer is not None and self._options.citing.raises_numbers
        if has_numbers and toc_of(self.md) is not None:
            self._name_headings(root)
        self._place(root, entries, writer)

    def _place(self, root: Element, entries: Element | None, writer: Writer | None) -> None:
        """Put the list at its first marker, or else at the end; if there is no list, remove its heading."""
        places = marked_places(root)
        for number, (parent, marker) in enumerate(places):
            index = list(parent).index(marker)
            if number == 0 and entries is not None:
                parent[index] = entries
            else:
                parent.remove(marker)
                _remove_lone_heading(parent, index)
        if places or writer is None:
            return

        if entries is not None:
            writer.add_heading(root, entries)
            root.append(entries)
        # A heading at the end of the page was to hold the list, which is on another page.
        elif writer.lists_elsewhere and len(root):
            _remove_lone_heading(root, len(root))

    def _name_headings(self, root: Element) -> None:
        """Make toc list headings without their raised numbers, as it does without the marks of footnotes."""
        for heading in root.iter():
            if heading.tag not in HEADINGS or "data-toc-label" in heading.attrib:
                continue
            cited = [part for part in heading.iter() if part in self._citations.cited]
            if cited:
                numbers = {sup for part in cited for sup in part.iter("sup")}
                heading.set("data-toc-label", _text_in(_without(heading, numbers), self.md))


def _without(element: Element, left_out: Container[Element]) -> Element:
    """Return a copy of an element in which the parts in ``left_out`` are empty."""
    copied = deepcopy(element)
    for part, copy in [*zip(element.iter(), copied.iter(), strict=True)]:
        if part in left_out:
            copy[:] = []
            copy.text = None
    return copied


def _text_in(heading: Element, md: Markdown) -> str:
    """Return the text of a heading as toc reads it, with character references."""
    return toc.strip_tags(toc.render_inner_html(toc.remove_fnrefs(heading), md))


def _remove_lone_heading(parent: Element, index: int) -> None:
    """Remove the heading before an index if nothing follows in its section, which was to hold the list.

    The title of the page stays, and so does a heading with a citation.
    """
    heading = parent[index - 1] if index > 0 else None
    if heading is None or heading.tag not in HEADINGS or heading.tag == "h1" or len(heading):
        return
    # The end of the page ends each section, as an <h1> would; so does a heading of the same level or a higher one.
    following = parent[index].tag if index < len(parent) else "h1"
    section_is_empty = following in HEADINGS and following <= heading.tag
    if section_is_empty:
        parent.remove(heading)


class Backlink(NamedTuple):
    """A place that cites a work, to which the entry of the work leads back."""

    page: str
    """The name of the page; "" if there is only one."""

    id: str
    """The id of the citation on the page."""


class BackTo(NamedTuple):
    """The link of an entry to a place that cites its work."""

    url: str
    title: str


class Writer:
    """Writes the citations and the list of references of one page.

    1. ``__init__`` reads the works of the list, and gives each entry its id.
    2. ``write`` fills the elements that stand for citations, and notes the id of each citation of an entry.
    3. It then makes the list, whose entries lead back to these citations.

    :param used: the ids that the page has; those of citations and entries are added.
    :param page: the name of the page, if the list has citations of several.
    """

    def __init__(
        self, options: MarkdownOptions, citations: Citations, used: set[str], page: str = ""
    ) -> None:
        self._options = options
        self._citations = citations
        self._used = used
        self._page = page
        self._backlinks = self._works(citations.listed)
        self._references = self._bibliography()
        has_list = citations.page and self._references.has_entries
        references = self._references.references if has_list else ()
        self._entries = {reference.key: reference for reference in references}
        self._ids = {key: self._entry_id(key) for key in self._entries}
        self._times: Counter[Key] = Counter()  # that the page cites a work
        self._linked: dict[Element, Reference] = {}  # the entries to which links lead

    @property
    def problems(self) -> list[str]:
        """What could not be read of the works in the list."""
        return self._references.problems

    @property
    def lists_elsewhere(self) -> bool:
        """Whether the list of the citations is on another page."""
        return False

    def _works(self, listed: tuple[Key, ...]) -> dict[Key, list[Backlink]]:
        """Return the works of the list, each with the places that cite it: none so far."""
        return {key: [] for key in listed}

    def _bibliography(self) -> Bibliography:
        return bibliography_of(self._options.citing, self._backlinks, self._citations.answers)

    def _entry_id(self, key: Key) -> str:
        return toc.unique(f"ref-{self._options.place}{slug(key)}", self._used)

    def _entry_url(self, key: Key) -> str:
        return f"#{self._ids[key]}"

    def write(self) -> Element | None:
        """Turn the elements that stand for citations into citations; return the list, or None if empty."""
        for element, spans in self._written():
            note = self._citations.notes.get(element)
            is_name = note is not None and note.part == "name"
            element.tag = "span"
            element.text = None
            element.set("class", f"doi-citation {element.get('class') or ''}".strip())
            self._fill(element, spans, partial(self._link_to_entry, is_name=is_name))
            if element in self._citations.unlinked:
                unlink(element)
            elif self._options.details and element not in self._citations.in_headings:
                self._add_cards(element)
        return self.entries() if self._citations.page else None

    def _written(self) -> Iterator[tuple[Element, tuple[Span, ...]]]:
        """Yield the elements that stand for citations, each with its text.

        In a style of notes, a citation such as ``@kahn`` was divided: its name stays in the sentence, and the
        note of the rest is the next element.
        """
        cited = self._citations.cited
        notes = self._citations.notes
        note_numbers = None
        if any(note.part for note in notes.values()):
            note_numbers = [note.number for note in notes.values()]
        forms_and_cites = ((citation.form, citation.cites) for citation in cited.values())
        placed = self._references.placed(forms_and_cites, note_numbers)
        display = self._options.shared.display
        for index, (element, citation) in enumerate(cited.items()):
            note = notes.get(element)
            if note is None:
                yield element, self._references.citation(placed[index], citation.form, display)
            elif note.part == "note":
                yield element, self._references.note(placed[index], display)
            else:
                cites = placed[index]
                if note.part == "name":
                    cites = as_in_note(cites, placed[index + 1])
                form = citation.form
                yield element, self._references.citation(cites, form, display, note.around)

    def _add_cards(self, citation: Element) -> None:
        """Give the links of a citation cards, if the works have titles."""
        for link in citation.iter("a"):
            reference = self._linked.get(link)
            details = None if reference is None else details_of(reference.work)
            if details is not None:
                self._citations.links.cards[link] = details

    def entries(self) -> Element | None:
        """Return the list of references, or None if it is empty."""
        return self.list_of(self._references.references)

    def list_of(
        self, references: Iterable[Reference], keys: Container[Key] | None = None
    ) -> Element | None:
        """Return the list with these entries, and links in place of works that are not known yet; None if empty.

        :param keys: the works that may have such links; by default all.
        """
        entries = self._references.entries(references, self._citations.entries)
        for entry in self._references.waiting(self._options.shared.display):
            if keys is None or entry.key in keys:
                entries.append(entry)
        if not entries:
            return None

        section = Element("div", {"class": "doi-references", "role": "doc-bibliography"})
        if self._references.is_numbered:
            items = SubElement(section, "ol", {"class": _LIST_CLASS})
        else:
            items = SubElement(section, "ul", {"class": _LIST_CLASS, "style": _HANGING})
        section.text = items.text = items.tail = section.tail = "\n"

        for place, entry in enumerate(entries, 1):
            item = SubElement(items, "li", {"class": _ENTRY_CLASS})
            # A list of some of the works has gaps in its numbers, which <ol> would close.
            if self._references.is_numbered and entry.number != place:
                item.set("value", str(entry.number))
            if entry.key in self._ids:
                item.set("id", self._ids[entry.key])
            self._fill(item, entry.spans, self._link)
            self._link_back(item, self._backlinks[entry.key])
            item.tail = "\n"
        return section

    def add_heading(self, root: Element, entries: Element) -> None:
        """Add a heading to the list, which comes last on the page, if there is none before it."""
        if len(entries) and (not len(root) or root[-1].tag not in HEADINGS):
            heading = Element("h2")
            heading.text = self._references.heading
            heading.tail = "\n"
            entries.insert(0, heading)

    def _fill(
        self, element: Element, spans: Iterable[Span], link: Callable[[Element, Key], None]
    ) -> None:
        """Add text to an element: a link for each span with a target, and an element for each format.

        :param link: makes an element a link to a target.
        """
        for span in spans:
            inside = element
            if span.target is not None:
                inside = SubElement(element, "a")
                link(inside, span.target)
            for run in span.runs:
                _add_run(inside, run)

    def _link(self, link: Element, target: Key) -> None:
        """Make ``link`` a link to a DOI, or to the URL of a work without one."""
        if not isinstance(target, DOI):
            link.set("href", literal(str(target)))
            return
        self._citations.links.set_target(link, target)
        answer = self._citations.answers.get(target)
        if answer is not None and answer.status == "not-found":
            mark_missing(link)

    def _link_to_entry(self, link: Element, key: Key, *, is_name: bool) -> None:
        """Make ``link`` a link to the entry of a work, to which the entry leads back.

        If the work has no entry, the link leads to its DOI; without a DOI, it becomes text.

        :param is_name: whether it is a name before the mark of its note; the entry leads back to the note.
        """
        if key not in self._ids:
            if isinstance(key, DOI):
                self._link(link, key)
            else:
                unlink(link)
            return

        self._times[key] += 1
        number = self._times[key]
        name = f"cite-{self._options.place}{slug(key)}"
        if number > 1:
            name = f"{name}-{number}"
        id_ = toc.unique(name, self._used)
        if not is_name:
            self._backlinks[key].append(Backlink(self._page, id_))
        self._linked[link] = self._entries[key]
        link.set("href", self._entry_url(key))
        link.set("id", id_)
        link.set("role", "doc-biblioref")

    def _link_back(self, entry: Element, backlinks: list[Backlink]) -> None:
        """Add links back to places: "↩" for one, "↩ 1", "2" for several."""
        for number, backlink in enumerate(backlinks, 1):
            add_text(entry, " ")
            back = self._back(backlink, number)
            link = SubElement(entry, "a", {"class": "doi-backref", "role": "doc-backlink"})
            link.set("style", _TARGET)
            link.set("href", back.url)
            link.set("title", literal(back.title))
            link.set("aria-label", literal(back.title))
            if len(backlinks) == 1:
                add_text(link, _BACK)
            elif number == 1:
                add_text(link, f"{_BACK}\N{NO-BREAK SPACE}1")
            else:
                add_text(link, str(number))

    def _back(self, backlink: Backlink, number: int) -> BackTo:
        return BackTo(f"#{backlink.id}", f"Back to citation {number} in the text")


def _add_run(element: Element, run: csl.Run) -> None:
    """Add text in its formats to an element, with an element of its own around what is read from right to left."""
    innermost = element
    for name, tag in _FORMATS.items():
        if name in run.formats:
            innermost = SubElement(innermost, *tag)
    for part, is_rtl in by_direction(run.text):
        isolated = SubElement(innermost, "bdi") if is_rtl else innermost
        add_text(isolated, part)


_LIST = re.compile(r'<div class="doi-references".*?</div>\n?', re.DOTALL)
_TO_ENTRY = re.compile(r'<a [^>]*href="#ref-[^>]*\brole="doc-biblioref">(.*?)</a>', re.DOTALL)


def without_references(html: str) -> str:
    """Return HTML without lists of references and links to their entries."""
    return _TO_ENTRY.sub(r"\1", _LIST.sub("", html))


def used_ids(root: Element, md: Markdown) -> set[str]:
    """Return the ids that the page has already, in elements and in raw HTML such as ``<h2 id="x">``."""
    used = {element.attrib["id"] for element in root.iter() if "id" in element.attrib}
    for raw in md.htmlStash.rawHtmlBlocks:
        if isinstance(raw, str) and "id" in raw.lower():
            used.update(_ID.findall(raw))
    return used


def toc_of(md: Markdown) -> toc.TocTreeprocessor | None:
    """Return the processor of the extension toc, or None if that is not in use."""
    for processor in md.treeprocessors:
        if isinstance(processor, toc.TocTreeprocessor):
            return processor
    return None


class HeadingTreeprocessor(Treeprocessor):
    """Gives headings the ids that toc makes of DOIs, and links without a text their metadata."""

    def __init__(
        self, md: Markdown, citations: Citations, display: Callable[[DOI, Work | None], str]
    ) -> None:
        super().__init__(md)
        self._citations = citations
        self._display = display

    def run(self, root: Element) -> None:
        """Set the ids of the headings in ``root``, in place, and then the texts of links without one.

        So an id comes from a DOI as it is written, and is the same before and after its metadata are known.
        """
        self._set_ids(root)

        works = works_of(self._citations.answers)
        for link, doi in self._citations.untitled.items():
            link.text = AtomicString(literal(self._display(doi, works.get(doi))))

    def _set_ids(self, root: Element) -> None:
        """Set the ids of the headings whose text will change."""
        processor = toc_of(self.md)
        headings = self._changing_headings(root)
        if processor is None or not headings:
            return

        used = used_ids(root, self.md)
        for heading in headings:
            text = _text_in(_without(heading, self._citations.raised), self.md)
            name = processor.slugify(html.unescape(text), processor.sep)
            heading.set("id", toc.unique(name, used))

    def _changing_headings(self, root: Element) -> list[Element]:
        """Return the headings without an id in which a citation or the text of a link will change."""
        changing = self._citations.untitled.keys() | self._citations.cited.keys()
        headings = [element for element in root.iter() if element.tag in HEADINGS]
        return [
            heading
            for heading in headings
            if "id" not in heading.attrib and not changing.isdisjoint(heading.iter())
        ]
