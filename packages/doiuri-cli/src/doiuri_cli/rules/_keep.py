"""What a fix must keep, judged by plain rules and without the finder: the name, and the layout around it."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING
from urllib.parse import unquote

from doiuri.plugins import PROXY_PATTERN

if TYPE_CHECKING:
    from doiuri_cli.readers import Part


_OTHER_SITE = r"https?://[^\s/?#:]+/(?:[\w.~-]+/)*?(?=10\.)"
_HEADS = re.compile(
    rf"\s*(?:{PROXY_PATTERN}/+(?:api/handles/)?|{PROXY_PATTERN}\Z|{_OTHER_SITE}|info:(?:doi|hdl)/|urn:doi:|hdl:|doi\s*:?\s*)*",
    re.IGNORECASE,
)
# What links really have: places on a page, and parameters such as ?locatt=…, ?nosfx
_USUAL = re.compile(r"#(?:[A-Za-z_!/:~]\S*)?|\?(?:[\w.\[\]%+~-]*(?:[=&;]\S*)?)?(?:#\S*)?")
# ANSI/NISO Z39.56: the check character that follows may be "#", after a TeX escape in any format
_SICI = re.compile(r"[0-9]\.[0-9]\.[A-Z]{2};[0-9]-\\?\Z", re.IGNORECASE)
_URN = re.compile(r"(10\.[0-9.]+):")
_TEX_ESCAPE = re.compile(r"\\(?:([A-Za-z]+)(?:\{\}|[ ]+)?|(.))|\$([<>])\$|[{}]", re.DOTALL)
_TEX_COMMANDS = {
    "textless": "<",
    "textgreater": ">",
    "textbar": "|",
    "textunderscore": "_",
    "slash": "/",
}
_TEX_COMMANDS |= {"textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^"}
_BACKSLASH = re.compile(r"\\([!-/:-@\[-`{-~])")
_PERCENT = re.compile(r"(?<!\\)%")
_TEX = frozenset({"tex", "bibtex"})
_RST = frozenset({"rst", "text"})  # many a .txt is reStructuredText, too
_ADORNMENT = re.compile(r"[ \t]*([!-/:-@\[-`{-~])\1{2,}[ \t\r]*\Z")
_GRID = re.compile(r"[ \t]*(?:[-*+][ \t]+)?[|+].*[|+][ \t\r]*\Z")
_BORDER = re.compile(r"[ \t]*(?:[-*+][ \t]+)?=+(?: +=+)+[ \t\r]*\Z")
_MOST_BORDERS = 3  # of a simple table: above and below its head, and at its end
_NEAR = 300  # characters of a label
_RST_TARGET = re.compile(r"(?<![^\s`])<[^\s<>`]*\Z")
_RST_REFERENCE_END = re.compile(r"[^`]*[^\s`]`(?:_(?![_\w])|:(?!\S))")
# An inline target, or what a target without backticks is called
_RST_NAME_START = re.compile(
    r"(?:(?<![^\s'\"(\[{<:/-])_`[^`]*|(?<!\S)\.\. _(?!_)(?:[^:`\\\n]|\\.)*)\Z"
)
_LABEL_START, _LABEL_END = re.compile(r"\[([^\[\]]*)\Z"), re.compile(r"[^\[\]]*(?=\])")
_DEFINITION = re.compile(r"^[ \t>]*\[([^\[\]\n]+)\]:", re.MULTILINE)


def is_usual(name: str, rest: str) -> bool:
    """Return whether what follows a link is a query or a fragment such as links have, and not of the name."""
    may_be_check = rest.startswith("#") or rest == "?"
    return _USUAL.fullmatch(rest) is not None and not (may_be_check and _SICI.search(name))


def keeps_name(old: str, new: str, syntax: str) -> bool:
    """Return whether a replacement changes labels, links, escapes and white space only.

    Of a link it may also drop a usual query and fragment.
    """
    if syntax in _TEX and len(_PERCENT.findall(new)) > len(_PERCENT.findall(old)):
        return False  # it would start a comment
    if syntax in _TEX and old.count("{") - old.count("}") != new.count("{") - new.count("}"):
        return False  # BibTeX counts braces after a backslash, too
    (head, name), (_, better) = _split(old, syntax), _split(new, syntax)
    names = {name}
    end = re.search("[?#]", name)
    if end and "/" in head and is_usual(_unquoted(name[: end.start()]), name[end.start() :]):
        names.add(name[: end.start()])
    return _unquoted(better) in map(_unquoted, names)


def _split(text: str, syntax: str) -> tuple[str, str]:
    """Return the labels and links that a text starts with, and the rest without escapes."""
    text = html.unescape(text)
    if syntax in _TEX:
        text = _TEX_ESCAPE.sub(_tex_meaning, text)
    elif syntax in {"markdown", "rst"}:
        text = _BACKSLASH.sub(r"\1", text)
    heads = _HEADS.match(text)
    head = heads[0] if heads else ""
    name = text[len(head) :].strip()
    return head, _URN.sub(r"\1/", name, count=1) if "urn:" in head.lower() else name


def _tex_meaning(escape: re.Match[str]) -> str:
    command, character, sign = escape.groups()
    return _TEX_COMMANDS.get(command, escape[0]) if command else character or sign or ""


def _unquoted(name: str) -> str:
    return unquote(name, errors="surrogateescape")  # bytes that are no UTF-8 stay apart


def is_fixed_text(part: Part, start: int, end: int) -> bool:
    """Return whether a piece of a part must keep its length or its wording.

    It must in a table or a title of reStructuredText, and in the label of a reference.
    """
    text, before, after = (
        part.text,
        part.text[max(0, start - _NEAR) : start],
        part.text[end : end + _NEAR],
    )
    if part.syntax in _RST:
        starts, laid_out = _layout(text)
        if laid_out[bisect_right(starts, start) - 1]:
            return True
        is_name = _RST_REFERENCE_END.match(after) or _RST_NAME_START.search(before)
        return is_name is not None and not _RST_TARGET.search(before)
    if part.syntax == "markdown" and (first := _LABEL_START.search(before)):
        last = _LABEL_END.match(after)
        return last is not None and _folded(first[1] + text[start:end] + last[0]) in _labels(text)
    return False


@lru_cache(1)
def _layout(text: str) -> tuple[list[int], list[bool]]:
    """Return where each line starts, and whether it belongs to a table or a title."""
    lines = text.split("\n")
    adorned = [False, *(_ADORNMENT.match(line) is not None for line in lines), False]
    laid_out: list[bool] = []
    borders = 0
    for number, line in enumerate(lines):
        is_border = _BORDER.match(line) is not None
        borders += is_border
        laid_out.append(
            borders > 0 or any(adorned[number : number + 3]) or _GRID.match(line) is not None
        )
        is_end = not "".join(lines[number + 1 : number + 2]).strip()
        if is_border and (borders == _MOST_BORDERS or (borders > 1 and is_end)):
            borders = 0
    return list(accumulate((len(line) + 1 for line in lines[:-1]), initial=0)), laid_out


@lru_cache(1)
def _labels(text: str) -> frozenset[str]:
    return frozenset(_folded(label[1]) for label in _DEFINITION.finditer(text))


def _folded(label: str) -> str:
    return " ".join(label.casefold().split())


_TEX_ESCAPES = str.maketrans(
    {character: f"\\{character}" for character in "%#&_${}"}
    | {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"}
    | {"<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}"}
)
_MARKDOWN_ENTITY = re.compile(r"&(?=#?[A-Za-z0-9])")
_MARKDOWN_MARKS = re.compile(
    r"[\\`*\[\]<>]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|~(?=~)|(?<=~)~|!(?=\[)"
)
_RST_MARKS = re.compile(r"[\\`*|]|_(?![A-Za-z0-9])")


def escape(text: str, syntax: str) -> str:
    """Return the text as a file in a syntax has to write it."""
    match syntax:
        case "html" | "xml":
            return html.escape(text, quote=False)
        case "markdown":
            return _MARKDOWN_ENTITY.sub("&amp;", _MARKDOWN_MARKS.sub(r"\\\g<0>", text))
        case "rst":
            return _RST_MARKS.sub(r"\\\g<0>", text)
        case "tex" | "bibtex":
            return text.translate(_TEX_ESCAPES)
    return text
