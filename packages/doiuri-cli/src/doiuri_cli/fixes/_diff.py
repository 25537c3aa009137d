"""The changes to a file as a unified diff."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from doiuri_cli.files import Source

_NO_LINE_END = "\n\\ No newline at end of file\n"


def diff(source: Source, text: str) -> bytes:
    """Return the diff, in the encoding of the file, so that ``patch`` and ``git apply`` take it.

    For UTF-16 and UTF-32, which diffs cannot hold, it is in UTF-8.

    :param source: the file.
    :param text: its new text.
    """
    mark = "\ufeff" if source.mark and source.encoding == "utf-8" else ""
    encoding = source.encoding if source.encoding in {"utf-8", "latin-1"} else "utf-8"
    path = source.path.removeprefix("./").lstrip("/")
    lines = difflib.unified_diff(_lines(mark + source.text), _lines(mark + text), f"a/{path}", f"b/{path}")
    whole = "".join(line if line.endswith("\n") else line + _NO_LINE_END for line in lines)
    return whole.encode(encoding, "surrogateescape")


def _lines(text: str) -> list[str]:
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]
