r"""What the text itself shows, without the registry.

One cause, one finding. What is found first leaves out what stands below it in its group; advice on the name
stands beside the findings on the link, for it has another remedy.

=================  ========================  ==============================================================
group              findings, first to last   remark
=================  ========================  ==============================================================
field for a DOI    ``syntax``                nothing else
\                  ``field-form``            also for an http or doubled link, or one with a fragment
\                  advice, ``tex-escape``    a bare name
link or label      ``doubled``               takes in all labels and links before the name
\                  ``not-https``             replaces scheme and host only
\                  ``raw-link``              replaces the path; may stand beside ``not-https``
name               advice                    ``dropped-query`` and ``dropped-fragment`` are ``raw-link`` here
visible text       ``text-differs``          beside all others
entry              ``duplicate``             beside all others
=================  ========================  ==============================================================

Queries and fragments that links really have are left alone (``?locatt=…``, ``#page=3``), and so are links to
the REST API. Code is left out by the readers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri import ShortDOI

from doiuri_cli.rules import Finding, finding_about
from doiuri_cli.rules._spelling import (
    advice_findings,
    field_findings,
    link_findings,
    title_findings,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from doiuri import Handle

    from doiuri_cli._mentions import LocatedMention, Mention

_BIBLIOGRAPHIES = frozenset({"bibtex", "json", "ris"})


def part_findings(mentions: Sequence[Mention], *, tex_escape: str) -> Iterator[Finding]:
    """Return what is wrong with how the mentions of a part are written.

    :param tex_escape: how DOI fields of BibTeX have to write ``_``: "raw", "escape" or "any".
    """
    yield from title_findings(mentions)
    for mention in mentions:
        yield from _mention_findings(mention, tex_escape)


def _mention_findings(mention: Mention, tex_escape: str) -> Iterator[Finding]:
    part = mention.part
    if mention.is_eprint:
        return
    if mention.may_be_page and not part.field:
        return
    short = mention.handle if mention.doi is None and not mention.may_be_page else None
    if isinstance(short, ShortDOI):
        message = short_doi_message(short)
        yield finding_about(mention, "short-doi", message)._replace(doi=short.name)
    elif part.field:
        yield from field_findings(mention, tex_escape)
    elif mention.doi is None:
        reason = mention.error.reason if mention.error else "not a DOI"
        yield finding_about(mention, "syntax", reason)
    else:
        yield from link_findings(mention)
        yield from advice_findings(mention)


def short_doi_message(short: Handle) -> str:
    """Return what is wrong with a short DOI."""
    return f"{short.name} is a short DOI; write the DOI that {short.url}?noredirect shows"


def file_findings(kind: str | None, mentions: Iterable[LocatedMention]) -> Iterator[Finding]:
    """Return what is wrong with a file's fields together: one finding on each DOI of several entries."""
    if kind not in _BIBLIOGRAPHIES:
        return
    entries: dict[str, dict[str, LocatedMention]] = {}
    for mention in mentions:
        entry = mention.location.entry
        if mention.field and entry and mention.key:
            entries.setdefault(mention.key, {}).setdefault(entry, mention)

    for same in entries.values():
        if len(same) == 1:
            continue
        first, second, *more = same.values()
        places = [other.location for other in (first, *more)]
        others = " and ".join(f"{place.entry} (line {place.line})" for place in places)
        message = f"the same DOI as {others}"
        yield Finding(second.location, "duplicate", message, second.name)
