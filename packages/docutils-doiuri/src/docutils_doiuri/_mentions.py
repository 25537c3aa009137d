"""Link DOIs in running text, such as ``doi:10.1000/182``, by the rule of ``doiuri.plugins.mentions``."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from docutils import nodes
from docutils.parsers import rst
from docutils.parsers.rst.states import Inliner
from doiuri import find
from doiuri.plugins import untrimmed, with_suggestion
from doiuri.plugins.mentions import BOUNDARY

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from doiuri import DOI, Match
    from doiuri.plugins.mentions import InvalidMention, MentionRule
    from doiuri.plugins.options import Options

NO_LINKS = "no-doi"
"""The class of a passage, or the field at the top of a document, in which no mention becomes a link."""

_UNLINKED: tuple[type, ...] = (
    nodes.FixedTextElement,  # blocks of code, doctests, addresses, raw text, comments
    nodes.literal,
    nodes.math,
    nodes.title_reference,
    nodes.reference,
    nodes.footnote_reference,
    nodes.citation_reference,
    nodes.substitution_reference,
    nodes.substitution_definition,
    nodes.target,
    nodes.label,
    nodes.field_name,
    nodes.option_string,
    nodes.option_argument,
    nodes.problematic,
    nodes.system_message,
    nodes.Invisible,
    nodes.generated,
    nodes.image,
    nodes.docinfo,  # which is metadata
)
_CHARACTER = re.compile(r"\0?.", re.DOTALL)  # NUL: escaped
# What a name may have before its next part
_INNER = re.compile(r"[/._:;,-]*")
_LABEL_AT_END = re.compile(r"doi ?[:\uff1a]? ?\Z", re.IGNORECASE)
# "`10.1000/182`": text in the default role
_DEFAULT_ROLE = re.compile(r"`(?!`)[^`]*`", re.DOTALL)


def link_mentions(
    document: nodes.document,
    rule: MentionRule,
    options: Options,
    parser: object,
    unlinked: Iterable[type] = (),
) -> list[nodes.inline]:
    """Make links of the DOIs in the running text of a document; a field ``no-doi`` at its top forbids it.

    :param options: the base URL of the links.
    :param parser: what read the document.
    :param unlinked: elements in which none becomes a link, beside docutils' own.
    :returns: an element for each mention with a label that is not a DOI, whose attribute ``doi_error`` says
        why. It has a place in the document, but does not stand in it.
    """
    if not rule or _has_field(document):
        return []
    excluded = (*_UNLINKED, *unlinked)
    blocks: dict[nodes.Element, None] = {}
    for text in document.findall(nodes.Text):
        if "10." in text:
            block = _block(text, excluded)
            if block is not None:
                blocks[block] = None
    inliner = _inliner(document) if isinstance(parser, rst.Parser) else None
    invalid: list[nodes.inline] = []
    for block in blocks:
        invalid += _BlockText(block, excluded).link_mentions(rule, options, inliner)
    return invalid


def _has_field(document: nodes.document) -> bool:
    """Return whether the field ``no-doi`` stands at the top; not if it is ``false``, as in YAML."""
    return any(
        field[0].astext().lower() == NO_LINKS and field[1].astext().lower() != "false"
        for info in document.findall(nodes.docinfo)
        for field in info.findall(nodes.field)
    )


def _inliner(document: nodes.document) -> Inliner:
    """Return what finds URLs in text, as docutils does in reStructuredText."""
    inliner = Inliner()
    inliner.init_customizations(document.settings)
    inliner.document = document
    inliner.reporter = document.reporter
    return inliner


def _block(text: nodes.Text, excluded: tuple[type, ...]) -> nodes.Element | None:
    """Return the block of text that a text stands in; None if its mentions do not become links."""
    block: nodes.Element = text.parent
    while _is_in_text(block):
        block = block.parent
    ancestor: nodes.Element | None = block
    while ancestor is not None:
        if _is_excluded(ancestor, excluded):
            return None
        ancestor = ancestor.parent
    return block


def _is_in_text(node: nodes.Element) -> bool:
    return isinstance(node, nodes.Inline) and isinstance(
        node.parent, nodes.TextElement | nodes.Inline
    )


def _is_excluded(node: nodes.Element, excluded: tuple[type, ...]) -> bool:
    is_unlinked = isinstance(node, excluded) or NO_LINKS in node.get("classes", ())
    is_name = node.get("support_smartquotes") is False  # of ``:doi:`!10.1000/182```
    return is_unlinked or is_name or "doi_form" in node


@dataclass(slots=True)
class _TextNode:
    """A text node, and its span in the text of a block."""

    node: nodes.Text
    start: int
    end: int
    places: Sequence[int]
    """For each character its position in the node, in which an escape has two characters: NUL, and the escaped."""

    @property
    def raw(self) -> str:
        """The text of the node, with docutils' NUL before what was escaped."""
        return str(self.node)

    def has_escape(self, start: int, last: int) -> bool:
        """Return whether one of the characters from ``start`` to ``last`` in the block's text was escaped."""
        raw_start = self.places[start - self.start]
        raw_last = self.places[last - self.start]
        return "\0" in self.raw[raw_start : raw_last + 1]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the span in the node of a span of the block's text; a NUL before it belongs to it."""
        raw_start = self.places[start - self.start]
        last = self.places[end - 1 - self.start]
        length = 2 if self.raw[last] == "\0" else 1
        return raw_start, last + length


