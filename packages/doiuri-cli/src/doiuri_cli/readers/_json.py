"""JSON: its strings with their places (RFC 8259), and the parts of files that describe works.

These are CSL-JSON, .zenodo.json and codemeta.json; other files have no parts.
"""

from __future__ import annotations

import json
import re
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from doiuri_cli.readers._blank import may_mention
from doiuri_cli.readers._part import Decoded, Part, ReadError, Stretches, undo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from doiuri_cli.files import Source

    Keys = tuple[str | int, ...]  # the keys and, in arrays, the numbers from 0 that lead to a value
    Kind = Callable[[Keys, object], str]  # of a value: "field", a syntax, or "" if it is not read


DEEPEST = 200  # levels of arrays and objects
_SIMPLE = re.compile(r'[^"\\\r\n]*+"')
# The bound keeps the memory of one match small; longer strings take several
_PIECE = re.compile(r'[^"\\\r\n]*+(?>(?:\\[^\r\n][^"\\\r\n]*+){0,1000})')
_SCALAR = r"-?[0-9]++(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?|true|false|null|-?Infinity|NaN"
_VALUE, _KEY, _END = "a value", "a key", "the end of the file"
_ITEM_OR_END, _KEY_OR_END = "a value or ']'", "a key or '}'"
_AFTER_ITEM, _AFTER_MEMBER = "',' or ']'", "',' or '}'"
_EXPECTED = {
    state: re.compile(rf"[ \t\r\n]*+({mark})")
    for state, mark in (
        (_VALUE, rf'["{{\[]|{_SCALAR}'),
        (_ITEM_OR_END, rf'["{{\[\]]|{_SCALAR}'),
        (_KEY, '"'),
        (_KEY_OR_END, '["}]'),
        (_AFTER_ITEM, r"[,\]]"),
        (_AFTER_MEMBER, "[,}]"),
        ("':'", ":"),
        (_END, r"\Z"),
    )
}
_SKIPPED = re.compile(r'(?>(?:[^"{}\[\]]++|"[^"\\\r\n]*+"){0,1000})')  # strings without escapes too
_BLANKS = re.compile(r"[ \t\r\n]*+")
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|(?P<character>.))",
    re.DOTALL,
)
_CHARACTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HTML = {"description", "notes"}
CSL_LISTS = frozenset(
    ("author", "editor", "translator", "issued", "accessed", "reference", "link", "license")
)
"""Keys of CSL-JSON whose lists hold no DOI of the item itself."""


def read(source: Source) -> Iterator[Part]:
    """Return the values that may mention DOIs; the entry is the ``id`` of an item.

    :raises ReadError: if the file is not JSON though its name says what it describes.
    """
    match PurePath(source.path).name.lower():
        case ".zenodo.json":
            yield from _values(source, loaded(source), _zenodo)
        case "codemeta.json":
            yield from _values(source, loaded(source), _codemeta)
        case _ if (items := csl_items(source)) is not None:
            yield from _values(source, items, _csl)


def loaded(source: Source) -> object:
    """Return the value that a JSON text describes.

    :raises ReadError: if it is not JSON.
    """
    try:
        value: object = json.loads(source.text)
    except json.JSONDecodeError as error:
        line, column = source.lines.position(error.pos)
        raise ReadError(f"line {line}, column {column}: {error.msg}") from error
    except ValueError as error:  # a number of many digits
        raise ReadError(f"not JSON that can be read: {error}") from error
    except RecursionError as error:
        raise ReadError("not JSON that can be read: nested too deeply") from error
    return value


def csl_items(source: Source) -> object | None:
    """Return the value of a text if it is CSL-JSON: a work or several, with ``type`` and ``DOI``; or None."""
    if '"DOI"' not in source.text or '"type"' not in source.text:
        return None
    try:
        value = loaded(source)
    except ReadError:
        return None
    if _is_item(value):
        return value
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return value if any(_is_item(item) for item in items) else None


def _is_item(value: object) -> bool:
    return (
        isinstance(value, dict) and isinstance(value.get("type"), str) and isinstance(value.get("DOI"), str)
    )


def _values(source: Source, value: object, kind_of: Kind) -> Iterator[Part]:
    encode = encoder(source)
    scanner = Scanner(source, CSL_LISTS if kind_of is _csl else frozenset())
    for string in scanner.strings():
        holder = at(value, string.path[:-1])
        if kind := kind_of(string.path, holder):
            text, places = decode_all(source.text, [(string.start, string.end)])
            field = kind == "field"
            if field or may_mention(text):
                syntax = "text" if field else kind
                key = _key(holder) if kind_of is _csl else ""
                yield Part(text, syntax, places=places, entry=key, field=field, encode=encode)


