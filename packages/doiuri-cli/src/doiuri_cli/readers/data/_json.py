"""JSON that describes works: CSL-JSON, .zenodo.json and codemeta.json; other files have no parts."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import TYPE_CHECKING

from doiuri_cli.readers._blank import may_mention
from doiuri_cli.readers._part import Part, ReadError
from doiuri_cli.readers.strings._json import Scanner, decode_all, encoder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from doiuri_cli.files import Source
    from doiuri_cli.readers.strings._json import Path

    Kind = Callable[[Path, object], str]  # of the value at a path: "field", a syntax, or "" if it is not read

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


def at(value: object, path: Path) -> object:
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


def _csl(path: Path, holder: object) -> str:
    if not 1 <= len(path) <= 2 or not isinstance(holder, dict):
        return ""
    match path[-1]:
        case "DOI":
            return "field"
        case "URL" | "note":
            return "text"
        case _:
            return ""


def _zenodo(path: Path, holder: object) -> str:
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


def _codemeta(path: Path, holder: object) -> str:
    names = [step for step in path if isinstance(step, str)]
    match names[-1:]:
        case ["value"] if isinstance(holder, dict) and "identifier" in names:
            return "field" if str(holder.get("propertyID")).lower().endswith("doi") else "text"
        case ["identifier" | "@id" | "sameAs" | "url" | "citation" | "referencePublication" | "description"]:
            return "text"
        case _:
            return ""
