"""Citations in a text, and the order, numbers and letters of the list of references."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypeVar

import doiuri_csl as csl

from doiuri._doi import DOI
from doiuri.citations._items import item_id, item_of
from doiuri.citations._parts import (
    Part,
    Reference,
    entry_parts,
    formats_of,
    link_of,
    merged,
)
from doiuri.citations._style import locale_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping

    from doiuri._doi import Handle
    from doiuri.citations._cites import Cite
    from doiuri.citations._style import Style
    from doiuri.works._work import Work

    Key: TypeAlias = Handle | str
    AnyKey = TypeVar("AnyKey", bound=Key)  # a Mapping's keys are invariant
    Display: TypeAlias = Callable[[DOI], str] | None

Form = Literal["p", "t", "year", "author"]
"""A citation in brackets, as part of the sentence, or only the year or author of it."""

_SEVERAL_LOCATORS = re.compile(r"[-–,&]")
_HYPHEN_IN_RANGE = re.compile(r"(?<=\d)-(?=\d)|(?<=[ivxlcdm])-(?=[ivxlcdm]+\b)")  # also of "vi-xi"
# Begins the id of a cite whose year is shown alone: the processor has no item with it, and shows the id itself
_YEAR = "year of "


class EntryKey(NamedTuple):
    """What an entry depends on."""

    work: Work
    """The work."""

    before: Work | None
    """The work of the entry before it; None if the style does not replace repeated names."""

    letter: str
    """The letter after the year."""

    conditions: int
    """How many of the style's tests for ``disambiguate`` are true."""

    style: bytes
    """A digest of the style."""

    locale: bytes
    """A digest of the locale."""


