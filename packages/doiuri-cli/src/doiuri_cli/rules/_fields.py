"""Fields that hold a DOI: nothing but the name belongs there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doiuri import DOI, DOISyntaxError

from doiuri_cli.readers._escape import escape
from doiuri_cli.rules._advised import advice_findings, reads_as
from doiuri_cli.rules._finding import finding_at, fix_at
from doiuri_cli.rules._links import dropped, head_length, is_web_link, longer_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri_cli._mentions import Mention
    from doiuri_cli.files import Source
    from doiuri_cli.readers import Part
    from doiuri_cli.rules._finding import Finding, Fix

# "10." is missing or mistyped: 1000/182, .1000/182, 0.1000/182, 10,1000/182
_SHORT = re.compile(r"(?:doi:\s*|https?://(?:dx\.)?doi\.org/)?(?:1?0?[.,:])?([0-9]{4,9}/\S+)", re.IGNORECASE)
_URL = re.compile(r"https?://\S*\Z", re.IGNORECASE)
_PUNCTUATION = re.compile(r"[.,;:!?\"'’”)\]}>]+")
_ESCAPED = re.compile(r"\\([_#&$])")
_BARE = re.compile(r"(?<!\\)[_#&$]")


def field_findings(source: Source, mention: Mention, tex_escape: str) -> Iterator[Finding]:
    """Return what is wrong with a field: its first flaw, and the advice on the name if the field is a name.

    :param source: the file.
    :param mention: the mention in the field.
    :param tex_escape: "escape" or "raw": how a DOI field of BibTeX has to write ``_``; "any": either.
    """
    part = mention.part
    before, after = _around(mention)
    if mention.doi is None:
        yield _no_doi(source, mention)
    elif "10." in before or "10." in after:
        yield from advice_findings(source, mention)
    elif before or after:
        yield _not_all(source, mention, mention.doi, before, after)
    elif length := head_length(mention.text):
        kind = "link" if "doi.org" in mention.text[:length].lower() else "label"
        yield _form(source, mention, f"holds a {kind}", _bare(mention, mention.doi, mention.span))
    else:
        yield from advice_findings(source, mention)
        if part.syntax == "bibtex" and tex_escape != "any":
            yield from _tex_escape(source, mention, tex_escape)


def _around(mention: Mention) -> tuple[str, str]:
    text = mention.part.text
    return text[: mention.start].lstrip(), text[mention.end :].rstrip()


def _value_span(part: Part) -> tuple[int, int]:
    start = len(part.text) - len(part.text.lstrip())
    return start, start + len(part.text.strip())


def _no_doi(source: Source, mention: Mention) -> Finding:
    reason = mention.error.reason if mention.error else "not a DOI"
    message = f"{_shown(mention.text)} is not a DOI: {reason}"
    return _field_finding(source, mention, "syntax", message, _restored(mention), mention.text)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:80] + "…")


def _restored(mention: Mention) -> Fix | None:
    """Return the fix that puts ``10.`` back, or writes what the error suggests."""
    short = _SHORT.fullmatch(mention.text)
    suggestion = mention.error.suggestion if mention.error else None
    text = suggestion or (f"10.{short[1]}" if short else "")
    try:
        doi = DOI.parse(text)
    except DOISyntaxError:
        return None
    written = _written(mention.part, doi.name, doi)
    return fix_at(mention.part, mention.span, written, doi.name) if written else None


def _not_all(source: Source, mention: Mention, doi: DOI, before: str, after: str) -> Finding:
    """Return the finding on a field that holds more than the mention."""
    part = mention.part
    span = _value_span(part)
    value = part.text[slice(*span)]
    if not before and is_web_link(mention.text) and (rest := dropped(mention)):
        longer = longer_name(mention, rest)
        written = _written(part, longer, DOI(longer)) if longer else None
        fix = fix_at(part, span, written, longer) if written else None
        return _form(source, mention, "holds a link", fix)
    if not before and not head_length(mention.text) and _PUNCTUATION.fullmatch(after):
        fix = fix_at(part, span, mention.text, doi.name)
        message = f"the name ends in {after[-9:]!r}"
        return _field_finding(source, mention, "trailing-punctuation", message, fix, _typed(value))
    if not after and head_length(before) == len(before):
        what = "holds a link" if "doi.org" in before else "holds a label"
    else:
        is_link = len(value.split()) == 1 and (is_web_link(value) or _URL.match(before))
        what = "holds a link" if is_link else "holds more than a DOI"
    return _form(source, mention, what, _bare(mention, doi, span))


def _typed(value: str) -> str:
    """Return the name that programs read from a value that is no link."""
    try:
        return DOI.parse(value).name
    except DOISyntaxError:
        return value


def _form(source: Source, mention: Mention, what: str, fix: Fix | None) -> Finding:
    name = mention.doi.name if mention.doi else None
    return _field_finding(source, mention, "field-form", f"the DOI field {what}", fix, name)


def _field_finding(
    source: Source, mention: Mention, code: str, message: str, fix: Fix | None, name: str | None
) -> Finding:
    part = mention.part
    name = None if mention.doi is None else name
    return finding_at(source, part, _value_span(part), code, message, doi=name, fix=fix)


def _bare(mention: Mention, doi: DOI, span: tuple[int, int]) -> Fix | None:
    """Return the fix that leaves the name as the mention writes it, or else escaped for the part."""
    written: str | None = mention.text[head_length(mention.text) :]
    if not written or "%" in written or not reads_as(mention.part, written, doi):
        written = _written(mention.part, doi.name, doi)
    return fix_at(mention.part, span, written) if written else None


def _written(part: Part, name: str, doi: DOI) -> str | None:
    """Return the text for a DOI in a field: its name if that is read as it is, or else escaped."""
    for text in (name, escape(name, part.syntax, field=True), escape(name, part.syntax)):
        if text.count("{") == text.count("}") and reads_as(part, text, doi):
            return text
    return None


def _tex_escape(source: Source, mention: Mention, tex_escape: str) -> Iterator[Finding]:
    """Return the finding on escapes that the bibliography's program does not want, or wants."""
    text = mention.text
    if tex_escape == "raw":
        better, message = _ESCAPED.sub(r"\1", text), "an escape, which biblatex takes literally"
    else:
        better, message = (
            _BARE.sub(r"\\\g<0>", text),
            "not escaped, as BibTeX styles need it",
        )
    if better == text or mention.doi is None or not reads_as(mention.part, better, mention.doi):
        return
    fix = fix_at(mention.part, mention.span, better)
    yield _field_finding(source, mention, "tex-escape", message, fix, mention.doi.name)
