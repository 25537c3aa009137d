"""An entry of a bibliography: what the registry's metadata is compared with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from doiuri import DOI, DOISyntaxError

if TYPE_CHECKING:
    from doiuri_cli.files import Source

_YEAR = re.compile(r"(?<![0-9])[0-9]{4}(?![0-9])")


class Entry(NamedTuple):
    """An entry that has a DOI.

    :ivar key: its key; empty if it has none.
    :ivar doi: the DOI.
    :ivar title: the title, as plain text; empty if it has none.
    :ivar year: the year of publication; None if it has none.
    :ivar first_author_family: the family name of the first author, with its particle, or the name of the
        organization; empty if it has no author.
    :ivar line: the line of the DOI in the file, from 1.
    :ivar span: offsets in the file of the DOI's first character, and after its last one.
    """

    key: str
    doi: DOI
    title: str
    year: int | None
    first_author_family: str
    line: int
    span: tuple[int, int]


def entry(
    source: Source, span: tuple[int, int], doi: str, *, key: str, title: str, year: str, family: str
) -> Entry | None:
    """Return an entry; None if its DOI is invalid.

    :param source: the file.
    :param span: where the value of its DOI stands.
    :param doi: the DOI as the entry has it.
    :param key: its key.
    :param title: its title.
    :param year: a text with the year of publication.
    :param family: the family name of the first author.
    """
    try:
        parsed = DOI.parse(doi)
    except DOISyntaxError:
        return None
    found = _YEAR.search(year)
    line = source.lines.position(span[0]).line
    return Entry(key, parsed, " ".join(title.split()), int(found[0]) if found else None, family, line, span)
