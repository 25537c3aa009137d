"""JSON: its strings with their places (RFC 8259), and what may mention DOIs in them.

Works are described by the items of CSL-JSON, BibJSON and DataCite's JSON at any depth, by .zenodo.json,
codemeta.json, RO-Crate and other JSON-LD. Elsewhere, only keys for DOIs are read, and names with a label and
links in other strings; nothing is fixed. A file may also be JSON lines.
"""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from doiuri_cli.files import Source
from doiuri_cli.readers._keys import KEY_NAMES, is_doi_key
from doiuri_cli.readers._part import (
    Decoded,
    Part,
    ReadError,
    is_attempt,
    may_mention,
    moved,
    undo,
    unwritable,
    value_of_doi,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence

    Keys = tuple[str | int, ...]  # the keys and, in arrays, the numbers from 0 that lead to a value
    # Returns what a value is, by the keys that lead to it, and the object or array that holds it: "field", "doi"
    # if it may be a link, a syntax, or "" if only labels and links count in it
    KindOfValue = Callable[[Keys, object], str]


DEEPEST = 200  # levels of arrays and objects
_MARK = re.compile(r'[\[\]{},"]')
_COLON = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
_decoded = json.JSONDecoder().raw_decode
_ESCAPE = re.compile(
    r"""
    \\ (?:
        u[dD][89abAB][0-9a-fA-F]{2} \\u[dD][c-fC-F][0-9a-fA-F]{2}   # a pair of surrogates
      | u[0-9a-fA-F]{4}
      | .
    )
    """,
    re.DOTALL | re.VERBOSE,
)
_SEVERAL = re.compile(r"[ \t\ufeff]*\{[^\r\n]*\}[ \t]*(?:\r?\n)+\{")  # objects, one a line
_LINE = re.compile(r"[^\r\n]*\S[^\r\n]*")
_HTML = {"description", "notes"}
_TEXTS_OF_SCHEMA = frozenset(
    (
        "identifier",
        "@id",
        "sameAs",
        "seeAlso",
        "url",
        "citation",
        "referencePublication",
        "description",
    )
)
_DOI = re.compile(r'"doi"', re.IGNORECASE)
_MARKS = {"type", "types", "title", "titles", "author", "creators"}
_SCHEMES = ("type", "scheme", "propertyID", "identifierType", "relatedIdentifierType")
_FIELDS = ("doi", "dois", "identifier", "value")  # how keys end whose values may be fields
SKIPPED = frozenset(
    ("author", "editor", "translator", "issued", "accessed", "reference", "link", "license")
)
"""Keys of works whose values hold no DOI of the work itself."""


def read_json(source: Source) -> Iterator[Part]:
    """Return the values that may mention DOIs; the entry is the ``id`` of a work.

    :raises ReadError: if the file is not JSON, though it may describe works.
    """
    name = PurePath(source.path).name.lower()
    if name == ".zenodo.json":
        yield from _values(source, loaded(source), _zenodo)
    elif name.endswith(("codemeta.json", "ro-crate-metadata.json", ".jsonld")):
        yield from _values(source, loaded(source), _linked)
    elif may_mention(source.text) and not _is_lock_file(source):
        yield from _works(source)


def _works(source: Source) -> Iterator[Part]:
    """Yield the values of a file that may describe works, and may be JSON lines."""
    lines = lines_of(source)
    if lines:
        for start, line in lines:
            for part in _values(line, loaded(line), _work, SKIPPED):
                yield moved(part, range(start, start + len(line.text) + 1))
        return
    try:
        value = loaded(source)
    except ReadError:
        if _DOI.search(source.text):
            raise
        # such as settings with comments
        yield Part(source.text, labelled=True, encode=unwritable)
        return
    yield from _values(source, value, _work, SKIPPED)


def _is_lock_file(source: Source) -> bool:
    """Return whether a file is one of our lock files."""
    return source.text.startswith('{"doiuri-lock"')


def lines_of(source: Source) -> list[tuple[int, Source]]:
    """Return the lines of JSON lines, each with its offset; none if the file is a single value, or neither."""
    text = source.text
    if not _SEVERAL.match(text):
        return []
    lines = [(line.start(), Source(source.path, line[0])) for line in _LINE.finditer(text)]
    try:
        for _, line in lines:
            loaded(line)
    except ReadError:
        return []
    return lines


def loaded(source: Source) -> object:
    """Return the value that a JSON text describes.

    :raises ReadError: if it is not JSON.
    """
    try:
        value: object = json.loads(source.text)
    except json.JSONDecodeError as error:
        # Some messages end before the position, such as "Unterminated string starting at"
        reason = re.sub(r"( starting)? at\Z", "", error.msg)
        raise ReadError(reason, *source.lines.position(error.pos)) from error
    except ValueError as error:  # a number of many digits
        raise ReadError(f"not JSON that can be read: {error}") from error
    except RecursionError as error:
        raise ReadError("not JSON that can be read: nested too deeply") from error
    return value


def described(source: Source) -> object | None:
    """Return the value of a text that may describe works; None for other ones and lock files.

    :raises ReadError: if it is not JSON.
    """
    may_describe = _DOI.search(source.text) and not _is_lock_file(source)
    return loaded(source) if may_describe else None


def is_work(value: object) -> bool:
    """Return whether a value describes a work that has a DOI."""
    return (
        isinstance(value, dict)
        and not _MARKS.isdisjoint(value)
        and any(isinstance(value.get(key), str) for key in ("DOI", "doi"))
    )


def _values(
    source: Source, value: object, kind_of: KindOfValue, skip: Container[str] = ()
) -> Iterator[Part]:
    """Yield the strings that may mention DOIs, each as what it is.

    Nothing is fixed in those of which only labels and links count, in keys, and in the ids of objects.

    :param value: the value that the source describes.
    :param kind_of: returns what a string is in this kind of file; see ``KindOfValue``.
    :param skip: the keys whose lists and objects are left out.
    """
    for string in strings(source, skip, _may_count):
        if string.is_key:
            text, places = undo_all(source.text, [string])
            yield Part(text, places=places, labelled=True, encode=unwritable)
            continue
        holder = at(value, string.path[:-1])
        kind = kind_of(string.path, holder)
        # Asked before the next step: nothing is fixed in a key for a DOI of an object that is no known work
        is_writable = kind != "" and string.path[-1] not in KEY_NAMES
        if kind == "" and _is_loose_doi(string):
            kind = "doi"
        if not (kind in {"field", "doi"} or may_mention(string.value)):
            continue

        text, places = undo_all(source.text, [string])
        entry = _entry_of(holder) if is_work(holder) else ""
        encode = encoder_of(source, string) if is_writable else unwritable
        part = Part(text, places=places, entry=entry, encode=encode)
        match kind:
            case "field":
                yield part._replace(field=True)
            case "doi":
                yield value_of_doi(part)
            case "":
                yield part._replace(labelled=True)
            case syntax:
                yield part._replace(syntax=syntax)


def _may_count(value: str, path: Sequence[str | int], is_key: bool) -> bool:
    """Return whether a string may mention a DOI, or may be one by its key: a cheap question, as most do not."""
    return may_mention(value) or (not is_key and nearest_key(path).lower().endswith(_FIELDS))


def _is_loose_doi(string: String) -> bool:
    """Return whether a string is the value of a key for a DOI, or in a list of them, of whatever object."""
    return is_doi_key(nearest_key(string.path)) and is_attempt(string.value)


def nearest_key(path: Sequence[str | int]) -> str:
    """Return the key to whose value, or list of values, a path leads; "" if there is none."""
    return next((step for step in reversed(path) if isinstance(step, str)), "")


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


def _entry_of(item: object) -> str:
    key = item.get("id", "") if isinstance(item, dict) else ""
    return str(key) if isinstance(key, str | int) else ""


def _says_doi(holder: object) -> bool:
    """Return whether an object says of what type an identifier in it is: a DOI."""
    return isinstance(holder, dict) and any(
        str(holder.get(key)).lower().endswith("doi") for key in _SCHEMES
    )


def _work(path: Keys, holder: object) -> str:
    """Return what a value is in a file that may describe works, in CSL-JSON, BibJSON or DataCite's JSON."""
    match path[-1:]:
        case ("identifier" | "relatedIdentifier" | "id",) if _says_doi(holder):
            return "text"  # DataCite has links there, too
        case ("DOI" | "doi" as key,) if is_work(holder):
            return _kind_of_doi(key, holder)
        case ("URL" | "url" | "note",) if is_work(holder):
            return "text"
        case _:
            return ""


def _kind_of_doi(key: str, holder: object) -> str:
    """Return what the value of a key for a DOI is; "" if it is not meant for one, such as a description."""
    value = holder.get(key) if isinstance(holder, dict) else None
    if not is_attempt(str(value)):
        return ""
    return "doi" if key == "doi" else "field"  # in other keys, no link is meant: "DOI" is CSL's


def _zenodo(path: Keys, holder: object) -> str:
    """Return what a value of .zenodo.json is."""
    match path:
        case ("doi",):
            return "field"
        case ("related_identifiers" | "alternate_identifiers", int(), "identifier"):
            return "field" if _says_doi(holder) else "text"
        case (str() as key,) if key in _HTML:
            return "html"
        case ("references", int()):
            return "text"
        case _:
            return ""


def _linked(path: Keys, holder: object) -> str:
    """Return what a value of codemeta.json and RO-Crate is, which use the names of schema.org.

    ``{"schema:identifier": {"@value": …}}`` is the same there as ``{"identifier": …}``.
    """
    names = [_local_name(step) for step in path if isinstance(step, str)]
    if names[1:] and names[-1] == "@value":
        names.pop()
    match names[-1:]:
        case ["value"] if _says_doi(holder):  # {"propertyID": "doi", "value": "10.1000/1"}
            return _kind_of_doi("value", holder)
        case ["value"] if "identifier" in names:
            return "text"
        case [name] if name in _TEXTS_OF_SCHEMA:
            return "text"
        case _:
            return ""


def _local_name(key: str) -> str:
    """Return a key of JSON-LD without the prefix or the IRI of its vocabulary, as in ``dcterms:identifier``."""
    return re.split(r"[:/#]", key)[-1]


class String(NamedTuple):
    """A string that is a value, or a key."""

    path: Keys  # the keys that lead to it; the key itself is the last
    value: str
    start: int  # offset in the file of its first character, after the quotation mark
    end: int  # offset of the quotation mark that ends it
    is_key: bool = False


def encode_ascii(text: str) -> str:
    """Return the text as JSON writes it in ASCII."""
    return json.dumps(text)[1:-1]


def encode_unicode(text: str) -> str:
    """Return the text as JSON writes it in Unicode."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def encoder(source: Source) -> Callable[[str], str]:
    """Return what writes strings as a file does: in ASCII if all of it is."""
    return encode_ascii if source.text.isascii() else encode_unicode


def encoder_of(source: Source, string: String) -> Callable[[str], str]:
    """Return what writes a text as a string of a file does, which may escape slashes, as PHP does."""
    encode = encoder(source)
    written = source.text[string.start : string.end]
    escapes_slashes = "\\/" in written and "/" not in written.replace("\\/", "")
    return partial(_with_escaped_slashes, encode) if escapes_slashes else encode


def _with_escaped_slashes(encode: Callable[[str], str], text: str) -> str:
    return encode(text).replace("/", "\\/")


def undo_all(text: str, strings: Iterable[String]) -> Decoded:
    """Return the text of several strings, concatenated, with the place of each character."""
    spans = ((string.start, string.end) for string in strings)
    return undo(text, spans, _ESCAPE, lambda escape: str(json.loads(f'"{escape[0]}"')))


def strings(
    source: Source,
    skip: Container[str] = (),
    counts: Callable[[str, Sequence[str | int], bool], bool] | None = None,
) -> Iterator[String]:
    """Return the strings that are values, and the keys, in order.

    Of ``{"a": ["b"]}``, they are the key at ``("a",)`` and the value at ``("a", 0)``.

    :param source: a file that ``loaded`` has found to be JSON, or of which it has found each line to be.
    :param skip: the keys whose lists and objects are left out.
    :param counts: returns whether a string is wanted, by its value, its path and whether it is a key; None if
        all are.
    :raises ReadError: if it is nested too deeply.
    """
    text = source.text
    # A key for each object, "" until it is read, and a number for each array
    path: list[str | int] = []
    place = 0  # where the next mark is searched
    is_key = False  # whether the next string is a key: after "{", and after "," in an object
    while mark := _MARK.search(text, place):
        start, place = mark.span()
        match mark[0]:
            case '"':
                value, place = _decoded(text, start)
                if is_key:
                    path[-1] = value
                if counts is None or counts(value, path, is_key):
                    yield String((*path,), value, start + 1, place - 1, is_key)
                if is_key and value in skip:
                    place = _after_list_or_object(text, place)
                is_key = False
            case "{" | "[" as bracket:
                if len(path) == DEEPEST:
                    raise ReadError(f"more than {DEEPEST} levels", *source.lines.position(start))
                is_key = bracket == "{"
                first: str | int = "" if is_key else 0
                path.append(first)
            case ",":
                last = path[-1]
                is_key = isinstance(last, str)
                if isinstance(last, int):
                    path[-1] = last + 1
            case _:
                path.pop()
                is_key = False


def _after_list_or_object(text: str, place: int) -> int:
    """Return where the list or object ends that follows a key; the place if another value follows."""
    colon = _COLON.match(text, place)
    if colon is None or text[colon.end() : colon.end() + 1] not in {"[", "{"}:
        return place
    _, end = _decoded(text, colon.end())
    return end
