"""Styles, as callers see them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from doiuri_csl._dependent import find_parent, parent_link, read_dependent
from doiuri_csl._errors import naming_file
from doiuri_csl._positions import cites_of, notes_of, place_cites
from doiuri_csl._sheet import Sheet, read_sheet
from doiuri_csl._xml import check_root, read_file, read_xml

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeAlias

    from doiuri_csl._context import Cite
    from doiuri_csl._xml import Node

    ReadParent: TypeAlias = Callable[[str], str | bytes]


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

    def __init__(self, sheet: Sheet, parent: str = "", files: tuple[Path, ...] = ()) -> None:
        self._sheet = sheet
        self._parent = parent
        self._files = files

    @classmethod
    def load(cls, path: str | os.PathLike[str], parent: ReadParent | None = None) -> Style:
        """Return the style of a file.

        A dependent style, such as ``nature-physics.csl``, has the layouts of the one that it names, and a title
        and a language of its own.

        :param parent: called with the address of the style that this one depends on; returns its content. By
            default, that is the file with the last part of the address as its name, in the same folder, in its
            ``hidden`` (as in Zotero), or above ``dependent`` (as in the CSL project)
        :raises CSLError: if a file cannot be read or is not a style; it says the line and element. If the style
            depends on another one that is missing, it says which
        """
        file = Path(path)
        root = read_file(file, "style")
        link = parent_link(root)
        if link is None:
            with naming_file(file):
                return cls(read_sheet(root), files=(file,))
        if parent is not None:
            return cls._dependent(root, link, parent)

        # The caller does not know the parent, so it is a file near this one
        with naming_file(file):
            parent_file = find_parent(link, file.parent)
        parent_root = read_file(parent_file, "style")
        with naming_file(parent_file):
            sheet = read_dependent(root, parent_root)
        return cls(sheet, link.get("href"), (file, parent_file))

    @classmethod
    def parse(cls, content: str | bytes, parent: ReadParent | None = None) -> Style:
        """Return the style of an XML document.

        :param parent: called with the address of the style that this one depends on; returns its content
        :raises CSLError: as ``load`` does
        """
        root = check_root(read_xml(content), "style")
        link = parent_link(root)
        if link is None:
            return cls(read_sheet(root))
        if parent is None:
            address = link.get("href")
            raise link.error(f"depends on {address!r}; give its content with the argument parent")
        return cls._dependent(root, link, parent)

    @classmethod
    def _dependent(cls, root: Node, link: Node, read_parent: ReadParent) -> Style:
        """Return a style that depends on one whose content a caller knows."""
        address = link.get("href")
        content = read_parent(address)
        with naming_file(address):
            sheet = read_dependent(root, check_root(read_xml(content), "style"))
        return cls(sheet, address)

    @property
    def title(self) -> str:
        """What it is called, such as "Nature"; "" if it does not say."""
        return self._sheet.title

    @property
    def parent(self) -> str:
        """The address of the style that it depends on; "" if it is independent."""
        return self._parent

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that it was loaded from: its own, and that of its parent if it depends on one."""
        return self._files

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
        """Where the first field of an entry, its ``BibliographyEntry.label``, stands.

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

        :param citations: as those of ``Processor.set_citations``, each in the order of ``Processor.sort``
        :param notes: as those of ``Processor.set_citations``
        :raises TypeError: if a citation is not a list of cites
        :raises ValueError: if there are more or fewer notes than citations
        """
        groups = [cites_of(cites, f"citation {index}") for index, cites in enumerate(citations)]
        return place_cites(self._sheet, groups, notes_of(self._sheet, groups, notes))


def sheet_of(style: Style) -> Sheet:
    """Return what the processor needs of a style."""
    return style._sheet
