"""Citations in a text, and the order, numbers and letters of the list of references."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from itertools import groupby
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypeVar

from doiuri._doi import DOI
from doiuri.citations._cites import Cite
from doiuri.citations._parts import (
    LINK,
    MARKS,
    Part,
    Reference,
    from_rich,
    link_of,
    linked_parts,
    marked,
    parts_of,
    tidied,
)
from doiuri.citations._style import citeproc_folder, terms_of
from doiuri.works._csl import NAMES, is_shortened
from doiuri.works._work import Work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping

    from doiuri._doi import Handle
    from doiuri.citations._style import Area, Style

    Key: TypeAlias = Handle | str
    AnyKey = TypeVar("AnyKey", bound=Key)  # a Mapping's keys are invariant
    _T = TypeVar("_T")

EntryKey: TypeAlias = tuple[Work, str, bytes, str]
"""What an entry depends on: the work, its letter, a digest of the style, and the locale."""

Form = Literal["p", "t", "year", "author"]
"""A citation in brackets, as part of the sentence, or only the year or author of it."""

# Letters that Unicode does not decompose, after str.casefold
_LATIN_LETTERS = str.maketrans(
    {
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ð": "d",
        "æ": "ae",
        "œ": "oe",
        "þ": "th",
        "ı": "i",
        "ħ": "h",
        "ŧ": "t",
        "ŋ": "n",
    }
)
_PUNCTUATION_IN_WORDS = re.compile(f"['’ʼ{MARKS}-]")
_SEVERAL_LOCATORS = re.compile(r"[-–,&]")
_HYPHEN_IN_RANGE = re.compile(r"(?<=\d)-(?=\d)")
_SHORTEST_RANGE = 3  # "[1, 2]", but "[1–3]"
_MOST_PEOPLE = 2  # in a citation: "Kahn & Wilensky", but "Kahn et al."
_LONGEST_BLAKE2S_KEY = 32  # bytes
_COLLAPSES_LETTERS = frozenset({"year-suffix", "year-suffix-ranged"})
_NOT_NUMBERED = 0
_NOT_IN_LIST = -1


class _Piece(NamedTuple):
    """A piece of a citation, with marks of formats."""

    text: str

    cites: Key | None = None
    """The key of the work that the piece leads to; None for what stands between works."""


class _CitedWork(NamedTuple):
    """A cite together with the entry that it leads to."""

    cite: Cite

    reference: Reference
    """The entry; if the work is not in the list, an empty one with the number ``_NOT_IN_LIST``."""

    @property
    def is_known(self) -> bool:
        """Whether the work is in the list."""
        return self.reference.number != _NOT_IN_LIST

    @property
    def is_bare(self) -> bool:
        """Whether the author of the text added nothing, so that the cite may become part of a range."""
        cite = self.cite
        return self.is_known and not (cite.prefix or cite.locator or cite.suffix or cite.no_author)


class _Label(NamedTuple):
    """What a citation shows of a work, such as "Kahn, 2006"."""

    text: str

    locator: str
    """What follows, such as ", p. 12"; "" if the text contains it, as it does in .csl styles."""


class _NumberedCite(NamedTuple):
    """A cite that may be collapsed with its neighbours: [1], [2], [3] to [1–3]."""

    number: int | None
    """Its number or that of its letter; None if it is never part of a range."""

    pieces: list[_Piece]


def letters(number: int) -> str:
    """Return the letter with a number from 0: a to z, then aa, ab and so on."""
    before, last = divmod(number, 26)
    letter = chr(ord("a") + last)
    if before == 0:
        return letter
    return letters(before - 1) + letter


def letter_number(letter: str) -> int:
    """Return the number of a letter, from 0: the inverse of ``letters``."""
    number = -1
    for digit in letter:
        number = (number + 1) * 26 + ord(digit) - ord("a")
    return number


def collation(text: str) -> str:
    """Return text to sort by: case, accents and punctuation do not matter.

    >>> collation("Łoś, Þór")
    'los thor'
    """
    joined = _PUNCTUATION_IN_WORDS.sub("", text.casefold())
    decomposed = unicodedata.normalize("NFKD", joined).translate(_LATIN_LETTERS)

    kept = []
    for character in decomposed:
        if character.isalnum():
            kept.append(character)
        elif not unicodedata.combining(character):
            kept.append(" ")
    return " ".join("".join(kept).split())


def _key_text(key: Key) -> str:
    """Return the text that stands for a work about which nothing is known."""
    if isinstance(key, str):
        return f"@{key}"
    return f"doi:{key.name}"


def _value_at(texts: tuple[str, ...], place: int) -> str:
    """Return the value of the sort key at a place; "" if there is none."""
    return texts[place] if place < len(texts) else ""


def _our_sort_texts(reference: Reference, style: Style, area: Area) -> tuple[str, ...]:
    """Return the sort keys of a work in our own styles: its number; or people, year and title."""
    if style.numbered:
        return (f"{reference.number:09}",)

    work = reference.work
    people = work.authors or work.editors
    if area == "citation" and is_shortened(people, _MOST_PEOPLE):
        people = people[:1]  # the others are not shown
    names = []
    for person in people:
        names += [collation(person.family), collation(person.given)]

    title = collation(work.title)
    year = f"{work.year:04}" if work.year else ""
    return "\n".join(names) or title, year, title


class Bibliography:
    """The works that a document cites: the texts of citations, and the order and letters of the list.

    :param cited: the keys of the works in the order of their citations; they may be repeated
    :param works: the works that are known. A key without a work gets no entry
    :param style: entries are sorted by its keys; without any, they have the order of the first citations
    :param locale: the language of the terms in citations, such as "de-DE"
    :param problems: gets the works that citeproc-py cannot format in the style; their citations are plain
    :raises ValueError: if there is no such locale; without ``problems``, also if citeproc-py fails
    :raises ModuleNotFoundError: if the extra ``citations`` is not installed

    >>> from doiuri import DOI
    >>> from doiuri.citations import Cite, Style
    >>> from doiuri.works import Work
    >>> kahn, handbook = DOI("10.1007/s00799-005-0128-x"), DOI("10.1000/182")
    >>> works = {kahn: Work(kahn, {"author": [{"family": "Kahn"}, {"family": "Wilensky"}], "issued": "2006"}),
    ...          handbook: Work(handbook, {"title": "DOI Handbook"})}
    >>> bibliography = Bibliography([kahn, handbook], works, Style.load())
    >>> "".join(part.text for part in bibliography.citation([Cite(kahn, label="page", locator="12")]))
    '(Kahn & Wilensky, 2006, p. 12)'
    >>> "".join(part.text for part in bibliography.citation([Cite(kahn)], "t"))
    'Kahn and Wilensky (2006)'
    """

    references: tuple[Reference, ...]
    """The entries, in the order of the list."""

    def __init__(
        self,
        cited: Iterable[Key],
        works: Mapping[AnyKey, Work],
        style: Style,
        locale: str = "en-US",
        problems: dict[str, None] | None = None,
    ) -> None:
        self._problems = problems
        self._style = style
        self._locale = locale
        self._terms = terms_of(locale)

        references = self._numbered(cited, dict(works.items()))
        if style.tells_apart:
            references = self._with_ambiguity(references)
        if style.has_letters:
            references = self._with_letters(references)
        self.references = tuple(references)
        self._by_key = {reference.key: reference for reference in references}

    def _numbered(self, cited: Iterable[Key], works: Mapping[Key, Work]) -> list[Reference]:
        """Return an entry for each known work that is cited, sorted and numbered from 1."""
        known = [works[key] for key in dict.fromkeys(cited) if key in works]
        entries = [Reference(work, _NOT_NUMBERED) for work in known]
        ordered = self._sorted([_cited_alone(entry) for entry in entries], "bibliography")
        return [work.reference._replace(number=number) for number, work in enumerate(ordered, 1)]

    def _with_ambiguity(self, references: list[Reference]) -> list[Reference]:
        """Return the entries; those whose label another one has, too, are marked as ambiguous."""
        entries = list(references)
        for places in self._places_by_label(references):
            for place in places:
                entries[place] = references[place]._replace(is_ambiguous=len(places) > 1)
        return entries

    def _with_letters(self, references: list[Reference]) -> list[Reference]:
        """Return the entries; those with the same label get letters, in the order of the list."""
        lettered = list(references)
        for places in self._places_by_label(references):
            if len(places) > 1:
                for number, place in enumerate(places):
                    lettered[place] = references[place]._replace(letter=letters(number))
        return lettered

    def _places_by_label(self, references: list[Reference]) -> Iterable[list[int]]:
        """Return for each label, in any case, the indices of the entries that have it."""
        places: dict[str, list[int]] = {}
        for place, reference in enumerate(references):
            label = self._label(_cited_alone(reference)).text
            folded = unicodedata.normalize("NFC", label).casefold()
            places.setdefault(folded, []).append(place)
        return places.values()

    @property
    def heading(self) -> str:
        """What the list is called in the language, such as "References"."""
        return self._terms.get("reference", plural=True).capitalize()

    def get(self, key: Key) -> Reference | None:
        """Return the entry of a work, or None if it has none."""
        return self._by_key.get(key)

    def _sorted(self, works: list[_CitedWork], area: Area) -> list[_CitedWork]:
        """Return the works in the order of the style's sort keys.

        A work without a value comes last, in a descending order, too (CSL 1.0.2, Sorting).
        """
        sort_texts = {work: self._sort_texts(work, area) for work in works}
        ordered = list(works)

        # The last key is sorted by first: as sorting is stable, it then decides between equals of the others.
        for place, descends in reversed(list(enumerate(self._style.descends(area)))):
            values = {work: _value_at(sort_texts[work], place) for work in works}
            present = [work for work in ordered if values[work]]
            absent = [work for work in ordered if not values[work]]
            present.sort(key=values.__getitem__, reverse=descends)
            ordered = present + absent
        return ordered

    def _sort_texts(self, work: _CitedWork, area: Area) -> tuple[str, ...]:
        """Return the value of each sort key; none for an unknown work, or if citeproc-py fails."""
        reference = work.reference
        if not work.is_known:
            return ()
        if self._style.is_shipped:
            return _our_sort_texts(reference, self._style, area)

        from doiuri.citations._processor import sort_texts

        texts = self._tried(lambda: sort_texts(reference, self._style, self._locale, area))
        if texts is None:
            return ()
        return tuple(collation(text) for text in texts)

    def _tried(self, render: Callable[[], _T]) -> _T | None:
        """Return what citeproc-py renders; if it fails, note the problem and return None."""
        try:
            return render()
        except ValueError as error:
            if self._problems is None:
                raise
            self._problems[str(error)] = None
            return None

    def citation(
        self, cites: Iterable[Cite], form: Form = "p", display: Callable[[DOI], str] | None = None
    ) -> tuple[Part, ...]:
        """Return a citation.

        :param cites: what it cites; repeated ones are shown once
        :param form: "p": "(Kahn, 2001; Wilensky, 2002)" or "[1, 3]"; "t": "Kahn (2001)" or "Kahn [1]";
            "year": "2001"; "author": "Kahn"
        :param display: returns the text of a DOI whose work is not known; by default ``doi:`` and the name
        """
        works = [self._cited_work(cite) for cite in dict.fromkeys(cites)]
        if form == "p":
            pieces = self._in_brackets(works)
        else:
            pieces = _joined((self._in_sentence(work, form) for work in works), "; ")

        parts: list[Part] = []
        for piece in pieces:
            parts += self._parts(piece, display)
        return tuple(parts)

    def _cited_work(self, cite: Cite) -> _CitedWork:
        """Return a cite with the entry of its work."""
        reference = self._by_key.get(cite.key)
        if reference is None:
            reference = Reference(Work(cite.key, {}), _NOT_IN_LIST)
        return _CitedWork(cite, reference)

    def _parts(self, piece: _Piece, display: Callable[[DOI], str] | None) -> Iterable[Part]:
        """Return a piece as parts, with formats in place of the marks."""
        key = piece.cites
        if key is not None and key not in self._by_key:
            return [Part(_unknown_work(key, display), link=key)]

        parts = parts_of(tidied(piece.text, self._terms), key)
        shown_link = "" if key is None else _shown_link(self._by_key[key].work)
        return [part._replace(text=part.text.replace(LINK, shown_link)) for part in parts]

    def _in_brackets(self, works: list[_CitedWork]) -> list[_Piece]:
        """Return a citation of the form "p"."""
        style, layout = self._style, self._style.layout

        # A prefix ties a work to the one before it: "see A; also B" keeps its order.
        has_prefix = any(work.cite.prefix for work in works)
        if len(works) > 1 and not has_prefix:
            works = self._sorted(works, "citation")

        delimiter = layout["delimiter"]
        if style.numbered:
            cites = self._with_number_ranges(works)
            # The comma of our numeric style would read as part of a locator: "[1, p. 12; 2]"
            if style.is_shipped and not all(work.is_bare for work in works):
                delimiter = "; "
        else:
            cites = self._grouped_by_author(works)

        pieces = [_Piece(layout["prefix"]), *_joined(cites, delimiter), _Piece(layout["suffix"])]
        if style.raised:
            return [_Piece(marked("superscript", piece.text), piece.cites) for piece in pieces]
        return pieces

    def _with_number_ranges(self, works: list[_CitedWork]) -> Iterator[list[_Piece]]:
        """Yield each number, or a range of numbers if the style collapses them."""
        collapses = self._style.layout["collapse"] == "citation-number"
        cites = []
        for work in works:
            number = work.reference.number if collapses and work.is_bare else None
            cites.append(_NumberedCite(number, self._cite(work)))
        return _with_ranges(cites)

    def _grouped_by_author(self, works: list[_CitedWork]) -> Iterator[list[_Piece]]:
        """Yield the works of each author, collapsed as the style wants (CSL 1.0.2, Cite Collapsing).

        Without ``collapse``: (Li 2016a; Li 2016b). With "year": (Li 2016a, 2016b). With "year-suffix":
        (Li 2016a; b). With "year-suffix-ranged", for three or more: (Li 2016a–c).
        """
        layout = self._style.layout
        omits_author = layout["collapse"].startswith("year")

        for _, of_author in groupby(works, self._author_to_group_by):
            years: list[list[_Piece]] = []
            for of_year in _runs(of_author, self._only_letter_differs):
                no_author = omits_author and bool(years)
                years.append(self._with_letter_ranges(of_year, no_author=no_author))
            yield _joined(years, layout.get("cite-group-delimiter", ""))

    def _author_to_group_by(self, work: _CitedWork) -> object:
        """Return the author of a work; the work itself, which equals no other, if it is not to be grouped."""
        is_grouped = "cite-group-delimiter" in self._style.layout
        if is_grouped and work.is_known:
            return self._author(work.reference)
        return work

    def _only_letter_differs(self, before: _CitedWork, work: _CitedWork) -> bool:
        """Return whether a work after another one of the same author is cited by its letter alone."""
        if self._style.layout["collapse"] not in _COLLAPSES_LETTERS:
            return False
        if not (before.is_bare and work.is_bare):
            return False
        first, second = before.reference, work.reference
        have_letters = first.letter != "" and second.letter != ""
        return have_letters and first.work.year == second.work.year

    def _with_letter_ranges(self, works: list[_CitedWork], *, no_author: bool) -> list[_Piece]:
        """Return works of one author and year: the first in full, of each other one the letter."""
        first, *others = works
        cites = [_NumberedCite(self._letter_number(first), self._cite(first, no_author=no_author))]
        for other in others:
            letter = _Piece(other.reference.letter, other.cite.key)
            cites.append(_NumberedCite(self._letter_number(other), [letter]))
        return _joined(_with_ranges(cites), self._style.layout["year-suffix-delimiter"])

    def _letter_number(self, work: _CitedWork) -> int | None:
        """Return the number of a work's letter, or None if the style has no ranges of letters."""
        letter = work.reference.letter
        has_ranges = self._style.layout["collapse"] == "year-suffix-ranged"
        return letter_number(letter) if letter and has_ranges else None

    def _in_sentence(self, work: _CitedWork, form: Form) -> list[_Piece]:
        """Return a citation of the form "t", "year" or "author"."""
        cite, reference = work
        if not work.is_known:
            return self._cite(work)

        author = self._author(reference, in_sentence=True)
        label = self._label(work, no_author=True)
        if form == "author":
            return _pieces(cite, author, self._locator(cite))
        if form == "year":
            if self._style.numbered or not label.text:
                return _pieces(cite, self._year(reference), self._locator(cite))
            return _pieces(cite, label.text, label.locator)
        if not label.text:  # the style shows neither a year nor a number
            return _pieces(cite, author, label.locator)

        opening, closing = self._brackets_in_sentence()
        shown = label.text
        if self._style.raised:
            shown = marked("superscript", shown)
        shown = f"{opening}{shown}"
        if not cite.no_author:
            space = "" if self._style.raised else " "
            shown = f"{author}{space}{shown}"

        *pieces, last = _pieces(cite, shown, label.locator)
        return [*pieces, _Piece(f"{last.text}{closing}", last.cites)]

    def _brackets_in_sentence(self) -> tuple[str, str]:
        """Return the brackets of the style; a year has some even in a style of notes."""
        opening, closing = self._style.layout["prefix"], self._style.layout["suffix"]
        if not opening and not self._style.numbered:
            return "(", ")"
        return opening, closing

    def _cite(self, work: _CitedWork, *, no_author: bool = False) -> list[_Piece]:
        """Return the cite of a work with its prefix, locator and suffix."""
        label = self._label(work, no_author=no_author or work.cite.no_author)
        # Of a work without author and date, a .csl style may show nothing
        text = label.text or self._year(work.reference)
        return _pieces(work.cite, text, label.locator)

    def _label(self, work: _CitedWork, *, no_author: bool = False) -> _Label:
        """Return what a citation shows of a work: a number, an author and a year, or its key."""
        cite, reference = work
        if not work.is_known:
            return _Label(_key_text(cite.key), self._locator(cite))

        formatted = self._formatted(reference, cite, no_author=no_author)
        if formatted is not None:
            _, text = formatted
            return _Label(text, locator="")

        if self._style.numbered:
            return _Label(str(reference.number), self._locator(cite))
        year = self._year(reference)
        if no_author:
            return _Label(year, self._locator(cite))
        return _Label(f"{self._author(reference)}, {year}", self._locator(cite))

    def _formatted(
        self, reference: Reference, cite: Cite | None = None, **options: bool
    ) -> tuple[str, str] | None:
        """Return the author part and the whole citation, as a .csl file formats them.

        None for our own styles, which need no processor, and if citeproc-py fails.
        """
        if self._style.is_shipped:
            return None
        from doiuri.citations._processor import cited

        locator = ("", "") if cite is None else (cite.label, cite.locator)
        return self._tried(lambda: cited(reference, locator, self._style, self._locale, **options))

    def _locator(self, cite: Cite) -> str:
        """Return what follows a label, such as ", pp. 12–14"; "" without a locator."""
        if not cite.locator:
            return ""
        is_plural = _SEVERAL_LOCATORS.search(cite.locator) is not None
        term = self._terms.get(cite.label, "short", plural=is_plural)
        return f", {term} {_HYPHEN_IN_RANGE.sub('–', cite.locator)}"

    def _year(self, reference: Reference) -> str:
        """Return the year of a work with its letter, such as "2016a" or "n.d.-a"."""
        if reference.work.year is not None:
            return f"{reference.work.year}{reference.letter}"
        no_date = self._terms.get("no date", "short")
        if reference.letter:
            return f"{no_date}-{reference.letter}"
        return no_date

    def _author(self, reference: Reference, *, in_sentence: bool = False) -> str:
        """Return family names as the style joins them, or else the title; in a sentence it is never "&"."""
        style, work = self._style, reference.work
        if not style.numbered:  # citations of numeric styles have no author part
            formatted = self._formatted(reference, in_sentence=in_sentence)
            if formatted is not None and formatted[0]:
                return formatted[0]

        people = work.authors or work.editors
        if not people:
            return self._title(work)

        names = [from_rich(person.family) for person in people]
        if is_shortened(people, _MOST_PEOPLE):
            return f"{names[0]} {self._terms.get('et-al')}"
        conjunction = "&"
        if in_sentence or style.numbered:
            conjunction = self._terms.get("and")
        return f" {conjunction} ".join(names)

    def _title(self, work: Work) -> str:
        """Return the title: in quotes if the work is part of another, otherwise in italics."""
        title = from_rich(work.csl.get("title", ""))
        if not title:
            return work.publisher or work.container or _key_text(work.key)
        if work.container:
            return f"{self._terms.get('open-quote')}{title}{self._terms.get('close-quote')}"
        return marked("emphasis", title)


