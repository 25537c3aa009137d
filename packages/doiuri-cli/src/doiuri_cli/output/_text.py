"""Text from files and file names, made safe for terminals, JSON and XML."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from doiuri_cli.output._report import severity_of

if TYPE_CHECKING:
    from doiuri_cli.rules import Finding

_SURROGATE = re.compile("[\ud800-\udfff]")
# Controls, invisible format characters such as bidirectional marks, and separators of lines
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def visible(text: str, kept: str = "") -> str:
    """Return a text in which control and invisible characters are shown as escapes.

    :param text: the text.
    :param kept: such characters that stay.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(character if character in kept else shown(character) for character in text)


def shown(character: str) -> str:
    r"""Return a character as a terminal may show it: ``\x1b`` for ESC, ``\x80`` for a byte of a file name."""
    if "\udc80" <= character <= "\udcff":  # a byte of a file name, as os.fsdecode has it
        return f"\\x{ord(character) - 0xDC00:02x}"
    import unicodedata  # rarely needed

    if unicodedata.category(character) in _HIDDEN:
        return character.encode("unicode_escape").decode("ascii")
    return character


def encodable(text: str) -> str:
    """Return a text in which lone surrogates, which no encoding has, are shown as escapes."""
    return _SURROGATE.sub(lambda match: shown(match[0]), text)


def place(finding: Finding) -> str:
    """Return where a finding is, such as ``docs/a.md:41:12`` or ``a.ipynb:cell 7:3:18``."""
    cell = "" if finding.cell is None else f"cell {finding.cell}:"
    return f"{visible(finding.path)}:{cell}{finding.line}:{finding.column}"


def message(finding: Finding) -> str:
    """Return what is wrong, after the key of the entry."""
    return visible(f"{finding.entry}: {finding.message}" if finding.entry else finding.message)


def label(finding: Finding) -> str:
    """Return how bad a finding is and its code, such as ``error[not-found]``."""
    return f"{severity_of(finding).label}[{finding.code}]"


def region(finding: Finding) -> tuple[int, int, int, int]:
    """Return line, column, end line and end column in the file, for a notebook too."""
    return finding.in_file or (finding.line, finding.column, finding.end_line, finding.end_column)


def relative(path: str) -> str:
    """Return a path as forges name files: from the current folder, with slashes, without ``.`` segments."""
    inside = Path(os.path.normpath(path))
    if inside.is_absolute() and inside.is_relative_to(here := Path.cwd()):
        inside = inside.relative_to(here)
    return inside.as_posix()


def uri(path: str) -> str:
    """Return a path as a URI reference: relative, or ``file:`` if the path is outside the current folder."""
    name = relative(path)
    from urllib.parse import quote  # slow to import

    escaped = quote(os.fsencode(name), safe="/")
    return f"file://{escaped if escaped.startswith('/') else '/' + escaped}" if _absolute(name) else escaped


def _absolute(name: str) -> bool:
    return PurePath(name).is_absolute()
