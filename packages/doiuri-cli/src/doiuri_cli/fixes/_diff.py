"""The changes to a file as a unified diff."""

from __future__ import annotations

import difflib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from doiuri_cli.files import Source

_NO_LINE_END = b"\n\\ No newline at end of file\n"


def diff(source: Source, text: str) -> bytes:
    """Return the diff, in the encoding of the file, so that ``patch`` and ``git apply`` take it.

    For UTF-16 and UTF-32, which diffs cannot hold, it is in UTF-8.

    :param source: the file.
    :param text: its new text.
    """
    mark = "\ufeff" if source.mark and source.encoding == "utf-8" else ""
    encoding = "utf-8" if source.encoding.startswith(("utf-16", "utf-32")) else source.encoding
    old, new = (_lines(mark + version, encoding) for version in (source.text, text))
    path = source.path.removeprefix("./").lstrip("/")
    lines = difflib.diff_bytes(difflib.unified_diff, old, new, _name(f"a/{path}"), _name(f"b/{path}"))
    return b"".join(line if line.endswith(b"\n") else line + _NO_LINE_END for line in lines)


def _lines(text: str, encoding: str) -> list[bytes]:
    *lines, last = text.split("\n")
    whole = [f"{line}\n".encode(encoding) for line in lines]
    return [*whole, last.encode(encoding)] if last else whole


def _name(path: str) -> bytes:
    """Return a path as git writes it: in quotes if a character of it would end the line or the quotes."""
    plain = path.isprintable() and not set('"\\') & set(path)
    return os.fsencode(path) if plain else b'"%s"' % b"".join(map(_octet, os.fsencode(path)))


def _octet(octet: int) -> bytes:
    character = bytes([octet])
    return character if 0x20 <= octet < 0x7F and character not in b'"\\' else b"\\%03o" % octet
