"""The advice of ``doiuri.advise`` as findings, with the fix that it suggests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri import DOI, LINK, DOISyntaxError, advise, encode

from doiuri_cli._mentions import mentions_in
from doiuri_cli.readers import Part
from doiuri_cli.readers._escape import escape
from doiuri_cli.rules._finding import finding_at, fix_at
from doiuri_cli.rules._keep import keeps_name
from doiuri_cli.rules._links import head_length, is_embedded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri import Advice

    from doiuri_cli._mentions import Mention
    from doiuri_cli.files import Source
    from doiuri_cli.rules._finding import Finding, Fix

# Their suggestions drop text, or guess at what is lost
_NOT_FIXED = frozenset({"run-on", "lost-character", "placeholder", "dropped-query", "dropped-fragment"})


def advice_findings(source: Source, mention: Mention) -> Iterator[Finding]:
    """Return the advice on a mention: on its name, and on its spelling if the part has no escapes there."""
    doi = mention.doi
    if doi is None:
        return
    for advice in _advice(mention.text, doi):
        fix = _suggested(mention, advice)
        # A decoded name is usually meant, and the message says what to do if not
        is_doubtful = advice.suggestion and advice.code != "decoded-escape"
        message = advice.message + (f"; did you mean {advice.suggestion}?" if is_doubtful else "")
        yield finding_at(source, mention.part, mention.span, advice.code, message, doi=doi.name, fix=fix)


def _advice(text: str, doi: DOI) -> tuple[Advice, ...]:
    if "%" in text:
        try:
            if DOI.parse(text).name == doi.name:  # else it has escapes of the part's syntax
                return advise(text)
        except DOISyntaxError:
            pass
    return advise(doi)


def _suggested(mention: Mention, advice: Advice) -> Fix | None:
    if advice.suggestion is None or advice.code in _NOT_FIXED or mention.doi is None:
        return None
    if not mention.part.field and is_embedded(mention):
        return None
    better = DOI.parse(advice.suggestion)
    text = _rewritten(mention, mention.doi, better, advice.suggestion)
    if text is None or text == mention.text:
        return None
    changed = better.name if better.name != mention.doi.name else None
    fix = fix_at(mention.part, mention.span, text, changed)
    if fix is not None and advice.code == "entity" and mention.part.field:
        # An exporter escaped the field for HTML: no name has entities
        return fix._replace(safe=keeps_name(mention.text, text, mention.part.syntax))
    return fix


def _rewritten(mention: Mention, doi: DOI, better: DOI, spelling: str) -> str | None:
    """Return the mention with another DOI, with its label or link; None if that cannot be written there.

    :param mention: the mention.
    :param doi: its DOI.
    :param better: the DOI to write.
    :param spelling: the text for ``DOI.parse`` that stands for it.
    """
    text, part = mention.text, mention.part
    tail = doi.name.removeprefix(better.name)
    if tail != doi.name and text.endswith(tail) and reads_as(part, text[: -len(tail)], better):
        return text[: -len(tail)]
    length = head_length(text)
    head = text[:length]
    is_link = "doi.org" in head.lower()
    plain = encode(better.name, LINK) if is_link else spelling[head_length(spelling) :]
    for written in (head + plain, head + escape(plain, part.syntax, field=part.field)):
        if reads_as(part, written, better):
            return written
    return None


def reads_as(part: Part, text: str, doi: DOI) -> bool:
    """Return whether a text is read as a DOI, and nothing else, in a part of this kind."""
    mentions = mentions_in(Part(text, part.syntax, field=part.field))
    found = [(mention.start, mention.end, mention.doi and mention.doi.name) for mention in mentions]
    return found == [(0, len(text), doi.name)]
