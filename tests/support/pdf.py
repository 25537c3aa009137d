"""Read PDFs that LaTeX has written: their streams, and the text of their pages."""

from __future__ import annotations

import re
import zlib

_LIGATURES = dict(zip(range(0x1B, 0x20), ("ff", "fi", "fl", "ffi", "ffl"), strict=True))
"""Of the T1 encoding; its letters and digits are those of ASCII."""

_STRING = r"\((?:\\.|[^()\\])*\)"
_SHOWN = re.compile(rf"\[((?:{_STRING}|[-\d.\s])*)\]\s*TJ|({_STRING})\s*Tj", re.DOTALL)
_PART = re.compile(rf"({_STRING})|(-?[\d.]+)", re.DOTALL)
_ESCAPE = re.compile(r"\\([0-7]{1,3}|.)", re.DOTALL)
_SPACE = -200.0
"""The distance, in thousandths of the font size, from which on a gap is a space."""


def inflated(pdf: bytes) -> bytes:
    """Return a PDF, followed by its compressed streams."""
    streams = re.findall(rb"stream\r?\n(.*?)endstream", pdf, re.DOTALL)
    return b"\n".join([pdf, *(zlib.decompressobj().decompress(s) for s in streams if s[:1] == b"\x78")])


def text_of(pdf: bytes) -> str:
    """Return the text of a PDF of pdfLaTeX in ASCII, with one space between words and lines."""
    shown = _SHOWN.finditer(inflated(pdf).decode("latin-1"))
    return " ".join(" ".join(_line(match[1] or match[2] or "") for match in shown).split())


def _line(parts: str) -> str:
    line = ""
    for part in _PART.finditer(parts):
        if part[1]:
            line += _ESCAPE.sub(_unescaped, part[1][1:-1]).translate(_LIGATURES)
        elif float(part[2]) < _SPACE:
            line += " "
    return line


def _unescaped(escape: re.Match[str]) -> str:
    code = escape[1]
    return chr(int(code, 8)) if code[0] in "01234567" else code