def at(value: object, path: Keys) -> object:
    """Return the value to which a path leads; None if there is none."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def _key(item: object) -> str:
    key = item.get("id", "") if isinstance(item, dict) else ""
    return str(key) if isinstance(key, str | int) else ""


def _csl(path: Keys, holder: object) -> str:
    if not 1 <= len(path) <= 2 or not isinstance(holder, dict):
        return ""
    match path[-1]:
        case "DOI":
            return "field"
        case "URL" | "note":
            return "text"
        case _:
            return ""


def _zenodo(path: Keys, holder: object) -> str:
    match path:
        case ("doi",):
            return "field"
        case ("related_identifiers" | "alternate_identifiers", int(), "identifier"):
            return "field" if isinstance(holder, dict) and holder.get("scheme") == "doi" else "text"
        case (str() as key,) if key in _HTML:
            return "html"
        case ("references", int()):
            return "text"
        case _:
            return ""


def _codemeta(path: Keys, holder: object) -> str:
    names = [step for step in path if isinstance(step, str)]
    match names[-1:]:
        case ["value"] if isinstance(holder, dict) and "identifier" in names:
            return "field" if str(holder.get("propertyID")).lower().endswith("doi") else "text"
        case ["identifier" | "@id" | "sameAs" | "url" | "citation" | "referencePublication" | "description"]:
            return "text"
        case _:
            return ""


class String(NamedTuple):
    """A string that is a value.

    :ivar path: the keys that lead to it.
    :ivar start: offset in the file of its first character, after the quotation mark.
    :ivar end: offset of the quotation mark that ends it.
    """

    path: Keys
    start: int
    end: int


def encode_ascii(text: str) -> str:
    """Return the text as JSON writes it in ASCII."""
    return json.dumps(text)[1:-1]


def encode_unicode(text: str) -> str:
    """Return the text as JSON writes it in Unicode."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def encoder(source: Source) -> Callable[[str], str]:
    """Return what writes strings as a file does: in ASCII if all of it is."""
    return encode_ascii if source.text.isascii() else encode_unicode


def decode(text: str, start: int, end: int) -> str:
    """Return the text of a string."""
    return text[start:end] if text.find("\\", start, end) < 0 else _ESCAPE.sub(_meaning, text[start:end])


def decode_all(text: str, spans: list[tuple[int, int]]) -> Decoded:
    """Return the text of several strings, one behind the other, with the place of each character."""
    stretches = Stretches()
    for span in spans:
        undo(stretches, text, span, _ESCAPE, _meaning)
    return stretches.decoded(spans[-1][1])


def _meaning(escape: re.Match[str]) -> str:
    if character := escape["character"]:
        return _CHARACTERS.get(character, character)
    code = int(escape[0][2:6], 16)
    if len(escape[0]) > 6:
        code = 0x10000 + ((code - 0xD800) << 10) + int(escape[0][8:12], 16) - 0xDC00
    return chr(code)


class Scanner:
    """Finds the strings of a JSON text in linear time.

    :param source: the file.
    :param skip: keys whose arrays and objects are passed over; in them only strings and brackets are checked.
    """

    def __init__(self, source: Source, skip: frozenset[str] = frozenset()) -> None:
        self._source = source
        self._text = source.text
        self._skip = skip
        self._path: list[str | int] = []  # a number for each array, a key for each object
        self._place = 0

    def strings(self) -> Iterator[String]:
        """Return the strings that are values, in order.

        :raises ReadError: if the text is not JSON.
        """
        state = _VALUE
        while state != _END:
            match self._mark(state):
                case '"' if state in {_KEY, _KEY_OR_END}:
                    state = self._key()
                    continue
                case '"':
                    start = self._place
                    yield String((*self._path,), start, self._string_end())
                case "{" | "[" as mark:
                    state = self._open(mark)
                    continue
                case "}" | "]":
                    self._path.pop()
                case ",":
                    state = self._next()
                    continue
            state = self._after()
        self._mark(state)

    def _mark(self, state: str) -> str:
        mark = _EXPECTED[state].match(self._text, self._place)
        if mark is None:
            blanks = _BLANKS.match(self._text, self._place)
            raise self._error(f"expected {state}", blanks.end() if blanks else self._place)
        self._place = mark.end()
        return mark[1]

    def _open(self, mark: str) -> str:
        if len(self._path) == DEEPEST:
            raise self._error(f"more than {DEEPEST} levels of arrays and objects", self._place - 1)
        self._path.append(0 if mark == "[" else "")
        return _ITEM_OR_END if mark == "[" else _KEY_OR_END

    def _next(self) -> str:
        last = self._path[-1]
        if isinstance(last, str):
            return _KEY
        self._path[-1] = last + 1
        return _VALUE

    def _after(self) -> str:
        if not self._path:
            return _END
        return _AFTER_MEMBER if isinstance(self._path[-1], str) else _AFTER_ITEM

    def _key(self) -> str:
        start = self._place
        key = decode(self._text, start, self._string_end())
        self._path[-1] = key
        self._mark("':'")
        return self._after() if key in self._skip and self._skipped() else _VALUE

    def _skipped(self) -> bool:
        """Pass over an array or object; return whether there is one."""
        depth = 0
        while True:
            passed = (_SKIPPED if depth else _BLANKS).match(self._text, self._place)
            place = passed.end() if passed else self._place
            mark = self._text[place : place + 1]
            if not depth and mark not in {"[", "{"}:
                return False
            if not mark:
                raise self._error("expected ']' or '}'", place)
            if mark not in '"[]{}':  # the bound of the expression
                self._place = place
                continue
            self._place = place + 1
            if mark == '"':
                self._string_end()
                continue
            depth += 1 if mark in "[{" else -1
            if not depth:
                return True

    def _string_end(self) -> int:
        """Return where the string ends that starts at this place, and go on behind it."""
        end = start = self._place
        if simple := _SIMPLE.match(self._text, start):
            self._place = simple.end()
            return simple.end() - 1
        while True:
            piece = _PIECE.match(self._text, end)
            if piece is None or piece.end() == end or self._text.startswith('"', piece.end()):
                break
            end = piece.end()
        end = piece.end() if piece else end
        if not self._text.startswith('"', end):
            raise self._error("this string has no end", start - 1)
        self._place = end + 1
        return end

    def _error(self, message: str, place: int) -> ReadError:
        line, column = self._source.lines.position(place)
        return ReadError(f"line {line}, column {column}: {message}")
