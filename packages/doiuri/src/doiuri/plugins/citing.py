"""Lists of references, and what the options say about them and about citations."""

from __future__ import annotations

import hashlib
import re
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from doiuri._doi import DOI
from doiuri._errors import DOISyntaxError
from doiuri.citations import (
    Bibliography,
    Cite,
    Part,
    Style,
    format_entries,
    load_locale,
    parse_citation,
    read_works,
)
from doiuri.citations._style import ENGLISH
from doiuri.plugins import option, with_suggestion
from doiuri.plugins.display import retraction_mark

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping

    from doiuri_csl import Locale

    from doiuri._doi import Handle
    from doiuri.citations import EntryKey, Reference
    from doiuri.plugins import Options
    from doiuri.plugins.display import Words
    from doiuri.works import Work

_BETWEEN = re.compile(  # works that are listed
    r"""
    \s* \n \s*
    | ; \s+
    | ; \Z
    """,
    re.VERBOSE,
)

__all__ = ["Backlink", "Citing", "ListEntry", "ReferenceList"]


class Citing:
    """The options of citations, checked, with the files that they name as these are now.

    :param options: those of the host, with the paths of files in their folder
    :param folder: the folder of the styles that single lists have
    :param language: the language of citations; by default ``reference_locale``, or English
    :param prefix: what the names of the host's options begin with, such as ``"doi_"``
    :raises ValueError: if a value is invalid; the message begins with the option
    """

    def __init__(
        self,
        options: Options,
        folder: str | os.PathLike[str] = ".",
        language: str = "",
        prefix: str = "",
    ) -> None:
        self._folder = folder
        self._unreadable: dict[str, None] = {}
        self._kind = options.citation
        self._style = options.reference_style
        self.locale, self.no_language = self._locale_of(language)
        """The language of citations, and why it is English instead of ``language``; "" if it is not."""
        with _naming(f"{prefix}reference_locale"):
            self.entry_locale = self.locale
            """The language of lists."""
            if options.reference_locale:
                self.entry_locale = load_locale(options.reference_locale)
        if not language or (self.no_language and options.reference_locale):
            self.locale = self.entry_locale
            self.no_language = ""

        self.locale_files: tuple[str, ...] = ()
        """The path of the file of ``reference_locale``, unless that is a language."""
        locale = options.reference_locale or ""
        if option("reference_locale").names_file(locale):
            self.locale_files = (locale,)

        with _naming(f"{prefix}works"):
            works_language = language or ENGLISH
            if options.reference_locale:
                works_language = self.entry_locale.lang
            self.library = read_works(options.works, language=works_language)
            """The works of the author's files."""

        with _naming(f"{prefix}reference_style"):
            self.styles()

    @property
    def problems(self) -> list[str]:
        """What is wrong with the files of works, and what cannot be read of works."""
        return [*self.library.problems, *self._unreadable]

    def _locale_of(self, language: str) -> tuple[Locale, str]:
        try:
            return load_locale(language or ENGLISH), ""
        except ValueError as error:
            return load_locale(ENGLISH), str(error)

    def read_nocite(self, text: str, report: Callable[[str, ValueError], object]) -> list[Cite]:
        """Read works that are listed though nothing cites them, one a line or separated by ``;`` and a space.

        ``*`` or ``@*`` is all works of the files.

        :param text: the works, as for ``parse_citation``
        :param report: called with each part that is not a work, and the reason
        """
        cites: list[Cite] = []
        for part in filter(None, _BETWEEN.split(text.strip())):
            try:
                cites += self._read_listed(part)
            except DOISyntaxError as error:
                report(part, with_suggestion(error))
            except ValueError as error:  # there is no such work, or there are no files of works
                report(part, error)
        return cites

    def _read_listed(self, part: str) -> Iterable[Cite]:
        if part not in {"*", "@*"}:
            return parse_citation(part, self.locale, self.library.ids)
        if not self.library.files:
            raise ValueError("there are no files of works; name them in the option works")
        return [Cite(key, typed="@*") for key in self.library.keys]

    def files_of(self, style: str) -> Iterable[str]:
        """Return the path of the file of a style that a list has; nothing if it is one of ours."""
        declared = option("reference_style")
        return filter(declared.names_file, [declared.in_folder(style, self._folder)])

    @cache  # noqa: B019 (one a build)
    def digest(self, path: str) -> bytes | None:
        """Return a digest of a file, as this build reads it; None if it cannot be read."""
        try:
            return hashlib.blake2s(Path(path).read_bytes()).digest()
        except (OSError, ValueError):  # a path may contain a NUL
            return None

    @cache  # noqa: B019 (one a build)
    def styles(self, name: str = "") -> tuple[Style, Style]:
        """Return the style of citations, and that of the entries to which they lead.

        :param name: the style of a list that has one of its own, in ``folder``
        :raises ValueError: if there is no such style
        """
        default = "numeric" if self._kind == "number" else "author-date"
        if name:
            entries = Style.load(name, self._folder)
        else:
            entries = Style.load(self._style or default)
        is_numbered = self._kind == "number"
        if self._kind is None or entries.numbered == is_numbered:
            return entries, entries
        return Style.load(default), entries


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Begin the message of a ValueError with the name of an option."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


