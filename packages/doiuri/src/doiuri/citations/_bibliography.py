"""Citations in a text, and the order, numbers and letters of the list of references.

1. The works that are known become the items of a CSL processor, which takes each as cited once, in the order of
   the first citations. It sorts and numbers them, and tells apart those that look alike; the result is
   ``references``.
2. A citation of the form "p" is what this processor returns. The other forms are put together from the parts of
   such citations: the names, the rest without them, the year.
3. Works that are not known have no item. The processor shows the id of such a cite, which the text for it replaces
   (``_with_texts``).
4. Entries may have another style and language, so another processor formats them. It takes from the first one
   what tells works apart, such as letters.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypeVar

import doiuri_csl as csl

from doiuri._doi import DOI
from doiuri.citations._items import item_id, item_of
from doiuri.citations._notes import Around, ends_in_title, ends_sentence, without_stop
from doiuri.citations._spans import Span, entry_spans, spans_of, with_whole_brackets
from doiuri.citations._style import heading_of, locale_of
from doiuri.plugins.display import retraction_mark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from doiuri._doi import Handle
    from doiuri.citations._cites import CitationItem
    from doiuri.citations._style import ReferenceStyle
    from doiuri.plugins.display import Words
    from doiuri.works import Work

    Key: TypeAlias = Handle | str
    AnyKey = TypeVar("AnyKey", bound=Key)  # a Mapping's keys are invariant
    Display: TypeAlias = Callable[[DOI], str] | None
    Spans: TypeAlias = tuple[Span, ...]

Form = Literal["p", "t", "year", "author"]
"""A citation in brackets, as part of the sentence, or only the year or author of it."""

# Of "12-14" and "3 & 5", and also of "A-3", which is one number for styles
_SEVERAL_LOCATORS = re.compile(r"[-–,&]")
_HYPHEN_IN_RANGE = re.compile(r"(?<=\d)-(?=\d)|(?<=[ivxlcdm])-(?=[ivxlcdm]+\b)")  # also of "vi-xi"
# Begins the id of a cite whose year is shown alone: the processor has no item with it, and shows the id itself,
# which the year then replaces
_YEAR = "year of "
# A prefix that stands for the word before a citation, so that the style does not begin a sentence; it is taken out
_WORD = "\ue000"


class Reference(NamedTuple):
    """An entry in a list of references."""

    work: Work
    """The work."""

    listed: csl.ListedItem
    """Its number, and what its entry says to tell it from others."""

    @property
    def key(self) -> Handle | str:
        """The DOI of the work, or its id in a works file."""
        return self.work.key

    @property
    def number(self) -> int:
        """Its place in the list, from 1."""
        return self.listed.number


class ListEntry(NamedTuple):
    """An entry as a list of references shows it, or the link that stands for it."""

    key: Handle | str
    """The DOI of the work, or its id in a works file."""

    number: int
    """Its place in the list, from 1."""

    spans: Spans
    """What it shows: the work, and whether that was retracted."""


class _EntryKey(NamedTuple):
    """What the text of an entry depends on."""

    work: Work
    before: Work | None
    """The work of the entry before it; None if the style does not replace repeated names."""
    listed: csl.ListedItem
    """What tells it from others; its number is 0, as the text does not show it."""
    style: bytes
    """A digest of the style."""
    locale: bytes
    """A digest of the locale."""
    abbreviations: bytes
    """A digest of the abbreviations; empty without any."""


class _EntryText(NamedTuple):
    """The text of an entry, and what could not be read of its work; "" if nothing is wrong."""

    spans: Spans
    problem: str


class EntryCache:
    """The texts of entries, so that further lists, and further builds, format only the entries that are new.

    It can be pickled.

    :param earlier: the cache of the last build; of its entries, only those that are shown again are kept
    """

    def __init__(self, earlier: EntryCache | None = None) -> None:
        self._texts: dict[_EntryKey, _EntryText] = {}
        self._earlier: dict[_EntryKey, _EntryText] = {}
        if earlier is not None:
            self._earlier = earlier._texts

    def __getstate__(self) -> dict[str, object]:
        return {"_texts": self._texts, "_earlier": {}}

    def __contains__(self, key: _EntryKey) -> bool:
        return key in self._texts or key in self._earlier

    def __getitem__(self, key: _EntryKey) -> _EntryText:
        if key not in self._texts:
            self._texts[key] = self._earlier[key]
        return self._texts[key]

    def __setitem__(self, key: _EntryKey, text: _EntryText) -> None:
        self._texts[key] = text


class Bibliography:
    """The works that a document cites: the texts of citations, and the list of references.

    :param cited: the keys of the works in the order of their citations; they may be repeated
    :param works: the works that are known, and None for a DOI that has none. A key without a work gets no entry
    :param style: the style of citations. Entries are sorted by its keys; without any, they have the order of the
        first citations
    :param locale: the language of the terms in citations, such as "de-DE", or what ``load_locale`` returned
    :param entry_style: the style of entries; by default that of citations
    :param entry_locale: the language of entries; by default that of citations
    :param abbreviations: the short forms of journals and the like
    :raises ValueError: if there is no such locale

    >>> from doiuri import DOI
    >>> from doiuri.works import Work
    >>> from doiuri.citations import CitationItem, ReferenceStyle, text_of
    >>> kahn, handbook = DOI("10.1007/s00799-005-0128-x"), DOI("10.1000/182")
    >>> works = {kahn: Work(kahn, {"author": [{"family": "Kahn"}, {"family": "Wilensky"}], "issued": "2006"}),
    ...          handbook: Work(handbook, {"title": "DOI Handbook"})}
    >>> bibliography = Bibliography([kahn, handbook], works, ReferenceStyle.load())
    >>> text_of(bibliography.citation([CitationItem(kahn, label="page", locator="12")]))
    '(Kahn & Wilensky, 2006, p. 12)'
    >>> text_of(bibliography.citation([CitationItem(kahn)], "t"))
    'Kahn and Wilensky (2006)'
    >>> for entry in bibliography.entries():
    ...     print(text_of(entry.spans))
    DOI Handbook (n.d.). https://doi.org/10.1000/182
    Kahn, & Wilensky (2006). https://doi.org/10.1007/s00799-005-0128-x
    """

    references: tuple[Reference, ...]
    """The entries, in the order of the list."""

    def __init__(
        self,
        cited: Iterable[Key],
        works: Mapping[AnyKey, Work | None],
        style: ReferenceStyle,
        locale: csl.Locale | str = "en-US",
        *,
        entry_style: ReferenceStyle | None = None,
        entry_locale: csl.Locale | str = "",
        abbreviations: csl.Abbreviations | None = None,
    ) -> None:
        self._style = style
        self._locale = locale_of(locale)
        self._entry_style = entry_style or style
        self._entry_locale = locale_of(entry_locale or locale)
        self._abbreviations = abbreviations

        answered: dict[Key, Work | None] = dict(works.items())
        keys = list(dict.fromkeys(cited))
        self._unanswered = [key for key in keys if isinstance(key, DOI) and key not in answered]
        works_of_keys = [answered.get(key) for key in keys]
        known = [work for work in works_of_keys if work is not None]

        # Each work is cited once, in the order of the first citations
        self._items = [item_of(work, style) for work in known]
        self._processor = csl.Processor(style.parsed, self._items, self._locale, abbreviations)
        self._processor.set_citations([csl.Cite(item["id"])] for item in self._items)

        by_id = {item_id(work.key): work for work in known}
        self.references = tuple(
            Reference(by_id[listed.id], listed) for listed in self._processor.listed
        )
        self._by_key = {reference.key: reference for reference in self.references}
        self.problems: list[str] = []
        """What could not be read of the works whose entries were returned."""

    @property
    def is_numbered(self) -> bool:
        """Whether citations are numbers."""
        return self._style.numbered

    @property
    def has_entries(self) -> bool:
        """Whether the style has a list; in some styles of notes, the first note is the whole reference."""
        return self._entry_style.parsed.has_bibliography

    @property
    def heading(self) -> str:
        """What the list is called in the language of entries, such as "References"."""
        return heading_of(self._entry_locale)

    def get(self, key: Key) -> Reference | None:
        """Return the entry of a work, or None if it has none."""
        return self._by_key.get(key)

    def citation(
        self,
        cites: Iterable[CitationItem],
        form: Form = "p",
        display: Display = None,
        around: Around | None = None,
    ) -> Spans:
        """Return a citation.

        :param cites: what it cites, as ``placed`` returns it; repeated ones are shown once
        :param form: "p": "(Kahn, 2001; Wilensky, 2002)" or "[1, 3]"; "t": "Kahn (2001)" or "Kahn [1]";
            "year": "2001"; "author": "Kahn"
        :param display: returns the text of a DOI whose work is not known; by default ``doi:`` and the name
        :param around: the text around it; in a style of notes, the citation begins and ends as this needs
        """
        unique = list(dict.fromkeys(cites))
        if around is not None and self._style.is_note:
            runs = self._among_words(unique, form, display, around)
        else:
            runs = self._runs(unique, form, display)
        return self._spans(runs, unique)

    def note(self, cites: Iterable[CitationItem], display: Display = None) -> Spans:
        """Return a citation as the text of a note, which begins and ends as a sentence.

        :param cites: as those of ``citation``
        :param display: as that of ``citation``
        """
        unique = [self._with_author_if_empty(cite) for cite in dict.fromkeys(cites)]
        runs = self._runs(unique, "p", display)
        prefix = unique[0].prefix if unique else ""
        if runs and prefix:  # the author's "see" becomes "See"; the style has seen to its own words
            first = runs[0].text
            runs[0] = runs[0]._replace(text=first[:1].upper() + first[1:])
        if not ends_sentence(csl.to_text(runs)):
            runs.append(csl.Run("."))
        return self._spans(runs, unique)

    def _spans(self, runs: Iterable[csl.Run], cites: list[CitationItem]) -> Spans:
        """Return a citation as texts that lead to the works that they cite."""
        keys = {self._id(cite.key): cite.key for cite in cites}
        return with_whole_brackets(spans_of(runs, lambda run: keys.get(run.item)))

    def _runs(self, cites: list[CitationItem], form: Form, display: Display) -> list[csl.Run]:
        """Return a citation that stands alone."""
        if form == "p":
            return self._with_texts(self._in_brackets(cites), cites, display)
        runs: list[csl.Run] = []
        for cite in cites:
            if runs:
                runs.append(csl.Run("; "))
            runs += self._in_sentence(cite, form, display)
        return runs

    def _among_words(
        self, cites: list[CitationItem], form: Form, display: Display, around: Around
    ) -> list[csl.Run]:
        """Return a citation of a style of notes as the text around it needs: "Kahn, Ants" in a sentence."""
        if form == "t" and around.in_note:
            return self._names_and_rest(cites, display, around)
        if form != "p":
            return self._runs(cites, form, display)
        follows_word = not around.begins_sentence
        runs = self._in_brackets(cites, follows_word=follows_word)
        return self._without_doubled_stop(self._with_texts(runs, cites, display), cites, around)

    def _without_doubled_stop(
        self, runs: list[csl.Run], cites: list[CitationItem], around: Around
    ) -> list[csl.Run]:
        """Return a citation without the full stop of the style at its end, if the author's sentence goes on.

        The stop of an abbreviation, as in "Bees, etc.", stays before other words. Before the author's own full
        stop, it stays only in quotation marks: ‘Bees, etc.’.
        """
        text = csl.to_text(runs)
        precedes_stop = around.after.startswith(".")
        if cites and self._ends_in_abbreviation(cites[-1], text):
            is_one_too_many = precedes_stop and text.endswith(".")
        else:
            is_one_too_many = precedes_stop or around.continues
        return without_stop(runs) if is_one_too_many else runs

    def _ends_in_abbreviation(self, cite: CitationItem, text: str) -> bool:
        """Return whether the stop at the end of a citation's text belongs to its suffix or title."""
        if cite.suffix:
            return cite.suffix.endswith(".")
        reference = self._by_key.get(cite.key)
        titles = () if reference is None else map(reference.work.csl.get, ("title", "title-short"))
        return any(ends_in_title(text, title) for title in titles if title)

    def _names_and_rest(
        self, cites: list[CitationItem], display: Display, around: Around
    ) -> list[csl.Run]:
        """Return works as part of a sentence of a note, the names first, such as "Kahn, Ants, 12"."""
        runs: list[csl.Run] = []
        for number, cite in enumerate(cites, 1):
            if runs:
                runs.append(csl.Run("; "))
            if cite.key not in self._by_key:
                runs += self._in_sentence(cite, "t", display)
                continue

            prefix = [csl.Run(f"{cite.prefix} ")] if cite.prefix else []
            runs += [*prefix, *self._author(cite)]
            without_author = replace(cite, prefix="", no_author=True)
            rest_runs = self._in_brackets([without_author], follows_word=True)
            rest = self._with_texts(rest_runs, [cite], display)
            if rest:
                is_last = number == len(cites)
                around_rest = around if is_last else Around(after=";")
                runs += [csl.Run(", "), *self._without_doubled_stop(rest, [cite], around_rest)]
        return runs

    def _with_author_if_empty(self, cite: CitationItem) -> CitationItem:
        """Return a cite with its author if the style shows nothing without, as of a work without a title."""
        if not cite.no_author or cite.key not in self._by_key:
            return cite
        csl_cite = self._csl_cite(replace(cite, prefix="", suffix=""))
        if self._processor.cite([csl_cite]):
            return cite
        return replace(cite, no_author=False)

    def placed(
        self,
        citations: Iterable[tuple[Form, Iterable[CitationItem]]],
        notes: Iterable[int] | None = None,
    ) -> list[tuple[CitationItem, ...]]:
        """Return the citations of a page, for styles that cite a work in another way when it comes again.

        They have "ibid.", for instance. A cite that this did not return is the first of its work.

        :param citations: all citations of the page, in its order, each with its form
        :param notes: the number of the note that each stands in, 0 for the text; by default, in a style of
            notes, each stands in a note of its own without a number
        :return: the cites of each citation, with their places
        """
        unique = [(form, list(dict.fromkeys(cites))) for form, cites in citations]
        csl_citations = []
        for form, cites in unique:
            csl_cites = [self._unplaced(cite, form) for cite in cites]
            if form == "p":
                csl_cites = self._processor.sort(csl_cites)
            csl_citations.append(csl_cites)
        placed_citations = self._style.parsed.place(csl_citations, notes)

        # The style may have sorted them, so the place of each is looked up by what it was without a place
        placed = []
        for (form, cites), csl_cites in zip(unique, placed_citations, strict=True):
            place_of = {cite._replace(place=csl.Place()): cite.place for cite in csl_cites}
            places = [place_of[self._unplaced(cite, form)] for cite in cites]
            if notes is None:  # the notes have no numbers
                places = [place._replace(first_note=0) for place in places]
            pairs = zip(cites, places, strict=True)
            placed.append(tuple(replace(cite, place=place) for cite, place in pairs))
        return placed

    def _unplaced(self, cite: CitationItem, form: Form) -> csl.Cite:
        """Return a cite before it has a place; in the form "author", it is names alone, which refer to no work."""
        is_name = form == "author"
        return self._csl_cite(cite)._replace(author_only=is_name, place=csl.Place())

    def entries(
        self,
        references: Iterable[Reference] | None = None,
        cache: EntryCache | None = None,
        words: Words | None = None,
    ) -> list[ListEntry]:
        """Return the entries of works, in the style and language of entries.

        :param references: those of ``references`` that are shown; by default all
        :param cache: the texts of entries, which are not formatted again; new ones are kept in it
        :param words: the words for retracted works
        """
        if references is None:
            references = self.references
        references = list(references) if self.has_entries else []
        if cache is None:
            cache = EntryCache()
        texts = self._entry_texts(references, cache)

        entries = []
        for reference, text in zip(references, texts, strict=True):
            problem = f"{reference.key}: {text.problem}"
            if text.problem and problem not in self.problems:
                self.problems.append(problem)
            spans = (*text.spans, *_retraction(reference.work, words))
            entries.append(ListEntry(reference.key, reference.number, spans))
        return entries

    def waiting(self, display: Display = None) -> list[ListEntry]:
        """Return links to the DOIs of which it is not known whether they have a work; they follow the entries.

        :param display: returns the text of a DOI; by default its URL
        """
        links: list[ListEntry] = []
        if not self.has_entries:
            return links
        for number, doi in enumerate(self._unanswered, len(self.references) + 1):
            text = doi.url if display is None else display(doi)
            links.append(ListEntry(doi, number, (Span((csl.Run(text),), doi),)))
        return links

    def _entry_texts(self, references: list[Reference], cache: EntryCache) -> list[_EntryText]:
        """Return the texts of entries, without their numbers; those that the cache lacks are formatted."""
        keys = self._entry_keys(references)
        keyed = list(zip(keys, references, strict=True))
        to_format = [(key, reference) for key, reference in keyed if key not in cache]
        if to_format and self._entry_style.replaces_names:
            to_format = keyed  # as an entry depends on the one before it

        formatted = self._format([reference for _, reference in to_format])
        for (key, reference), entry in zip(to_format, formatted, strict=True):
            if key not in cache:
                spans = entry_spans((*entry.label, *entry.runs), reference.work)
                cache[key] = _EntryText(spans, entry.problem)
        return [cache[key] for key in keys]

    def _entry_keys(self, references: list[Reference]) -> list[_EntryKey]:
        """Return what the text of each entry depends on, which may include the work of the entry before it."""
        style = self._entry_style
        locale = self._entry_locale.digest
        abbreviations = b""
        if self._abbreviations is not None:
            abbreviations = self._abbreviations.digest
        keys = []
        before = None
        for work, listed in references:
            unnumbered = listed._replace(number=0)
            keys.append(_EntryKey(work, before, unnumbered, style.digest, locale, abbreviations))
            if style.replaces_names:
                before = work
        return keys

    def _format(self, references: list[Reference]) -> tuple[csl.BibliographyEntry, ...]:
        """Return references as the processor formats them, without their numbers."""
        items = [item_of(reference.work, self._entry_style) for reference in references]
        processor = csl.Processor(
            self._entry_style.parsed, items, self._entry_locale, self._abbreviations
        )
        processor.set_entries(reference.listed._replace(number=0) for reference in references)
        return processor.bibliography()

    def _in_brackets(
        self, cites: list[CitationItem], *, follows_word: bool = False
    ) -> tuple[csl.Run, ...]:
        """Return a citation of the form "p", such as "(Kahn, 2001; Li, 2002)".

        :param follows_word: whether it stands in a sentence, so that a style of notes does not begin one
        """
        is_numeric_of_ours = self._style.is_shipped and self._style.numbered
        needs_semicolons = is_numeric_of_ours and not all(map(self._is_bare, cites))
        processor = self._with_semicolons if needs_semicolons else self._processor

        csl_cites = [self._csl_cite(cite) for cite in cites]
        if follows_word and not csl_cites[0].prefix:
            csl_cites[0] = csl_cites[0]._replace(prefix=_WORD)  # and taken out at the end
        runs = processor.cite(csl_cites)

        # Of a work without author and date, a .csl style may show nothing: its year ("n.d.") is shown instead.
        # An id without an item holds its place: the style shows the id as it is, and `_with_texts` replaces it
        visible_ids = {run.item for run in runs}
        absent = [cite for cite in csl_cites if cite.id not in visible_ids]
        empty = [cite for cite in absent if not processor.cite([cite])]
        if empty:
            for place, cite in enumerate(csl_cites):
                if cite in empty:
                    csl_cites[place] = cite._replace(id=f"{_YEAR}{cite.id}")
            runs = processor.cite(csl_cites)
        return tuple(run._replace(text=run.text.replace(f"{_WORD} ", "")) for run in runs)

    def _with_texts(
        self, runs: Iterable[csl.Run], cites: list[CitationItem], display: Display
    ) -> list[csl.Run]:
        """Return runs with texts in place of ids: of works that are not listed, or whose year is shown alone."""
        keys = {self._id(cite.key): cite.key for cite in cites}
        with_texts = []
        for run in runs:
            id_ = run.item.removeprefix(_YEAR)
            key = keys.get(id_)
            text = run.text
            if key is not None and key not in self._by_key:
                text = _unknown_work(key, display)
            elif key is not None and run.item.startswith(_YEAR):
                text = self._year(self._by_key[key])
            with_texts.append(run._replace(text=text, item=id_))
        return with_texts

    def _is_bare(self, cite: CitationItem) -> bool:
        """Return whether the author of the text added nothing to a work that is known."""
        is_known = cite.key in self._by_key
        return is_known and not (cite.prefix or cite.locator or cite.suffix or cite.no_author)

    @cached_property
    def _with_semicolons(self) -> csl.Processor:
        """Our numeric style, with semicolons."""
        processor = csl.Processor(self._style.with_semicolons, self._items, self._locale)
        processor.set_entries(self._processor.listed)
        return processor

    def _csl_cite(self, cite: CitationItem) -> csl.Cite:
        """Return a cite as the processor takes it.

        In our styles, the locator is part of the suffix, and so of no link. Without an item, the processor would
        show no locator at all.
        """
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
            place=cite.place,
            plural=cite.plural,
        )

    def _id(self, key: Key) -> str:
        """Return the id of a work in the processor; DOIs are alike in any case."""
        reference = self._by_key.get(key)
        if reference is None:
            return item_id(key)
        return item_id(reference.key)

    def _in_sentence(self, cite: CitationItem, form: Form, display: Display) -> list[csl.Run]:
        """Return a citation of the form "t", "year" or "author"."""
        prefix = [csl.Run(f"{cite.prefix} ")] if cite.prefix else []
        suffix = csl.Run(self._locator(cite) + cite.suffix)
        if cite.key not in self._by_key:
            text = _unknown_work(cite.key, display)
            return [*prefix, csl.Run(text, item=self._id(cite.key)), suffix]

        if form == "author":
            return [*prefix, *self._author(cite), suffix]
        if form == "year":
            return [*prefix, *self._year_alone(cite)]
        return [*prefix, *self._author_and_rest(cite)]

    def _author_and_rest(self, cite: CitationItem) -> list[csl.Run]:
        """Return an author and the rest in brackets, such as "Kahn (2001, p. 12)" or "Kahn [1]"."""
        csl_cite = self._csl_cite(cite)._replace(prefix="", suppress_author=True)
        rest = self._processor.cite([csl_cite])
        if not rest:  # the style shows neither a year nor a number
            return self._author(cite)

        # "(" and "[" of a style stand before the item, and are no part of it
        has_brackets = self._style.numbered or not rest[0].item
        if not has_brackets:  # in a style of notes
            rest = (csl.Run("("), *without_stop(list(rest)), csl.Run(")"))
        author = [] if cite.no_author else self._author(cite)
        if author and "superscript" not in rest[0].formats:
            author.append(csl.Run(" "))

        # All of it links to the work, but for a suffix and the bracket behind it
        linked = [*author, *rest]
        unlinked = [linked.pop()] if csl_cite.suffix else []
        return [*(run._replace(item=csl_cite.id) for run in linked), *unlinked]

    def _year_alone(self, cite: CitationItem) -> list[csl.Run]:
        """Return the year of a work, with the locator and the suffix.

        In an author-date style, it is what the style shows without the author.
        """
        csl_cite = self._csl_cite(cite)
        without_author = csl_cite._replace(prefix="", suffix="", suppress_author=True)
        year_runs = [run for run in self._processor.cite([without_author]) if run.item]
        is_author_date = not (self._style.numbered or self._style.is_note)
        if is_author_date and year_runs:
            return [*year_runs, csl.Run(csl_cite.suffix)]
        year = self._year(self._by_key[cite.key])
        return [csl.Run(year, item=csl_cite.id), csl.Run(self._locator(cite) + cite.suffix)]

    def _author(self, cite: CitationItem) -> list[csl.Run]:
        """Return the names that the style shows in a citation, or else the title, for a sentence."""
        id_ = self._id(cite.key)
        names = csl.Cite(id_, author_only=True, place=cite.place)
        return [run._replace(item=id_) for run in self._processor.cite([names])]

    def _locator(self, cite: CitationItem) -> str:
        """Return the locator with its label, such as ", pp. 12–14"; "" without a locator."""
        if not cite.locator:
            return ""
        is_plural = cite.plural or _SEVERAL_LOCATORS.search(cite.locator) is not None
        term = self._locale.term(cite.label, "short", plural=is_plural)
        return f", {term} {_HYPHEN_IN_RANGE.sub('–', cite.locator)}"

    def _year(self, reference: Reference) -> str:
        """Return the year of a work with its letter, such as "2016a" or "n.d.-a"."""
        if reference.work.year is not None:
            return f"{reference.work.year}{reference.listed.year_suffix}"
        no_date = self._locale.term("no date", "short")
        if reference.listed.year_suffix:
            return f"{no_date}-{reference.listed.year_suffix}"
        return no_date


def _retraction(work: Work, words: Words | None) -> Spans:
    """Return the mark of a retracted work, linked to the notice; nothing for other works."""
    if work.retraction is None:
        return ()
    mark = csl.Run(retraction_mark(work, words))
    return Span((csl.Run(" "),)), Span((mark,), work.retraction.doi)


def _unknown_work(key: Key, display: Display) -> str:
    """Return the text for a work that is not in the list."""
    if display is not None and isinstance(key, DOI):
        return display(key)
    return item_id(key)
