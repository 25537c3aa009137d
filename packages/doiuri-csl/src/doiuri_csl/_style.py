"""Styles, as callers see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri_csl._locale import check_root, read_file, with_path
from doiuri_csl._positions import place_cites
from doiuri_csl._sheet import Sheet, read_sheet
from doiuri_csl._xml import read_xml

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from doiuri_csl._context import Cite


class Style:
    """A CSL style.

    Get one with ``Style.load`` or ``Style.parse``.

    >>> style = Style.parse('''
    ...     <style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0">
    ...       <citation><layout><text variable="title" font-style="italic"/></layout></citation>
    ...     </style>''')
    >>> style.is_note, style.is_numeric, style.has_bibliography
    (False, False, False)
    """

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Style:
        """Return the style of a file.

        :raises CSLError: if it cannot be read or is not an independent style; it says the line and element
        """
        root = read_file(path, "style")
        try:
            return cls(read_sheet(root))
        except ValueError as error:
            raise with_path(error, str(path)) from None

    @classmethod
    def parse(cls, content: str | bytes) -> Style:
        """Return the style of an XML document.

        :raises CSLError: as ``load`` does
        """
        return cls(read_sheet(check_root(read_xml(content), "style")))

    @property
    def default_locale(self) -> str:
        """The language that it is written in; "" if it does not say."""
        return self._sheet.default_locale

    @property
    def is_note(self) -> bool:
        """Whether its citations stand in notes."""
        return self._sheet.is_note

    @property
    def is_numeric(self) -> bool:
        """Whether its citations are numbers."""
        return self._sheet.is_numeric

    @property
    def has_bibliography(self) -> bool:
        """Whether it has a list of references."""
        return self._sheet.bibliography is not None

    def place(
        self, citations: Iterable[Sequence[Cite]], notes: Iterable[int] | None = None
    ) -> list[list[Cite]]:
        """Return the citations of a document, or of a chapter, with the places of their cites.

        :param citations: as those of ``Processor.register``
        :param notes: as those of ``Processor.register``
        :raises ValueError: if there are more or fewer notes than citations
        """
        return place_cites(self._sheet, list(citations), notes)


def sheet_of(style: Style) -> Sheet:
    """Return what the processor needs of a style."""
    return style._sheet
