"""Citations in a text: their labels, letters and order; ranges and collapsing."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from itertools import count, groupby
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypeVar

from doiuri._doi import DOI
from doiuri.citations._locale import terms_of
from doiuri.citations._parts import Part, from_rich, marked, parts_of, tidied
from doiuri.records._csl import NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from doiuri._doi import Handle
    from doiuri.citations._cites import Cite
    from doiuri.citations._style import SortKey, Style
    from doiuri.records._work import Work

    Key: TypeAlias = Handle | str
    AnyKey = TypeVar("AnyKey", bound=Key)  # a Mapping's keys are invariant
    Piece: TypeAlias = tuple[str, Key | None]

Form = Literal["p", "t", "year", "author"]
"""A citation in brackets, as part of the sentence, or only the year or author of it."""

# Letters that Unicode does not decompose, after str.casefold
_LETTERS = str.maketrans(dict(zip("øłđðæœþıħŧŋ", "o l d d ae oe th i h t n".split(), strict=True)))  # noqa: SIM905
_IN_WORDS = "'’ʼ-"
_SEVERAL = re.compile(r"[-–,&]")
_RANGE = re.compile(r"(?<=\d)-(?=\d)")
_SHORTEST_RANGE = 3  # "[1, 2]", but "[1–3]"


class Reference(NamedTuple):
    """An entry in a list of references."""

    work: Work
    """The work."""

    number: int
    """Its place in the list, from 1."""

    letter: str = ""
    """The letter after the year, such as "a"; "" if no other work has the same label."""

    @property
    def key(self) -> Key:
        """The DOI of the work, or its id in a works file."""
        return self.work.key


def letters(number: int) -> str:
    """Return the letter with a number from 0: a to z, then aa, ab and so on."""
    text = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, 26)
        text = chr(ord("a") + digit) + text
    return text


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


def _sort_value(work: Work, key: SortKey) -> list[str]:
    """Return what a work is sorted by; empty if it has none of the variables."""
    csl = work.csl
    for variable in key.variables:
        value = csl.get(variable)
        if variable in NAMES and value:
            return [
                collation(text)
                for name in value
                for text in (name.get("family") or name.get("literal"), name.get("given", ""))
            ]
        if isinstance(value, dict):
            return [f"{part:04}" for part in value["date-parts"][0][: 1 if key.only_years else None]]
        if value:
            return [collation(work.title if variable == "title" else value)]
    return []


def _sorted(works: Iterable[Work], style: Style) -> list[Work]:
    """Return works as the style sorts them; those without a key come last, also in a descending order."""
    ordered = sorted(works, key=lambda work: (collation(work.title), _key_text(work.key)))
    for key in reversed(style.sort_keys):
        values = {id(work): _sort_value(work, key) for work in ordered}
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
    :raises ValueError: if there is no such locale
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
        self, cited: Iterable[Key], works: Mapping[AnyKey, Work], style: Style, locale: str = "en-US"
    ) -> None:
        self._style, self._manner, self._terms = style, style.manner, terms_of(locale)
        by_key: dict[Key, Work] = dict(works.items())
        known = [by_key[key] for key in dict.fromkeys(cited) if key in by_key]
        ordered = _sorted(known, style) if style.sort_keys else known
        found = self._letters(ordered) if self._manner.has_letters else [""] * len(ordered)
        self.references = tuple(map(Reference, ordered, count(1), found))
        self._by_key = {reference.key: reference for reference in self.references}

    @property
    def heading(self) -> str:
        """What the list is called in the language, such as "References"."""
        return self._terms.get("reference", plural=True).capitalize()

    def get(self, key: Key) -> Reference | None:
        """Return the entry of a work, or None if it has none."""
        return self._by_key.get(key)

    def _letters(self, works: list[Work]) -> list[str]:
        labels = [(unicodedata.normalize("NFC", self._author(work)).casefold(), work.year) for work in works]
        total = Counter(labels)
        seen: defaultdict[tuple[str, int | None], Iterator[int]] = defaultdict(count)
        return [letters(next(seen[label])) if total[label] > 1 else "" for label in labels]

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
            return parts_of(tidied(text, self._terms), key)
        return (Part(display(key) if display and isinstance(key, DOI) else _key_text(key), link=key),)

    def _in_brackets(self, shown: list[_Shown]) -> list[Piece]:
        manner = self._manner
        if manner.is_sorted and not any(one.cite.prefix for one in shown):  # "see A; also B" stays
            shown = sorted(shown, key=lambda one: one.number or len(self.references) + 1)
        groups = self._ranges(shown) if self._style.numbered else self._groups(shown)
        mixed = self._style.numbered and not all(one.is_bare for one in shown)  # "[1, p. 12; 2]"
        delimiter = "; " if mixed else manner.delimiter
        pieces = [(manner.prefix, None), *_joined(groups, delimiter), (manner.suffix, None)]
        return [(marked("superscript", text), key) for text, key in pieces] if manner.superscript else pieces

    def _ranges(self, shown: list[_Shown]) -> Iterator[list[Piece]]:
        """Yield the numbers, and ranges of numbers if the style collapses them."""
        collapses = self._manner.collapse == "citation-number"
        for _, group in groupby(
            enumerate(shown),
            lambda pair: pair[1].number - pair[0] if collapses and pair[1].is_bare else -1 - pair[0],
        ):
            run = [self._with_more(one, self._number(one)) for _, one in group]
            if len(run) < _SHORTEST_RANGE:
                yield from run
            else:
                yield [*run[0], ("–", None), *run[-1]]

    def _groups(self, shown: list[_Shown]) -> Iterator[list[Piece]]:
        """Yield authors with a year, or several if the style collapses them."""
        collapses = self._manner.collapse.startswith("year")
        for _, group in groupby(
            shown,
            lambda one: (
                self._author(one.reference.work) if collapses and one.is_bare and one.reference else one
            ),
        ):
            first, *others = group
            pieces = self._with_more(first, self._author_year(first))
            year = first.reference and first.reference.work.year
            for one in others:
                assert one.reference is not None  # noqa: S101 (it is bare)
                text = self._year(one.reference)
                if self._manner.collapse.startswith("year-suffix") and one.reference.work.year == year:
                    text = one.reference.letter or text
                year = one.reference.work.year
                pieces += [(self._manner.group_delimiter, None), (text, one.cite.key)]
            yield pieces

    def _in_sentence(self, one: _Shown, form: Form) -> list[Piece]:
        if one.reference is None:
            return self._with_more(one, _key_text(one.cite.key))
        author = self._author(one.reference.work, in_sentence=True)
        if form != "t":
            return self._with_more(one, author if form == "author" else self._year(one.reference))
        manner = self._manner
        has_own = manner.prefix or self._style.numbered
        opening, closing = (manner.prefix, manner.suffix) if has_own else ("(", ")")
        label = self._number(one) if self._style.numbered else self._year(one.reference)
        if manner.superscript:
            label = marked("superscript", label)
        before = "" if one.cite.no_author else author if manner.superscript else f"{author} "
        *pieces, (last, key) = self._with_more(one, f"{before}{opening}{label}")
        return [*pieces, (f"{last}{closing}", key)]

    def _with_more(self, one: _Shown, label: str) -> list[Piece]:
        """Return a label with what precedes and follows it."""
        cite = one.cite
        more = cite.suffix
        if cite.locator:
            several = bool(_SEVERAL.search(cite.locator))
            term = self._terms.get(cite.label, self._manner.locator_form, plural=several)
            more = f"{self._manner.locator_delimiter}{term} {_RANGE.sub('–', cite.locator)}{more}"
        pieces: list[Piece] = [(f"{cite.prefix} ", None), (label, cite.key), (more, None)]
        return [(text, key) for text, key in pieces if text.strip()]

    def _number(self, one: _Shown) -> str:
        return f"{self._manner.cite_prefix}{one.number}{self._manner.cite_suffix}"

    def _author_year(self, one: _Shown) -> str:
        if one.reference is None:
            return _key_text(one.cite.key)
        year = self._year(one.reference)
        author = self._author(one.reference.work)
        return year if one.cite.no_author else f"{author}{self._manner.year_delimiter}{year}"

    def _year(self, reference: Reference) -> str:
        if reference.work.year is None:
            no_date = self._terms.get("no date", "short")
            return f"{no_date}-{reference.letter}" if reference.letter else no_date
        return f"{reference.work.year}{reference.letter}"

    def _author(self, work: Work, *, in_sentence: bool = False) -> str:
        """Return family names as the style joins them, or else the title; in a sentence it is never "&"."""
        manner = self._manner
        names = [from_rich(name.family) for name in work.authors or work.editors]
        if not names:
            return self._title(work)
        if 1 < len(names) >= manner.et_al_min > 0:
            first = names[: manner.et_al_use_first]
            return f"{', '.join(first)}{',' if len(first) > 1 else ''} {self._terms.get('et-al')}"
        if len(names) == 1 or not manner.and_:
            return ", ".join(names)
        *first, last = names
        comma = manner.last_delimiter in (("always", "contextual") if len(first) > 1 else ("always",))
        and_ = self._terms.get("and") if in_sentence or manner.and_ == "text" else "&"
        return f"{', '.join(first)}{',' if comma else ''} {and_} {last}"

    def _title(self, work: Work) -> str:
        """Return the title as the style has it; if it has both ways, that of a whole work is emphasized."""
        title = from_rich(work.csl.get("title", ""))
        if not title:
            return work.publisher or work.container or _key_text(work.key)
        formats = self._manner.title_formats or {"quoted", "emphasis"}
        if formats == {"quoted"} or (len(formats) > 1 and work.container):
            return f"{self._terms.get('open-quote')}{title}{self._terms.get('close-quote')}"
        return marked("emphasis", title)


class _Shown(NamedTuple):
    """A work in a citation."""

    cite: Cite
    reference: Reference | None

    @property
    def number(self) -> int:
        return 0 if self.reference is None else self.reference.number

    @property
    def is_bare(self) -> bool:
        cite = self.cite
        return self.reference is not None and not (
            cite.prefix or cite.locator or cite.suffix or cite.no_author
        )


def _joined(groups: Iterable[list[Piece]], delimiter: str) -> list[Piece]:
    joined: list[Piece] = []
    for group in groups:
        joined += [(delimiter, None), *group] if joined else group
    return joined
