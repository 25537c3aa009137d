"""Citations in a text and entries of a list: labels, letters and order; ranges and collapsing."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter, defaultdict
from itertools import count, groupby
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
from doiuri.records._csl import NAMES, is_shortened
from doiuri.records._work import Work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping

    from doiuri._doi import Handle
    from doiuri.citations._style import Area, Style

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
_IN_WORDS = re.compile(f"['’ʼ{MARKS}-]")
_SEVERAL = re.compile(r"[-–,&]")
_RANGE = re.compile(r"(?<=\d)-(?=\d)")
_SHORTEST_RANGE = 3  # "[1, 2]", but "[1–3]"


def letters(number: int) -> str:
    """Return the letter with a number from 0: a to z, then aa, ab and so on."""
    before, last = divmod(number, 26)
    return (letters(before - 1) if before else "") + chr(ord("a") + last)


def collation(text: str) -> str:
    """Return text to sort by: case, accents and punctuation do not matter.

    >>> collation("Łoś, Þór")
    'los thor'
    """
    decomposed = unicodedata.normalize("NFKD", _IN_WORDS.sub("", text.casefold())).translate(_LETTERS)
    kept = (c if c.isalnum() else " " for c in decomposed if not unicodedata.combining(c))
    return " ".join("".join(kept).split())


def _key_text(key: Key) -> str:
    return f"@{key}" if isinstance(key, str) else f"doi:{key.name}"


def _our_sort_texts(reference: Reference, style: Style, area: Area) -> tuple[str, ...]:
    """Return what sorts a work in our styles, which need no processor: people or title, year, title."""
    if style.numbered:
        return (f"{reference.number:09}",)
    work = reference.work
    people, title = work.authors or work.editors, collation(work.title)
    if area == "citation" and is_shortened(people, 2):
        people = people[:1]
    names = "\n".join(collation(part) for name in people for part in (name.family, name.given))
    return names or title, f"{work.year:04}" if work.year else "", title


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
        self._style, self._locale, self._terms = style, locale, terms_of(locale)
        by_key: dict[Key, Work] = dict(works.items())
        known = (Reference(by_key[key], 0) for key in dict.fromkeys(cited) if key in by_key)
        ordered = self._sorted((_Shown(Cite(one.key), one) for one in known), "bibliography")
        self.references = tuple(one.reference._replace(number=n) for n, one in enumerate(ordered, 1))
        if style.tells_apart:
            self.references = tuple(one._replace(is_ambiguous=total > 1) for one, _, total in self._alike())
        if style.has_letters:
            self.references = tuple(
                one._replace(letter=letters(place) if total > 1 else "")
                for one, place, total in self._alike()
            )
        self._by_key = {reference.key: reference for reference in self.references}

    def _alike(self) -> list[tuple[Reference, int, int]]:
        """Return each entry, its place among those with its label, and how many they are."""
        labels = [self._label(_Shown(Cite(one.key), one))[0] for one in self.references]
        labels = [unicodedata.normalize("NFC", label).casefold() for label in labels]
        total = Counter(labels)
        places: defaultdict[str, Iterator[int]] = defaultdict(count)
        return [
            (one, next(places[label]), total[label])
            for one, label in zip(self.references, labels, strict=True)
        ]

    @property
    def heading(self) -> str:
        """What the list is called in the language, such as "References"."""
        return self._terms.get("reference", plural=True).capitalize()

    def get(self, key: Key) -> Reference | None:
        """Return the entry of a work, or None if it has none."""
        return self._by_key.get(key)

    def _sorted(self, shown: Iterable[_Shown], area: Area) -> list[_Shown]:
        """Return works as a style sorts them; those without a value come last, also in a descending order."""
        ordered = [*shown]
        texts = {one: self._sort_texts(one.reference, area) if one.is_known else () for one in ordered}
        for place, descends in reversed([*enumerate(self._style.descends(area))]):
            values = {one: "".join(found[place : place + 1]) for one, found in texts.items()}
            ordered.sort(key=lambda one: (bool(values[one]) == descends, values[one]), reverse=descends)
        return ordered

    def _sort_texts(self, reference: Reference, area: Area) -> tuple[str, ...]:
        if self._style.is_shipped:
            return _our_sort_texts(reference, self._style, area)
        from doiuri.citations._processor import sort_texts

        texts = self._tried(lambda: sort_texts(reference, self._style, self._locale, area))
        return tuple(map(collation, texts or ()))

    def _tried(self, render: Callable[[], _T]) -> _T | None:
        """Return what citeproc-py renders; None, and note why, if it fails."""
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
        shown = [
            _Shown(cite, self._by_key.get(cite.key) or Reference(Work(cite.key, {}), -1))
            for cite in dict.fromkeys(cites)
        ]
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
        style, layout = self._style, self._style.layout
        if len(shown) > 1 and not any(one.cite.prefix for one in shown):  # "see A; also B" stays
            shown = self._sorted(shown, "citation")
        if style.numbered:
            collapses = layout["collapse"] == "citation-number"
            groups = _ranges(
                (one.reference.number if collapses and one.is_bare else 0, self._cite(one)) for one in shown
            )
        else:
            groups = self._groups(shown)
        is_mixed = style.numbered and not all(one.is_bare for one in shown)
        delimiter = "; " if is_mixed and style.is_shipped else layout["delimiter"]  # "[1, p. 12; 2]"
        pieces = [(layout["prefix"], None), *_joined(groups, delimiter), (layout["suffix"], None)]
        return [(marked("superscript", text), key) for text, key in pieces] if style.raised else pieces

    def _groups(self, shown: list[_Shown]) -> Iterator[list[Piece]]:
        """Yield authors with a year; if the style collapses them, with several, or with several letters."""
        layout, collapse = self._style.layout, self._style.layout["collapse"]
        for _, group in groupby(shown, self._author_of):
            years: list[list[tuple[int, list[Piece]]]] = []
            last = None
            for one in group:
                letter = one.reference.letter
                year = (one.reference.work.year,) if letter and one.is_bare and "suffix" in collapse else None
                digits = enumerate(reversed(letter if "ranged" in collapse else ""))
                number = sum((ord(digit) - ord("a") + 1) * 26**place for place, digit in digits)
                if years and year and year == last:
                    years[-1].append((number, [(letter, one.cite.key)]))
                else:
                    no_author = bool(years) and collapse.startswith("year")
                    years.append([(number, self._cite(one, no_author=no_author))])
                last = year
            joined = (_joined(_ranges(cites), layout["year-suffix-delimiter"]) for cites in years)
            yield _joined(joined, layout.get("cite-group-delimiter", ""))

    def _author_of(self, one: _Shown) -> object:
        """Return what consecutive works are grouped by."""
        is_grouped = one.is_known and "cite-group-delimiter" in self._style.layout
        return self._author(one.reference) if is_grouped else one

    def _in_sentence(self, one: _Shown, form: Form) -> list[Piece]:
        (cite, reference), style = one, self._style
        if not one.is_known:
            return self._cite(one)
        author = self._author(reference, in_sentence=True)
        label, more = self._label(one, no_author=True)
        if form == "author":
            return _pieces(cite, author, self._locator(cite))
        if form == "year" and (style.numbered or not label):
            return _pieces(cite, self._year(reference), self._locator(cite))
        if form == "year":
            return _pieces(cite, label, more)
        if not label:  # a style without years
            return _pieces(cite, author, more)
        opening, closing = (style.layout[name] for name in ("prefix", "suffix"))
        if not opening and not style.numbered:
            opening, closing = "(", ")"
        if style.raised:
            label = marked("superscript", label)
        before = "" if cite.no_author else author if style.raised else f"{author} "
        *pieces, (last, key) = _pieces(cite, f"{before}{opening}{label}", more)
        return [*pieces, (f"{last}{closing}", key)]

    def _cite(self, one: _Shown, *, no_author: bool = False) -> list[Piece]:
        label, more = self._label(one, no_author=no_author or one.cite.no_author)
        return _pieces(one.cite, label or self._year(one.reference), more)

    def _label(self, one: _Shown, *, no_author: bool = False) -> tuple[str, str]:
        """Return the label of a work, and the locator if it is not part of the label."""
        cite, reference = one
        if not one.is_known:
            return _key_text(cite.key), self._locator(cite)
        if cited := self._cited(reference, cite, no_author=no_author):
            return cited[1], ""
        if self._style.numbered:
            return str(reference.number), self._locator(cite)
        year = self._year(reference)
        return year if no_author else f"{self._author(reference)}, {year}", self._locator(cite)

    def _cited(
        self, reference: Reference, cite: Cite | None = None, **options: bool
    ) -> tuple[str, str] | None:
        """Return the author and all of a work as a style sets it that is not one of ours."""
        if self._style.is_shipped:
            return None
        from doiuri.citations._processor import cited

        locator = (cite.label, cite.locator) if cite else ("", "")
        return self._tried(lambda: cited(reference, locator, self._style, self._locale, **options))

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
        if cited and cited[0]:
            return cited[0]
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
                from doiuri.citations._processor import entry

                text = tidied(entry(reference, style, locale, repeated), terms_of(locale))
                known[key] = linked_parts(text.strip(), link_of(work))
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


def _pieces(cite: Cite, label: str, more: str) -> list[Piece]:
    """Return a label with what precedes and follows it."""
    pieces: list[Piece] = [(f"{cite.prefix} ", None), (label, cite.key), (f"{more}{cite.suffix}", None)]
    return [(text, key) for text, key in pieces if text.strip()]


class _Shown(NamedTuple):
    """A work in a citation; the number of one that is not known is -1."""

    cite: Cite
    reference: Reference

    @property
    def is_known(self) -> bool:
        return self.reference.number >= 0

    @property
    def is_bare(self) -> bool:
        cite = self.cite
        return self.is_known and not (cite.prefix or cite.locator or cite.suffix or cite.no_author)


def _ranges(cites: Iterable[tuple[int, list[Piece]]]) -> Iterator[list[Piece]]:
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
