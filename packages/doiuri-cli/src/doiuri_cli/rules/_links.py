"""How a link to a DOI is written: scheme, host and label, its path in a browser, and its visible text."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from doiuri import DOI, DOISyntaxError

from doiuri_cli.rules._finding import finding_at, fix_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from doiuri_cli._mentions import Mention
    from doiuri_cli.files import Source
    from doiuri_cli.rules._finding import Finding, Fix

_LINK = r"(?:(?:https?:)?//)?(?:dx\.|www\.)?doi\.org\.?(?::[0-9]{0,5})?/+(?:api/handles/)?"
_HEAD = rf"(?:{_LINK}|info:(?:doi|hdl)/|urn:doi:|hdl:|doi:)"
_HEADS = re.compile(rf"{_HEAD}*", re.IGNORECASE)
# Not in the path or the query of another link, as in those of web archives
_HEADS_BEFORE = re.compile(rf"(?<![A-Za-z0-9_.@/:=&?%+-])({_HEAD}+)\Z", re.IGNORECASE)
# The other labels may stand in the path of a link (DOI Handbook, note on URNs)
_DOUBLED = re.compile(rf"(?:{_LINK}|doi:){{2,}}", re.IGNORECASE)
_LABEL = re.compile(r"doi[ \t\u00a0]*:?[ \t\u00a0]*", re.IGNORECASE)
_LONGEST_HEADS = 120  # characters
_WEB = re.compile(r"(?:https?:)?//|(?:dx|www)\.doi\.org", re.IGNORECASE)
_OLD = re.compile(
    r"(?:http://(?:(?:dx|www)\.)?|(?:(?:https:)?//)?(?:dx|www)\.)doi\.org\.?(?=[:/])", re.IGNORECASE
)
_PORT = re.compile(r":[0-9]{0,5}")
# No URI has these characters (RFC 3986 §2), and programs that recognize links end them there
_ENDS_LINK = re.compile(r"[<>\"{}|\\^`]")
_AUTHORITY = re.compile(r"(?:https?:)?//[^/\\?#]*[/\\]?(?:api/handles/)?", re.IGNORECASE)
_ANY_CHARACTER = frozenset({"tex", "bibtex"})  # TeX escapes what it links to
_LONGEST_REST = 1000  # characters; more belong to no name, and looking at all would take quadratic time
_REST = re.compile(rf"[?#][^\s<>\"'`|\\^{{}}\[\])]{{0,{_LONGEST_REST}}}+")
_PUNCTUATION = ".,;:!?"
# What links really have: places on a page, and parameters such as ?locatt=…, ?nosfx
_FRAGMENT = re.compile(r"#(?:[A-Za-z_!/:~].*)?")
_QUERY = re.compile(r"\?(?:[\w.\[\]%+~-]*(?:[=&;].*)?)?(?:#.*)?")
_SICI_CHECK = re.compile(r">[0-9]\.[0-9]\.(?:CO|TX);[0-9]-\Z", re.IGNORECASE)
_FAR = 300  # characters between the two
_MARKUP = r"(?:[*_`]|\\texttt\{|\\nolinkurl\{|<(?:code|span|small|b|i|em|strong|tt)\b[^<>]*>\s*){0,4}"
_END = r"(?:[*_`}]|</(?:code|span|small|b|i|em|strong|tt)>\s*){0,4}"
# What stands before the first mention, between them and after the second: title first, then target first
_TITLE_FIRST = {
    "markdown": (rf"(?<![\\!])\[{_MARKUP}\Z", rf"{_END}\]\(\s*<?\Z", r""),
    "rst": (r"`\Z", r"\s+<\Z", r">`"),
}
_HTML = (r"\bhref\s*=\s*[\"']?\Z", rf"[\"']?[^<>]*>\s*{_MARKUP}\Z", rf"{_END}</a\s*>")
_TEX = (r"\\href\s*\{\Z", rf"\}}\s*\{{{_MARKUP}\Z", rf"{_END}\}}")
_TARGET_FIRST = {"html": _HTML, "xml": _HTML, "markdown": _HTML, "tex": _TEX, "bibtex": _TEX}


def head_length(text: str) -> int:
    """Return the length of the labels and links that a mention begins with."""
    heads = _HEADS.match(text)
    length = heads.end() if heads else 0
    return length or (label.end() if (label := _LABEL.match(text)) else 0)


def is_web_link(text: str) -> bool:
    """Return whether a mention is a link that browsers open."""
    return _WEB.match(text) is not None


def link_findings(source: Source, mention: Mention) -> Iterator[Finding]:
    """Return what is wrong with how a link is written: ``doubled``, or ``not-https`` and ``raw-link``."""
    doubled = _doubled(source, mention)
    if doubled is not None:
        yield doubled
        return
    if old := _OLD.match(mention.text):
        end = mention.start + old.end()
        if port := _PORT.match(mention.part.text, end):
            end = port.end()
        fix = fix_at(mention.part, (mention.start, end), "https://doi.org")
        yield _finding(source, mention, "not-https", mention.text, fix)
    if is_web_link(mention.text):
        yield from _raw(source, mention)


def _finding(
    source: Source, mention: Mention, code: str, message: str, fix: Fix | None, end: int | None = None
) -> Finding:
    span = mention.start, mention.end if end is None else end
    name = mention.doi.name if mention.doi else None
    return finding_at(source, mention.part, span, code, message, doi=name, fix=fix)


def heads_before(mention: Mention) -> int:
    """Return where the labels and links right before a mention start; its own start if there are none."""
    text, start = mention.part.text, mention.start
    if text[start - 1 : start] not in {"/", ":"} or start == 0:
        return start
    before = _HEADS_BEFORE.search(text[max(0, start - _LONGEST_HEADS) : start])
    return start - len(before[1]) if before else start


def _doubled(source: Source, mention: Mention) -> Finding | None:
    start, own = heads_before(mention), head_length(mention.text)
    heads = mention.part.text[start : mention.start + own]
    if not _DOUBLED.fullmatch(heads):
        return None
    label = "https://doi.org/" if "doi.org" in heads.lower() else "doi:"
    fix = fix_at(mention.part, (start, mention.start + own), label)
    span, name = (start, mention.end), mention.doi.name if mention.doi else None
    return finding_at(
        source, mention.part, span, "doubled", mention.part.text[slice(*span)], doi=name, fix=fix
    )


def _raw(source: Source, mention: Mention) -> Iterator[Finding]:
    """Yield the finding on a link that browsers read as another DOI."""
    part, doi = mention.part, mention.doi
    if doi is None:
        return
    if part.text[mention.end : mention.end + 1] in {"#", "?"}:
        rest = dropped(mention)
        if rest:
            yield _cut(source, mention, rest)
            return
    if not _is_plain(mention):
        return
    if (asked := _asked_for(mention.text)) != doi.name:
        message = f"browsers ask for {asked}; write {doi.url}"
    elif (mark := _ENDS_LINK.search(mention.text)) and part.syntax not in _ANY_CHARACTER:
        message = f"{mark[0]!r} has to be escaped in a link; write {doi.url}"
    else:
        return
    start = mention.start + head_length(mention.text)
    fix = fix_at(part, (start, mention.end), doi.url.removeprefix("https://doi.org/"))
    yield _finding(source, mention, "raw-link", message, fix)


def dropped(mention: Mention) -> str:
    """Return what follows a link and may belong to its name; not a usual query or fragment."""
    rest_match = _REST.match(mention.part.text, mention.end)
    rest = rest_match[0] if rest_match and rest_match.end() - rest_match.start() <= _LONGEST_REST else ""
    if mention.part.text.startswith("#", mention.end) and _SICI_CHECK.search(mention.text):
        return "#"
    rest = rest.rstrip(_PUNCTUATION)
    usual = _FRAGMENT if rest[:1] == "#" else _QUERY
    return "" if len(rest) < 2 or usual.fullmatch(rest) else rest


def longer_name(mention: Mention, rest: str) -> str | None:
    """Return the name with what follows the link; None if that is no name."""
    try:
        return DOI.parse(mention.text + _escaped(rest)).name
    except DOISyntaxError:
        return None


def _escaped(rest: str) -> str:
    return rest.replace("#", "%23").replace("?", "%3F")


def _cut(source: Source, mention: Mention, rest: str) -> Finding:
    end = mention.end + len(rest)
    name = longer_name(mention, rest)
    fix = fix_at(mention.part, (mention.end, end), _escaped(rest), name) if name else None
    message = f"the link ends before {rest!r}; if that belongs to the name, write {_escaped(rest)}"
    return _finding(source, mention, "raw-link", message, fix, end)


def _is_plain(mention: Mention) -> bool:
    """Return whether the mention has no escapes but those of URLs."""
    try:
        return mention.doi is not None and DOI.parse(mention.text).name == mention.doi.name
    except DOISyntaxError:
        return False


def _asked_for(link: str) -> str:
    """Return the name that browsers ask for (WHATWG URL, path state)."""
    authority = _AUTHORITY.match(link)
    path = link[authority.end() if authority else link.find("/") + 1 :]
    path = re.sub(r"[\t\n\r]", "", path.rstrip())
    kept: list[str] = []
    segments = re.split(r"[/\\]", path)
    for number, segment in enumerate(segments, 1):
        plain = re.sub("%2e", ".", segment, flags=re.IGNORECASE)
        if plain == "..":
            del kept[-1:]
        elif plain != ".":
            kept.append(segment)
        if plain in {".", ".."} and number == len(segments):
            kept.append("")
    asked = "/".join(kept)
    try:
        return DOI.parse(f"https://doi.org/{asked}").name
    except DOISyntaxError:
        from urllib.parse import unquote  # slow to import

        return unquote(asked)


def title_findings(source: Source, mentions: Sequence[Mention]) -> Iterator[Finding]:
    """Return a finding for each link whose visible text is one DOI and whose target is another."""
    for first, second in pairwise(mentions):
        if first.doi is None or second.doi is None or first.doi == second.doi:
            continue
        if second.start - first.end > _FAR:
            continue
        syntax = first.part.syntax
        if _fits(_TITLE_FIRST.get(syntax), first, second):
            yield _differs(source, first, first.doi, second.doi)
        elif _fits(_TARGET_FIRST.get(syntax), first, second) and is_web_link(first.text):
            yield _differs(source, second, second.doi, first.doi)


def _fits(patterns: tuple[str, str, str] | None, first: Mention, second: Mention) -> bool:
    if patterns is None:
        return False
    before, between, after = patterns
    text = first.part.text
    return (
        re.match(between, text[first.end : second.start]) is not None
        and re.search(before, text[max(0, first.start - _FAR) : first.start]) is not None
        and re.match(after, text[second.end : second.end + _FAR]) is not None
    )


def _differs(source: Source, title: Mention, shown: DOI, target: DOI) -> Finding:
    message = f"the text says {shown.name}, the link leads to {target.name}"
    return finding_at(source, title.part, title.span, "text-differs", message, doi=target.name)