class _NodeMention(NamedTuple):
    """A mention, and its span in a text node."""

    text_node: _TextNode
    start: int
    end: int
    match: Match
    role: nodes.Element | None = None
    """The element after the span that has the name, in the default role; the span is then the label."""
    longer: tuple[DOI, ...] = ()
    """The names that it may mean if its DOI does not exist."""

    @property
    def raw(self) -> str:
        """The text of the span, with docutils' NUL before what was escaped."""
        return self.text_node.raw[self.start : self.end]


class _BlockText:
    """The text of a block as readers see it, with BOUNDARY for what is not text, and where its parts stand.

    1. ``_read`` collects the text of the block, element by element.
    2. ``link_mentions`` looks for mentions in the whole text. A mention becomes a link if it stands in one text
       node, or in one element in the default role after its label: ``DOI `10.1000/182```.

    :param excluded: the types of elements whose text is BOUNDARY, such as code.
    """

    def __init__(self, block: nodes.Element, excluded: tuple[type, ...]) -> None:
        self._excluded = excluded
        self._parts: list[str] = []
        self._size = 0
        self._text_nodes: list[_TextNode] = []
        self._roles: dict[int, nodes.Element] = {}
        """Elements of the default role after a label, by the position of their text."""
        # The "b" of 10.1000/*b* may be the rest of the name: its position is noted, and no link is made.
        self._cuts: set[int] = set()
        """Where an element begins in which a name before it may go on."""
        self._read(block)
        self._text = "".join(self._parts)

    def _add(self, text: str) -> None:
        self._parts.append(text.replace("\n", " "))
        self._size += len(text)

    def _read(self, element: nodes.Element) -> None:
        """Add what is in an element."""
        for child in element.children:
            if isinstance(child, nodes.Text):
                self._read_text(child)
            elif isinstance(child, nodes.Element):
                self._read_element(child)

    def _read_element(self, element: nodes.Element) -> None:
        """Add the text of an element between blanks, or BOUNDARY in place of an element without mentions.

        If an element may have the rest of a name, as in ``10.1000/*b*``, its position is one of ``_cuts``; no
        link is made of the part before it.
        """
        # DOI `10.1000/182`: the name is the element's text. It ends there, whatever follows.
        if self._is_labelled_role(element):
            self._roles[self._size] = element
            self._add(element.astext() + BOUNDARY)
            return
        if not _ends_name(element):
            self._cuts.add(self._size)
        if _is_excluded(element, self._excluded):
            self._add(BOUNDARY)
        else:
            self._add(" ")
            self._read(element)
            self._add(" ")

    def _read_text(self, node: nodes.Text) -> None:
        start = self._size
        text, places = _visible(str(node))
        self._add(text)
        self._text_nodes.append(_TextNode(node, start, self._size, places))

    def _is_labelled_role(self, element: nodes.Element) -> bool:
        """Return whether an element is text in the default role, directly after a label."""
        if isinstance(element, nodes.reference | nodes.target | nodes.problematic):
            return False
        if not _DEFAULT_ROLE.fullmatch(element.rawsource):
            return False
        follows_text = bool(self._text_nodes) and self._text_nodes[-1].end == self._size
        return follows_text and _LABEL_AT_END.search(self._parts[-1]) is not None

    def link_mentions(
        self, rule: MentionRule, options: Options, inliner: Inliner | None
    ) -> list[nodes.inline]:
        """Make links of the mentions; return an element for each mention with a label that is not a DOI."""
        matches = list(find(self._text))
        invalid = [self._element(mention) for mention in rule.invalid(self._text, matches)]
        mentions: dict[int, list[_NodeMention]] = {}
        """By the starts of the text nodes that they stand in."""
        last_end = 0
        for match in matches:
            if not rule.includes(self._text, match, last_end):
                continue
            mention = self._mention(match)
            if mention is not None:
                mentions.setdefault(mention.text_node.start, []).append(mention)
                last_end = match.end

        for text_node in self._text_nodes:
            if text_node.start in mentions:
                _replace(text_node, mentions[text_node.start], options, inliner)
        return [element for element in invalid if element is not None]

    def _mention(self, match: Match) -> _NodeMention | None:
        """Return the mention of a match; None if it is escaped, or not in one place."""
        start = match.start
        name_start = start + len(match.label)
        role = self._roles.get(name_start)
        if role is not None:  # DOI `10.1000/182`
            node = self._text_node_at(name_start - 1)
            is_whole = match.end == name_start + len(role.astext())
            if not is_whole or start < node.start or node.has_escape(start, name_start - 1):
                return None
            return _NodeMention(node, *node.span(start, name_start), match, role)

        node = self._text_node_at(match.end - 1)
        if start < node.start:  # **DOI:** 10.1000/182
            start = name_start
        is_inside = node.start <= start and match.end <= node.end
        if not is_inside or self._goes_on(match.end) or node.has_escape(start, name_start):
            return None
        longer = untrimmed(match.doi, self._text, start, match.end)
        return _NodeMention(node, *node.span(start, match.end), match, longer=longer)

    def _element(self, mention: InvalidMention) -> nodes.inline | None:
        """Return the element for a mention that is not a DOI; None if it is escaped, or not in one place."""
        end = mention.start + len(mention.text)
        text_node = self._text_node_at(mention.start)
        is_inside = text_node.start <= mention.start and end <= text_node.end
        if not is_inside or self._goes_on(end) or text_node.has_escape(mention.start, end - 1):
            return None
        error = str(with_suggestion(mention.error))
        element = nodes.inline(mention.text, mention.text, doi_error=error)
        element.parent = text_node.node.parent
        return element

    def _text_node_at(self, position: int) -> _TextNode:
        """Return the last text node that begins at a position or before it; the first if none does."""
        index = bisect_right(self._text_nodes, position, key=attrgetter("start"))
        return self._text_nodes[max(index - 1, 0)]

    def _goes_on(self, end: int) -> bool:
        """Return whether the name that ends at ``end`` may have its rest in the next element.

        It may in ``10.1000/*b*`` and ``10.1000/a-*b*``, but not in ``10.1000/a *b*``.
        """
        inner = _INNER.match(self._text, end)
        return inner is not None and inner.end() in self._cuts


