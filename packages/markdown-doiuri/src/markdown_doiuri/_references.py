"""Citations and the list of references in the tree of a page."""

from __future__ import annotations

import hashlib
import html
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast
from xml.etree.ElementTree import Element, SubElement

from doiuri.records import Bibliography, plain_reference, reference_parts, with_year_label
from markdown.blockprocessors import BlockProcessor
from markdown.extensions.toc import TocTreeprocessor, unique
from markdown.treeprocessors import Treeprocessor
from markdown.util import AMP_SUBSTITUTE, HTML_PLACEHOLDER_RE, AtomicString

from markdown_doiuri._report import MARKER
from markdown_doiuri._stash import literal, unescaped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from doiuri import DOI, Handle
    from doiuri.records import CitationPart, Reference, Work
    from markdown import Markdown
    from markdown.blockparser import BlockParser

    from markdown_doiuri._links import Links
    from markdown_doiuri._mentions import Citation
    from markdown_doiuri._options import Options
    from markdown_doiuri._report import Report
    from markdown_doiuri._verification import Answer

_LINE = re.compile(rf"^[ \t]*+{re.escape(MARKER)}[ \t]*+$\n?", re.MULTILINE)


class PlaceProcessor(BlockProcessor):
    """Makes a paragraph of a line that marks the place of the list."""

    def __init__(self, parser: BlockParser, report: Report) -> None:
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
        self._report.marker()
        if after:
            blocks.insert(0, after)


def marked_places(root: Element) -> list[tuple[Element, Element]]:
    """Return the paragraphs that mark places of the list, each after its parent."""
    markers = {p for p in root.iter("p") if p.text == MARKER and not len(p)}
    if not markers:
        return []
    return [(parent, child) for parent in root.iter() for child in parent if child in markers]


_ID = re.compile(r"""\sid\s*=\s*["']?([^\s"'>]+)""", re.IGNORECASE)
_NOT_IN_ID = re.compile(r"[^A-Za-z0-9.-]+")
_MAX_ID = 80  # characters of a name in an id


@dataclass(slots=True)
class Citations:
    """The citations of a page, in order, and what is known about the works."""

    cited: dict[Element, Citation] = field(default_factory=dict)
    untitled: dict[Element, DOI] = field(default_factory=dict)
    """The links without a text of their own that show metadata."""
    answers: dict[DOI, Answer] = field(default_factory=dict)


def works(answers: Mapping[DOI, Answer]) -> dict[DOI, Work]:
    """Return the works that are known."""
    return {doi: answer.work for doi, answer in answers.items() if answer.work is not None}


class ReferencesTreeprocessor(Treeprocessor):
    """Writes the citations of a page, and its list of references."""

    def __init__(
        self,
        md: Markdown,
        links: Links,
        citations: Citations,
        writer: Callable[[Links, Citations, set[str]], Writer],
    ) -> None:
        super().__init__(md)
        self._links = links
        self._citations = citations
        self._writer = writer

    def run(self, root: Element) -> None:
        """Write the citations in ``root``, in place, and the list at its marker or at the end."""
        used = used_ids(root, self.md) if self._citations.cited else set()
        page = self._writer(self._links, self._citations, used)
        page.write_citations()
        entries = page.entries()
        places = marked_places(root)
        if entries is not None and not places:
            root.append(entries)
        for number, (parent, marker) in enumerate(places):
            index = list(parent).index(marker)
            parent[index : index + 1] = [] if entries is None or number else [entries]