def format_entries(
    references: Iterable[Reference],
    style: Style,
    locale: str = "en-US",
    known: MutableMapping[EntryKey, tuple[Part, ...]] | None = None,
    problems: dict[str, None] | None = None,
) -> list[tuple[Part, ...]]:
    """Return the entries of references, without their numbers.

    :param references: entries of a ``Bibliography``
    :param style: their style
    :param locale: the language, such as "de-DE"
    :param known: entries of earlier calls, which are not formatted again; all of this call are set in it
    :param problems: gets the works that citeproc-py cannot format in the style; their entries are links
    :raises ValueError: if there is no such locale; without ``problems``, also if citeproc-py fails
    :raises ModuleNotFoundError: if the extra ``citations`` is not installed
    """
    citeproc_folder()  # raises ModuleNotFoundError
    if known is None:
        known = {}
    entries = []
    people_before = None

    for reference in references:
        people = _first_people(reference.work)
        is_same_people = people is not None and people == people_before
        substitute = style.repeated_names if is_same_people else ""
        people_before = people

        key = _entry_key(reference, style, locale, substitute)
        if key not in known:
            try:
                known[key] = _format_entry(reference, style, locale, substitute)
            except ValueError as error:
                if problems is None:
                    raise
                problems[str(error)] = None
                entries.append(as_link(reference.work))
                continue
        entries.append(known[key])
    return entries