class Backlink(NamedTuple):
    """A place that cites a work, to which the entry of the work leads back."""

    page: str
    """The name of the page, as the host has it; "" if there is only one."""

    id: str
    """The id of the citation on the page."""


class ListEntry(NamedTuple):
    """An entry of a list of references, or the link that stands for it."""

    key: Handle | str
    """The DOI of the work, or its id in a works file."""

    number: int
    """Its place in the list, from 1."""

    parts: tuple[Part, ...]
    """What it shows: the work, and whether that was retracted."""

    backlinks: list[Backlink]
    """The places that cite the work, in their order."""


class ReferenceList(Bibliography):
    """A list of references, and the citations that lead to its entries.

    A DOI without a work has no entry. While it is not known whether there is a work, a link stands for the entry.

    :param citing: the options
    :param cited: the works in the order of their first citations, each with the places that cite it; none for
        one that is only listed
    :param works: the works that are known; None for a DOI that has none
    :param style: the style of the list, if it has one of its own
    """

    def __init__(
        self,
        citing: Citing,
        cited: Mapping[Handle | str, list[Backlink]],
        works: Mapping[DOI, Work | None],
        style: str = "",
    ) -> None:
        of_citations, self._entry_style = citing.styles(style)
        registered = {doi: work for doi, work in works.items() if work is not None}
        known = citing.library.complete(registered, cited)
        super().__init__(cited, known, of_citations, citing.locale)
        self._citing = citing
        self.cited = cited
        """The places that cite each work; the host may add to them until the entries are written."""
        without_work = [key for key in cited if isinstance(key, DOI) and key not in known]
        self._waiting = [doi for doi in without_work if doi not in works]
        self.is_numbered = of_citations.numbered
        """Whether citations are numbers."""

    def entries(
        self,
        references: Iterable[Reference],
        known: MutableMapping[EntryKey, tuple[Part, ...]] | None = None,
        words: Words | None = None,
    ) -> list[ListEntry]:
        """Return the entries of works, in the language of lists; see ``format_entries``.

        ``Citing.problems`` says what cannot be read of the works.

        :param references: those of ``references`` that are shown
        :param known: formatted entries, which are not formatted again; all of this call are set in it
        :param words: the words for retracted works
        """
        references = [*references]
        citing = self._citing
        texts = format_entries(
            references, self._entry_style, citing.entry_locale, known, citing._unreadable
        )
        entries = []
        for (work, number, *_), parts in zip(references, texts, strict=True):
            marked = (*parts, *retraction_mark(work, words))
            entries.append(ListEntry(work.key, number, marked, self.cited[work.key]))
        return entries

    def waiting(self, display: Callable[[DOI], str] | None = None) -> list[ListEntry]:
        """Return the links that stand for entries, which follow these.

        :param display: returns the text of a DOI; by default its URL
        """
        links = []
        for number, doi in enumerate(self._waiting, len(self.references) + 1):
            text = doi.url if display is None else display(doi)
            link = Part(text, link=doi)
            links.append(ListEntry(doi, number, (link,), self.cited[doi]))
        return links
