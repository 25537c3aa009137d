"""Dependent styles: a title and a language for the layouts of another style (CSL 1.0.2, Dependent Styles)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from doiuri_csl._sheet import read_sheet, title_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from doiuri_csl._sheet import Sheet
    from doiuri_csl._xml import Node

_NAME = re.compile(r"[a-z0-9-]+")


def parent_link(root: Node) -> Node | None:
    """Return the link of a style to the one that it depends on; None if it is independent."""
    info = root.child("info")
    if info is None:
        return None
    links = info.children("link")
    return next((link for link in links if link.get("rel") == "independent-parent"), None)


def read_dependent(root: Node, parent_root: Node) -> Sheet:
    """Return the style of a parent, with the title and the language of the one that depends on it.

    :raises CSLError: if the parent is not an independent style
    """
    link = parent_link(parent_root)
    if link is not None:
        raise link.error("is the parent of a style, but depends on another one itself")
    # CSL 1.0.2, Dependent Styles: all else is the parent's
    parent = read_sheet(parent_root)
    return replace(
        parent,
        title=title_of(root),
        default_locale=root.get("default-locale") or parent.default_locale,
    )


def find_parent(link: Node, folder: Path) -> Path:
    """Return the file of the style that a file in a folder depends on.

    :raises CSLError: if it is missing, or outside of the folder
    """
    address = link.get("href")
    # The addresses of the CSL project end in the name of the file: http://www.zotero.org/styles/nature
    name = address.rpartition("/")[2]
    if not _NAME.fullmatch(name):
        raise link.error(f"depends on {address!r}, which does not end in the name of a style")
    file_name = f"{name}.csl"
    for parent_folder, top in _parent_folders(folder):
        file = parent_folder / file_name
        if not file.is_file():
            continue
        if not file.resolve().is_relative_to(top.resolve()):
            raise link.error(f"depends on {file_name}, a symbolic link that leaves {top}")
        return file
    raise link.error(f"depends on {file_name}, which is not in {folder}; get it from {address}")


def _parent_folders(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Yield the folders in which a parent may be, each with the one that its file must not leave by a link."""
    yield folder, folder
    # Zotero keeps styles there that only other styles need
    yield folder / "hidden", folder
    # In the CSL project's repository, parents are in the folder above
    if folder.absolute().name == "dependent":
        above = folder.absolute().parent
        yield above, above