def _entry_key(reference: Reference, style: Style, locale: str, substitute: str) -> EntryKey:
    """Return the key under which an entry is remembered; the digest also depends on the substitute."""
    digest = hashlib.blake2s(style.xml, key=substitute.encode()[:_LONGEST_BLAKE2S_KEY]).digest()
    return reference.work, reference.letter, digest, locale


def _format_entry(
    reference: Reference, style: Style, locale: str, substitute: str
) -> tuple[Part, ...]:
    """Return an entry as citeproc-py formats it.

    :param substitute: what stands for people who are those of the entry before, such as "———"
    :raises ValueError: if citeproc-py fails
    """
    from doiuri.citations._processor import entry

    text = tidied(entry(reference, style, locale, substitute), terms_of(locale))
    return linked_parts(text.strip(), link_of(reference.work))


def _first_people(work: Work) -> tuple[str, object] | None:
    """Return the people that an entry begins with, and CSL's name for their role; None without people."""
    csl = work.csl
    for role in NAMES:
        if role in csl:
            return role, csl[role]
    return None


def as_link(work: Work) -> tuple[Part, ...]:
    """Return the entry of a work that cannot be formatted."""
    text = work.doi.url if work.doi else work.title or str(work.key)
    return (Part(text, link=link_of(work)),)


