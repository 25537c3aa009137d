"""How a mention is spelled: as a link, in a field for a DOI, and what ``doiuri.advise`` says of its name."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from doiuri import DOI, LINK, DOISyntaxError, advise, encode

from doiuri_cli._mentions import mentions_in
from doiuri_cli.readers import Part
from doiuri_cli.rules import fix_at, flaw
from doiuri_cli.rules._keep import WEB, escape, is_usual, keeps_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from doiuri import Advice

    from doiuri_cli._mentions import Mention
    from doiuri_cli.rules import Fix, Flaw


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
_MARKUP = r"(?:[*_]|\\texttt\{|\\nolinkurl\{|<(?:span|small|b|i|em|strong|tt)\b[^<>]*>\s*){0,4}"
_END = r"(?:[*_}]|</(?:span|small|b|i|em|strong|tt)>\s*){0,4}"
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


def link_findings(mention: Mention) -> Iterator[Flaw]:
    """Return what is wrong with how a link is written: ``doubled``, or ``not-https`` and ``raw-link``."""
    if is_embedded(mention):
        return
    if doubled := _doubled(mention):
        yield doubled
        return
    if old := _OLD.match(mention.text):
        end = mention.start + old.end()
        if port := _PORT.match(mention.part.text, end):
            end = port.end()
        fix = _link_fix(mention, (mention.start, end), "https://doi.org")
        yield flaw(mention, "not-https", mention.text, fix)
    if is_web_link(mention.text):
        yield from _raw(mention)
    elif rest := _after_uri(mention):
        yield _cut(mention, rest)


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


def _doubled(mention: Mention) -> Flaw | None:
    start, own = heads_before(mention), head_length(mention.text)
    heads = mention.part.text[start : mention.start + own]
    if not _DOUBLED.fullmatch(heads):
        return None
    label = "https://doi.org/" if "doi.org" in heads.lower() else "doi:"
    fix = _link_fix(mention, (start, mention.start + own), label)
    message = f"one label or address before the name is enough: {mention.part.text[start : mention.end]}"
    return flaw(mention, "doubled", message, fix, (start, mention.end))


def _raw(mention: Mention) -> Iterator[Flaw]:
    """Yield the finding on a link that browsers read as another DOI."""
    part, doi = mention.part, mention.doi
    if doi is None:
        return
    if rest := dropped(mention):
        yield _cut(mention, rest)
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
    yield flaw(mention, "raw-link", message, fix)


def dropped(mention: Mention) -> str:
    """Return what follows a link and may belong to its name; not a usual query or fragment."""
    found = _REST.match(mention.part.text, mention.end)
    if mention.doi is None or found is None or len(rest := found[0]) > _LONGEST_REST:
        return ""
    if not is_usual(mention.doi.name, rest[:1]):  # the check character of a SICI
        return rest[:1]
    rest = rest.rstrip(_PUNCTUATION)
    return "" if is_usual(mention.doi.name, rest) else rest


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


def _cut(mention: Mention, rest: str) -> Flaw:
    end = mention.end + len(rest)
    name = longer_name(mention, rest)
    fix = fix_at(mention.part, (mention.end, end), _escaped(rest), name) if name else None
    message = f"the link ends before {rest!r}; if that belongs to the name, write {_escaped(rest)}"
    return flaw(mention, "raw-link", message, fix, (mention.start, end))


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


def title_findings(mentions: Sequence[Mention]) -> Iterator[Flaw]:
    """Return a finding for each link whose visible text is one DOI and whose target is another."""
    for first, second in pairwise(mentions):
        if first.doi is None or second.doi is None or first.doi == second.doi:
            continue
        if second.start - first.end > _FAR:
            continue
        syntax = first.part.syntax
        if _fits(_TITLE_FIRST.get(syntax), first, second):
            yield _differs(first, first.doi, second.doi)
        elif _fits(_TARGET_FIRST.get(syntax), first, second):
            yield _differs(second, second.doi, first.doi)


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


def _differs(title: Mention, shown: DOI, target: DOI) -> Flaw:
    message = f"the text says {shown.name}, the link leads to {target.name}"
    return flaw(title, "text-differs", message)._replace(doi=target.name)


# Their suggestions drop text, or guess at what is lost
_NOT_FIXED = frozenset({"run-on", "lost-character", "placeholder", "dropped-query", "dropped-fragment"})


def advice_findings(mention: Mention) -> Iterator[Flaw]:
    """Return the advice on a mention: on its name, and on its spelling if the part has no escapes there."""
    doi = mention.doi
    if doi is None:
        return
    for advice in _advice(mention.text, doi):
        fix = _suggested(mention, advice)
        # A decoded name is usually meant, and the message says what to do if not
        is_doubtful = advice.suggestion and advice.code != "decoded-escape"
        message = advice.message + (f"; did you mean {advice.suggestion}?" if is_doubtful else "")
        yield flaw(mention, advice.code, message, fix)


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
    for written in (head + plain, head + escape(plain, part.syntax)):
        if reads_as(part, written, better):
            return written
    return None


def reads_as(part: Part, text: str, doi: DOI) -> bool:
    """Return whether a text is read as a DOI, and nothing else, in a part of this kind."""
    mentions = mentions_in(Part(text, part.syntax, field=part.field))
    found = [(mention.start, mention.end, mention.doi and mention.doi.name) for mention in mentions]
    return found == [(0, len(text), doi.name)]


# "10." is missing or mistyped: 1000/182, .1000/182, 0.1000/182, 10,1000/182
_SHORT = re.compile(r"(?:doi:\s*|https?://(?:dx\.)?doi\.org/)?(?:1?0?[.,:])?([0-9]{4,9}/\S+)", re.IGNORECASE)
_URL = re.compile(r"https?://\S*\Z", re.IGNORECASE)
_NOT_OF_NAME = re.compile(r"[.,;:!?\"'’”)\]}>]+")
_ESCAPED = re.compile(r"\\([_#&$])")
_BARE = re.compile(r"(?<!\\)[_#&$]")


def field_findings(mention: Mention, tex_escape: str) -> Iterator[Flaw]:
    """Return the first flaw of a field, and the advice on its name if it holds nothing else."""
    part = mention.part
    before, after = _around(mention)
    if mention.doi is None:
        yield _no_doi(mention)
    elif "10." in f"{before} {after}" and mention.start != _first_beside_broken(part.text, part.syntax):
        yield from advice_findings(mention)
    elif before or after:
        yield _not_all(mention, mention.doi, before, after)
    elif length := head_length(mention.text):
        kind = "link" if "doi.org" in mention.text[:length].lower() else "label"
        yield _form(mention, f"holds a {kind}", _bare(mention, mention.doi, mention.span))
    else:
        yield from advice_findings(mention)
        if part.syntax == "bibtex" and tex_escape != "any":
            yield from _tex_escape(mention, tex_escape)


def _around(mention: Mention) -> tuple[str, str]:
    text = mention.part.text
    return text[: mention.start].lstrip(), text[mention.end :].rstrip()


@lru_cache(maxsize=1)  # all mentions of a field ask
def _first_beside_broken(text: str, syntax: str) -> int | None:
    """Return where the first DOI of a field begins; None unless the field also holds a broken one."""
    spans = [one.span for one in mentions_in(Part(text, syntax, field=True))]
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    is_broken = any("10." in text[end:start] for end, start in zip([0, *ends], [*starts, None], strict=True))
    return starts[0] if is_broken else None


def _value_span(part: Part) -> tuple[int, int]:
    start = len(part.text) - len(part.text.lstrip())
    return start, start + len(part.text.strip())


def _no_doi(mention: Mention) -> Flaw:
    reason = mention.error.reason if mention.error else "not a DOI"
    message = f"{_shown(mention.text)} is not a DOI: {reason}"
    return flaw(mention, "syntax", message, _restored(mention), _value_span(mention.part))


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


def _not_all(mention: Mention, doi: DOI, before: str, after: str) -> Flaw:
    """Return the finding on a field that holds more than the mention."""
    part = mention.part
    span = _value_span(part)
    value = part.text[slice(*span)]
    if not before and is_web_link(mention.text) and (rest := dropped(mention)):
        longer = longer_name(mention, rest)
        written = _written(part, longer, DOI(longer)) if longer else None
        fix = fix_at(part, span, written, longer) if written else None
        return _form(mention, "holds a link", fix)
    if not before and not head_length(mention.text) and _NOT_OF_NAME.fullmatch(after):
        fix = fix_at(part, span, mention.text, doi.name)
        message = f"the name ends in {after[-9:]!r}"
        return flaw(mention, "trailing-punctuation", message, fix, span)._replace(doi=DOI.parse(value).name)
    if not after and head_length(before) == len(before):
        what = "holds a link" if "doi.org" in before else "holds a label"
    else:
        is_link = len(value.split()) == 1 and (is_web_link(value) or _URL.match(before))
        what = "holds a link" if is_link else "holds more than a DOI"
    return _form(mention, what, _bare(mention, doi, span))


def _form(mention: Mention, what: str, fix: Fix | None) -> Flaw:
    return flaw(mention, "field-form", f"the DOI field {what}", fix, _value_span(mention.part))


def _bare(mention: Mention, doi: DOI, span: tuple[int, int]) -> Fix | None:
    """Return the fix that leaves the name as the mention writes it, or else escaped for the part."""
    written: str | None = mention.text[head_length(mention.text) :]
    if not written or "%" in written or not reads_as(mention.part, written, doi):
        written = _written(mention.part, doi.name, doi)
    return fix_at(mention.part, span, written) if written else None


def _written(part: Part, name: str, doi: DOI) -> str | None:
    """Return the text for a DOI in a field: its name if that is read as it is, or else escaped."""
    for text in (name, escape(name, part.syntax)):
        if text.count("{") == text.count("}") and reads_as(part, text, doi):
            return text
    return None


def _tex_escape(mention: Mention, tex_escape: str) -> Iterator[Flaw]:
    """Return the finding on escapes that the bibliography's program does not want, or wants."""
    text = mention.text
    if tex_escape == "raw":
        better, message = _ESCAPED.sub(r"\1", text), "an escape, which biblatex takes literally"
    else:
        better, message = (_BARE.sub(r"\\\g<0>", text), "not escaped, as BibTeX styles need it")
    if better == text or mention.doi is None or not reads_as(mention.part, better, mention.doi):
        return
    fix = fix_at(mention.part, mention.span, better)
    yield flaw(mention, "tex-escape", message, fix, _value_span(mention.part))