def _ends_name(element: nodes.Element) -> bool:
    """Return whether an element ends the name before it: the mark of a note, a picture, a line break, an end tag.

    Any other element may have the rest of the name.
    """
    if isinstance(element, nodes.raw):
        return element.astext().startswith(("<br", "</"))
    return isinstance(element, nodes.footnote_reference | nodes.citation_reference | nodes.image)


def _visible(raw: str) -> tuple[str, Sequence[int]]:
    """Return the text that readers see, and for each character its position in the raw text.

    An escaped blank, of which they see nothing, is BOUNDARY, for it ends a name. Of an "a", a NUL, "*" and "b",
    they see "a*b", with the positions 0, 1 and 3.
    """
    if "\0" not in raw:
        return raw, range(len(raw))
    characters = []
    places = []
    for match in _CHARACTER.finditer(raw):
        character = match[0].removeprefix("\0")
        is_escape = character != match[0]
        if is_escape and character in " \n":
            character = BOUNDARY
        characters.append(character)
        places.append(match.start())
    return "".join(characters), places


def visible_text(text: nodes.Text) -> str:
    """Return the text that readers see, with BOUNDARY for escaped blanks."""
    return _visible(str(text))[0]


def _replace(
    text_node: _TextNode,
    mentions: Sequence[_NodeMention],
    options: Options,
    inliner: Inliner | None,
) -> None:
    """Put links in the place of the mentions in a text node, and of the elements that have their names."""
    parent = text_node.node.parent
    raw = text_node.raw
    texts_and_links: list[nodes.Node] = []
    end = 0
    for mention in mentions:
        texts_and_links += _text(raw[end : mention.start], inliner)
        texts_and_links.append(_link(mention, options))
        end = mention.end
        if mention.role is not None:
            parent.remove(mention.role)
    texts_and_links += _text(raw[end:], inliner)
    # Not parent.index: texts are equal if their characters are
    index = next(i for i, child in enumerate(parent.children) if child is text_node.node)
    parent[index : index + 1] = texts_and_links


def _text(raw: str, inliner: Inliner | None) -> list[nodes.Node]:
    """Return a text in nodes, with links for its URLs if docutils would link them.

    docutils leaves all URLs of a text alone from the first scheme on that it does not know, such as ``doi:``.
    """
    if not raw:
        return []
    if inliner is None:
        return [nodes.Text(raw)]
    return [*inliner.implicit_inline(raw, 0)]


def _link(mention: _NodeMention, options: Options) -> nodes.reference:
    """Return the link of a mention; it shows what is written, label and all."""
    written, _ = _visible(mention.raw)
    source = mention.raw.replace("\0", "\\")
    if mention.role is not None:
        written += mention.role.astext()
        source += mention.role.rawsource
    doi = mention.match.doi
    link = nodes.reference(
        source,
        written,
        internal=False,
        refuri=doi.link(base=options.link),
        doi=doi,
        doi_typed=_typed(mention.match),
        doi_written=written,
        classes=["doi"],
        support_smartquotes=False,
    )
    if mention.longer:
        link["doi_longer"] = mention.longer
    return link


def _typed(match: Match) -> str:
    """Return the DOI as the author typed it, without its label."""
    if match.label.lower().startswith("urn:"):  # "urn:doi:10.1000:182"
        return match.doi.name
    return match.text.removeprefix(match.label)
