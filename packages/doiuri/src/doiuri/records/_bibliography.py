"""Citations in a text, their labels, and the list of references that belongs to them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from doiuri._find import find

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping

    from doiuri._doi import Handle
    from doiuri.records._csl import Name
    from doiuri.records._work import Work

    AnyHandle = TypeVar("AnyHandle", bound=Handle)  # a Mapping's keys are invariant

MAX_LABEL = 40
"""Characters of a title in place of an author."""

_LAST = "\U0010ffff"

CitationStyle = Literal["author-year", "number"]
"""How citations look: "(Kahn and Wilensky, 2006)" or "[1]"."""

MAX_NAMES = 20
"""Names that an entry lists, as in APA style."""


@dataclass(frozen=True, slots=True)
class CitationWords:
    """The words of citations, for hosts to translate.

    >>> CitationWords(conjunction="und", no_date="o. J.")
    CitationWords(conjunction='und', et_al='et al.', no_date='o. J.')
    """

    conjunction: str = "and"
    """Stands between two names."""

    et_al: str = "et al."
    """Stands for all names after the first, if there are three or more."""

    no_date: str = "n.d."
    """Stands for the year, if there is none."""


def author_label(work: Work, words: CitationWords) -> str:
    """Return the author part of a label: one or two family names, or the first of three and more.

    Without authors, the names are those of the editors. Without editors, it is the title, cut after 40
    characters, or else the publisher, the container, or the name of the DOI.
    """
    names = [name.family for name in work.authors or work.editors]
    if not names:
        return _cut(_substitute(work))
    if len(names) == 1:
        return names[0]
    return f"{names[0]} {words.conjunction} {names[1]}" if len(names) == 2 else f"{names[0]} {words.et_al}"


def year_label(work: Work, words: CitationWords, suffix: str = "") -> str:
    """Return the year with the letter that tells works of one label apart: "2006a", "n.d.-a"."""
    if work.year is None:
        return f"{words.no_date}-{suffix}" if suffix else words.no_date
    return f"{work.year}{suffix}"


def sort_key(work: Work) -> tuple[object, ...]:
    """Return the key by which references are sorted.

    The order is that of the author labels, then of the years (none first), the titles and the DOIs. Case,
    accents and punctuation do not matter, nor does the language of the words: "Kahn" comes before "Kahn and
    Wilensky", and this before "Kahn et al.".
    """
    names = [name.family for name in work.authors or work.editors] or [_substitute(work)]
    shown = names if len(names) < 3 else [names[0], _LAST]
    return [*map(_sortable, shown)], work.year or 0, _sortable(work.title), work.doi.key


def label_key(work: Work, words: CitationWords) -> tuple[str, int | None]:
    """Return the key that works share if their labels look the same."""
    return unicodedata.normalize("NFC", author_label(work, words)).casefold(), work.year


def letters(number: int) -> str:
    """Return the letter with a number from 0: a to z, then aa, ab and so on."""
    text = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, 26)
        text = chr(ord("a") + digit) + text
    return text


def _cut(text: str) -> str:
    """Return a text of at most ``MAX_LABEL`` characters; it is cut between words if it has any."""
    if len(text) <= MAX_LABEL:
        return text
    words, space, _ = text[:MAX_LABEL].rpartition(" ")
    return f"{words}…" if space else f"{text[: MAX_LABEL - 1]}…"


def _substitute(work: Work) -> str:
    return work.title or work.publisher or work.container or work.doi.name


def _sortable(text: str) -> str:
    if text == _LAST:
        return text
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    kept = (c if c.isalnum() else " " for c in decomposed if not unicodedata.combining(c) and c not in "'’-")
    return " ".join("".join(kept).split())


class CitationPart(NamedTuple):
    """A part of a citation: text, and the DOI that it cites, if any. The host links such a part."""

    text: str
    """Plain text."""

    doi: Handle | None = None
    """The DOI that it cites; None for brackets and separators."""


@dataclass(frozen=True, slots=True)
class Reference:
    """An entry in a list of references."""

    work: Work
    """The work."""

    number: int
    """Its place in the list, from 1."""

    author: str
    """The author label, such as "Kahn and Wilensky"."""

    year: str
    """The year label, such as "2006", "2006a" or "n.d."."""

    letter: str = ""
    """The letter in the year label; "" if no other work has the same label."""

    @property
    def doi(self) -> Handle:
        """The DOI of the work."""
        return self.work.doi

    @property
    def label(self) -> str:
        """The label of author and year, such as "Kahn and Wilensky, 2006"."""
        return f"{self.author}, {self.year}"


class Bibliography:
    """The works that a document cites: the labels of citations, and the list of references.

    :param cited: the DOIs in the order of their citations; they may be repeated
    :param works: the works that are known. A DOI without a work gets neither a label nor an entry
    :param style: "author-year": entries are sorted by author label, year, title and DOI, and works with the
        same label get the letters a, b and so on in this order. "number": entries are numbered in the order
        of their first citation
    :param words: the words of labels
    :raises ValueError: for any other ``style``

    >>> from doiuri import DOI
    >>> from doiuri.records import Work
    >>> kahn, handbook = DOI("10.1007/s00799-005-0128-x"), DOI("10.1000/182")
    >>> works = {kahn: Work(kahn, {"author": [{"family": "Kahn"}, {"family": "Wilensky"}], "issued": "2006"}),
    ...          handbook: Work(handbook, {"title": "DOI Handbook"})}
    >>> bibliography = Bibliography([kahn, handbook], works)
    >>> "".join(part.text for part in bibliography.parenthetical([kahn, handbook]))
    '(Kahn and Wilensky, 2006; DOI Handbook, n.d.)'
    >>> "".join(part.text for part in bibliography.textual([kahn]))
    'Kahn and Wilensky (2006)'
    >>> [reference.label for reference in bibliography.references]
    ['DOI Handbook, n.d.', 'Kahn and Wilensky, 2006']
    """

    references: tuple[Reference, ...]
    """The entries, in the order of the list."""

    def __init__(
        self,
        cited: Iterable[Handle],
        works: Mapping[AnyHandle, Work],
        style: CitationStyle = "author-year",
        words: CitationWords | None = None,
    ) -> None:
        if style not in ("author-year", "number"):
            raise ValueError(f'style must be "author-year" or "number", not {style!r}')
        words = words or CitationWords()
        self._numbered = style == "number"
        by_doi: dict[Handle, Work] = {doi: work for doi, work in works.items()}  # noqa: C416 - the type
        known = [by_doi[doi] for doi in dict.fromkeys(cited) if doi in by_doi]
        ordered = known if self._numbered else sorted(known, key=sort_key)
        suffixes = [""] * len(ordered) if self._numbered else _suffixes(ordered, words)
        self.references = tuple(
            Reference(work, number, author_label(work, words), year_label(work, words, suffix), suffix)
            for number, work, suffix in zip(count(1), ordered, suffixes, strict=False)
        )
        self._by_doi = {reference.doi: reference for reference in self.references}

    def get(self, doi: Handle) -> Reference | None:
        """Return the entry of a DOI, or None if it has none."""
        return self._by_doi.get(doi)

    def parenthetical(
        self,
        dois: Iterable[Handle],
        display: Callable[[Handle], str] | None = None,
        without_author: Container[Handle] = (),
    ) -> tuple[CitationPart, ...]:
        """Return a citation in brackets: "(Kahn, 2001; Wilensky, 2002)" or "[1, 3]".

        The brackets are left out if none of the DOIs has a work.

        :param dois: the DOIs that it cites; a repeated DOI is shown once
        :param display: returns the text of a DOI without a work; by default ``doi:`` and the name
        :param without_author: the DOIs of which only the year is shown: "(2001)"; numbers do not change
        """
        dois = list(dois)

        def label(reference: Reference) -> str:
            if self._numbered:
                return str(reference.number)
            return reference.year if reference.doi in without_author else reference.label

        parts = list(self._joined(dois, label, display, ", " if self._numbered else "; "))
        if any(doi in self._by_doi for doi in dois):
            opening, closing = "[]" if self._numbered else "()"
            parts = [CitationPart(opening), *parts, CitationPart(closing)]
        return tuple(parts)

    def textual(
        self, dois: Iterable[Handle], display: Callable[[Handle], str] | None = None
    ) -> tuple[CitationPart, ...]:
        """Return a citation that is part of a sentence: "Kahn (2001); Wilensky (2002)" or "Kahn [1]".

        :param dois: the DOIs that it cites; a repeated DOI is shown once
        :param display: returns the text of a DOI without a work; by default ``doi:`` and the name
        """
        return tuple(self._joined(list(dois), self._long, display, "; "))

    def _joined(
        self,
        dois: list[Handle],
        label: Callable[[Reference], str],
        display: Callable[[Handle], str] | None,
        separator: str,
    ) -> Iterator[CitationPart]:
        for number, doi in enumerate(dict.fromkeys(dois)):
            if number:
                yield CitationPart(separator)
            reference = self._by_doi.get(doi)
            if reference is not None:
                yield CitationPart(label(reference), doi)
            else:
                yield CitationPart(f"doi:{doi.name}" if display is None else display(doi), doi)

    def _long(self, reference: Reference) -> str:
        if self._numbered:
            return f"{reference.author} [{reference.number}]"
        return f"{reference.author} ({reference.year})"


def _suffixes(works: list[Work], words: CitationWords) -> list[str]:
    """Return for each work the letter that tells it from others with its label; "" if there are none."""
    keys = [label_key(work, words) for work in works]
    total = Counter(keys)
    seen: defaultdict[tuple[str, int | None], Iterator[int]] = defaultdict(count)
    return [letters(next(seen[key])) if total[key] > 1 else "" for key in keys]


def reference_parts(doi: Handle, text: str) -> tuple[CitationPart, ...]:
    """Return a formatted reference in parts, one of which, with the attribute ``doi``, is the link.

    The link is the part of the text that names the DOI. If no part does, the link is appended.

    >>> from doiuri import DOI
    >>> [part.text for part in reference_parts(DOI("10.1000/182"), "Handbook. https://doi.org/10.1000/182.")]
    ['Handbook. ', 'https://doi.org/10.1000/182', '.']
    >>> [part.text for part in reference_parts(DOI("10.1000/182"), "Handbook.")]
    ['Handbook. ', 'https://doi.org/10.1000/182']

    :param doi: the DOI of the entry
    :param text: the text, such as that of ``Resolver.reference``
    """
    span = _span_of(doi, text)
    if span is None:
        return CitationPart(f"{text} " if text else ""), CitationPart(doi.url, doi)
    start, end = span
    parts = CitationPart(text[:start]), CitationPart(text[start:end], doi), CitationPart(text[end:])
    return tuple(part for part in parts if part.text)


def _span_of(doi: Handle, text: str) -> tuple[int, int] | None:
    """Return where a text names the DOI, also in a link whose "#" or "?" the agency did not encode."""
    for match in find(text):
        if match.doi == doi:
            return match.start, match.end
    link = rf"https?://(?:dx\.)?doi\.org/{re.escape(doi.name)}(?=[.,;)]?(?:\s|\Z))"
    raw = re.search(link, text, re.IGNORECASE | re.ASCII)
    return raw.span() if raw else None


def with_year_label(reference: Reference, text: str) -> str:
    """Return a formatted reference with the letter of its label after the year.

    An agency formats each reference alone, so it cannot know the letter. The year is the first one in
    brackets, or else between punctuation, or else anywhere before the DOI. A text that does not contain the
    year of the work stays as it is.

    >>> from doiuri import DOI
    >>> from doiuri.records import Bibliography, Work
    >>> works = {doi: Work(doi, {"author": ["Kahn"], "issued": 2001})
    ...          for doi in (DOI("10.1000/1"), DOI("10.1000/2"))}
    >>> with_year_label(Bibliography(works, works).references[1], "Kahn. (2001). Names.")
    'Kahn. (2001b). Names.'

    :param reference: the entry
    :param text: its text, such as that of ``Resolver.reference``
    """
    if not reference.letter:
        return text
    year = re.escape(reference.year.removesuffix(reference.letter).removesuffix("-"))
    end = next((match.start for match in find(text) if match.doi == reference.doi), len(text))
    patterns = (
        rf"(?<=\(){year}[a-z]?(?=[),;])",
        rf"(?<=[.,;:] ){year}(?=[.,;:](?!\d)|\Z)",
        rf"(?<![\w./\u2013-]){year}(?![\w/\u2013-]|\.\d)",
    )
    found = next(filter(None, (re.compile(pattern).search(text, 0, end) for pattern in patterns)), None)
    return f"{text[: found.start()]}{reference.year}{text[found.end() :]}" if found else text


def plain_reference(work: Work, words: CitationWords | None = None) -> str:
    """Return an entry in a simple form, for use if the agency's formatted text is not available.

    >>> from doiuri import DOI
    >>> from doiuri.records import Work
    >>> csl = {"title": "DOI Handbook", "publisher": "DOI Foundation", "issued": {"date-parts": [[2019]]}}
    >>> plain_reference(Work(DOI("10.1000/182"), csl))
    'DOI Handbook (2019). DOI Foundation.'

    :param work: the work; authors after the 20th are left out
    :param words: "et al." and "n.d." in the language of the text
    """
    words = words or CitationWords()
    names = [_inverted(name) for name in work.authors or work.editors]
    people = "; ".join(names[:MAX_NAMES]) + (f" {words.et_al}" if len(names) > MAX_NAMES else "")
    csl = work.csl
    issue = f"({csl['issue']})" if "issue" in csl else ""
    source = [work.container, f"{csl.get('volume', '')}{issue}", csl.get("page", "")]
    title = work.title or (work.doi.name if not people else "")
    first, second = (people, title) if people else (title, "")
    sentences = [
        f"{first} ({year_label(work, words)})",
        second,
        ", ".join(filter(None, source)),
        work.publisher,
    ]
    return " ".join(text if text.endswith((".", "?", "!")) else f"{text}." for text in sentences if text)


def _inverted(name: Name) -> str:
    return ", ".join(filter(None, (name.family, name.given, name.suffix)))
