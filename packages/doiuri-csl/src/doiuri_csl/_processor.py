"""The processor: items, citations and the list of references of one document.

From cites to text, in ``Processor.set_citations``:

1. The document numbers the items that are cited, in the order of its list (``Document.set_items``).
2. ``disambiguate`` finds out what each item needs to be told from others: more names, a letter after the year.
3. ``sort_citation`` puts the cites of each citation in the order of the style.
4. ``place_cites`` finds the place of each cite: the first of its item, a later one, "ibid.".
5. What the text of a citation depends on is compared with the call before: what has not changed stays.

A citation is rendered when it is asked for, or if its text has to be compared: ``render_citation`` yields pieces,
``finish`` merges the punctuation where they meet and draws quotation marks, ``runs_of`` makes them runs. An entry
goes the same way from ``render_bibliography``.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from doiuri_csl._errors import CSLError
from doiuri_csl._locale import ENGLISH, Locale
from doiuri_csl._positions import cites_of, first_notes, notes_of, place_cites
from doiuri_csl._style import Style, sheet_of
from doiuri_csl.data._items import LOCATORS, Item, read_item
from doiuri_csl.document._bibliography import render_bibliography
from doiuri_csl.document._citations import render_citation, sort_citation
from doiuri_csl.document._disambiguation import disambiguate
from doiuri_csl.document._document import Document
from doiuri_csl.document._memo import Memo
from doiuri_csl.elements._labels import locator_term
from doiuri_csl.text._pieces import Piece
from doiuri_csl.text._punctuation import finish
from doiuri_csl.text._runs import Run, runs_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from doiuri_csl._abbreviations import Abbreviations
    from doiuri_csl._context import Cite, ListedItem


class BibliographyEntry(NamedTuple):
    """An entry in the list of references."""

    id: str
    """The id of the item."""

    label: tuple[Run, ...]
    """What stands in the margin, such as "[1]"; empty if the style has nothing there."""

    runs: tuple[Run, ...]
    """The rest; empty if the style shows nothing of the item."""

    problem: str = ""
    """What could not be read of the item and of the cites of it; "" if nothing is wrong."""

    @property
    def whole(self) -> tuple[Run, ...]:
        """The whole entry: the label, a space, and the rest."""
        is_apart = not self.label or self.label[-1].text[-1:].isspace()
        space = () if is_apart else (Run(" "),)
        return (*self.label, *space, *self.runs)


@dataclass
class _DocumentCitation:
    """A citation of the document."""

    cites: list[Cite]
    """Its cites with their places, in the order of the style."""

    inputs: Hashable
    """What its text depends on."""

    runs: tuple[Run, ...] | None = None
    """Its text; None until somebody asks for it."""


class Processor:
    """Formats the citations of one document and its list of references.

    :param style: the style
    :param items: the items that may be cited, as CSL-JSON; each has an id
    :param locale: the language; by default that of the style, or else American English
    :param abbreviations: the short forms that styles ask for, which win over those of the items
    :raises TypeError: if an item is no mapping
    :raises ValueError: if an item has no id

    >>> from doiuri_csl import Cite, Processor, Style, to_text
    >>> style = Style.parse('''
    ...     <style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0">
    ...       <citation><layout prefix="(" suffix=")" delimiter="; "><group delimiter=" ">
    ...         <names variable="author"><name form="short" and="symbol"/></names>
    ...         <date variable="issued"><date-part name="year"/></date>
    ...       </group></layout></citation>
    ...     </style>''')
    >>> book = {"id": "bak", "author": [{"family": "Bak", "given": "Per"}, {"family": "Tang"}],
    ...         "issued": {"date-parts": [[1987]]}}
    >>> processor = Processor(style, [book])
    >>> both = [Cite("bak", author_only=True), Cite("bak", suppress_author=True)]
    >>> processor.set_citations([[Cite("bak")], both])
    [0, 1]
    >>> to_text(processor.citation(0)), to_text(processor.citation(1))
    ('(Bak & Tang 1987)', 'Bak and Tang (1987)')
    """

    def __init__(
        self,
        style: Style,
        items: Iterable[Mapping[str, Any]],
        locale: Locale | None = None,
        abbreviations: Abbreviations | None = None,
    ) -> None:
        self._items: dict[str, Item] = {}
        self._problems: dict[str, list[str]] = {}  # what could not be read, by the ids of items
        for number, item in enumerate(items, 1):
            self._add(number, item, abbreviations)

        sheet = sheet_of(style)
        if locale is None:
            locale = _locale_of(style)
        self._locale = locale
        self._document = Document(sheet, locale.in_style(sheet.own_locales), self._items)
        self._citations: list[_DocumentCitation] = []
        self._citation_of: dict[Hashable, _DocumentCitation] = {}
        """The citations by the names that callers give them."""

        self._label_problems: dict[str, list[str]] = {}
        self._rendered = Memo[tuple[Run, ...]]()

    def _add(
        self, number: int, given: Mapping[str, Any], abbreviations: Abbreviations | None
    ) -> None:
        """Add an item to those that may be cited, and what cannot be read of it to the problems.

        :param number: the place of the item among those that the caller gave, from 1, for errors
        :raises TypeError: if it is no mapping
        :raises ValueError: if it has no id
        """
        if not isinstance(given, Mapping):
            raise TypeError(f"item {number} is {given!r}; expected an object of CSL-JSON")
        key = given.get("id")
        if not isinstance(key, str | int):
            raise ValueError(f"item {number} has no id")  # noqa: TRY004 (a value from a file)
        key = str(key)
        item, problems = read_item(given)
        item["id"] = key
        if key in self._items:
            problems.insert(
                0, f"id: item {number} has the same id as an earlier one, which it replaces"
            )
        if abbreviations is not None:
            item.update(abbreviations.short_forms(item))
        self._items[key] = item
        self._problems[key] = problems

    @property
    def locale(self) -> Locale:
        """The language."""
        return self._locale

    @property
    def punctuation_in_quote(self) -> bool:
        """Whether full stops and commas stand inside quotation marks (CSL 1.0.2, Locale Options)."""
        return self._document.terms.option("punctuation-in-quote")

    def set_citations(
        self,
        citations: Iterable[Sequence[Cite]],
        *,
        notes: Iterable[int] | None = None,
        uncited: Iterable[str] = (),
        names: Iterable[Hashable] | None = None,
    ) -> list[int]:
        """Set all citations of the document, which decide on numbers, letters and positions.

        After an edit, set all of them again: what did not change is not rendered again.

        >>> from doiuri_csl import Cite, Processor, Style
        >>> style = Style.parse('''
        ...     <style xmlns="http://purl.org/net/xbiblio/csl" class="note" version="1.0">
        ...       <citation><layout><choose><if position="ibid"><text value="Ibid."/></if>
        ...         <else><text variable="title"/></else></choose></layout></citation>
        ...     </style>''')
        >>> processor = Processor(style, [{"id": "a", "title": "Ants"}, {"id": "b", "title": "Bees"}])
        >>> processor.set_citations([[Cite("a")], [Cite("b")], [Cite("b")]], names=["x", "y", "z"])
        [0, 1, 2]
        >>> processor.set_citations([[Cite("a")], [Cite("b")]], names=["x", "z"])  # "z" is no "Ibid." any more
        [1]

        :param citations: the citations in the order of the document, each with its cites
        :param notes: for each citation the number of the note that it stands in, 0 for the text;
            by default, in a style of notes, each is a note of its own
        :param uncited: ids of items that are in the list without being cited, after the others
        :param names: a name for each citation, which it keeps when others are added or removed; by default
            its index
        :return: the indices of the citations to redraw: those with new names, and those whose text changed
            since the last call
        :raises TypeError: if a citation is not a list of cites
        :raises ValueError: if there are more or fewer notes or names than citations, or if a name is repeated
        """
        groups = [cites_of(cites, f"citation {index}") for index, cites in enumerate(citations)]
        keys = _names_of(groups, names)
        sheet = self._document.sheet
        note_numbers = notes_of(sheet, groups, notes)
        cites = list(chain.from_iterable(groups))
        self._label_problems = _label_problems(cites)

        self._document.set_items([*(cite.id for cite in cites), *uncited])
        self._rendered.start()
        disambiguate(self._document, first_notes(groups, note_numbers))
        ordered = [sort_citation(self._document, group) for group in groups]
        placed = place_cites(sheet, ordered, note_numbers)
        before = self._citation_of
        self._citation_of = {}
        changed = []
        for index, (key, placed_cites) in enumerate(zip(keys, placed, strict=True)):
            earlier = before.get(key)
            inputs = tuple(self._document.inputs(cite) for cite in placed_cites)
            if earlier is not None and earlier.inputs == inputs:
                self._citation_of[key] = earlier
                continue
            citation = _DocumentCitation(placed_cites, inputs)
            self._citation_of[key] = citation
            if self._looks_new(citation, earlier):
                changed.append(index)
        self._citations = list(self._citation_of.values())
        return changed

    def _looks_new(self, citation: _DocumentCitation, earlier: _DocumentCitation | None) -> bool:
        """Return whether a citation has another text than earlier; if that was never asked for, it may have."""
        if earlier is None or earlier.runs is None:
            return True
        return self._text(citation) != earlier.runs

    def _text(self, citation: _DocumentCitation) -> tuple[Run, ...]:
        """Return the text of a citation, which is rendered once."""
        if citation.runs is None:
            citation.runs = self._rendered.get(
                citation.inputs,
                lambda: self._render(citation.cites),
            )
        return citation.runs

    def _render(self, cites: list[Cite]) -> tuple[Run, ...]:
        """Return the text of a citation with these cites."""
        return runs_of(self._finish(render_citation(self._document, cites)))

    def citation(self, number: int) -> tuple[Run, ...]:
        """Return a citation.

        A cite with ``author_only`` is names in a sentence, without the brackets of the style: a citation
        of one with ``author_only`` and one with ``suppress_author`` is "Bak and Tang (1987)". An id
        without an item is shown as it is.

        :param number: the index of the citation among those of ``set_citations``
        :return: its runs; none if the style shows nothing of the items
        """
        return self._text(self._citations[number])

    def sort(self, cites: Sequence[Cite]) -> list[Cite]:
        """Return the cites of a citation in the order in which the style shows them.

        ``set_citations``, ``citation`` and ``cite`` do it themselves; ``Style.place`` does not know the items.
        """
        return sort_citation(self._document, cites)

    def cite(self, cites: Sequence[Cite]) -> tuple[Run, ...]:
        """Return a citation that is not part of the document.

        :param cites: as those of ``set_citations``; each has the place that it says
        """
        ordered = self.sort(cites_of(cites, "the citation"))
        return self._render(ordered)

    @property
    def listed(self) -> tuple[ListedItem, ...]:
        """The items of the document, in the order of the list of references."""
        return tuple(cited_item.listed for cited_item in self._document.listed_items)

    def set_entries(self, listed: Iterable[ListedItem]) -> None:
        """Set the list of another processor, in place of ``set_citations``.

        For a list in another style or language than the citations, and for a part of a list. A later
        ``set_citations`` returns all citations, as after none.

        :param listed: the items, in the order of the list
        """
        self._document.set_entries(listed)
        self._citation_of = {}

    def bibliography(self) -> tuple[BibliographyEntry, ...]:
        """Return the list of references, in its order; nothing if the style has none."""
        entries = render_bibliography(self._document)
        return tuple(self._entry(key, pieces) for key, pieces in entries)

    def _entry(self, key: str, pieces: list[Piece]) -> BibliographyEntry:
        """Return an entry of the list.

        Its label is what the style sets in the left margin, such as "[1]".

        :param key: the id of its item
        """
        finished = self._finish(pieces)
        # Only a block at the start of the entry can be its label
        margin = finished[0].wrap("display") if finished else None
        label: list[Piece] = []
        if margin is not None and margin.value == "left-margin":
            label = [piece for piece in finished if piece.wrap("display") is margin]
        rest = finished[len(label) :]
        problem = "; ".join([*self._problems[key], *self._label_problems.get(key, ())])
        return BibliographyEntry(key, runs_of(label), runs_of(rest), problem)

    def _finish(self, pieces: list[Piece]) -> list[Piece]:
        """Return a whole citation or entry with its punctuation merged, and with the locale's quotation marks."""
        terms = self._document.terms
        into_quotes = terms.option("punctuation-in-quote")
        return finish(pieces, terms.quote_marks, into_quotes=into_quotes)


