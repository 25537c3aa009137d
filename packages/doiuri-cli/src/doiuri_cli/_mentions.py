"""The DOIs that a part of a file mentions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doiuri import DOI, DOISyntaxError, find

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri_cli.readers import Part


class Mention(NamedTuple):
    """A DOI mentioned in a part of a file, or what stands in the place of one.

    :ivar part: the part.
    :ivar start: offset of its first character in the text of the part.
    :ivar end: offset after its last character.
    :ivar text: the mention as the part has it, with its label or link.
    :ivar doi: the DOI; None if it is invalid.
    :ivar error: what is wrong if it is invalid.
    """

    part: Part
    start: int
    end: int
    text: str
    doi: DOI | None
    error: DOISyntaxError | None = None


def mentions_in(part: Part) -> Iterator[Mention]:
    """Return the mentions in a part, in order: a field is one whole mention, valid or not."""
    if part.field:
        yield from _field(part)
        return
    for match in find(part.text, part.syntax):
        yield Mention(part, *match)


def _field(part: Part) -> Iterator[Mention]:
    matches = list(find(part.text, part.syntax))
    if matches:
        yield from (Mention(part, *match) for match in matches)
    elif text := part.text.strip():
        start = part.text.index(text)
        place = start, start + len(text), text
        try:
            yield Mention(part, *place, DOI.parse(text))
        except DOISyntaxError as error:
            yield Mention(part, *place, None, error)
