"""The processor: items, citations and the list of references of one document."""

from __future__ import annotations

import warnings
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from doiuri_csl._locale import ENGLISH, Locale, find_shipped
from doiuri_csl._positions import first_notes, notes_of, place_cites
from doiuri_csl._style import Style, sheet_of
from doiuri_csl.data._items import Item, read_item
from doiuri_csl.document._bibliography import render_bibliography
from doiuri_csl.document._citations import render_citation, sort_citation
from doiuri_csl.document._disambiguation import disambiguate
from doiuri_csl.document._document import Document
from doiuri_csl.document._memo import Memo
from doiuri_csl.text._pieces import Piece
from doiuri_csl.text._punctuation import finish
from doiuri_csl.text._runs import Run, runs_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from doiuri_csl._abbreviations import Abbreviations
    from doiuri_csl._context import Cite, Listed


class Reference(NamedTuple):
    """An entry in the list of references."""

    id: str
    """The id of the item."""

    label: tuple[Run, ...]
    """What stands in the margin, such as "[1]"; empty if the style has nothing there."""

    runs: tuple[Run, ...]
    """The rest; empty if the style shows nothing of the item."""

    problem: str = ""
    """What could not be read of the item; "" if nothing is wrong."""

    @property
    def whole(self) -> tuple[Run, ...]:
        """The whole entry: the label, a space, and the rest."""
        is_apart = not self.label or self.label[-1].text[-1:].isspace()
        space = () if is_apart else (Run(" "),)
        return (*self.label, *space, *self.runs)


class Processor:
    """Formats the citations of one document and its list of references.

    :param style: the style
    :param items: the items that may be cited, as CSL-JSON; each has an id
    :param locale: the language; by default that of the style, or else American English
    :param abbreviations: the short forms that styles ask for, which win over those of the items
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
    >>> processor.register([[Cite("bak")], [Cite("bak", author_only=True), Cite("bak", suppress_author=True)]])
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
        self._problems: dict[str, list[str]] = {}
        read: dict[str, Item] = {}
        for number, item in enumerate(items, 1):
            key = item.get("id")
            if not isinstance(key, str | int):
                raise ValueError(f"item {number} has no id")  # noqa: TRY004 (a value from a file)
            problems = self._problems[str(key)] = []
            values = {**read_item(item, problems), "id": str(key)}
            if abbreviations is not None:
                values.update(abbreviations.short_forms(values))
            read[str(key)] = values

        sheet = sheet_of(style)
        if locale is None:
            locale = _locale_of(style)
        self._locale = locale
        self._document = Document(sheet, locale.in_style(sheet.own_locales), read)
        self._citations: list[list[Cite]] = []
        self._shown = Memo[tuple[Run, ...]]()

    @property
    def locale(self) -> Locale:
        """The language."""
        return self._locale

    @property
    def punctuation_in_quote(self) -> bool:
        """Whether full stops and commas stand inside quotation marks (CSL 1.0.2, Locale Options)."""
        return self._document.terms.option("punctuation-in-quote")

    def register(
        self,
        citations: Iterable[Sequence[Cite]],
        *,
        notes: Iterable[int] | None = None,
        uncited: Iterable[str] = (),
    ) -> None:
        """Take all citations of the document, which decide on numbers, letters and positions.

        After an edit, call it again with all citations: what they share with those before is not rendered again.

        :param citations: the citations in the order of the document, each with its cites
        :param notes: for each citation the number of the note that it stands in, 0 for the text;
            by default, in a style of notes, each is a note of its own
        :param uncited: ids of items that are in the list without being cited, after the others
        :raises ValueError: if there are more or fewer notes than citations
        """
        groups = [list(cites) for cites in citations]
        sheet = self._document.sheet
        numbers = notes_of(sheet, groups, notes)
        cited = [cite.id for cite in chain.from_iterable(groups)]
        self._document.register([*cited, *uncited])
        self._shown.start()

        disambiguate(self._document, first_notes(groups, numbers))
        ordered = [self.sort(cites) for cites in groups]
        self._citations = place_cites(sheet, ordered, numbers)

    def citation(self, number: int) -> tuple[Run, ...]:
        """Return a citation.

        A cite with ``author_only`` is names in a sentence, without the brackets of the style: a citation
        of one with ``author_only`` and one with ``suppress_author`` is "Bak and Tang (1987)". An id
        without an item is shown as it is.

        :param number: the index of the citation among those of ``register``
        :return: its runs; none if the style shows nothing of the items
        """
        cites = self._citations[number]
        inputs = tuple(self._document.inputs(cite) for cite in cites)
        return self._shown.get(inputs, lambda: self._runs(render_citation(self._document, cites)))

    def sort(self, cites: Sequence[Cite]) -> list[Cite]:
        """Return the cites of a citation in the order in which the style shows them.

        ``register``, ``citation`` and ``cite`` do it themselves; ``Style.place`` does not know the items.
        """
        return sort_citation(self._document, cites)

    def cite(self, cites: Sequence[Cite]) -> tuple[Run, ...]:
        """Return a citation that was not registered.

        :param cites: as those of ``register``; each has the place that it says
        """
        return self._runs(render_citation(self._document, self.sort(cites)))

    @property
    def listed(self) -> tuple[Listed, ...]:
        """The items that were registered, in the order of the list of references."""
        return tuple(entry.listed for entry in self._document.ordered_entries)

    def take_list(self, listed: Iterable[Listed]) -> None:
        """Take the list of another processor, in place of ``register``.

        For a list in another style or language than the citations, and for a part of a list.

        :param listed: the items, in the order of the list
        """
        self._document.take_list(listed)

    def bibliography(self) -> tuple[Reference, ...]:
        """Return the list of references, in its order; nothing if the style has none."""
        entries = render_bibliography(self._document)
        return tuple(self._reference(key, pieces) for key, pieces in entries)

    def _reference(self, key: str, pieces: list[Piece]) -> Reference:
        finished = self._finish(pieces)
        margin = finished[0].wrap("display") if finished else None
        label: list[Piece] = []
        if margin is not None and margin.value == "left-margin":
            label = [piece for piece in finished if piece.wrap("display") is margin]
        rest = finished[len(label) :]
        problem = "; ".join(self._problems[key])
        return Reference(key, runs_of(label), runs_of(rest), problem)

    def _finish(self, pieces: list[Piece]) -> list[Piece]:
        terms = self._document.terms
        into_quotes = terms.option("punctuation-in-quote")
        return finish(pieces, terms.quote_marks, into_quotes=into_quotes)

    def _runs(self, pieces: list[Piece]) -> tuple[Run, ...]:
        return runs_of(self._finish(pieces))


def _locale_of(style: Style) -> Locale:
    """Return the locale of a style; English, with a warning, if its language is not there."""
    lang = style.default_locale or ENGLISH
    locale = find_shipped(lang)
    if locale is None:
        warnings.warn(
            f"there is no locale {lang!r} for the style, so its terms are English; "
            "give Processor the file, read by Locale.read",
            stacklevel=3,
        )
        locale = Locale.load(ENGLISH)
    return locale
