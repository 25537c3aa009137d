"""What is passed to a Resolver: an argument that was left out, and DOIs or text."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

from doiuri._doi import Handle
from doiuri._errors import DOISyntaxError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from doiuri._doi import Handle


class Default(Enum):
    """An argument that was left out."""

    DEFAULT = "default"


DEFAULT: Final = Default.DEFAULT


def handle(doi: Handle | str) -> Handle:
    """A DOI, or what text stands for; raises DOISyntaxError, TypeError."""
    if isinstance(doi, Handle):
        return doi
    if isinstance(doi, str):
        return Handle.parse(doi)
    raise TypeError(f"neither a DOI nor text: {doi!r:.80}")


def handles(dois: Iterable[Handle | str]) -> Iterator[Handle]:
    """The same for many; what is raised also says which item it was."""
    for number, doi in enumerate(dois):
        try:
            one = handle(doi)
        except (DOISyntaxError, TypeError) as error:
            error.add_note(f"It is item {number} of the DOIs, counted from 0.")
            raise
        yield one
