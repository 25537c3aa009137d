"""Write text so that a reader of its syntax reads it as it is."""

from __future__ import annotations

import html
import re

_TEX = str.maketrans(
    {character: f"\\{character}" for character in "%#&_${}"}
    | {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"}
    | {"<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}"}
)
_MARKDOWN_ENTITY = re.compile(r"&(?=#?[A-Za-z0-9])")
_MARKDOWN_MARKS = re.compile(r"[\\`*\[\]<>]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|~(?=~)|(?<=~)~|!(?=\[)")
_RST_MARKS = re.compile(r"[\\`*|]|_(?![A-Za-z0-9])")


def escape(text: str, syntax: str, *, field: bool = False) -> str:
    """Return the text as a file in a syntax has to write it.

    :param text: what readers of the file are to see.
    :param syntax: the syntax, as for ``doiuri.find``.
    :param field: whether it is the whole value of a field; if not, it is running text.
    """
    match syntax:
        case "html" | "xml":
            return html.escape(text, quote=field)
        case "markdown" if not field:
            return _MARKDOWN_ENTITY.sub("&amp;", _MARKDOWN_MARKS.sub(r"\\\g<0>", text))
        case "rst":
            return _RST_MARKS.sub(r"\\\g<0>", text)
        case "tex":
            return text.translate(_TEX)
        case "bibtex" if not field:
            return text.translate(_TEX)
    return text
