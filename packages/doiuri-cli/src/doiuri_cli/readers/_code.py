"""Programs: comments, strings of Python, and notebooks.

All are recognized by their looks, so a program that cannot run, or a cell with shell commands, is read too.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from doiuri_cli.readers._bibtex import parts
from doiuri_cli.readers._json import encoder, loaded, strings, undo_all
from doiuri_cli.readers._markup import parts_in_code, parts_of_markdown, rst_without_code
from doiuri_cli.readers._part import (
    Part,
    ReadError,
    inner_places,
    may_mention,
    moved,
    one_line,
    undo,
    unwritable,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from doiuri_cli.files import Source
    from doiuri_cli.readers._json import Keys, String
    from doiuri_cli.readers._part import Decoded


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
# What duecredit calls a reference
_CALL = re.compile(r"\b(?P<call>Doi|BibTeX)\(\s*+(?P<prefix>[rRuU]{0,2})\Z")
_AFTER = re.compile(r"[ \t]*+(?:[\r\n;#]|\Z)")
_AFTER_ARGUMENT = re.compile(r"\s*+[),]")
# What is within no brackets
_DEFINITION = re.compile(r"^[ \t]*+(?:async[ \t]+def|def|class)[ \t]", re.MULTILINE)
_LONGEST_LINE = 1000  # characters before a string that are looked at
_MARGIN = re.compile(r"\n([ \t]*+)(?=\S)")
_ESCAPE = re.compile(
    r"""
    \\ (?:
        [0-7]{1,3} | x[0-9a-fA-F]{2} | u[0-9a-fA-F]{4} | U[0-9a-fA-F]{8}  # by number,
      | N\{ [^{}\r\n]{1,200} \}                                         # by name,
      | \r\n?                                                           # a line that goes on
      | [\n\\'\"abfnrtv]
    )
    """,
    re.VERBOSE,
)
# As strings of most languages write a backslash of TeX, and characters of a name
_ESCAPE_IN_NAME = re.compile(r"\\\\(?=[%&#$_{}])|\\(?:u00|x)(?:2[1-9A-Fa-f]|[3-7][0-9A-Fa-f])")
_ESCAPED = re.compile(r"[\\\"'\x00-\x08\x0a-\x1f\x7f]")


def read_python(source: Source) -> Iterator[Part]:
    """Return the comments as text, the docstrings as reStructuredText, and the labels and links in strings."""
    yield from parts_of_code(source.text)


def parts_of_code(text: str) -> Iterator[Part]:
    """Return the comments and strings of a program that may mention a DOI, as parts of its text.

    A comment is text. A string that documents something, or that duecredit cites, is read as what it is; of any
    other one, only labels and links count.
    """
    if not may_mention(text):
        return
    cites = "Doi(" in text
    place = 0  # where the token before ends
    depth = 0  # how many brackets are open
    for token in _TOKEN.finditer(text):
        depth = _depth(text[place : token.start()], depth)
        place = token.end()
        kind = token.lastgroup  # of the content
        if kind is None:
            continue
        content = token[kind]
        # What Doi(…) names is a field, which counts even if it is no DOI
        is_wanted = may_mention(content) or (cites and _cites_doi(text, token.start()))
        if not is_wanted:
            continue

        if kind == "comment":
            yield Part(content, start=token.start(kind), encode=one_line)
            continue
        opening = _opening(text, token, depth)
        if opening is not None:
            yield from _parts_of_literal(text, token.span(kind), opening)
        elif "/" in content:  # as each name and each link has
            yield _part_of_value(text, token.span(kind))


def _parts_of_literal(text: str, span: tuple[int, int], opening: re.Match[str]) -> Iterator[Part]:
    """Yield the parts of a string literal.

    :param span: where the string starts and ends, without its quotation marks.
    :param opening: what is before it.
    """
    start, end = span
    content = text[start:end]
    places: Sequence[int] = range(start, end + 1)
    is_raw = "r" in opening["prefix"].lower()
    if "\\" in content and not is_raw:
        content, places = undo(text, [span], _ESCAPE, _meaning)
    call = opening.groupdict().get("call", "")
    for part in _parts_of_string(content, call):
        yield moved(part, places, encode)


def _part_of_value(text: str, span: tuple[int, int]) -> Part:
    """Return the part for a string that documents nothing: a program may compare it, so nothing is fixed.

    In a raw string, no backslash is an escape; but a name with one is rare.
    """
    content, places = undo(text, [span], _ESCAPE, _meaning)
    return Part(content, places=places, labelled=True, encode=unwritable)


def _call(text: str, start: int) -> re.Match[str] | None:
    """Return the call of duecredit that a string at ``start`` is the first argument of."""
    return _CALL.search(text, max(0, start - _LONGEST_LINE), start)


def _cites_doi(text: str, start: int) -> bool:
    """Return whether a string is meant for a DOI, though it may be none."""
    call = _call(text, start)
    return call is not None and call["call"] == "Doi"


def _depth(code: str, depth: int) -> int:
    """Return how many brackets are open after a piece of code without strings.

    A definition is within none: what is open before it was never closed, as in a broken file.

    :param depth: how many are open before it.
    """
    for definition in _DEFINITION.finditer(code):
        code = definition.string[definition.start() :]
        depth = 0
    opened = sum(map(code.count, "([{"))
    closed = sum(map(code.count, ")]}"))
    return max(0, depth + opened - closed)


def _opening(text: str, token: re.Match[str], depth: int) -> re.Match[str] | None:
    """Return what is before a string, up to its prefix; None if it documents nothing.

    It is the call of duecredit, as in ``Doi("10.1000/182")``, or the beginning of the line of a docstring.

    :param depth: how many brackets are open before the string; within brackets, a string is no docstring.
    """
    start, end = token.span()
    call = _call(text, start)
    if call is not None and _AFTER_ARGUMENT.match(text, end):
        return call

    # A docstring begins its line, but for what _BEFORE has, and ends it. Of a long line, only the end is read
    first = max(0, start - _LONGEST_LINE)
    line = max(text.rfind("\n", first, start), text.rfind("\r", first, start), first - 1) + 1
    is_too_long = line == first and first > 0
    continues_line = text.endswith(("\\\n", "\\\r\n"), 0, line)
    if depth or is_too_long or continues_line or not _AFTER.match(text, end):
        return None
    return _BEFORE.fullmatch(text, line, start)


def _parts_of_string(content: str, call: str) -> Iterator[Part]:
    """Return the parts of a string: of an argument of duecredit, or of a docstring.

    :param call: the function of duecredit, "Doi" or "BibTeX"; "" for a docstring.
    """
    if call == "Doi":
        yield Part(content, field=True)
        return
    if call == "BibTeX":
        yield from parts(content)
        return

    # The first line of a docstring is indented like the others (PEP 257)
    margins = (margin[1] for margin in _MARGIN.finditer(content))
    margin = min(margins, key=len, default="")
    prose = rst_without_code(margin + content)[len(margin) :]
    yield Part(prose, "rst")
    if prose != content:
        yield from parts_in_code(content, prose)


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


_SKIPPED = frozenset({"attachments", "outputs", "widgets"})
_IGNORE = re.compile(r"\s*doiuri:\s*ignore\s*(?:\[([^\[\]]*)\])?\s*\Z")
_MARKDOWN = {"markdown", "heading"}  # format 3 has cells for headings
_FORMAT_3 = "worksheets"  # its cells are in worksheets, and the source of code is called input


_COMMENT_LINES = re.compile(
    r"""
    (?P<tex> (?: ^[ \t]*+ \#+' [^\r\n]*+ (?:\r?\n|\Z) )+ )                      # roxygen: escapes are those of TeX
  | (?P<text> (?: ^[ \t]*+ (?! \#+' ) (?:\#|//|\*) [^\r\n]*+ (?:\r?\n|\Z) )+ )
    """,
    re.MULTILINE | re.VERBOSE,
)


def read_code(source: Source) -> Iterator[Part]:
    """Return the comments of a program, and the rest, without fixes: a program may compare its strings."""
    last = 0
    for lines in _COMMENT_LINES.finditer(source.text):
        yield _part_with_strings(source.text, last, lines.start())
        # The group that matched is called like the syntax: "tex" or "text"
        yield Part(lines[0], lines.lastgroup or "", start=lines.start())
        last = lines.end()
    yield _part_with_strings(source.text, last, len(source.text))


def read_source(source: Source) -> Iterator[Part]:
    """Return a program as text, in which only names with a label and links count; no fix is safe in it."""
    text = source.text
    # With escapes, the text of a part is not as the file writes it, so that nothing can be fixed in it
    if may_mention(text) and _ESCAPE_IN_NAME.search(text):
        yield _part_with_strings(text, 0, len(text))._replace(labelled=True)
    else:
        yield Part(text, labelled=True)


def _part_with_strings(text: str, start: int, end: int) -> Part:
    """Return a piece of a program in whose strings nothing is fixed, without escapes that a name may have."""
    piece = text[start:end]
    if not may_mention(piece) or not _ESCAPE_IN_NAME.search(piece):
        return Part(piece, start=start, encode=unwritable)
    piece, places = undo(text, [(start, end)], _ESCAPE_IN_NAME, _meaning)
    return Part(piece, places=places, encode=unwritable)


class _NotebookCell:
    """A cell: what it is, the strings of its source, and its tags."""

    def __init__(self) -> None:
        self.kind = ""
        self.source: list[String] = []
        self.tags: list[str] = []

    @property
    def ignored(self) -> frozenset[str]:
        """The codes that the tags ignore; "*" stands for all."""
        codes: set[str] = set()
        for tag in self.tags:
            ignore = _IGNORE.match(tag)
            if ignore is not None:
                codes.update(code.strip() for code in (ignore[1] or "*").split(","))
        return frozenset(codes - {""})


def read_notebook(source: Source) -> Iterator[Part]:
    """Return the Markdown of each cell, and the comments and strings of its Python.

    :raises ReadError: if the file is not a notebook.
    """
    encode = encoder(source)
    for number, cell in enumerate(_cells(source), 1):
        ignored = cell.ignored
        mentions = may_mention("".join(string.value for string in cell.source))
        # A cell with a tag counts without a DOI, too: its tag may not be needed
        if not cell.source or not (ignored or mentions):
            continue

        decoded = undo_all(source.text, cell.source)
        parts: list[Part] = []
        if mentions:
            parts += _parts_of_cell(cell.kind, decoded, encode)
        # A part without text, only so that the tag is known and reported as not needed
        if ignored and not parts:
            parts = [Part("", places=decoded.places, cell_text=decoded.text, encode=encode)]
        for part in parts:
            yield part._replace(cell=number, ignored=ignored)


def _cells(source: Source) -> Iterable[_NotebookCell]:
    """Return the cells of a notebook, in order.

    In format 4, the string at ``("cells", 0, "source", 2)`` is a line of the first cell; in format 3, that at
    ``("worksheets", 0, "cells", 0, "input", 2)`` is.

    :raises ReadError: if the file is not a notebook.
    """
    if '"cells"' not in source.text and f'"{_FORMAT_3}"' not in source.text:
        raise ReadError("not a notebook: it has no cells")
    loaded(source)  # refuses what is no JSON
    cells: dict[Keys, _NotebookCell] = {}
    for string in strings(source, _SKIPPED):
        path = string.path
        depth = 4 if path[:1] == (_FORMAT_3,) else 2  # the keys and numbers that lead to a cell
        if string.is_key or len(path) <= depth or path[depth - 2] != "cells":
            continue
        cell = cells.setdefault(path[:depth], _NotebookCell())
        match path[depth:]:
            case ("cell_type",):
                cell.kind = string.value
            case ("source" | "input",) | ("source" | "input", int()):
                cell.source.append(string)
            case ("metadata", "tags", int()):
                cell.tags.append(string.value)
    return cells.values()


def _parts_of_cell(kind: str, cell: Decoded, encode: Callable[[str], str]) -> Iterator[Part]:
    """Yield the parts of a cell's text, each with its places in the file and in the cell."""
    parts: Iterable[Part] = ()
    if kind in _MARKDOWN:
        parts = parts_of_markdown(cell.text)
    elif kind == "code":
        parts = parts_of_code(cell.text)
    for part in parts:
        in_file = moved(part, cell.places, encode)
        yield in_file._replace(cell_text=cell.text, cell_places=inner_places(part))
