"""Write text so that a reader of its syntax reads it as it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    Context = Literal["text", "link", "field"]

_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
_TEX = {
    **{character: f"\\{character}" for character in "%#&_$"},
    "{": "\\{",
    "}": "\\}",
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "<": "\\textless{}",
    ">": "\\textgreater{}",
    "|": "\\textbar{}",
}
_MARKDOWN_ENTITY = re.compile(r"&(?=#?[A-Za-z0-9])")
_MARKDOWN_MARKS = re.compile(r"[\\`*\[\]<>]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|~(?=~)|(?<=~)~|!(?=\[)")
_RST_MARKS = re.compile(r"[\\`*|]|_(?![A-Za-z0-9])")


def escape(text: str, syntax: str, context: Context = "text") -> str:
    """Return the text as a file in a syntax has to write it.

    :param text: what readers of the file are to see or follow.
    :param syntax: the syntax, as for ``doiuri.find``.
    :param context: "text" is running text. "link" is the target of a link, in the form that the syntax has
        for one, such as the value of an attribute. "field" is the whole value of a field.
    """
    return _ESCAPES[syntax](text, context)


def _plain(text: str, _context: Context) -> str:
    return text


def _html(text: str, context: Context) -> str:
    characters = "&<>" if context == "text" else "&<>\"'"
    return _replaced(text, {character: _HTML[character] for character in characters})


def _markdown(text: str, context: Context) -> str:
    if context == "text":
        return _MARKDOWN_ENTITY.sub("&amp;", _MARKDOWN_MARKS.sub(r"\\\g<0>", text))
    if context == "link":
        marks = "\\<>" if _is_balanced(text) else "\\<>()"
        return _MARKDOWN_ENTITY.sub("&amp;", _replaced(text, {mark: f"\\{mark}" for mark in marks}))
    return text


def _rst(text: str, context: Context) -> str:
    if context == "link":
        return re.sub(r"[\\`]|_\Z", r"\\\g<0>", text)
    return _RST_MARKS.sub(r"\\\g<0>", text)


def _tex(text: str, context: Context) -> str:
    if context == "link":  # \url and \href take the others as they are
        return _replaced(text, {"%": "\\%", "#": "\\#", "\\": "\\textbackslash{}"})
    return _replaced(text, _TEX)


def _bibtex(text: str, context: Context) -> str:
    return _tex(text, context) if context == "text" else text


def _replaced(text: str, replacements: dict[str, str]) -> str:
    return "".join(replacements.get(character, character) for character in text)


def _is_balanced(text: str) -> bool:
    depth = 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth < 0:
            return False
    return depth == 0


_ESCAPES: dict[str, Callable[[str, Context], str]] = {
    "text": _plain,
    "html": _html,
    "xml": _html,
    "markdown": _markdown,
    "rst": _rst,
    "tex": _tex,
    "bibtex": _bibtex,
}
