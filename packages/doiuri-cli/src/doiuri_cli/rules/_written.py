"""What the text itself shows, without the registry: the flaws of each mention, and DOIs of several entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri_cli.readers._keys import is_key
from doiuri_cli.readers._part import location_of
from doiuri_cli.rules import Finding, Fix
from doiuri_cli.rules._keep import is_fixed_text, keeps_host, keeps_name
from doiuri_cli.rules._spelling import flaws_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from doiuri_cli._mentions import LocatedMention, Mention
    from doiuri_cli.readers import Part
    from doiuri_cli.rules._spelling import Flaw, Rewrite

_BIBLIOGRAPHIES = frozenset({"bibtex", "json", "ris"})


def part_findings(mentions: Sequence[Mention], *, tex_escape: str) -> Iterator[Finding]:
    """Yield what is wrong with how the mentions of a part are written.

    :param tex_escape: how DOI fields of BibTeX have to write ``_``: "raw", "escape" or "any".
    """
    for flaw in flaws_in(mentions, tex_escape=tex_escape):
        yield _finding(flaw)


def _finding(flaw: Flaw) -> Finding:
    """Return a flaw as a finding of the file, with a fix if its rewrite loses and breaks nothing."""
    mention = flaw.mention
    part = mention.part
    name = flaw.name
    if name is None and mention.doi is not None:
        name = mention.doi.name
    fix = None if flaw.rewrite is None else _fix(part, flaw.rewrite)
    location = location_of(part, *(flaw.span or mention.span))
    return Finding(location, flaw.code, flaw.message, name, fix)


def _fix(part: Part, rewrite: Rewrite) -> Fix | None:
    """Return the fix that does a rewrite; None if it would lose or break something.

    It is safe if the DOI stays the same, and then only labels, links and escapes may change, and these only
    where they mean nothing else.
    """
    span, text, name = rewrite
    if is_key(part.text, span[0], part.syntax) or is_fixed_text(part, *span):
        return None
    if name is None and not keeps_name(part.text[slice(*span)], text, part.syntax):
        return None
    try:
        written = part.encode(text)
    except ValueError:
        return None
    is_kept = keeps_host(part, span, text)
    if name is not None and not is_kept:  # a corrected name is not worth a broken file
        return None
    return Fix(*part.span(*span), written, is_kept and name is None, name)


def file_findings(kind: str | None, mentions: Iterable[LocatedMention]) -> Iterator[Finding]:
    """Yield what is wrong with a file's fields together: one finding on each DOI of several entries."""
    if kind not in _BIBLIOGRAPHIES:
        return
    by_doi: dict[
        str, dict[str, LocatedMention]
    ] = {}  # for each DOI the first mention of each entry
    for mention in mentions:
        entry = mention.location.entry
        if mention.field and entry and mention.key:
            by_doi.setdefault(mention.key, {}).setdefault(entry, mention)

    for by_entry in by_doi.values():
        if len(by_entry) == 1:
            continue
        # One finding for all: at the second entry, and it names the others
        first, second, *rest = by_entry.values()
        places = [mention.location for mention in (first, *rest)]
        entries = " and ".join(f"{place.entry} (line {place.line})" for place in places)
        yield Finding(second.location, "duplicate", f"the same DOI as {entries}", second.name)
