"""The text of a hover card: title, authors, year and journal of a work."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from doiuri.records import Work

_LONGEST = 300  # characters of a title, or of a name
_AUTHORS_SHOWN = 3


class Details(NamedTuple):
    """The text of a hover card."""

    title: str
    authors: tuple[str, ...]
    """The full names; empty if the metadata has none."""
    year: str
    """The year of publication; empty if the metadata has none."""
    journal: str = ""
    """The title of the journal or book; empty if the metadata has none."""

    def byline(self) -> str:
        """Return the authors and the year, as in ``Ada Byron, 1843``; of more than three, only the first."""
        names = list(self.authors[:_AUTHORS_SHOWN])
        if len(self.authors) > _AUTHORS_SHOWN:
            names = [self.authors[0], "et al."]
        return ", ".join([*names, *([self.year] if self.year else [])])


def details_of(work: Work) -> Details | None:
    """Return the details of a work; None if it has no title."""
    if not work.title:
        return None
    year = "" if work.year is None else str(work.year)
    names = tuple(_shown(str(name)) for name in work.authors)
    return Details(_shown(work.title), names, year, _shown(work.container))


def _shown(text: str) -> str:
    text = "".join(character for character in text if character.isprintable())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"
