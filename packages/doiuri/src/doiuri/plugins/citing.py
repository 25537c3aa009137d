"""What the options say about citations and lists of references."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from doiuri.citations import Bibliography, Part, Style, check_locale, format_entries, read_works
from doiuri.citations._bibliography import as_link
from doiuri.citations._style import ENGLISH, needs_extra

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, MutableMapping

    from doiuri import Handle
    from doiuri.citations import EntryKey, Reference
    from doiuri.plugins import Options
    from doiuri.records import Work

__all__ = ["Citing"]


class Citing:
    """The options of citations, checked.

    :param package: the host's package; messages recommend its extra ``citations``
    :param folder: the folder of relative paths
    :param language: the language of citations; by default ``reference_locale``, or English
    :param prefix: what the names of the host's options begin with, such as ``"doi_"``
    :raises ValueError: if a value is invalid or needs the extra; the message begins with the option
    """

    def __init__(
        self,
        options: Options,
        package: str,
        folder: str | os.PathLike[str] = ".",
        language: str = "",
        prefix: str = "",
    ) -> None:
        self.folder = folder
        self._needs_extra = needs_extra(package)
        self._failures: dict[str, None] = {}
        self._numbered = None if options.citation is None else options.citation == "number"
        self._style = options.reference_style
        self.locale, self.no_language = self._locale_of(language)
        """The language of citations, and why it is English instead of ``language``; "" if it is not."""
        name = "reference_locale"
        try:
            self.entry_locale = check_locale(options.reference_locale or self.locale)
            """The language of lists."""
            if not language:
                self.locale = self.entry_locale
            name = "works"
            self.library = read_works(options.works, folder)
            """The works of the author's files."""
            name = "reference_style"
            self.styles()
        except ModuleNotFoundError:
            raise ValueError(f"{prefix}{name}: {self._needs_extra}") from None
        except ValueError as error:
            raise ValueError(f"{prefix}{name}: {error}") from None

    @property
    def problems(self) -> list[str]:
        """What is wrong with the files of works, and why some entries are only links, or citations plain."""
        return [*self.library.problems, *[*self._failures][:1]]  # of a style, others are alike

    def _locale_of(self, language: str) -> tuple[str, str]:
        try:
            return check_locale(language or ENGLISH), ""
        except ModuleNotFoundError:
            return ENGLISH, self._needs_extra
        except ValueError as error:
            return ENGLISH, str(error)

    @cache  # noqa: B019 (one a build)
    def styles(self, name: str = "") -> tuple[Style, Style]:
        """Return the style of citations, and that of the entries to which they lead.

        :param name: the style of a list that has one of its own
        :raises ValueError: if there is no such style, or a ``.csl`` file needs the extra ``citations``
        """
        of_kind = "numeric" if self._numbered else "author-date"
        try:
            entries = Style.load(name or self._style or of_kind, self.folder)
        except ModuleNotFoundError:
            raise ValueError(self._needs_extra) from None
        fits = self._numbered in (None, entries.numbered)
        return entries if fits else Style.load(of_kind), entries

    def bibliography(
        self, cited: Iterable[Handle | str], works: Mapping[Handle | str, Work], style: Style
    ) -> Bibliography:
        """Return what is cited, in the language of citations; see ``Bibliography``."""
        return Bibliography(cited, works, style, self.locale, self._failures)

    def entries(
        self,
        references: Iterable[Reference],
        style: Style,
        known: MutableMapping[EntryKey, tuple[Part, ...]] | None,
    ) -> list[tuple[Part, ...]]:
        """Return the entries of references, in the language of lists; see ``format_entries``.

        One that cannot be formatted is a link to the DOI or the URL; ``problems`` say why.
        """
        references = [*references]
        try:
            return format_entries(references, style, self.entry_locale, known, self._failures)
        except ModuleNotFoundError:
            self._failures[self._needs_extra] = None
            return [as_link(reference.work) for reference in references]
