"""What the options say about citations and lists of references. It needs the extra ``citations``."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from doiuri.citations import Style, check_locale, read_works

if TYPE_CHECKING:
    import os

    from doiuri.plugins._options import Options

__all__ = ["Citing"]


class Citing:
    """The options of citations, checked.

    :param folder: the folder of relative paths
    :param language: the language of citations; by default ``reference_locale``, or English
    :param prefix: what the names of the host's options begin with, such as ``"doi_"``
    :raises ValueError: if a value is invalid; the message begins with the name of the option
    :raises ModuleNotFoundError: for a style of the author, if the extra ``citations`` is not installed
    """

    def __init__(
        self, options: Options, folder: str | os.PathLike[str] = ".", language: str = "", prefix: str = ""
    ) -> None:
        self.folder = folder
        self._numbered = None if options.citation is None else options.citation == "number"
        self._style = options.reference_style
        name = "reference_locale"
        try:
            self.entry_locale = options.reference_locale or language or "en-US"
            """The language of lists."""
            with suppress(ModuleNotFoundError):  # it is only needed by documents with citations
                self.entry_locale = check_locale(self.entry_locale)
            self.locale = language or self.entry_locale
            """The language of citations."""
            name = "works"
            self.library = read_works(options.works, folder)
            """The works of the author's files."""
            name = "reference_style"
            self.styles()
        except ValueError as error:
            raise ValueError(f"{prefix}{name}: {error}") from None

    @cache  # noqa: B019 (one a build)
    def styles(self, name: str = "") -> tuple[Style, Style]:
        """Return the style of citations, and that of the entries to which they lead.

        :param name: the style of a list that has one of its own
        :raises ValueError: if there is no such style
        """
        of_kind = "numeric" if self._numbered else "author-date"
        entries = Style.load(name or self._style or of_kind, self.folder)
        fits = self._numbered in (None, entries.numbered)
        return entries if fits else Style.load(of_kind), entries