class Bibliography:
    """The works that a document cites: the texts of citations, and the order and letters of the list.

    :param cited: the keys of the works in the order of their citations; they may be repeated
    :param works: the works that are known. A key without a work gets no entry
    :param style: entries are sorted by its keys; without any, they have the order of the first citations
    :param locale: the language of the terms in citations, such as "de-DE", or what ``load_locale`` returned
    :raises ValueError: if there is no such locale

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
        locale: csl.Locale | str = "en-US",
    ) -> None:
        self._style = style
        self._locale = locale_of(locale)

        by_key: dict[Key, Work] = dict(works.items())
        known = [by_key[key] for key in dict.fromkeys(cited) if key in by_key]
        self._items = [item_of(work, style) for work in known]
        self._processor = csl.Processor(style.parsed, self._items, self._locale)
        self._processor.register([csl.Cite(item["id"])] for item in self._items)

        by_id = {item_id(work.key): work for work in known}
        self.references = tuple(
            Reference(by_id[listed.id], *listed[1:]) for listed in self._processor.listed
        )
        self._by_key = {reference.key: reference for reference in self.references}

    @property
    def heading(self) -> str:
        """What the list is called in the language, such as "References"."""
        return self._locale.term("reference", plural=True).capitalize()

    def get(self, key: Key) -> Reference | None:
        """Return the entry of a work, or None if it has none."""
        return self._by_key.get(key)

    def citation(
        self, cites: Iterable[Cite], form: Form = "p", display: Display = None
    ) -> tuple[Part, ...]:
        """Return a citation.

        :param cites: what it cites, as ``placed`` returns it; repeated ones are shown once
        :param form: "p": "(Kahn, 2001; Wilensky, 2002)" or "[1, 3]"; "t": "Kahn (2001)" or "Kahn [1]";
            "year": "2001"; "author": "Kahn"
        :param display: returns the text of a DOI whose work is not known; by default ``doi:`` and the name
        """
        unique = list(dict.fromkeys(cites))
        if form == "p":
            return tuple(merged(self._in_brackets(unique, display)))
        parts: list[Part] = []
        for cite in unique:
            if parts:
                parts.append(Part("; "))
            parts += self._in_sentence(cite, form, display)
        return tuple(merged(parts))

    def placed(self, citations: Iterable[tuple[Form, Iterable[Cite]]]) -> list[tuple[Cite, ...]]:
        """Return the citations of a page, for styles that cite a work in another way when it comes again.

        They have "ibid.", for instance. A cite that this did not return is the first of its work.

        :param citations: all citations of the page, in its order, each with its form
        :return: the cites of each citation, with their places
        """
        unique = [(form, list(dict.fromkeys(cites))) for form, cites in citations]
        written = [self._all_written(form, cites) for form, cites in unique]
        placed = self._style.parsed.place(written)
        pairs = zip(unique, placed, strict=True)
        return [_with_places(cites, of_citation) for (_, cites), of_citation in pairs]

    def _all_written(self, form: Form, cites: list[Cite]) -> list[csl.Cite]:
        """Return the cites of a citation as the processor takes them; the author alone is no reference."""
        is_name = form == "author"
        return [self._written(cite)._replace(author_only=is_name) for cite in cites]

    def _in_brackets(self, cites: list[Cite], display: Display) -> Iterator[Part]:
        """Yield the parts of a citation of the form "p"."""
        written = [self._written(cite) for cite in cites]
        processor = self._processor
        is_numeric_of_ours = self._style.is_shipped and self._style.numbered
        if is_numeric_of_ours and not all(self._is_bare(cite) for cite in cites):
            processor = self._with_semicolons

        runs = processor.cite(written)
        shown = {run.item for run in runs}
        hidden = [cite for cite in written if cite.id not in shown and not processor.cite([cite])]
        if hidden:
            # Of a work without author and date, a .csl style may show nothing
            for place, cite in enumerate(written):
                if cite in hidden:
                    written[place] = cite._replace(id=f"{_YEAR}{cite.id}")
            runs = processor.cite(written)

        by_id = {one.id: cite.key for one, cite in zip(written, cites, strict=True)}
        for run in runs:
            yield self._part(run, by_id.get(run.item), display)

    def _part(self, run: csl.Run, key: Key | None, display: Display) -> Part:
        """Return a run of a citation as a part that leads to a work."""
        text = run.text
        is_year_alone = run.item.startswith(_YEAR)
        if key is not None and is_year_alone:
            text = self._year(self._by_key[key])
        elif key is not None and key not in self._by_key:
            text = _unknown_work(key, display)
        return Part(text, formats_of(run), key)

    def _is_bare(self, cite: Cite) -> bool:
        """Return whether the author of the text added nothing to a work that is known."""
        is_known = cite.key in self._by_key
        return is_known and not (cite.prefix or cite.locator or cite.suffix or cite.no_author)

    @cached_property
    def _with_semicolons(self) -> csl.Processor:
        """Our numeric style, with semicolons."""
        processor = csl.Processor(self._style.with_semicolons, self._items, self._locale)
        processor.take_list(self._processor.listed)
        return processor

    def _written(self, cite: Cite) -> csl.Cite:
        """Return a cite as the processor takes it; in our styles, locators are no part of links."""
        locator = cite.locator
        suffix = cite.suffix
        if self._style.is_shipped or cite.key not in self._by_key:
            suffix = self._locator(cite) + suffix
            locator = ""
        return csl.Cite(
            self._id(cite.key),
            locator,
            cite.label or "page",
            cite.prefix,
            suffix,
            suppress_author=cite.no_author,
            # Hosts make no notes, so none has a number
            place=cite.place._replace(first_note=0),
            plural=cite.plural,
        )

    def _id(self, key: Key) -> str:
        """Return the id of a work in the processor; DOIs are alike in any case."""
        reference = self._by_key.get(key)
        if reference is None:
            return item_id(key)
        return item_id(reference.key)

    def _in_sentence(self, cite: Cite, form: Form, display: Display) -> list[Part]:
        """Return a citation of the form "t", "year" or "author"."""
        prefix = [Part(f"{cite.prefix} ")] if cite.prefix else []
        suffix = Part(self._locator(cite) + cite.suffix)
        key = cite.key
        if key not in self._by_key:
            return [*prefix, Part(_unknown_work(key, display), link=key), suffix]

        if form == "author":
            return [*prefix, *self._author(cite), suffix]
        if form == "year":
            return [*prefix, *self._year_alone(cite)]
        return [*prefix, *self._author_and_rest(cite)]

    def _author_and_rest(self, cite: Cite) -> list[Part]:
        """Return an author and in brackets the rest, such as "Kahn (2001, p. 12)"."""
        key = cite.key
        written = self._written(cite)._replace(prefix="", suppress_author=True)
        runs = self._processor.cite([written])
        author = [] if cite.no_author else self._author(cite)
        if not runs:  # the style shows neither a year nor a number
            return self._author(cite)

        rest = [Part(run.text, formats_of(run), (run.item and key) or None) for run in runs]
        has_brackets = self._style.numbered or not runs[0].item
        if not has_brackets:  # in a style of notes
            rest = [Part("("), *rest, Part(")")]
        if author and "superscript" not in rest[0].formats:
            author.append(Part(" "))

        parts = [*author, *rest]
        if not written.suffix:
            return [part._replace(link=key) for part in parts]
        *linked, last = parts
        return [*(part._replace(link=key) for part in linked), last]

    def _year_alone(self, cite: Cite) -> list[Part]:
        """Return the year of a work, with the locator and the suffix."""
        key = cite.key
        written = self._written(cite)
        runs = self._processor.cite([written._replace(prefix="", suffix="", suppress_author=True)])
        shown = [Part(run.text, formats_of(run), key) for run in runs if run.item]
        # Without its author, a citation of an author-date style alone is a year
        if self._style.numbered or self._style.parsed.is_note or not shown:
            shown = [Part(self._year(self._by_key[key]), link=key)]
            return [*shown, Part(self._locator(cite) + cite.suffix)]
        return [*shown, Part(written.suffix)]

    def _author(self, cite: Cite) -> list[Part]:
        """Return the names that the style shows in a citation, or else the title, for a sentence."""
        names = csl.Cite(self._id(cite.key), author_only=True, place=cite.place)
        return [Part(run.text, formats_of(run), cite.key) for run in self._processor.cite([names])]

    def _locator(self, cite: Cite) -> str:
        """Return what follows a label, such as ", pp. 12–14"; "" without a locator."""
        if not cite.locator:
            return ""
        is_plural = cite.plural or _SEVERAL_LOCATORS.search(cite.locator) is not None
        term = self._locale.term(cite.label, "short", plural=is_plural)
        return f", {term} {_HYPHEN_IN_RANGE.sub('–', cite.locator)}"

    def _year(self, reference: Reference) -> str:
        """Return the year of a work with its letter, such as "2016a" or "n.d.-a"."""
        if reference.work.year is not None:
            return f"{reference.work.year}{reference.letter}"
        no_date = self._locale.term("no date", "short")
        if reference.letter:
            return f"{no_date}-{reference.letter}"
        return no_date


def format_entries(
    references: Iterable[Reference],
    style: Style,
    locale: csl.Locale | str = "en-US",
    known: MutableMapping[EntryKey, tuple[Part, ...]] | None = None,
    problems: dict[str, None] | None = None,
) -> list[tuple[Part, ...]]:
    """Return the entries of references, without their numbers.

    :param references: entries of a ``Bibliography``
    :param style: their style
    :param locale: the language, such as "de-DE", or what ``load_locale`` returned
    :param known: entries of earlier calls, which are not formatted again; those of this call are set in it
    :param problems: gets what cannot be read of a work
    :raises ValueError: if there is no such locale
    """
    language = locale_of(locale)
    references = list(references)
    keys = _entry_keys(references, style, language)
    if known is None:
        known = {}

    pairs = list(zip(keys, references, strict=True))
    to_format = [(key, reference) for key, reference in pairs if key not in known]
    if to_format and style.replaces_names:
        to_format = pairs  # as an entry depends on the one before it
    formatted = _formatted([reference for _, reference in to_format], style, language)

    entries = {key: known[key] for key in keys if key in known}
    with_problem = set()
    for (key, reference), entry in zip(to_format, formatted, strict=True):
        if entry.problem:
            with_problem.add(key)
            if problems is not None:
                problems[f"{reference.key}: {entry.problem}"] = None
        if key not in entries:
            parts = entry_parts((*entry.label, *entry.runs), reference.work)
            entries[key] = parts or as_link(reference.work)

    # An entry with a problem is formatted again by the next call, which reports the problem, too
    known.update((key, parts) for key, parts in entries.items() if key not in with_problem)
    return [entries[key] for key in keys]


def _entry_keys(references: list[Reference], style: Style, locale: csl.Locale) -> list[EntryKey]:
    """Return the keys under which entries are remembered."""
    keys = []
    before = None
    for work, _, letter, conditions in references:
        keys.append(EntryKey(work, before, letter, conditions, style.digest, locale.digest))
        if style.replaces_names:
            before = work
    return keys


def _formatted(
    references: list[Reference], style: Style, locale: csl.Locale
) -> tuple[csl.Reference, ...]:
    """Return references as the processor formats them, without their numbers."""
    items = [item_of(reference.work, style) for reference in references]
    processor = csl.Processor(style.parsed, items, locale)
    processor.take_list(
        csl.Listed(item["id"], 0, reference.letter, reference.conditions)
        for item, reference in zip(items, references, strict=True)
    )
    return processor.bibliography()


def _with_places(cites: list[Cite], placed: list[csl.Cite]) -> tuple[Cite, ...]:
    """Return cites with the places that the processor found."""
    pairs = zip(cites, placed, strict=True)
    return tuple(replace(cite, place=of_cite.place) for cite, of_cite in pairs)


def as_link(work: Work) -> tuple[Part, ...]:
    """Return the entry of a work of which the style shows nothing."""
    text = work.doi.url if work.doi else work.title or str(work.key)
    return (Part(text, link=link_of(work)),)


def _unknown_work(key: Key, display: Display) -> str:
    """Return the text for a work that is not in the list."""
    if display is not None and isinstance(key, DOI):
        return display(key)
    return item_id(key)
