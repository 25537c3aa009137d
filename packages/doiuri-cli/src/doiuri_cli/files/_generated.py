"""Recognize files that a program wrote, or that others maintain: a fix belongs in their source."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from doiuri_cli.files._select import Patterns

if TYPE_CHECKING:
    from doiuri_cli.files import Source

# People write these, whatever a program that helped them writes at the top
_BY_PEOPLE = frozenset({"bibtex", "markdown", "rst"})
_LINES = 5
_CHARACTERS = 2000  # of these lines
_MARK = re.compile(r"(?<![\w.@])@generated\b | \b do[ ]not[ ]edit \b", re.IGNORECASE | re.VERBOSE)
# https://github.com/github-linguist/linguist/blob/main/docs/overrides.md
_ATTRIBUTES = ("linguist-generated", "linguist-vendored")
# gitattributes(5): a pattern, in quotation marks if it has spaces, and attributes; no comment or macro
_ATTRIBUTES_LINE = re.compile(r'[ \t]*(?:"([^"]+)"|((?!\[attr\])[^\s"#!]\S*))[ \t]+(\S.*)')


def is_generated(source: Source, kind: str | None) -> bool:
    """Return whether a file was not written by hand: by its type, its first lines or ``.gitattributes``.

    :param kind: its type, as ``type_of`` has it.
    """
    folder, name = os.path.split(source.path.lower())
    extension = os.path.splitext(name)[1]  # noqa: PTH122 - for speed
    if extension == ".bbl":  # BibTeX and Biber write it
        return True
    # An imported ontology, and the IRIs of the terms that are imported
    is_import = extension == ".owl" or name == "seed.txt"
    if is_import and Path(folder).name == "imports":  # as ROBOT does
        return True
    if kind in _BY_PEOPLE or extension == ".cff":
        return False
    lines = source.text[:_CHARACTERS].split("\n", _LINES)[:_LINES]
    return _MARK.search("\n".join(lines)) is not None or _is_marked(source.path)


def _is_marked(path: str) -> bool:
    """Return whether ``.gitattributes`` marks a file as generated or vendored."""
    file = os.path.abspath(path)  # noqa: PTH100 - links are not followed
    return any(_has_attribute(file, attribute) for attribute in _ATTRIBUTES)


def _has_attribute(file: str, attribute: str) -> bool:
    """Return whether a file has an attribute, as the innermost ``.gitattributes`` that mentions it says."""
    for folder in Path(file).parents:
        patterns = _patterns(str(folder), attribute)
        verdict = patterns.verdict(file) if patterns.lines else None
        if verdict is not None:
            return verdict
        if (folder / ".git").exists():  # of another repository, or none
            break
    return False


@cache
def _patterns(folder: str, attribute: str) -> Patterns:
    """Return the patterns of the files to which a folder's ``.gitattributes`` gives an attribute.

    A pattern begins with "!" if it takes the attribute away.
    """
    giving = {attribute, f"{attribute}=true"}
    taking = {f"-{attribute}", f"!{attribute}", f"{attribute}=false"}
    lines: list[str] = []
    for line in _attribute_lines(folder):
        matched = _ATTRIBUTES_LINE.match(line)
        if matched is None:
            continue
        quoted, plain, words = matched.groups()
        pattern = quoted or plain
        for word in words.split():
            if word in giving:
                lines.append(pattern)
            elif word in taking:
                lines.append(f"!{pattern}")
    return Patterns(folder, tuple(lines))


def _attribute_lines(folder: str) -> list[str]:
    """Return the lines of a folder's ``.gitattributes``; none if it has none that can be read."""
    file = Path(folder, ".gitattributes")
    if not file.is_file():  # a pipe would block for ever
        return []
    try:
        return file.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
