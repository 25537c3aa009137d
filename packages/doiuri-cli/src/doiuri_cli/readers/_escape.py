"""Escape text for the markup that it is written into; the inverse of what ``find`` undoes."""

from __future__ import annotations

import html
import re

_MARKDOWN = re.compile(r"[\\`*_\[\]<>&]")
_RST = re.compile(r"[\\`*|<>]|_(?![A-Za-z0-9])")
_TEX = re.compile(r"[%&#$_{}]|[<>~^\\]")
_COMMANDS = {
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
}


def escape(text: str, syntax: str) -> str:
    """Return the text as a file in this syntax has to write it, so that ``find`` reads it as it is.

    :param text: the text, as readers shall see it.
    :param syntax: the syntax, as for ``doiuri.find``.
    """
    match syntax:
        case "html" | "xml":
            return html.escape(text)
        case "markdown":
            return _MARKDOWN.sub(r"\\\g<0>", text)
        case "rst":
            return _RST.sub(r"\\\g<0>", text)
        case "bibtex" | "tex":
            return _TEX.sub(lambda match: _COMMANDS.get(match[0], f"\\{match[0]}"), text)
        case _:
            return text
