"""YAML as text: its scalars and comments, with the keys that lead to them; the values of ``doi`` are fields.

1. ``scalars`` splits the text into tokens by their looks, and keeps the mappings and sequences around the place
   by the columns in which they begin. It never refuses a text, so that templates and broken files are read too.
2. ``decoded`` undoes the escapes of a scalar, and ``encode`` does the reverse.
3. ``read_yaml`` chooses the scalars that may mention DOIs, document by document, and says which are fields.
"""

from __future__ import annotations

import json
import re
from functools import cache, partial
from itertools import groupby
from operator import attrgetter
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from doiuri_cli.readers._json import encode_unicode
from doiuri_cli.readers._keys import KEY_NAMES, is_doi_key
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
    from collections.abc import Iterable, Iterator

    from doiuri_cli.files import Source
    from doiuri_cli.readers._json import Keys

_DEEPEST = 200  # levels that a path tells apart
# The key of a reference, in recorded JSON; it only begins like a DOI
_CROSSREF_KEY = re.compile(r'"key": ?"10\.[^"]*+"')
_BRACKETS = -2  # the column of what is within brackets or braces
# What is no string, if it is plain
_NO_TEXT = re.compile(r"(?:true|false|yes|no|on|off|null|~)?", re.IGNORECASE)
_NAMES = {"doi", "DOI", "title"}  # what has a key "id" and one of these is an entry
_WHITE = r"[ \t\r\n]"
_DOCUMENT_MARKER = rf"^(?:---|\.\.\.)(?={_WHITE}|\Z)"  # YAML 1.2.2 §9.1.2
_WORDS = r"(?>(?:[^ \t\r\n:\#]++|:(?![ \t\r\n]|\Z)|(?<![ \t\r\n])\#)+)"
_WORDS_IN_FLOW = r"(?>(?:[^ \t\r\n:\#,\[\]{}]++|:(?![ \t\r\n,\[\]{}]|\Z)|(?<![ \t\r\n])\#)+)"
_TOKENS, _TOKENS_IN_BRACKETS = (
    re.compile(
        rf"""[ \t\r\n\ufeff]*+(?:
            (?<![^ \t\r\n])\#(?P<comment>[^\r\n]*+)
          | (?P<document>{_DOCUMENT_MARKER})
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
_COLON = re.compile(r"[ \t]*+:(?=[ \t\r\n]|\Z)")
_COLON_IN_BRACKETS = re.compile(r"[ \t]*+:(?=[ \t\r\n,\[\]{}]|\Z|(?<=[\"']:))")
_MARKER = re.compile(_DOCUMENT_MARKER, re.MULTILINE)
_STYLES = {"double": '"', "single": "'", "plain": ""}
_SINGLE = re.compile("''")
_DOUBLE = re.compile(
    r"""\\(?:
        x[0-9a-fA-F]{2}
      | u[dD][89abAB][0-9a-fA-F]{2} \\u[dD][c-fC-F][0-9a-fA-F]{2}   # a pair of surrogates, as in JSON
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
_NOT_PLAIN = (
    r"\A[-?:#&*!|>'\"%@`\s]|[,\[\]{}]|:\s|:\Z|\s#|\s\Z"
    r"|[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd]"
)
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

    @property
    def key(self) -> str | int | None:
        """The key or number of its value; None outside of mappings and sequences."""
        return self.path[-1] if self.path else None

    @property
    def mapping(self) -> Keys:
        """The path of the mapping or sequence that it is in."""
        return self.path[:-1]

    def text_in(self, text: str) -> str:
        """Return the scalar as the file writes it."""
        return text[self.start : self.end]


def read_yaml(source: Source) -> Iterator[Part]:
    """Return the scalars and comments that may mention DOIs; the entry is the nearest ``id``."""
    text = source.text
    is_citation = PurePath(source.path).suffix.lower() == ".cff"
    if not may_mention(text):
        return
    for _, document in groupby(scalars(text), attrgetter("document")):
        yield from _parts(text, [*document], is_citation=is_citation)


def _parts(text: str, scalars: list[Scalar], *, is_citation: bool) -> Iterator[Part]:
    """Yield the parts of one document: of each scalar that may mention a DOI, or is the value of a field for one.

    The ``id`` of a mapping with a DOI, or the key of that mapping, is left out if it is a name, too.
    """
    entries = _entries(text, scalars)
    identifiers = _identifiers(text, scalars)
    with_doi = {scalar.mapping for scalar in scalars if is_doi_key(scalar.key)}
    for scalar in scalars:
        is_identifier = scalar.key == "value" and scalar.mapping in identifiers
        is_field = is_doi_key(scalar.key) or is_identifier
        # In double quotes there may be escapes, so that a name is not as the file has it
        may_have_escapes = scalar.style == '"'
        if not (is_field or may_have_escapes or may_mention(scalar.text_in(text))):
            continue

        part = part_of(text, scalar, _entry(scalar.path, entries))
        if scalar.is_key or scalar.key in KEY_NAMES:
            named = scalar.path if scalar.is_key else scalar.mapping  # the mapping that it names
            # "10.1000/1: {doi: 10.1000/1}" mentions it once
            if named in with_doi and part.text.startswith("10."):
                continue
            part = part._replace(encode=unwritable)

        if is_field and is_text(text, scalar):
            if is_citation:
                yield part._replace(field=True)
            elif is_attempt(part.text):
                yield value_of_doi(part)
        elif may_mention(part.text):
            # An abstract may be "<p>…</p>", where "&lt;" stands for a character of a name
            has_elements = "</" in part.text
            yield part._replace(syntax="xml") if has_elements else part


def _identifiers(text: str, scalars: Iterable[Scalar]) -> set[Keys]:
    """Return the paths of the ``identifiers`` that a key ``type`` calls DOIs, as in CITATION.cff.

    Such a path is ``("identifiers", 0)``, of a mapping with the keys ``type`` and ``value``.
    """
    identifiers: set[Keys] = set()
    for scalar in scalars:
        is_type = scalar.key == "type" and "identifiers" in scalar.path
        if is_type and scalar.text_in(text) == "doi":
            identifiers.add(scalar.mapping)
    return identifiers


def is_text(text: str, scalar: Scalar) -> bool:
    """Return whether a scalar is a value that is a string, unlike in settings such as ``doi: true``."""
    is_none = scalar.style == "" and _NO_TEXT.fullmatch(text, scalar.start, scalar.end)
    return not (scalar.is_key or scalar.style == "#" or is_none)


def _entries(text: str, scalars: Iterable[Scalar]) -> dict[Keys, str]:
    """Return the ids of entries, each by the path of its entry: a mapping with an ``id``, and a DOI or a title."""
    ids: dict[Keys, Scalar] = {}
    for scalar in scalars:
        if scalar.key == "id" and not scalar.is_key:
            ids[scalar.mapping] = scalar
    if not ids:
        return {}
    works = {scalar.mapping for scalar in scalars if scalar.key in _NAMES}
    return {path: decoded(text, scalar).text for path, scalar in ids.items() if path in works}


def _entry(path: Keys, entries: dict[Keys, str]) -> str:
    """Return the id of the nearest entry around a value; "" if there is none."""
    if not entries:
        return ""
    for length in range(len(path), -1, -1):
        if path[:length] in entries:
            return entries[path[:length]]
    return ""


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


def _meaning(match: re.Match[str]) -> str:
    """Return what an escape stands for (YAML 1.2.2 §5.7); itself if there is no such escape."""
    escape = match[0]
    letter = escape[1]
    digits = escape[2:]
    if "u" in digits:  # YAML 1.2 means to read JSON, which has pairs
        return str(json.loads(f'"{escape}"'))
    if letter in "xuU" and digits:
        return chr(int(digits, 16))
    if letter in "\r\n":
        return ""
    return _MEANINGS.get(letter, escape)


def encode(style: str, text: str) -> str:
    """Return the text as a scalar of a style writes it.

    :param style: as ``Scalar`` has it, such as "'".
    :raises ValueError: if the scalar cannot hold the text.
    """
    if style == '"':  # with the escapes of JSON
        return re.sub(_NOT_PRINTABLE, lambda match: f"\\u{ord(match[0]):04x}", encode_unicode(text))
    if _needs_escapes(style, text):
        raise ValueError(f"this scalar cannot hold the text {text!r}")
    if style == "'":
        text = text.replace("'", "''")
    return one_line(text)


def _needs_escapes(style: str, text: str) -> bool:
    """Return whether a scalar of a style that has no escapes cannot hold a text."""
    if not style:
        return re.search(_NOT_PLAIN, text) is not None
    if style in {"|", ">"} and text[:1].isspace():  # it would change the indentation
        return True
    return re.search(_NOT_PRINTABLE, text) is not None


def outline(text: str) -> list[tuple[object, ...]]:
    """Return the keys of a file, and the values that mention no DOI: no fix may change them."""
    values: list[tuple[object, ...]] = []
    for scalar in scalars(text):
        value = scalar.text_in(text)
        if not may_mention(value):
            values.append((scalar.path, scalar.style, value))
    return values


def scalars(text: str) -> Iterator[Scalar]:
    """Yield the scalars and comments of all documents, in order.

    A scalar that a colon follows is a key, and then the path leads to its value. The column of a key or a dash
    says to which mapping or sequence it belongs; within brackets and braces, commas do.
    """
    levels = _Levels()
    document = 0
    place = 0  # where the next token is searched
    line = 0  # where the line of the token starts
    searched = 0  # how far line ends were searched
    while True:
        in_brackets = levels.in_brackets
        tokens = _TOKENS_IN_BRACKETS if in_brackets else _TOKENS
        token = tokens.match(text, place)
        if token is None:
            return

        kind = token.lastgroup or ""
        start, end = token.span(kind)
        place = token.end()
        # Only from the last token on, so that the time stays linear
        line = max(line, text.rfind("\n", searched, start) + 1)
        searched = start
        # What no case fits is passed over: an anchor or a tag, and a comma or a closing bracket outside of any
        match kind:
            case "comment":
                yield Scalar((), "#", start, end, document=document)
            case "document":
                document += 1
                levels = _Levels()
            case "dash" if not in_brackets:
                levels.enter_item(start - line)
            case "open":
                levels.open(token[kind])
            case "close" if in_brackets:
                levels.close()
            case "comma" if in_brackets:
                levels.pass_comma()
            case "block":
                place = _end_of_block(text, place, levels.column)
                yield Scalar(levels.path, text[start], token.end(), place, document=document)
            case "double" | "single" | "plain":
                style = _STYLES[kind]
                colons = _COLON_IN_BRACKETS if in_brackets else _COLON
                colon = colons.match(text, place)
                if colon is not None:
                    place = colon.end()
                    column = start - len(style) - line  # of its quotation mark, if it has one
                    levels.enter_key(column, text[start:end])
                elif kind == "plain" and not in_brackets:
                    end = place = _end_of_plain(text, end, levels.column)
                yield Scalar(levels.path, style, start, end, colon is not None, document)


class _Level(NamedTuple):
    """A mapping or a sequence that is open."""

    column: int  # the column of its keys or dashes; _BRACKETS within brackets or braces
    step: str | int  # the key, or the number of the item, that is read


class _Levels:
    """The mappings and sequences around a place, from the outermost."""

    def __init__(self) -> None:
        self._levels: list[_Level] = []

    @property
    def in_brackets(self) -> bool:
        """Whether the innermost is in brackets or braces."""
        return self.column == _BRACKETS

    @property
    def column(self) -> int:
        """The column of the innermost; -1 if there is none."""
        return self._levels[-1].column if self._levels else -1

    @property
    def path(self) -> Keys:
        """The keys and numbers that lead to the place."""
        return tuple(level.step for level in self._levels[:_DEEPEST])

    def open(self, bracket: str) -> None:
        """Begin a mapping in braces, or a sequence in brackets."""
        first: str | int = "" if bracket == "{" else 0
        self._levels.append(_Level(_BRACKETS, first))

    def close(self) -> None:
        """End what is in brackets or braces."""
        self._levels.pop()

    def pass_comma(self) -> None:
        """Go to the next item, or to a key that is still to be read."""
        step = self._levels[-1].step
        following = step + 1 if isinstance(step, int) else ""
        self._levels[-1] = _Level(_BRACKETS, following)

    def enter_key(self, column: int, key: str) -> None:
        """Go to a key: of what is in brackets, or of the mapping at a column; what is indented deeper ends."""
        if self.in_brackets:
            self._levels[-1] = _Level(_BRACKETS, key)
            return
        while self.column >= column:
            self._levels.pop()
        self._levels.append(_Level(column, key))

    def enter_item(self, column: int) -> None:
        """Go to the next item, or the first, of the sequence at a column, and end what is indented deeper.

        The column may be that of the key to which the sequence belongs (YAML 1.2.2 §8.2.2).
        """
        while self.column > column:
            self._levels.pop()
        number = 0
        # At the column are the items before this one, or the key whose value the sequence is
        if self.column == column:
            step = self._levels[-1].step
            if isinstance(step, int):
                number = step + 1
                self._levels.pop()
        self._levels.append(_Level(column, number))


def _end_of_block(text: str, start: int, column: int) -> int:
    """Return where a block scalar ends; the marker of a document ends one that is not indented."""
    end = block_end(text, start, column)
    if column >= 0:
        return end
    marker = _MARKER.search(text, start, end)
    return marker.start() if marker else end


def _end_of_plain(text: str, start: int, column: int) -> int:
    """Return where a plain scalar ends that may go on in the lines below.

    :param column: the column of the mapping or sequence that it is in.
    """
    margin = min(max(column, 0), _DEEPEST)
    lines = _continued(margin).match(text, start)
    return lines.end() if lines else start


@cache
def _continued(margin: int) -> re.Pattern[str]:
    """Return what matches the lines that a plain scalar goes on in: indented deeper, and no keys."""
    return re.compile(
        rf"""
        (?>
            (?> (?: [ \t]*+ (?: \r\n? | \n ) )+ )                       # line ends
            [ \t]{{{margin + 1},}}+ {_WORDS} (?> [ \t]++ {_WORDS} )*
            (?! [ \t]*+ : (?: {_WHITE} | \Z ) )                         # no key
        )*
        """,
        re.VERBOSE,
    )