def _names_of(
    citations: Sequence[Sequence[Cite]], names: Iterable[Hashable] | None
) -> list[Hashable]:
    """Return the names that the caller gave, or the indices of the citations.

    :raises ValueError: if there are more or fewer than citations, or if one is repeated
    """
    if names is None:
        return list(range(len(citations)))
    keys = list(names)
    if len(keys) != len(citations):
        raise ValueError(f"{len(keys)} names for {len(citations)} citations; give one for each")
    repeated = [key for key, count in Counter(keys).items() if count > 1]
    if repeated:
        raise ValueError(f"two citations have the name {repeated[0]!r}; give each its own")
    return keys


def _label_problems(cites: Iterable[Cite]) -> dict[str, list[str]]:
    """Return the labels that CSL does not have, by the ids of items: "locator: CSL has no label 'folder'"."""
    problems: dict[str, list[str]] = {}
    for cite in cites:
        if cite.locator and locator_term(cite.label) not in LOCATORS:
            problem = f"locator: CSL has no label {cite.label!r}"
            of_item = problems.setdefault(cite.id, [])
            if problem not in of_item:
                of_item.append(problem)
    return problems


def _locale_of(style: Style) -> Locale:
    """Return the locale of a style; English, with a warning, if its language does not come with this package."""
    lang = style.default_locale or ENGLISH
    try:
        return Locale.load(lang)
    except CSLError:
        warnings.warn(
            f"there is no locale {lang!r} for the style, so its terms are English; "
            "give Processor the file, read by Locale.read",
            stacklevel=3,
        )
        return Locale.load(ENGLISH)
