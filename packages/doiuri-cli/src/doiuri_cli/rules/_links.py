"""How a link to a DOI is written: scheme, host and label, its path in a browser, and its visible text."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from doiuri import DOI, DOISyntaxError

from doiuri_cli.rules._finding import finding_at, fix_at
from doiuri_cli.rules._keep import WEB, is_usual

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from doiuri_cli._mentions import Mention
    from doiuri_cli.files import Source
    from doiuri_cli.rules._finding import Finding, Fix

_HEAD = rf"(?:{WEB}|info:(?:doi|hdl)/|urn:doi:|hdl:|doi:)"
_HEADS = re.compile(rf"{_HEAD}*", re.IGNORECASE)
# Not in the path or the query of another link, as in those of web archives
_HEADS_BEFORE = re.compile(rf"(?<![A-Za-z0-9_.@/:=&?%+-])({_HEAD}+)\Z", re.IGNORECASE)
# The other labels may stand in the path of a link (DOI Handbook, note on URNs)
_DOUBLED = re.compile(rf"(?:{WEB}|doi:){{2,}}", re.IGNORECASE)
_LABEL = re.compile(r"doi[ \t\u00a0]*:?[ \t\u00a0]*", re.IGNORECASE)
_LONGEST_HEADS = 120  # characters
_AROUND_LINK = re.compile(r"[\s\"'<>()\[\]{}|]")
# After a comma or a semicolon, another link may start, but only if none to another site is before it
_IN_LINK = re.compile(
    r"""
    (?:[/?]|%2f).*(?<![,;])\Z  # in the path or the query of a link
    | (?:://|\A(?=(?:[\w-]+\.)+[a-z]{2,}/))(?!(?:dx\.|www\.)?doi\.org)  # after a link to another site
    | \A(?:/(?!/(?:dx\.|www\.)?doi\.org)|mailto:|data:)  # after a link to this site, a mail or data
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Other text there is another namespace, or another thing that is described
_IDENTIFIER = re.compile(
    r"(?:xmlns[\w:.-]*|namespace\w*|schemaLocation|prefix|about|resource)\s*=\s*[\"'][^\"'<>]*\Z",
    re.IGNORECASE,
)
_SCHEME_BEFORE = re.compile(r"ttps?(?:&[#\w]{1,9};|%3a|[^\w%&])*\Z", re.IGNORECASE)  # of a broken link
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
    if is_embedded(mention):
        return
    doubled = _doubled(source, mention)
    if doubled is not None:
        yield doubled
        return
    if old := _OLD.match(mention.text):
        end = mention.start + old.end()
        if port := _PORT.match(mention.part.text, end):
            end = port.end()
        fix = _link_fix(mention, (mention.start, end), "https://doi.org")
        yield _finding(source, mention, "not-https", mention.text, fix)
    if is_web_link(mention.text):
        yield from _raw(source, mention)
    elif rest := _after_uri(mention):
        yield _cut(source, mention, rest)


def _finding(
    source: Source, mention: Mention, code: str, message: str, fix: Fix | None, end: int | None = None
) -> Finding:
    span = mention.start, mention.end if end is None else end
    name = mention.doi.name if mention.doi else None
    return finding_at(source, mention.part, span, code, message, doi=name, fix=fix)


def is_embedded(mention: Mention) -> bool:
    """Return whether a mention is in a link to another site, as of a web archive, or names a namespace."""
    start = heads_before(mention)
    before = mention.part.text[max(0, start - _FAR) : start]
    return (_IN_LINK.search(_AROUND_LINK.split(before)[-1]) or _IDENTIFIER.search(before)) is not None


def _link_fix(mention: Mention, span: tuple[int, int], text: str) -> Fix | None:
    """Return the fix of a link's head; None after a broken scheme, as in ``http: //doi.org``."""
    content, start = mention.part.text, span[0]
    before = content[max(0, start - _LONGEST_HEADS) : start]
    is_broken = content.startswith("//", start) and before.rstrip().endswith((":", ";"))
    if not content.startswith("http", start) and (is_broken or _SCHEME_BEFORE.search(before)):
        return None
    return fix_at(mention.part, span, text)


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
    fix = _link_fix(mention, (start, mention.start + own), label)
    span, name = (start, mention.end), mention.doi.name if mention.doi else None
    message = f"one label or address before the name is enough: {mention.part.text[slice(*span)]}"
    return finding_at(source, mention.part, span, "doubled", message, doi=name, fix=fix)


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
    found = _REST.match(mention.part.text, mention.end)
    if mention.doi is None or found is None or len(rest := found[0]) > _LONGEST_REST:
        return ""
    if not is_usual(mention.doi.name, rest[:1]):  # the check character of a SICI
        return rest[:1]
    rest = rest.rstrip(_PUNCTUATION)
    return "" if len(rest) < 2 or is_usual(mention.doi.name, rest) else rest


def _after_uri(mention: Mention) -> str:
    """Return the query or fragment of a ``doi:`` URI in a link; it can have neither, so plugins refuse it."""
    rest = _REST.match(mention.part.text, mention.end) if mention.text[:4].lower() == "doi:" else None
    return rest[0] if rest else ""


def longer_name(mention: Mention, rest: str) -> str | None:
    """Return the name with what follows the link; None if that is no name."""
    try:
        return DOI.from_name(mention.doi.name + rest).name if mention.doi else None
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