def _cited_alone(entry: Reference) -> _CitedWork:
    """Return an entry as a citation without prefix and locator cites it."""
    return _CitedWork(Cite(entry.key), entry)


def _shown_link(work: Work) -> str:
    """Return what a citation shows where the style has the DOI or the URL; "" if the work has neither."""
    link = link_of(work)
    if link is None:
        return ""
    return link if isinstance(link, str) else link.name


def _unknown_work(key: Key, display: Callable[[DOI], str] | None) -> str:
    """Return the text for a work that is not in the list."""
    if display is not None and isinstance(key, DOI):
        return display(key)
    return _key_text(key)


def _pieces(cite: Cite, label: str, locator: str) -> list[_Piece]:
    """Return a label with what precedes and follows it."""
    pieces = [_Piece(f"{cite.prefix} "), _Piece(label, cite.key), _Piece(f"{locator}{cite.suffix}")]
    return [piece for piece in pieces if piece.text.strip()]


def _runs(items: Iterable[_T], follows: Callable[[_T, _T], bool]) -> list[list[_T]]:
    """Return the items in runs: a run goes on as long as each item follows the one before it."""
    runs: list[list[_T]] = []
    for item in items:
        if runs and follows(runs[-1][-1], item):
            runs[-1].append(item)
        else:
            runs.append([item])
    return runs


def _with_ranges(cites: Iterable[_NumberedCite]) -> Iterator[list[_Piece]]:
    """Yield the pieces of each cite; three or more consecutive numbers become a range."""
    for run in _runs(cites, _is_next_number):
        if len(run) < _SHORTEST_RANGE:
            for cite in run:
                yield cite.pieces
        else:
            yield [*run[0].pieces, _Piece("–"), *run[-1].pieces]


def _is_next_number(before: _NumberedCite, cite: _NumberedCite) -> bool:
    """Return whether the number of a cite is one more than that of the cite before it."""
    return before.number is not None and cite.number == before.number + 1


def _joined(cites: Iterable[list[_Piece]], delimiter: str) -> list[_Piece]:
    """Return the pieces of all cites, with the delimiter between two cites."""
    joined: list[_Piece] = []
    for pieces in cites:
        if joined:
            joined.append(_Piece(delimiter))
        joined += pieces
    return joined
