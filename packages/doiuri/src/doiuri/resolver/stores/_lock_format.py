"""The format of lock files: JSON with one line per entry, sorted, without times.

Format 2 has three objects: ``entries`` (records, agencies and other answers by the store's key), ``works``
(CSL-JSON by DOI) and ``references`` (text by style, locale and DOI). ``null`` says that the agency has
no such metadata. If there are DOIs that are known not to exist, a fourth object, ``accepted``, has the reason
for each. A file with nothing but entries is written as format 1, which has ``entries`` only. The same answers
give the same bytes.
"""

from __future__ import annotations

import base64
import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from doiuri._urls import DOI_ORG
from doiuri.records._json import dump, load
from doiuri.resolver.stores._store import Entry
from doiuri.rest._content import CSL_JSON

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FORMATS = (1, 2)

_JSON = "application/json"
_TEXT = "text/plain;charset=utf-8"
_ENTRIES, _WORKS, _REFERENCES, _ACCEPTED = _SECTIONS = ("entries", "works", "references", "accepted")
_WORK_KEY = re.compile(rf"work {re.escape(DOI_ORG)} (.+)", re.DOTALL)
_ACCEPTED_KEY = re.compile(rf"accepted {re.escape(DOI_ORG)} (.+)", re.DOTALL)
_REFERENCE_KEY = re.compile(rf"reference (\S+ \S+) {re.escape(DOI_ORG)} (.+)", re.DOTALL)
_ANY_KEY = re.compile(
    r"(?:record|exists|work|bibtex|reference|metadata|accepted)(?: .+?)?? (https?://\S+) (.+)", re.DOTALL
)
_MEMBERS = ("responseCode", "handle", "values", "index", "type", "data", "format", "value")
_ORDER = {name: number for number, name in enumerate(_MEMBERS)}
_TIMES = frozenset({"ttl", "timestamp"})


class Line(NamedTuple):
    """A line of the file: its object, its text, and the entry that it holds."""

    section: str
    text: str
    entry: Entry


def lock_key(key: str, base: str) -> str:
    """Return the key in a lock file for the key of an answer from ``base``: all count as doi.org's."""
    return key.replace(f" {base} ", f" {DOI_ORG} ", 1)


def accepted_key(doi: str) -> str:
    """Return the key in a lock file for a DOI, given by its key, that is known not to exist."""
    return f"accepted {DOI_ORG} {doi}"


def accepted_line(doi: str, reason: str) -> Line:
    """Return the line for a DOI, given by its key, that is known not to exist."""
    if not isinstance(reason, str):
        raise TypeError(f"accepted: expected a reason as str for {doi}, not {reason!r:.60}")
    return _line(_ACCEPTED, doi, reason)


def is_accepted(line: Line) -> bool:
    """Return whether a line names a DOI that is known not to exist."""
    return line.section == _ACCEPTED


def accepted_reasons(lines: Mapping[str, Line]) -> dict[str, str]:
    """Return the reason for each DOI that is known not to exist, by the DOI's key."""
    return {key_doi(key): line.entry.body.decode() for key, line in lines.items() if is_accepted(line)}


def by_doi(lines: Mapping[str, Line]) -> dict[str, dict[str, str]]:
    """Return the texts of the lines by key, for each DOI by its key."""
    texts: dict[str, dict[str, str]] = {}
    for key, line in lines.items():
        texts.setdefault(key_doi(key), {})[key] = line.text
    return texts


def lock_name(key: str) -> str:
    """Return the name that a lock file shows for a key: works and references have shorter ones.

    >>> lock_name("work https://doi.org 10.1000/182"), lock_name("record https://doi.org 10.1000/182")
    ('10.1000/182', 'record https://doi.org 10.1000/182')
    """
    return _place(key)[1]


def key_doi(key: str) -> str:
    """Return the key of the DOI that an entry of a store is about; the whole key if it is not one of ours.

    >>> key_doi("reference apa en-US https://doi.org 10.1000/182")
    '10.1000/182'
    """
    match = _ANY_KEY.fullmatch(key)
    return match[2] if match else key


def key_base(key: str) -> str:
    """Return the base URL of the resolver whose answer an entry of a store is; "" if it is not one of ours.

    >>> key_base("record https://doi.org 10.1000/182")
    'https://doi.org'
    """
    match = _ANY_KEY.fullmatch(key)
    return match[1] if match else ""


def make_line(key: str, entry: Entry) -> Line:
    """Return the line for an entry."""
    section, name = _place(key)
    described = _described(section, key, entry)
    if described is _UNDESCRIBED:
        section, name, described = _ENTRIES, key, _described(_ENTRIES, key, entry)
    return _line(section, name, described)


def read_lines(path: Path) -> dict[str, Line]:
    """Return the lines of a file by key.

    :raises ValueError: if it cannot be read as a lock file.
    """
    try:
        content = load(path.read_bytes())
    except OSError as error:
        raise ValueError(f"{path} cannot be read as a lock file: {error.strerror}") from None
    except ValueError as error:
        raise ValueError(f"{path} cannot be read as a lock file (an unresolved merge?): {error}") from None
    content = content if isinstance(content, dict) else {}
    version = content.get("doiuri-lock")
    names = (_ENTRIES,) if version == 1 else _SECTIONS
    sections = {section: content.get(section, {}) for section in names}
    objects = "entries" in content and all(isinstance(lines, dict) for lines in sections.values())
    if version not in FORMATS or isinstance(version, bool) or not objects:
        raise ValueError(
            f"{path} is not a lock file of format {FORMATS[0]} or {FORMATS[1]}: its format is {version!r:.40}"
        )
    try:
        return {
            _key(section, name): _line(section, name, described)
            for section, lines in sections.items()
            for name, described in lines.items()
        }
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{path} contains an invalid entry: {error!r}") from None


