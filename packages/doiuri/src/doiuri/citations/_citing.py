"""What the options of a host say about citations and lists of references."""

from __future__ import annotations

import hashlib
import re
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from doiuri_csl import Abbreviations, Processor

from doiuri._doi import DOI
from doiuri._errors import DOISyntaxError
from doiuri.citations._bibliography import Bibliography
from doiuri.citations._cites import CitationItem, parse_citation
from doiuri.citations._style import ENGLISH, ReferenceStyle, heading_of, load_locale
from doiuri.citations._works import read_works
from doiuri.plugins import with_suggestion
from doiuri.plugins.options import option

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from doiuri._doi import Handle
    from doiuri.plugins.options import Options
    from doiuri.works import Work

_BETWEEN = re.compile(  # works that are listed
    r"""
    \s* \n \s*
    | ; \s+
    | ; \Z
    """,
    re.VERBOSE,
)


class _Styles(NamedTuple):
    """The style of citations, and that of the entries to which they lead."""

    citations: ReferenceStyle
    entries: ReferenceStyle


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
        self._kind = options.citation
        self._notes = options.notes
        self._style = options.reference_style
        self._csl_path = options.csl_path

        self.no_language = ""
        """Why ``locale`` is English instead of ``language``; "" if it is not."""
        try:
            self.locale = load_locale(language or ENGLISH)
            """The language of citations."""
        except ValueError as error:
            self.locale = load_locale(ENGLISH)
            self.no_language = str(error)
        self.entry_locale = self.locale
        """The language of lists."""
        works_language = language or ENGLISH

        self.locale_files: tuple[str, ...] = ()
        """The path of the file of ``reference_locale``, unless that is a language."""
        reference_locale = options.reference_locale
        if reference_locale:
            with _naming(f"{prefix}reference_locale"):
                self.entry_locale = load_locale(reference_locale)
            works_language = self.entry_locale.lang
            if not language or self.no_language:
                self.locale = self.entry_locale
                self.no_language = ""
            if option("reference_locale").names_file(reference_locale):
                self.locale_files = (reference_locale,)

        with _naming(f"{prefix}works"):
            self.library = read_works(options.works, language=works_language)
            """The works of the author's files; its ``problems`` say what is wrong with them."""

        self._abbreviations = None
        if options.abbreviations:
            with _naming(f"{prefix}abbreviations"):
                self._abbreviations = Abbreviations.load(options.abbreviations)

        with _naming(f"{prefix}reference_style"):
            self.styles()

    @property
    def heading(self) -> str:
        """What lists are called in their language, such as "References"."""
        return heading_of(self.entry_locale)

    def read_nocite(
        self, text: str, report: Callable[[str, ValueError], object]
    ) -> list[CitationItem]:
        """Read works that are listed though nothing cites them, one a line or separated by ``;`` and a space.

        ``*`` or ``@*`` is all works of the files.

        :param text: the works, as for ``parse_citation``
        :param report: called with each part that is not a work, and the reason
        """
        cites: list[CitationItem] = []
        for part in filter(None, _BETWEEN.split(text.strip())):
            try:
                cites += self._read_listed(part)
            except DOISyntaxError as error:
                report(part, with_suggestion(error))
            except ValueError as error:  # there is no such work, or there are no files of works
                report(part, error)
        return cites

    def _read_listed(self, part: str) -> Iterable[CitationItem]:
        """Return the works of one part, or all works of the files.

        :raises ValueError: if there is no such work, or there are no files of works
        """
        if part not in {"*", "@*"}:
            return parse_citation(part, self.locale, self.library.ids)
        if not self.library.files:
            raise ValueError("there are no files of works; name them in the option works")
        return [CitationItem(key, typed="@*") for key in self.library.keys]

    @property
    def style_files(self) -> tuple[str, ...]:
        """The paths of the files of ``reference_style``: its own, and that of the style that it depends on."""
        return tuple(map(str, self.styles().entries.files))

    def style_digest(self, name: str) -> bytes:
        """Return a digest of the style that a list has, or of what is wrong with it, as this build reads it."""
        try:
            return self.styles(name).entries.digest
        except ValueError as error:
            return hashlib.blake2s(str(error).encode("utf-8", "surrogatepass")).digest()

    @cache  # noqa: B019 (one a build)
    def digest(self, path: str) -> bytes | None:
        """Return a digest of a file, as this build reads it; None if it cannot be read."""
        try:
            return hashlib.blake2s(Path(path).read_bytes()).digest()
        except (OSError, ValueError):  # a path may contain a NUL
            return None

    def bibliography(
        self, cited: Iterable[Handle | str], works: Mapping[DOI, Work | None], style: str = ""
    ) -> Bibliography:
        """Return the works that a document cites, corrected by the author's files.

        :param cited: the keys of the works in the order of their citations
        :param works: the registered works that are known, and None for a DOI that has none
        :param style: the style of the list, if it has one of its own
        """
        styles = self.styles(style)
        cited = list(cited)
        registered = {doi: work for doi, work in works.items() if work is not None}
        corrected = self.library.merge(registered, cited)
        return Bibliography(
            cited,
            {**works, **corrected},
            styles.citations,
            self.locale,
            entry_style=styles.entries,
            entry_locale=self.entry_locale,
            abbreviations=self._abbreviations,
        )

    @property
    def makes_notes(self) -> bool:
        """Whether citations become footnotes: in a style of notes, unless the option ``notes`` is off."""
        return self._notes is not False and self.styles().citations.is_note

    @property
    def raises_numbers(self) -> bool:
        """Whether citations are raised numbers, which stand after punctuation as the marks of notes do."""
        return self.styles().citations.is_raised

    @cached_property
    def stops_in_quotes(self) -> bool:
        """Whether full stops and commas stand inside quotation marks in the language of citations."""
        return Processor(self.styles().citations.parsed, [], self.locale).punctuation_in_quote

    @cache  # noqa: B019 (one a build)
    def styles(self, name: str = "") -> _Styles:
        """Return the style of citations, and that of the entries to which they lead.

        They are the same one, unless the option ``citation`` wants numbers and the style has none, or names and
        the style has numbers: then citations are in the style of ours that has what it wants.

        :param name: the style of a list that has one of its own, in ``folder``
        :raises ValueError: if there is no such style
        """
        default = "numeric" if self._kind == "number" else "author-date"
        if name:
            entries = ReferenceStyle.load(name, self._folder, self._csl_path)
        else:
            entries = ReferenceStyle.load(self._style or default, csl_path=self._csl_path)
        wants_numbers = self._kind == "number"
        if self._kind is None or entries.numbered == wants_numbers:
            return _Styles(entries, entries)
        return _Styles(ReferenceStyle.load(default), entries)


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Begin the message of a ValueError with the name of the option that is read: "doi_works: …"."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
