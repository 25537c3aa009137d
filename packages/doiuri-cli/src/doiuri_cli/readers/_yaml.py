"""YAML as text: its scalars and comments, with the keys that lead to them; the values of ``doi`` are fields.

The text is split by its looks and never refused, so that templates and broken files are read too.
"""

from __future__ import annotations

import re
from functools import cache, partial
from itertools import groupby
from operator import attrgetter
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from doiuri_cli.readers._json import encode_unicode
from doiuri_cli.readers._keys import KEY_NAMES
from doiuri_cli.readers._markup import block_end
from doiuri_cli.readers._part import (
    Decoded,
    Part,
    blanked,
    is_attempt,
    may_mention,
    one_line,
    undo,
    unwritable,
    value_of_doi,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri_cli.files import Source
    from doiuri_cli.readers._json import Keys

_DEEPEST = 200  # levels that a path tells apart
_CROSSREF_KEY = re.compile(
    r'"key": ?"10\.[^"]*+"'
)  # of a reference, in recorded JSON; it only begins like a DOI
_BRACKETS = -2  # the column of what is within brackets or braces
_NO_TEXT = re.compile(
    r"(?:true|false|yes|no|on|off|null|~)?", re.IGNORECASE
)  # plain, it is no string
_FIELDS = {"doi", "DOI"}  # their values may be no DOI
_NAMES = {"doi", "DOI", "title"}  # what has a key "id" and one of these is an entry
_WHITE = r"[ \t\r\n]"
_WORDS = r"(?>(?:[^ \t\r\n:\#]++|:(?![ \t\r\n]|\Z)|(?<![ \t\r\n])\#)+)"
_WORDS_IN_FLOW = r"(?>(?:[^ \t\r\n:\#,\[\]{}]++|:(?![ \t\r\n,\[\]{}]|\Z)|(?<![ \t\r\n])\#)+)"
_TOKENS = tuple(  # in blocks, and within brackets or braces
    re.compile(
        rf"""[ \t\r\n\ufeff]*+(?:
            (?<![^ \t\r\n])\#(?P<comment>[^\r\n]*+)
          | (?P<document>^(?:---|\.\.\.)(?={_WHITE}|\Z))
          | (?P<dash>-)(?={_WHITE}|\Z)
          | (?P<open>[\[{{])
          | (?P<close>[\]}}])
          | (?P<comma>,)
          | (?P<other>                                       # passed over:
                [?:](?=[ \t\r\n,\[\]{{}}]|\Z)                # the mark of a key or value,
              | [&*][\w-]+(?=[ \t\r\n,\]}}]|\Z)              # an anchor or alias,
              | ![^ \t\r\n,\[\]{{}}]*+(?=[ \t\r\n,\]}}]|\Z)  # a tag
            )
          | "(?P<double>[^"\\]*+(?>(?:\\.[^"\\]*+)*))"
          | '(?P<single>[^']*+(?>(?:\'\'[^']*+)*))'
          {block}
          | (?P<plain>{words}(?>[ \t]++{words})*)             # or what looks like one, such as an open quote
        )""",
        re.VERBOSE | re.DOTALL | re.MULTILINE,
    )
    for words, block in (
        (_WORDS, r"| (?P<block>[|>][-+0-9]*+)[ \t]*+(?:(?<=[ \t])\#[^\r\n]*+)?(?:\r?\n|\Z)"),
        (_WORDS_IN_FLOW, ""),
    )
)
_COLONS = (
    re.compile(r"[ \t]*+:(?=[ \t\r\n]|\Z)"),
    re.compile(r"[ \t]*+:(?=[ \t\r\n,\[\]{}]|\Z|(?<=[\"']:))"),
)
_SINGLE = re.compile("''")
_DOUBLE = re.compile(
    r"""\\(?:
        x[0-9a-fA-F]{2}
      | u(?![dD][89a-fA-F])[0-9a-fA-F]{4}              # no surrogate
      | U00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4}
      | (?:\r\n?|\n)[ \t]*+                            # a line that goes on
      | .
    )""",
    re.VERBOSE,
)
_MEANINGS = dict(
    zip('0abt\tnvfre "/\\N_LP', '\0\a\b\t\t\n\v\f\r\x1b "/\\\x85\xa0\u2028\u2029', strict=True)
)
# What would end a plain scalar, also within brackets, or make it something else (YAML 1.2.2 §7.3.3).
# Compiling these two takes a tenth of the time that the command takes to start, so their first use does it.
_NOT_PLAIN = r"\A[-?:#&*!|>'\"%@`\s]|[,\[\]{}]|:\s|:\Z|\s#|\s\Z|[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd]"
_NOT_PRINTABLE = (
    r"[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


class Scalar(NamedTuple):
    """A scalar or a comment."""

    path: Keys  # the keys and, in sequences, the numbers from 0 that lead to it; a key's own text is the last
    style: str  # "'", '"', "|" or ">"; "#" if it is a comment; empty if it is plain
    start: int  # offset in the file of its first character, without quotation marks
    end: int  # offset after its last one
    is_key: bool = False  # whether it is the key of a mapping
    document: int = 0  # the number of its document


def read_yaml(source: Source) -> Iterator[Part]:
    """Return the scalars and comments that may mention DOIs; the entry is the nearest ``id``."""
    text = source.text
    is_citation = PurePath(source.path).suffix.lower() == ".cff"
    if not may_mention(text):
        return
    for _, document in groupby(scalars(text), attrgetter("document")):
        yield from _parts(text, [*document], is_citation=is_citation)


def _parts(text: str, found: list[Scalar], *, is_citation: bool) -> Iterator[Part]:
    entries = _entries(text, found)
    kinds = (one for one in found if one.path[-1:] == ("type",) and "identifiers" in one.path)
    identifiers = {one.path[:-1] for one in kinds if text[one.start : one.end] == "doi"}
    with_doi = {one.path[:-1] for one in found if one.path and one.path[-1] in _FIELDS}
    for scalar in found:
        key = scalar.path[-1] if scalar.path else None
        field = key in _FIELDS or (key == "value" and scalar.path[:-1] in identifiers)
        # In double quotes there may be escapes, so that a name is not as the file has it
        if not (field or scalar.style == '"' or may_mention(text[scalar.start : scalar.end])):
            continue
        part = part_of(text, scalar, _entry(scalar.path, entries))
        if scalar.is_key or key in KEY_NAMES:
            named = scalar.path if scalar.is_key else scalar.path[:-1]
            if named in with_doi and part.text.startswith("10."):
                continue
            part = part._replace(encode=unwritable)
        if field and is_text(text, scalar):
            if is_citation:
                yield part._replace(field=True)
            elif is_attempt(part.text):
                yield value_of_doi(part)
        elif may_mention(part.text):
            yield part._replace(syntax="xml") if "</" in part.text else part


def is_text(text: str, scalar: Scalar) -> bool:
    """Return whether a scalar is a value that is a string, unlike in settings such as ``doi: true``."""
    is_none = scalar.style == "" and _NO_TEXT.fullmatch(text, scalar.start, scalar.end)
    return not (scalar.is_key or scalar.style == "#" or is_none)


def _entries(text: str, found: list[Scalar]) -> dict[Keys, str]:
    ids = {one.path[:-1]: one for one in found if one.path[-1:] == ("id",) and not one.is_key}
    named = (
        {one.path[:-1] for one in found if one.path and one.path[-1] in _NAMES} if ids else set()
    )
    return {path: decoded(text, one).text for path, one in ids.items() if path in named}


def _entry(path: Keys, entries: dict[Keys, str]) -> str:
    if not entries:
        return ""
    return next(
        (entries[path[:end]] for end in range(len(path), -1, -1) if path[:end] in entries), ""
    )


def part_of(text: str, scalar: Scalar, entry: str) -> Part:
    """Return a scalar as a part of a file."""
    content, places = decoded(text, scalar)
    content = blanked(content, (key.span() for key in _CROSSREF_KEY.finditer(content)))
    return Part(content, places=places, entry=entry, encode=partial(encode, scalar.style))


def decoded(text: str, scalar: Scalar) -> Decoded:
    """Return the text of a scalar with the place of each character; line breaks and margins stay."""
    span = scalar.start, scalar.end
    if scalar.style == "'":
        return undo(text, [span], _SINGLE, lambda _: "'")
    if scalar.style == '"':
        return undo(text, [span], _DOUBLE, _meaning)
    return Decoded(text[slice(*span)], range(scalar.start, scalar.end + 1))


def _meaning(found: re.Match[str]) -> str:
    """Return what an escape stands for (YAML 1.2.2 §5.7); itself if there is no such escape."""
    escape = found[0]
    if escape[1] in "xuU" and (digits := escape[2:]):
        return chr(int(digits, 16))
    return "" if escape[1] in "\r\n" else _MEANINGS.get(escape[1], escape)


def encode(style: str, text: str) -> str:
    """Return the text as a scalar of a style writes it.

    :raises ValueError: if the scalar cannot hold the text.
    """
    if style == '"':  # with the escapes of JSON
        return re.sub(_NOT_PRINTABLE, lambda found: f"\\u{ord(found[0]):04x}", encode_unicode(text))
    if not style:
        wrong = re.search(_NOT_PLAIN, text) is not None
    else:  # white space would change the indentation of a block
        wrong = bool(re.search(_NOT_PRINTABLE, text)) or (
            style in {"|", ">"} and text[:1].isspace()
        )
    if wrong:
        raise ValueError(f"this scalar cannot hold the text {text!r}")
    return one_line(text.replace("'", "''") if style == "'" else text)


def outline(text: str) -> list[tuple[object, ...]]:
    """Return the keys of a file, and the values that mention no DOI: no fix may change them."""
    return [
        (one.path, one.style, text[one.start : one.end])
        for one in scalars(text)
        if not may_mention(text[one.start : one.end])
    ]


def scalars(text: str) -> Iterator[Scalar]:
    """Yield the scalars and comments of all documents, in order."""
    levels: list[tuple[int, str | int]] = []  # the column, and the key or number that is read there
    place = line = before = document = 0
    while token := _TOKENS[flow := bool(levels) and levels[-1][0] == _BRACKETS].match(text, place):
        kind, place = token.lastgroup or "", token.end()
        start, end = token.span(kind)
        line = max(line, text.rfind("\n", before, start) + 1)
        before = start
        match kind:
            case "comment":
                yield Scalar((), "#", start, end, document=document)
            case "document":
                document += 1
                levels.clear()
            case "dash" if not flow:
                _enter(levels, start - line, None)
            case "open":
                levels.append((_BRACKETS, "" if token[kind] == "{" else 0))
            case "close" if flow:
                levels.pop()
            case "comma" if flow:
                last = levels[-1][1]
                levels[-1] = _BRACKETS, last + 1 if isinstance(last, int) else ""
            case "block":
                place = block_end(text, place, levels[-1][0] if levels else -1)
                yield Scalar(_path(levels), text[start], token.end(), place, document=document)
            case "double" | "single" | "plain":
                style = {"double": '"', "single": "'"}.get(kind, "")
                colon = _COLONS[flow].match(text, place)
                if colon and flow:
                    levels[-1] = _BRACKETS, text[start:end]
                elif colon:
                    _enter(levels, start - len(style) - line, text[start:end])
                elif not style and not flow:
                    lines = _continued(min(levels[-1][0], _DEEPEST) if levels else 0).match(
                        text, end
                    )
                    end = place = lines.end() if lines else end
                place = colon.end() if colon else place
                yield Scalar(_path(levels), style, start, end, colon is not None, document)


def _enter(levels: list[tuple[int, str | int]], column: int, key: str | None) -> None:
    """Go to a key of the mapping at a column, or if it is None, to the next item of the sequence there."""
    while levels and levels[-1][0] > column - (key is not None):
        levels.pop()
    last = levels[-1][1] if levels and levels[-1][0] == column else ""
    if isinstance(last, int):
        levels.pop()  # a sequence may begin at the column of the key that it belongs to
    levels.append((column, key if key is not None else last + 1 if isinstance(last, int) else 0))


@cache
def _continued(margin: int) -> re.Pattern[str]:
    """Return what matches the lines that a plain scalar goes on in: indented deeper, and no keys."""
    line = rf"[ \t]{{{margin + 1},}}+{_WORDS}(?>[ \t]++{_WORDS})*"
    return re.compile(rf"(?>(?>(?:[ \t]*+(?:\r\n?|\n))+){line}(?![ \t]*+:(?:{_WHITE}|\Z)))*")


def _path(levels: list[tuple[int, str | int]]) -> Keys:
    return tuple(step for _, step in levels[:_DEEPEST])
