"""JSON: its strings with their places (RFC 8259), and the parts of files that describe works.

These are CSL-JSON, .zenodo.json and codemeta.json; other files have no parts.
"""

from __future__ import annotations

import json
import re
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from doiuri_cli.readers._blank import may_mention
from doiuri_cli.readers._part import Decoded, Part, ReadError, undo

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

    from doiuri_cli.files import Source

    Keys = tuple[str | int, ...]  # the keys and, in arrays, the numbers from 0 that lead to a value
    Kind = Callable[[Keys, object], str]  # of a value: "field", a syntax, or "" if it is not read


DEEPEST = 200  # levels of arrays and objects
_MARK = re.compile(r'[\[\]{},"]')
_COLON = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
_decoded = json.JSONDecoder().raw_decode
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL
)
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
        raise ReadError(error.msg, *source.lines.position(error.pos)) from error
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
    for string in strings(source, CSL_LISTS if kind_of is _csl else frozenset()):
        holder = at(value, string.path[:-1])
        kind = kind_of(string.path, holder)
        field = kind == "field"
        if kind and (field or may_mention(string.value)):
            text, places = undo_all(source.text, [string])
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
    :ivar value: its text.
    :ivar start: offset in the file of its first character, after the quotation mark.
    :ivar end: offset of the quotation mark that ends it.
    """

    path: Keys
    value: str
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


def undo_all(text: str, strings: Iterable[String]) -> Decoded:
    """Return the text of several strings, one behind the other, with the place of each character."""
    spans = ((string.start, string.end) for string in strings)
    return undo(text, spans, _ESCAPE, lambda escape: str(json.loads(f'"{escape[0]}"')))


def strings(source: Source, skip: Container[str] = (), keys: set[str] | None = None) -> Iterator[String]:
    """Return the strings that are values, in order.

    :param source: a file that ``loaded`` has found to be JSON, or of which it has found each line to be.
    :param skip: keys whose values are passed over.
    :param keys: gets the keys that are read.
    :raises ReadError: if it is nested too deeply.
    """
    text, place, is_key = source.text, 0, False
    path: list[str | int] = []  # a key for each object, a number for each array
    while mark := _MARK.search(text, place):
        start, place = mark.span()
        if mark[0] == '"':
            value, place = _decoded(text, start)
            if not is_key:
                yield String((*path,), value, start + 1, place - 1)
                continue
            path[-1] = value
            if keys is not None:
                keys.add(value)
            if value in skip and (colon := _COLON.match(text, place)):
                _, place = _decoded(text, colon.end())
            is_key = False
        elif mark[0] in "[{":
            if len(path) == DEEPEST:
                raise ReadError(f"more than {DEEPEST} levels", *source.lines.position(start))
            is_key = mark[0] == "{"
            path.append("" if is_key else 0)
        elif mark[0] == ",":
            last = path[-1]
            is_key = isinstance(last, str)
            path[-1] = last + 1 if isinstance(last, int) else last
        else:
            path.pop()
            is_key = False
