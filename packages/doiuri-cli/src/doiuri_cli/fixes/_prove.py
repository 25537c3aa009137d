"""Prove that fixes do what they say: the same DOIs in the same order, and nothing else changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doiuri_cli._mentions import mentions_in
from doiuri_cli.files import Source
from doiuri_cli.readers import parts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from doiuri_cli.rules import Fix


class ProofError(ValueError):
    """The fixes change more than they should."""


class _Place(NamedTuple):
    """A mention: the name of its DOI, or None, and where it stands in the file."""

    name: str | None
    start: int
    end: int


class _Reading(NamedTuple):
    """What a reader reads in a file: the kinds of its parts, and the mentions."""

    kinds: list[tuple[object, ...]]
    places: list[_Place]


def prove(source: Source, text: str, fixes: Sequence[Fix]) -> Source:
    """Return the file with the fixes, read again.

    :param source: the file.
    :param text: its text with the fixes applied.
    :param fixes: the fixes, in order and without overlaps.
    :raises ProofError: if the encoding cannot represent the text; if text outside the fixes differs; if the
        reader reads other parts or other DOIs, or in another order.
    """
    try:
        again = Source.from_bytes(source.path, source.to_bytes(text))
    except UnicodeError:
        raise ProofError(f"the encoding {source.encoding} cannot represent the fixed text") from None
    if again.text != text or (again.encoding, again.mark) != (source.encoding, source.mark):
        raise ProofError("the fixed text would be read in another encoding")
    if list(_outside(source.text, fixes)) != list(_outside(text, _moved(fixes))):
        raise ProofError("the fixes change text outside their places")
    try:
        before, after = _reading(source), _reading(again)
    except Exception as error:  # noqa: BLE001 - readers may be others'
        raise ProofError(f"the fixed text could not be read: {type(error).__name__}: {error}") from None
    if before.kinds != after.kinds:
        raise ProofError("the fixed text has other parts")
    expected, names = _expected(before.places, fixes), [place.name for place in after.places]
    if expected != names:
        raise ProofError(f"the fixed text would mention other DOIs{_difference(expected, names)}")
    return again


def _difference(expected: list[str | None], names: list[str | None]) -> str:
    for one, other in zip(expected, names, strict=False):
        if one != other:
            return f": {other or 'none'} instead of {one or 'none'}"
    return ""


def _moved(fixes: Sequence[Fix]) -> list[Fix]:
    """Return where the replacements stand in the fixed text."""
    moved: list[Fix] = []
    shift = 0
    for fix in fixes:
        start = fix.start + shift
        moved.append(fix._replace(start=start, end=start + len(fix.replacement)))
        shift += len(fix.replacement) - (fix.end - fix.start)
    return moved


def _outside(text: str, fixes: Iterable[Fix]) -> Iterable[str]:
    position = 0
    for fix in fixes:
        yield text[position : fix.start]
        position = fix.end
    yield text[position:]


def _reading(source: Source) -> _Reading:
    kinds: list[tuple[object, ...]] = []
    places: list[_Place] = []
    for part in parts_of(source):
        kinds.append((part.syntax, part.cell, part.entry, part.field, part.ignored))
        for mention in mentions_in(part):
            name = mention.doi.name if mention.doi else None
            places.append(_Place(name, *part.span(*mention.span)))
    return _Reading(kinds, places)


def _expected(places: Sequence[_Place], fixes: Sequence[Fix]) -> list[str | None]:
    """Return the names after the fixes: those before, but for those that a fix changes on purpose."""
    names = [place.name for place in places]
    for fix in fixes:
        if fix.name is not None:
            changed = [
                n for n, place in enumerate(places) if place.start <= fix.end and fix.start <= place.end
            ]
            if changed:
                names[changed[0]] = fix.name
    return names
