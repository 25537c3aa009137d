"""Styles, as callers see them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

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
    >>> style.class_, style.is_numeric, style.has_bibliography
    ('in-text', False, False)
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
    def title(self) -> str:
        """What it is called, such as "Nature"; "" if it does not say."""
        return self._sheet.title

    @property
    def default_locale(self) -> str:
        """The language that it is written in; "" if it does not say."""
        return self._sheet.default_locale

    @property
    def class_(self) -> Literal["in-text", "note"]:
        """Where its citations stand: in the text, or in notes."""
        return "note" if self._sheet.is_note else "in-text"

    @property
    def is_numeric(self) -> bool:
        """Whether its citations are numbers."""
        return self._sheet.is_numeric

    @property
    def has_bibliography(self) -> bool:
        """Whether it has a list of references."""
        return self._sheet.bibliography is not None

    # CSL 1.0.2, Bibliography-specific Options

    @property
    def hanging_indent(self) -> bool:
        """Whether all lines of an entry but the first are indented."""
        return self._sheet.list_format.hanging_indent

    @property
    def second_field_align(self) -> Literal["", "flush", "margin"]:
        """Where the first field of an entry, its ``Reference.label``, stands.

        "flush": lines of the rest begin behind it; "margin": it stands in the margin; "": it is no column
        of its own.
        """
        return self._sheet.list_format.second_field_align

    @property
    def line_spacing(self) -> int:
        """The distance of lines in the list, as a multiple of single spacing."""
        return self._sheet.list_format.line_spacing

    @property
    def entry_spacing(self) -> int:
        """The distance between entries, in lines; 0 for none."""
        return self._sheet.list_format.entry_spacing

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