class Writer:
    """Writes the citations and the list of references of one page."""

    def __init__(self, options: Options, links: Links, citations: Citations, used: set[str]) -> None:
        self._options = options
        self._links = links
        self._citations = citations
        self._used = used
        cited = [doi for citation in citations.cited.values() for doi in citation.dois]
        self._bibliography = self._list(cited)
        self._ids = {
            reference.doi.key: self._entry_id(reference.doi) for reference in self._bibliography.references
        }
        self._back: dict[str, list[str]] = {}  # by key of the DOI: the ids of its citations

    def _list(self, cited: list[DOI]) -> Bibliography:
        return Bibliography(cited, works(self._citations.answers), self._options.shared.citation)

    def _entry_id(self, doi: Handle) -> str:
        return self._unique(f"ref-{slug(doi.key)}")

    def _entry_url(self, doi: Handle) -> str:
        return f"#{self._ids[doi.key]}"

    def write_citations(self) -> None:
        """Turn the elements that stand for citations into citations."""
        for element, citation in self._citations.cited.items():
            if citation.textual:
                parts = self._bibliography.textual(citation.dois, self._display)
            else:
                without = citation.without_author
                parts = self._bibliography.parenthetical(citation.dois, self._display, without)
            element.text = None
            if len(parts) == 1 and self._bibliography.get(citation.dois[0]) is None:
                self._link(element, citation.dois[0], parts[0].text)
                continue
            element.tag = "span"
            element.set("class", f"doi-citation {element.get('class') or ''}".strip())
            self._fill(element, parts)

    def _display(self, doi: Handle) -> str:
        return self._options.shared.display(cast("DOI", doi))

    def entries(self) -> Element | None:
        """Return the list of references, or None if it is empty."""
        if not self._bibliography.references:
            return None
        section = Element("div", {"class": "doi-references", "role": "doc-bibliography"})
        numbered = self._options.shared.citation == "number"
        entries = SubElement(section, "ol" if numbered else "ul")
        section.text = entries.text = entries.tail = section.tail = "\n"
        for reference in self._bibliography.references:
            entry = SubElement(entries, "li", {"id": self._ids[reference.doi.key]})
            self._fill(entry, self._parts(reference))
            self._link_back(entry, reference)
            entry.tail = "\n"
        return section

    def _parts(self, reference: Reference) -> Iterable[CitationPart]:
        answer = self._citations.answers.get(cast("DOI", reference.doi))
        text = (answer and answer.reference) or plain_reference(reference.work)
        return reference_parts(reference.doi, with_year_label(reference, text))

    def _fill(self, element: Element, parts: Iterable[CitationPart]) -> None:
        """Add the parts to an element without content."""
        last: Element | None = None
        for text, doi in parts:
            if doi is not None:
                last = SubElement(element, "a")
                if element.tag == "span" and doi.key in self._ids:
                    self._link_to_entry(last, doi, text)
                else:
                    self._link(last, doi, text)
            elif last is None:
                element.text = AtomicString((element.text or "") + literal(text))
            else:
                last.tail = AtomicString((last.tail or "") + literal(text))

    def _link(self, link: Element, doi: Handle, text: str) -> None:
        """Make ``link`` a link to a DOI."""
        own = link.get("class")
        self._links.set_target(link, cast("DOI", doi))
        answer = self._citations.answers.get(cast("DOI", doi))
        missing = answer is not None and answer.status == "not-found"
        classes = [link.get("class"), own, "doi-not-found" if missing else None]
        if any(classes):
            link.set("class", " ".join(dict.fromkeys(filter(None, classes))))
        link.text = AtomicString(literal(text))

    def _link_to_entry(self, link: Element, doi: Handle, text: str) -> None:
        back = self._back.setdefault(doi.key, [])
        name = f"cite-{slug(doi.key)}"
        back.append(self._unique(f"{name}-{len(back) + 1}" if back else name))
        link.set("href", self._entry_url(doi))
        link.set("id", back[-1])
        link.set("role", "doc-biblioref")
        link.text = AtomicString(literal(text))

    def _link_back(self, entry: Element, reference: Reference) -> None:
        for number, place in enumerate(self._back.get(reference.doi.key, ()), 1):
            entry[-1].tail = AtomicString((entry[-1].tail or "") + " ")
            title = f"Back to citation {number} in the text"
            link = SubElement(
                entry,
                "a",
                {"class": "doi-backref", "href": f"#{place}", "role": "doc-backlink", "title": title},
            )
            link.text = AtomicString("↩")

    def _unique(self, name: str) -> str:
        unique, number = name, 1
        while unique in self._used:
            number += 1
            unique = f"{name}-{number}"
        self._used.add(unique)
        return unique


def used_ids(root: Element, md: Markdown) -> set[str]:
    """Return the ids that the page has already, in elements and in raw HTML."""
    used = {element.attrib["id"] for element in root.iter() if "id" in element.attrib}
    for raw in md.htmlStash.rawHtmlBlocks:
        if isinstance(raw, str) and "id" in raw.lower():
            used.update(_ID.findall(raw))
    return used


def slug(key: str) -> str:
    """Return an id for the key of a DOI: letters, digits, "." and "-"; "_" and two digits for other bytes."""
    plain = _NOT_IN_ID.sub(_escaped, key).lower()
    if len(plain) <= _MAX_ID:
        return plain
    return f"{plain[:_MAX_ID]}-{hashlib.sha256(key.encode()).hexdigest()[:12]}"


def _escaped(characters: re.Match[str]) -> str:
    return "".join(f"_{byte:02x}" for byte in characters[0].encode())


_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))


class HeadingTreeprocessor(Treeprocessor):
    """Sets the ids that the extension toc would make of metadata; other ids are left to it."""

    def __init__(self, md: Markdown, citations: Citations) -> None:
        super().__init__(md)
        self._citations = citations

    def run(self, root: Element) -> None:
        """Set the ids of the headings in ``root``, in place, before the citations are written."""
        written = {link: f"doi:{doi.name}" for link, doi in self._citations.untitled.items()}
        written |= {element: element.text or "" for element in self._citations.cited}
        if not written or "toc" not in self.md.treeprocessors:
            return
        toc = self.md.treeprocessors["toc"]
        if not isinstance(toc, TocTreeprocessor):
            return
        used: set[str] | None = None
        for heading in root.iter():
            if (
                heading.tag not in _HEADINGS
                or "id" in heading.attrib
                or written.keys().isdisjoint(heading.iter())
            ):
                continue
            used = used_ids(root, self.md) if used is None else used
            text = "".join(_texts(heading, written)).replace(AMP_SUBSTITUTE, "&")
            text = html.unescape(unescaped(HTML_PLACEHOLDER_RE.sub("", text)))
            heading.set("id", unique(toc.slugify(text, toc.sep), used))


def _texts(element: Element, written: dict[Element, str]) -> Iterator[str]:
    """Yield the texts in an element, as ``written`` for those in it; marks of footnotes are left out."""
    if element in written:
        yield written[element]
        return
    yield element.text or ""
    for child in element:
        if not (child.tag == "sup" and child.get("id", "").startswith("fnref")):
            yield from _texts(child, written)
        yield child.tail or ""
