"""YAML: scalars and comments; in CITATION.cff and elsewhere the values of ``doi`` are fields."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from doiuri_cli.readers._blank import may_mention, signs
from doiuri_cli.readers._part import Part, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri_cli.files import Source
    from doiuri_cli.readers._json import Keys
    from doiuri_cli.readers._yaml_scalars import Scalar


_COMMENT = re.compile(r"(?:(?<=[ \t\r\n])|\A)#([^\r\n]*+)")
_NO_TEXT = re.compile(r"(?:true|false|yes|no|on|off|null|~)?", re.IGNORECASE)  # plain, it is no string
_FIELDS = {"doi", "DOI"}  # their values may be no DOI
_NAMES = {"doi", "DOI", "title"}  # what has a key "id" and one of these is an entry


def read(source: Source) -> Iterator[Part]:
    """Return the scalars and comments that may mention DOIs; the entry is the nearest ``id``.

    :raises ReadError: if the file is not YAML; one that cannot mention a DOI is not checked.
    """
    is_citation = PurePath(source.path).suffix.lower() == ".cff"
    if not is_citation and not may_mention(source.text):
        return
    from doiuri_cli.readers._yaml_scalars import part_of, scalars  # imports PyYAML, which is slow

    found = list(scalars(source))
    entries = _entries(found)
    identifiers = {scalar.path[:-1] for scalar in found if scalar.value == "doi" and _says_doi(scalar)}
    places = iter(signs(source.text))
    sign = next(places)
    place = 0
    for scalar in found:
        path, value, start, end, style, *_ = scalar
        if sign < start:
            yield from _comments(source.text, place, start)
            while sign < start:
                sign = next(places)
        place = end
        key = path[-1] if path else None
        field = key in _FIELDS or (key == "value" and path[:-1] in identifiers)
        # In double quotes there may be escapes, so that a name is not as the file has it
        if sign >= end and not field and (style != '"' or source.text.find("\\", start, end) < 0):
            continue
        while sign < place:
            sign = next(places)
        # Outside of CITATION.cff, the key may be a setting that templates use as a link
        is_link = not is_citation and value.startswith(("http://", "https://"))
        field = field and not is_link and is_text(scalar)
        if field or may_mention(value):
            part = part_of(source.text, scalar, _entry(path, entries), field=field)
            yield part._replace(syntax="xml") if "</" in value and not field else part
    yield from _comments(source.text, place, len(source.text))


def _comments(text: str, start: int, end: int) -> Iterator[Part]:
    """Return the comments between two scalars."""
    for comment in _COMMENT.finditer(text, start, end):
        if may_mention(comment[1]):
            yield Part(comment[1], start=comment.start(1), encode=one_line)


def is_text(scalar: Scalar) -> bool:
    """Return whether a scalar is a value that is a string, unlike in settings such as ``doi: true``."""
    return not (scalar.is_key or (scalar.style == "" and _NO_TEXT.fullmatch(scalar.value)))


def _says_doi(scalar: Scalar) -> bool:
    """Return whether a scalar says that the value beside it is a DOI, as in the identifiers of CFF."""
    return scalar.value == "doi" and scalar.path[-1:] == ("type",) and "identifiers" in scalar.path


def _entries(found: list[Scalar]) -> dict[Keys, str]:
    identified = [scalar for scalar in found if scalar.path and scalar.path[-1] == "id" and not scalar.is_key]
    if not identified:
        return {}
    named = {scalar.path[:-1] for scalar in found if scalar.path and scalar.path[-1] in _NAMES}
    return {scalar.path[:-1]: scalar.value for scalar in identified if scalar.path[:-1] in named}


def _entry(path: Keys, entries: dict[Keys, str]) -> str:
    if not entries:
        return ""
    return next((entries[path[:end]] for end in range(len(path), -1, -1) if path[:end] in entries), "")