def render(lines: Mapping[str, Line]) -> bytes:
    """Return the content of a file."""
    rows: dict[str, list[str]] = {section: [] for section in _SECTIONS}
    for key in ordered(lines):
        rows[lines[key].section].append(lines[key].text)
    version = 2 if rows[_WORKS] or rows[_REFERENCES] or rows[_ACCEPTED] else 1
    written = [_ENTRIES]
    if version == 2:
        written = [section for section in _SECTIONS if section != _ACCEPTED or rows[_ACCEPTED]]
    joined = {section: ",\n".join(rows[section]) for section in written}
    objects = ",\n".join(f'"{section}": {{\n{text}\n}}' for section, text in joined.items())
    return f'{{"doiuri-lock": {version}, {objects}}}\n'.encode()


def ordered(lines: Mapping[str, Line]) -> list[str]:
    """Return the keys in the order of the file."""
    return sorted(lines, key=lambda key: (_SECTIONS.index(lines[key].section), key))


def _place(key: str) -> tuple[str, str]:
    """Return the object that has the entry with a key, and its name there."""
    if match := _WORK_KEY.fullmatch(key):
        return _WORKS, match[1]
    if match := _REFERENCE_KEY.fullmatch(key):
        return _REFERENCES, f"{match[1]} {match[2]}"
    if match := _ACCEPTED_KEY.fullmatch(key):
        return _ACCEPTED, match[1]
    return _ENTRIES, key


def _key(section: str, name: str) -> str:
    if section == _WORKS:
        return f"work {DOI_ORG} {name}"
    if section == _REFERENCES:
        style, locale, doi = name.split(" ", 2)
        return f"reference {style} {locale} {DOI_ORG} {doi}"
    return accepted_key(name) if section == _ACCEPTED else name


def _line(section: str, name: str, described: Any) -> Line:
    """Return the line and the entry for a description in the file."""
    body, media_type = _decoded(section, described)
    return Line(section, f"{dump(name)}: {dump(described)}", Entry(body, media_type, math.inf))


def _decoded(section: str, described: Any) -> tuple[bytes, str]:
    if section in {_WORKS, _REFERENCES} and described is None:
        return b"null", _JSON
    if section == _WORKS:
        if not isinstance(described, dict):
            raise TypeError("a work must be an object")
        return dump(described).encode(), CSL_JSON
    if section in {_REFERENCES, _ACCEPTED}:
        return described.encode(), _TEXT
    media_type = described.get("type", _JSON)
    if not isinstance(media_type, str):
        raise TypeError("the type of an entry must be a string")
    if "json" in described:
        return dump(described["json"]).encode(), media_type
    if "text" in described:
        return described["text"].encode(), media_type
    return base64.b64decode(described["base64"], validate=True), media_type


_UNDESCRIBED = object()


def _described(section: str, key: str, entry: Entry) -> Any:
    """Describe an entry for the file. JSON is written as it is, so that a reviewer sees what changed."""
    if section != _ENTRIES:
        return _described_metadata(section, entry)
    if entry.media_type != _JSON:
        return {"type": entry.media_type} | _encoded(entry.body)
    try:
        content = load(entry.body)
    except ValueError:
        return _encoded(entry.body)
    return {"json": _ordered(_timeless(content) if key.startswith("record ") else content)}


def _described_metadata(section: str, entry: Entry) -> Any:
    """Describe a work or a reference; ``_UNDESCRIBED`` if it was not written by us."""
    if entry.body == b"null" and section != _ACCEPTED:
        return None
    try:
        if section in {_REFERENCES, _ACCEPTED}:
            return entry.body.decode()
        work = load(entry.body)
    except ValueError:
        return _UNDESCRIBED
    if not isinstance(work, dict):
        return _UNDESCRIBED
    return {name: member for name, member in work.items() if name != "DOI"}  # it is the name of the line


def _encoded(body: bytes) -> Any:
    try:
        return {"text": body.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode()}


def _ordered(content: Any) -> Any:
    """Sort the members of objects: those of the REST API first, the others by name."""
    if isinstance(content, list):
        return [_ordered(item) for item in content]
    if isinstance(content, dict):
        names = sorted(content, key=lambda name: (_ORDER.get(name, len(_ORDER)), name))
        return {name: _ordered(content[name]) for name in names}
    return content


def _timeless(record: Any) -> Any:
    """Drop the times of a record's values: they change often and mean nothing to a reviewer."""
    values = record.get("values") if isinstance(record, dict) else None
    if not isinstance(values, list):
        return record
    kept = [
        {name: member for name, member in value.items() if name not in _TIMES}
        if isinstance(value, dict)
        else value
        for value in values
    ]
    return record | {"values": kept}
