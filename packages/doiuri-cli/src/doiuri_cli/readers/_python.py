"""Python: comments, and strings that are statements by themselves, which document what is around them.

Both are recognized by their looks, so a program that cannot run, or a cell with shell commands, is read too.
"""

from __future__ import annotations

import ast
import re
from functools import partial
from typing import TYPE_CHECKING

from doiuri_cli.readers._bibtex import parts
from doiuri_cli.readers._blank import may_mention
from doiuri_cli.readers._part import Part, moved, nested, one_line, undo
from doiuri_cli.readers._quoted import quoted
from doiuri_cli.readers._rst import without_code

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from doiuri_cli.files import Source

_TOKEN = re.compile(
    r"""
    \#(?P<comment>[^\r\n]*+)
  | (?P<quotes>\"{3}|'{3})(?P<long>(?>(?:[^\\"']++|\\.|(?!(?P=quotes)).)*))(?:(?P=quotes)|\Z)
  | (?P<quote>["'])(?P<short>(?>(?:[^\\"'\r\n]++|\\(?:\r\n|.)|(?!(?P=quote))["'])*))(?P=quote)
  | \\.                                   # a quotation mark after it opens nothing
    """,
    re.VERBOSE | re.DOTALL,
)
# The line before a string that documents something
_BEFORE = re.compile(
    r"""(?:
        [ \t]*+                                                # nothing else,
      | [^\r\n]*;[ \t]*+                                       # another statement,
      | [ \t]*+(?:async[ \t]+)?(?:def|class)\b[^\r\n]*:[ \t]*+  # what it documents,
      | [^\r\n]*\b__doc__[ \t]*=[ \t]*+                        # or an assignment
    )(?P<prefix>[rRuU]{0,2})""",
    re.VERBOSE,
)
_CALL = re.compile(
    r"\b(?P<call>Doi|BibTeX)\(\s*+(?P<prefix>[rRuU]{0,2})\Z"
)  # what duecredit calls a reference
_AFTER, _AFTER_ARGUMENT = re.compile(r"[ \t]*+(?:[\r\n;#]|\Z)"), re.compile(r"\s*+[),]")
_DEFINITION = re.compile(r"^[ \t]*+(?:async[ \t]+def|def|class)[ \t]", re.MULTILINE)  # is within no brackets
_LONGEST_LINE = 1000  # characters before a string that are looked at
_MARGIN = re.compile(r"\n([ \t]*+)(?=\S)")
_ESCAPE = re.compile(
    r"\\(?:[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^{}\r\n]{1,200}\}|\r\n?|[\n\\'\"abfnrtv])"
)
_ESCAPED = re.compile(r"[\\\"'\x00-\x08\x0a-\x1f\x7f]")


def read(source: Source) -> Iterator[Part]:
    """Return the comments as text, and the docstrings as reStructuredText."""
    yield from parts_of_code(source.text)


def parts_of_code(text: str) -> Iterator[Part]:
    """Return the comments and docstrings of a program that may mention a DOI, as parts of its text."""
    if not may_mention(text):
        return
    place = depth = 0  # in brackets
    for token in _TOKEN.finditer(text):
        depth = _depth(text[place : token.start()], depth)
        place = token.end()
        kind = "comment" if token["comment"] is not None else "long" if token["quotes"] else "short"
        content = token[kind]
        if content is None or not may_mention(content):
            continue
        if kind == "comment":
            yield Part(content, start=token.start(kind), encode=one_line)
        elif found := _opening(text, token, depth):
            places: Sequence[int] = range(token.start(kind), token.end(kind) + 1)
            if "\\" in content and not found["prefix"].lower().count("r"):
                content, places = undo(text, [token.span(kind)], _ESCAPE, _meaning)
            for part in _parts_of_string(content, found.groupdict().get("call", "")):
                yield moved(part, places)._replace(encode=partial(nested, inner=part.encode, outer=encode))


def _depth(code: str, depth: int) -> int:
    """Return how many brackets are open after a piece of code without strings."""
    start = max((found.start() for found in _DEFINITION.finditer(code)), default=-1)
    if start >= 0:
        code, depth = code[start:], 0
    opened, closed = (sum(map(code.count, brackets)) for brackets in ("([{", ")]}"))
    return max(0, depth + opened - closed)


def _opening(text: str, token: re.Match[str], depth: int) -> re.Match[str] | None:
    """Return what is before a string, up to its prefix; None if it documents nothing."""
    start, end = token.span()
    first = max(0, start - _LONGEST_LINE)
    if (call := _CALL.search(text, first, start)) and _AFTER_ARGUMENT.match(text, end):
        return call
    line = max(text.rfind("\n", first, start), text.rfind("\r", first, start), first - 1) + 1
    if depth or text.endswith(("\\\n", "\\\r\n"), 0, line) or not _AFTER.match(text, end):
        return None
    return _BEFORE.fullmatch(text, line, start) if line > first or not first else None


def _parts_of_string(content: str, kind: str) -> Iterator[Part]:
    """Return the parts of a string; a docstring's first line is indented like the others (PEP 257)."""
    if kind == "Doi":
        yield Part(content, field=True)
    elif kind == "BibTeX":
        yield from parts(content)
    else:
        margin = min((margin[1] for margin in _MARGIN.finditer(content)), key=len, default="")
        shown = without_code(margin + content)
        yield Part(shown[len(margin) :], "rst")
        yield from quoted(content, shown[len(margin) :] if shown != margin + content else content)


def _meaning(escape: re.Match[str]) -> str:
    """Return what an escape stands for (Python's reference, §2.4.1); itself if there is no such character."""
    try:
        return str(ast.literal_eval(f'"{escape[0]}"'))
    except SyntaxError:
        return escape[0]


def encode(text: str) -> str:
    """Return the text: a literal holds it as it is.

    :raises ValueError: if it would need an escape.
    """
    if _ESCAPED.search(text):
        raise ValueError(f"this text needs an escape: {text!r}")
    return text
