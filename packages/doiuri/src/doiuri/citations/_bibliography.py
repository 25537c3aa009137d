"""Citations in a text and entries of a list: labels, letters and order; ranges and collapsing."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter, defaultdict
from functools import cached_property
from itertools import count, groupby
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypeVar

from doiuri._doi import DOI
from doiuri.citations._cites import Cite
from doiuri.citations._locale import citeproc_folder, terms_of
from doiuri.citations._parts import (
    LINK,
    Part,
    Reference,
    from_rich,
    link_of,
    linked_parts,
    marked,
    particle_of,
    parts_of,
    tidied,
)
from doiuri.records._csl import NAMES, NUMBERS, is_shortened
from doiuri.records._work import Work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping

    from doiuri._doi import Handle
    from doiuri.citations._processor import Cited
    from doiuri.citations._style import SortKey, Style

    Key: TypeAlias = Handle | str
    AnyKey = TypeVar("AnyKey", bound=Key)  # a Mapping's keys are invariant
    _T = TypeVar("_T")
    Piece: TypeAlias = tuple[str, Key | None]

EntryKey: TypeAlias = tuple[Work, str, bytes, str]
"""What an entry depends on: the work, its letter, a digest of the style, and the locale."""

Form = Literal["p", "t", "year", "author"]
"""A citation in brackets, as part of the sentence, or only the year or author of it."""

# Letters that Unicode does not decompose, after str.casefold
_LETTERS = str.maketrans(dict(zip("øłđðæœþıħŧŋ", "o l d d ae oe th i h t n".split(), strict=True)))  # noqa: SIM905
_IN_WORDS = "'’ʼ-"
_SEVERAL = re.compile(r"[-–,&]")
_RANGE = re.compile(r"(?<=\d)-(?=\d)")
_DIGITS = re.compile(r"\d+")
_SHORTEST_RANGE = 3  # "[1, 2]", but "[1–3]"


def letters(number: int) -> str:
    """Return the letter with a number from 0: a to z, then aa, ab and so on."""
    text = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, 26)
        text = chr(ord("a") + digit) + text
    return text


def ordinal(letter: str) -> int:
    """Return the number from 1 of what ``letters`` returns; 0 for ""."""
    number = 0
    for character in letter:
        number = number * 26 + ord(character) - ord("a") + 1
    return number


def collation(text: str) -> str:
    """Return text to sort by: case, accents and punctuation do not matter.

    >>> collation("Łoś, Þór")
    'los thor'
    """
    decomposed = unicodedata.normalize("NFKD", text.casefold()).translate(_LETTERS)
    kept = (
        c if c.isalnum() else " " for c in decomposed if not unicodedata.combining(c) and c not in _IN_WORDS
    )
    return " ".join("".join(kept).split())


def _key_text(key: Key) -> str:
    return f"@{key}" if isinstance(key, str) else f"doi:{key.name}"


def _sort_value(work: Work, key: SortKey, *, demotes: bool) -> list[str]:
    """Return what a work is sorted by; empty if it has none of the variables.

    :param demotes: whether "van Gogh" stands under G
    """
    csl = work.csl
    for variable in key.variables:
        value = csl.get(variable)
        if variable in NAMES and value:
            options = dict(key.names)
            if 0 < int(options.get("et-al-min", 0)) <= len(value):
                last = value[-1:] if options.get("et-al-use-last") == "true" else []
                value = value[: int(options.get("et-al-use-first", 1))] + last
            families = [name.get("family") or name["literal"] for name in value]
            if demotes:
                families = [family.removeprefix(particle_of(family)) for family in families]
            given = (name.get("given", "") for name in value)
            return [collation(text) for pair in zip(families, given, strict=True) for text in pair]
        if isinstance(value, dict):
            return [f"{part:04}" for part in value["date-parts"][0][: 1 if key.only_years else None]]
        if value:
            text = collation(work.title if variable == "title" else value)
            return [_DIGITS.sub(lambda digits: digits[0].zfill(9), text) if variable in NUMBERS else text]
    return []


def _sorted(
    works: Iterable[Work], value: Callable[[Work, SortKey], list[str]], keys: Iterable[SortKey]
) -> list[Work]:
    """Return works as keys sort them; those without a key come last, also in a descending order."""
    ordered = [*works]
    for key in reversed([*keys]):
        values = {id(work): value(work, key) for work in ordered}
        ordered.sort(
            key=lambda work: (bool(values[id(work)]) == key.is_descending, values[id(work)]),
            reverse=key.is_descending,
        )
    return ordered


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
    >>> from doiuri.records import Work
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
        self._style, self._layout, self._terms = style, style.layout, terms_of(locale)
        self._locale = locale
        self._by_key: dict[Key, Reference] = {}
        by_key: dict[Key, Work] = dict(works.items())
        known = [by_key[key] for key in dict.fromkeys(cited) if key in by_key]
        keys = style.sort_keys("bibliography")
        ordered = _sorted(known, self._sort_value, keys)
        self.references = tuple(map(Reference, ordered, count(1)))
        if style.tells_apart:
            self.references = tuple(
                one._replace(is_ambiguous=total > 1)
                for one, (_, total) in zip(self.references, self._alike(), strict=True)
            )
        if self._layout.has_letters:
            self.references = tuple(
                one._replace(letter=letters(place) if total > 1 else "")
                for one, (place, total) in zip(self.references, self._alike(), strict=True)
            )
        self._by_key = {reference.key: reference for reference in self.references}

    @property
    def heading(self) -> str:
        """What the list is called in the language, such as "References"."""
        return self._terms.get("reference", plural=True).capitalize()

    def get(self, key: Key) -> Reference | None:
        """Return the entry of a work, or None if it has none."""
        return self._by_key.get(key)

    def _sort_value(self, work: Work, key: SortKey) -> list[str]:
        if key.macro is None:
            return _sort_value(work, key, demotes=self._style.demotes_particles)
        from doiuri.citations._processor import sort_text

        reference = self._by_key.get(work.key, Reference(work, 0))
        sortable = self._tried(lambda: sort_text(reference, self._style, self._locale, key))
        text = collation(sortable or "")
        return [text] if text else []

    def _tried(self, render: Callable[[], _T]) -> _T | None:
        """Return what citeproc-py renders; None, and note why, if it fails."""
        try:
            return render()
        except ValueError as error:
            if self._problems is None:
                raise
            self._problems[str(error)] = None
            return None

    @cached_property
    def _ranks(self) -> Mapping[Key, int]:
        """The order of the works in a citation; empty if it is that in which they are written."""
        keys = self._style.sort_keys("citation")
        if any("citation-number" in key.variables for key in keys):
            return {one.key: one.number for one in self.references}
        ranks: dict[Key, int] = {}
        works = _sorted([reference.work for reference in self.references], self._sort_value, keys)
        alike = groupby(works if keys else (), lambda work: [self._sort_value(work, key) for key in keys])
        for rank, (_, group) in enumerate(alike):  # those that sort alike stay as they are written
            ranks |= dict.fromkeys((work.key for work in group), rank)
        return ranks

    def _alike(self) -> list[tuple[int, int]]:
        """Return the place of each entry among those with its label, and how many they are."""
        labels = [self._label(_Shown(Cite(one.key), one))[0] for one in self.references]
        labels = [unicodedata.normalize("NFC", label).casefold() for label in labels]
        total = Counter(labels)
        seen: defaultdict[str, Iterator[int]] = defaultdict(count)
        return [(next(seen[label]), total[label]) for label in labels]

    def citation(
        self, cites: Iterable[Cite], form: Form = "p", display: Callable[[DOI], str] | None = None
    ) -> tuple[Part, ...]:
        """Return a citation.

        :param cites: what it cites; repeated ones are shown once
        :param form: "p": "(Kahn, 2001; Wilensky, 2002)" or "[1, 3]"; "t": "Kahn (2001)" or "Kahn [1]";
            "year": "2001"; "author": "Kahn"
        :param display: returns the text of a DOI whose work is not known; by default ``doi:`` and the name
        """
        shown = [_Shown(cite, self._by_key.get(cite.key)) for cite in dict.fromkeys(cites)]
        if form == "p":
            pieces = self._in_brackets(shown)
        else:
            pieces = _joined((self._in_sentence(one, form) for one in shown), "; ")
        return tuple(part for text, key in pieces for part in self._parts(text, key, display))

    def _parts(self, text: str, key: Key | None, display: Callable[[DOI], str] | None) -> tuple[Part, ...]:
        if key is None or key in self._by_key:
            parts = parts_of(tidied(text, self._terms), key)
            link = None if key is None else link_of(self._by_key[key].work)
            shown = link or "" if isinstance(link, str | None) else link.name
            return tuple(part._replace(text=part.text.replace(LINK, shown)) for part in parts)
        return (Part(display(key) if display and isinstance(key, DOI) else _key_text(key), link=key),)

    def _in_brackets(self, shown: list[_Shown]) -> list[Piece]:
        layout = self._layout
        if not any(one.cite.prefix for one in shown):  # "see A; also B" stays
            ranks = self._ranks
            shown = sorted(shown, key=lambda one: ranks.get(one.cite.key, len(ranks) + 1) if ranks else 0)
        groups = self._ranges(shown) if self._style.numbered else self._groups(shown)
        is_mixed = self._style.numbered and not all(one.is_bare for one in shown)
        delimiter = "; " if is_mixed and self._style.is_shipped else layout.delimiter  # "[1, p. 12; 2]"
        pieces = [(layout.prefix, None), *_joined(groups, delimiter), (layout.suffix, None)]
        return [(marked("superscript", text), key) for text, key in pieces] if layout.superscript else pieces

    def _ranges(self, shown: list[_Shown]) -> Iterator[list[Piece]]:
        """Yield the numbers, and ranges of numbers if the style collapses them."""
        collapses = self._layout.collapse == "citation-number"
        return _collapsed((one.number if collapses and one.is_bare else 0, self._cite(one)) for one in shown)

    def _groups(self, shown: list[_Shown]) -> Iterator[list[Piece]]:
        """Yield authors with a year; if the style collapses them, with several, or with several letters."""
        layout, collapse = self._layout, self._layout.collapse
        for _, group in groupby(shown, self._author_if_grouped):
            years: list[list[Piece]] = []
            for _, same in groupby(
                enumerate(group),
                lambda one: one[1].year if "suffix" in collapse and one[1].has_bare_letter else -one[0],
            ):
                cites: list[tuple[int, list[Piece]]] = []
                for _, one in same:
                    no_author = bool(years) and collapse.startswith("year")
                    letter: list[Piece] = [(one.letter, one.cite.key)]
                    pieces = letter if cites else self._cite(one, no_author=no_author)
                    cites.append((ordinal(one.letter) if "ranged" in collapse else 0, pieces))
                years.append(_joined(_collapsed(cites), layout.letter_delimiter))
            yield _joined(years, layout.group_delimiter)

    def _author_if_grouped(self, one: _Shown) -> object:
        return self._author(one.reference) if self._layout.has_groups and one.reference else one

    def _in_sentence(self, one: _Shown, form: Form) -> list[Piece]:
        reference, cite, layout = one.reference, one.cite, self._layout
        if reference is None:
            return self._cite(one)
        author = self._author(reference, in_sentence=True)
        label, more = self._label(one, no_author=True)
        if form == "author":
            return _pieces(cite, author, self._locator(cite))
        if form == "year":
            own = self._style.numbered or not label
            return _pieces(cite, *((self._year(reference), self._locator(cite)) if own else (label, more)))
        if not label:  # a style without years
            return _pieces(cite, author, more)
        has_own = layout.prefix or self._style.numbered
        opening, closing = (layout.prefix, layout.suffix) if has_own else ("(", ")")
        if layout.superscript:
            label = marked("superscript", label)
        before = "" if cite.no_author else author if layout.superscript else f"{author} "
        *pieces, (last, key) = _pieces(cite, f"{before}{opening}{label}", more)
        return [*pieces, (f"{last}{closing}", key)]

    def _cite(self, one: _Shown, *, no_author: bool = False) -> list[Piece]:
        label, more = self._label(one, no_author=no_author or one.cite.no_author)
        return _pieces(one.cite, label or (self._year(one.reference) if one.reference else ""), more)

    def _label(self, one: _Shown, *, no_author: bool = False) -> tuple[str, str]:
        """Return the label of a work, and the locator if it is not part of the label."""
        reference, cite = one.reference, one.cite
        if reference is None:
            return _key_text(cite.key), self._locator(cite)
        if cited := self._cited(reference, cite, no_author=no_author):
            return cited.text, ""
        if self._style.numbered:
            return str(reference.number), self._locator(cite)
        year = self._year(reference)
        return year if no_author else f"{self._author(reference)}, {year}", self._locator(cite)

    def _cited(
        self,
        reference: Reference,
        cite: Cite | None = None,
        *,
        no_author: bool = False,
        in_sentence: bool = False,
    ) -> Cited | None:
        """Return a work as a style sets it that is not one of ours."""
        if self._style.is_shipped:
            return None
        from doiuri.citations._processor import cited

        locator = (cite.label, cite.locator) if cite else ("", "")
        return self._tried(
            lambda: cited(
                reference, locator, self._style, self._locale, no_author=no_author, in_sentence=in_sentence
            )
        )

    def _locator(self, cite: Cite) -> str:
        if not cite.locator:
            return ""
        term = self._terms.get(cite.label, "short", plural=bool(_SEVERAL.search(cite.locator)))
        return f", {term} {_RANGE.sub('–', cite.locator)}"

    def _year(self, reference: Reference) -> str:
        if reference.work.year is None:
            no_date = self._terms.get("no date", "short")
            return f"{no_date}-{reference.letter}" if reference.letter else no_date
        return f"{reference.work.year}{reference.letter}"

    def _author(self, reference: Reference, *, in_sentence: bool = False) -> str:
        """Return family names as the style joins them, or else the title; in a sentence it is never "&"."""
        style, work = self._style, reference.work
        cited = None if style.numbered else self._cited(reference, in_sentence=in_sentence)
        if cited and cited.author:
            return cited.author
        people = work.authors or work.editors
        names = [from_rich(name.family) for name in people]
        if not names:
            return self._title(work)
        if is_shortened(people, 2):
            return f"{names[0]} {self._terms.get('et-al')}"
        return f" {self._terms.get('and') if in_sentence or style.numbered else '&'} ".join(names)

    def _title(self, work: Work) -> str:
        """Return the title: that of a whole work is emphasized."""
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
    citeproc_folder()
    known = {} if known is None else known
    shown, before = [], None
    for reference in references:
        work = reference.work
        people = next(((member, work.csl[member]) for member in NAMES if member in work.csl), None)
        repeated = style.repeated_names if people and people == before else ""
        digest, before = hashlib.blake2s(style.xml, key=repeated.encode()[:32]).digest(), people
        key = (work, reference.letter, digest, locale)
        try:
            if key not in known:
                known[key] = _formatted(reference, style, locale, repeated)
            shown.append(known[key])
        except ValueError as error:
            if problems is None:
                raise
            problems[str(error)] = None
            shown.append(as_link(work))
    return shown


def as_link(work: Work) -> tuple[Part, ...]:
    """Return the entry of a work that cannot be formatted."""
    return (Part(work.doi.url if work.doi else work.title or str(work.key), link=link_of(work)),)


def _formatted(reference: Reference, style: Style, locale: str, repeated: str) -> tuple[Part, ...]:
    from doiuri.citations._processor import entry

    text = entry(reference, style, locale, repeated)
    return linked_parts(tidied(text, terms_of(locale)).strip(), link_of(reference.work))


def _pieces(cite: Cite, label: str, more: str) -> list[Piece]:
    """Return a label with what precedes and follows it."""
    pieces: list[Piece] = [(f"{cite.prefix} ", None), (label, cite.key), (f"{more}{cite.suffix}", None)]
    return [(text, key) for text, key in pieces if text.strip()]


class _Shown(NamedTuple):
    """A work in a citation."""

    cite: Cite
    reference: Reference | None

    @property
    def number(self) -> int:
        return 0 if self.reference is None else self.reference.number

    @property
    def letter(self) -> str:
        return "" if self.reference is None else self.reference.letter

    @property
    def year(self) -> int | None:
        return None if self.reference is None else self.reference.work.year

    @property
    def has_bare_letter(self) -> bool:
        return self.is_bare and bool(self.letter)

    @property
    def is_bare(self) -> bool:
        cite = self.cite
        return self.reference is not None and not (
            cite.prefix or cite.locator or cite.suffix or cite.no_author
        )


def _collapsed(cites: Iterable[tuple[int, list[Piece]]]) -> Iterator[list[Piece]]:
    """Yield cites with their numbers, 0 for none; three or more with consecutive numbers are a range."""
    for _, group in groupby(enumerate(cites), lambda one: (one[1][0] or -1) - one[0]):
        run = [cite for _, (_, cite) in group]
        if len(run) < _SHORTEST_RANGE:
            yield from run
        else:
            yield [*run[0], ("–", None), *run[-1]]


def _joined(groups: Iterable[list[Piece]], delimiter: str) -> list[Piece]:
    joined: list[Piece] = []
    for group in groups:
        joined += [(delimiter, None), *group] if joined else group
    return joined
