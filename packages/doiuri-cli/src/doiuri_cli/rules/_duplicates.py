"""Entries of one bibliography with the same DOI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri_cli.readers import type_of
from doiuri_cli.rules._finding import finding_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from doiuri_cli._mentions import Mention
    from doiuri_cli.files import Source
    from doiuri_cli.rules._finding import Finding

_BIBLIOGRAPHIES = frozenset({"bibtex", "json", "ris"})


def duplicate_findings(source: Source, mentions: Iterable[Mention]) -> Iterator[Finding]:
    """Return a finding for each entry with the DOI of an earlier entry of the same file.

    :param source: the file.
    :param mentions: its mentions, in order.
    """
    if type_of(source.path) not in _BIBLIOGRAPHIES:
        return
    first: dict[str, Mention] = {}
    for mention in mentions:
        if not (mention.part.field and mention.part.entry) or mention.doi is None:
            continue
        earlier = first.setdefault(mention.doi.key, mention)
        if earlier.part.entry != mention.part.entry:
            line = source.lines.position(earlier.part.span(earlier.start, earlier.end)[0]).line
            message = f"the same DOI as {earlier.part.entry} (line {line})"
            span = mention.span
            yield finding_at(source, mention.part, span, "duplicate", message, doi=mention.doi.name)
