"""Citations in a text, and the list of references that belongs to it."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from doiuri.records._labels import CitationWords, author_label, label_key, letters, sort_key, year_label

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping

    from doiuri._doi import Handle
    from doiuri.records._work import Work

    AnyHandle = TypeVar("AnyHandle", bound=Handle)  # a Mapping's keys are invariant

CitationStyle = Literal["author-year", "number"]
"""How citations look: "(Kahn and Wilensky, 2006)" or "[1]"."""


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
