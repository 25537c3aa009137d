"""How a mention is spelled: as a link, in a field for a DOI, and the advice on its name."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from doiuri import DOI, LINK, DOISyntaxError, advise, encode
from doiuri.plugins import PROXY_PATTERN, unescape_html

from doiuri_cli._mentions import HEAD, WEB, label_of, mentions_in
from doiuri_cli.readers import Part
from doiuri_cli.rules import finding_about, fix_at
from doiuri_cli.rules._keep import escape, is_usual

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from doiuri import Advice

    from doiuri_cli._mentions import Mention
    from doiuri_cli.rules import Finding, Fix

    Span = tuple[int, int]

_PROXY = "https://doi.org/"

_LONGEST_HEADS = 120  # characters
_HEADS_BEFORE = re.compile(
    rf"""
    (?<! [A-Za-z0-9_.@/:=&?%+-] )  # not in the path or the query of a link, as in those of web archives
    ( {HEAD}+ )
    \Z
    """,
    re.IGNORECASE | re.VERBOSE,
)
# The other labels may stand in the path of a link (DOI Handbook, note on URNs)
_DOUBLED = re.compile(rf"(?:{WEB}|doi:){{2,}}", re.IGNORECASE)

# What stands before a mention that is a part of something else
_AROUND_LINK = re.compile(r"[\s\"'<>()\[\]{}|]")
_IN_LINK = re.compile(
    rf"""
    # In the path or the query of a link; but after a comma or a semicolon, another link may start
      (?: [/?] | %2f ) .* (?<! [,;] ) \Z

    # In a link to another site, with or without its scheme
    | (?: :// | \A (?= (?: [\w-]+\. )+ [a-z]{{2,}} / ) )
      (?! {PROXY_PATTERN} )

    # In a link to a page of this site
    | \A (?! {PROXY_PATTERN} ) /

    # In a link to mail or to data
    | \A (?: mailto: | data: )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_IDENTIFIER = re.compile(
    r"""
    (?: xmlns[\w:.-]* | namespace\w* | schemaLocation | prefix  # the value is a namespace
    |   about | resource                                        # the value is what is described
    )
    \s* = \s* ["'] [^"'<>]*
    \Z
    """,
    re.IGNORECASE | re.VERBOSE,
)
_BROKEN_SCHEME = re.compile(
    r"""
    ttps?  # the "h" may be lost, too
    (?: &[#\w]{1,9};  # an entity
    |   %3a           # an escaped colon
    |   [^\w%&]
    )*
    \Z
    """,
    re.IGNORECASE | re.VERBOSE,
)

# Links
_WEB = re.compile(rf"(?:https?:)?//|(?=dx|www){PROXY_PATTERN}", re.IGNORECASE)
# With http, or with an old host
_OLD = re.compile(
    rf"(?! (?: (?: https: )? // )? doi ) {PROXY_PATTERN} (?= / )", re.IGNORECASE | re.VERBOSE
)
# No URI has these characters (RFC 3986 section 2), and programs that recognize links end them there
_ENDS_LINK = re.compile(r"[<>\"{}|\\^`]")
_ESCAPES_ANY_CHARACTER = frozenset({"tex", "bibtex"})  # TeX escapes what it links to
_AUTHORITY = re.compile(r"(?:https?:)?//[^/\\?#]*[/\\]?(?:api/handles/)?", re.IGNORECASE)
# Characters; more belong to no name, and looking at all would take quadratic time
_LONGEST_REST = 1000
_REST = re.compile(
    rf"""
    [?\#]                                         # a query or a fragment
    [^\s<>"'`|\\^{{}}\[\])]{{0,{_LONGEST_REST}}}+  # up to what cannot belong to it
    """,
    re.VERBOSE,
)
_PUNCTUATION = ".,;:!?"

# Links with a title
_FAR = 300  # characters between two mentions, and around them, that are looked at
_MARKUP = r"(?:[*_]|\\texttt\{|\\nolinkurl\{|<(?:span|small|b|i|em|strong|tt)\b[^<>]*>\s*){0,4}"
_END = r"(?:[*_}]|</(?:span|small|b|i|em|strong|tt)>\s*){0,4}"


class _Link(NamedTuple):
    """The patterns of what stands around two mentions if they are the title and the target of a link."""

    before: str
    between: str
    after: str


_TITLE_FIRST = {
    "markdown": _Link(before=rf"(?<![\\!])\[{_MARKUP}\Z", between=rf"{_END}\]\(\s*<?\Z", after=r""),
    "rst": _Link(before=r"`\Z", between=r"\s+<\Z", after=r">`"),
}
_HTML = _Link(
    before=r"\bhref\s*=\s*[\"']?\Z",
    between=rf"[\"']?[^<>]*>\s*{_MARKUP}\Z",
    after=rf"{_END}</a\s*>",
)
_TEX = _Link(before=r"\\href\s*\{\Z", between=rf"\}}\s*\{{{_MARKUP}\Z", after=rf"{_END}\}}")
_ASCIIDOC = _Link(before="", between=r"(?:\+\+|\$\$|\])?\[[*_`+]{0,4}\Z", after=r"[*_`+]{0,4}\^?\]")
_TARGET_FIRST = {
    "asciidoc": _ASCIIDOC,
    "html": _HTML,
    "xml": _HTML,
    "markdown": _HTML,
    "tex": _TEX,
    "bibtex": _TEX,
}


def _has_proxy(head: str) -> bool:
    """Return whether a head is a link to the DOI proxy, and not only a label."""
    return "doi.org" in head.lower()


def is_web_link(text: str) -> bool:
    """Return whether a text begins with a link that browsers open."""
    return _WEB.match(text) is not None


def link_findings(mention: Mention) -> Iterator[Finding]:
    """Return what is wrong with how a link is written: ``doubled``, or ``not-https`` and ``raw-link``."""
    if is_embedded(mention):
        return

    doubled = _doubled(mention)
    if doubled is not None:
        yield doubled
        return

    for finding in (_not_https(mention), _raw_link(mention)):
        if finding is not None:
            yield finding


def is_embedded(mention: Mention) -> bool:
    """Return whether a mention is in a link to another site, as of a web archive, or names a namespace."""
    start = heads_before(mention)
    before = mention.part.text[max(0, start - _FAR) : start]
    *_, beginning_of_link = _AROUND_LINK.split(before)
    if _IN_LINK.search(beginning_of_link):
        return True
    return _IDENTIFIER.search(before) is not None


def heads_before(mention: Mention) -> int:
    """Return where the labels and links right before a mention start; its own start if there are none."""
    text = mention.part.text
    start = mention.start
    if not text.endswith(("/", ":"), 0, start):
        return start
    before = text[max(0, start - _LONGEST_HEADS) : start]
    heads = _HEADS_BEFORE.search(before)
    return start - len(heads[1]) if heads else start


def _doubled(mention: Mention) -> Finding | None:
    """Return the finding on several labels or links before a name."""
    text = mention.part.text
    start = heads_before(mention)
    name_start = mention.start + len(mention.label)
    heads = text[start:name_start]
    if not _DOUBLED.fullmatch(heads.rstrip()):
        return None

    head = _PROXY if _has_proxy(heads) else "doi:"
    fix = _link_fix(mention, (start, name_start), head)
    message = f"one label or address before the name is enough: {text[start : mention.end]}"
    return finding_about(mention, "doubled", message, fix, (start, mention.end))


def _not_https(mention: Mention) -> Finding | None:
    """Return the finding on a link with http or an old host; the fix also drops the port."""
    old = _OLD.match(mention.text)
    if old is None:
        return None
    end = mention.start + old.end()
    fix = _link_fix(mention, (mention.start, end), _PROXY.removesuffix("/"))
    return finding_about(mention, "not-https", mention.text, fix)


def _link_fix(mention: Mention, span: Span, text: str) -> Fix | None:
    """Return the fix of a link's head; None after a broken scheme, which would be left."""
    start, _ = span
    if _follows_broken_scheme(mention.part.text, start):
        return None
    return fix_at(mention.part, span, text)


def _follows_broken_scheme(text: str, start: int) -> bool:
    """Return whether the scheme of a link stands apart from it, as in ``http: //doi.org``."""
    if text.startswith("http", start):
        return False
    before = text[max(0, start - _LONGEST_HEADS) : start]
    if text.startswith("//", start) and before.rstrip().endswith((":", ";")):
        return True
    return _BROKEN_SCHEME.search(before) is not None


def _raw_link(mention: Mention) -> Finding | None:
    """Return the finding on a link that browsers or plugins read as another DOI."""
    if not is_web_link(mention.label):
        rest = _after_uri(mention)
        return _cut(mention, rest) if rest else None

    rest = dropped(mention)
    if rest:
        return _cut(mention, rest)
    doi = mention.doi
    if doi is None or not _has_only_url_escapes(mention) or _has_tex_escapes(doi):
        return None

    reason = _misread(mention, doi)
    if reason is None:
        return None
    name_start = mention.start + len(mention.label)
    fix = fix_at(mention.part, (name_start, mention.end), doi.url.removeprefix(_PROXY))
    return finding_about(mention, "raw-link", f"{reason}; write {doi.url}", fix)


def _misread(mention: Mention, doi: DOI) -> str | None:
    """Return why a link does not lead to its DOI, or None if it does."""
    asked = _asked_for(mention.text)
    if asked != doi.name:
        return f"browsers ask for {asked}"
    mark = _ENDS_LINK.search(mention.text)
    if mark is not None and mention.part.syntax not in _ESCAPES_ANY_CHARACTER:
        return f"{mark[0]!r} has to be escaped in a link"
    return None


def dropped(mention: Mention) -> str:
    """Return what follows a link and may belong to its name; not a usual query or fragment."""
    found = _REST.match(mention.part.text, mention.end)
    if mention.doi is None or found is None:
        return ""
    rest = found[0]
    if len(rest) > _LONGEST_REST:
        return ""

    # The check character of a SICI ends the name, whatever follows it (ANSI/NISO Z39.56)
    first = rest[0]
    if not is_usual(mention.doi.name, first):
        return first

    rest = rest.rstrip(_PUNCTUATION)
    if is_usual(mention.doi.name, rest):
        return ""
    return rest


def _after_uri(mention: Mention) -> str:
    """Return the query or fragment of a ``doi:`` URI in a link; it can have neither, so plugins refuse it."""
    if not mention.label.lower().startswith("doi:"):
        return ""
    rest = _REST.match(mention.part.text, mention.end)
    return rest[0] if rest else ""


def longer_name(mention: Mention, rest: str) -> str | None:
    """Return the name with what follows the link; None if that is no name."""
    if mention.doi is None:
        return None
    try:
        return DOI.from_name(mention.doi.name + rest).name
    except DOISyntaxError:
        return None


def _cut(mention: Mention, rest: str) -> Finding:
    """Return the finding on a link that ends before its name does."""
    end = mention.end + len(rest)
    escaped = rest.replace("#", "%23").replace("?", "%3F")

    fix = None
    name = longer_name(mention, rest)
    if name is not None:
        fix = fix_at(mention.part, (mention.end, end), escaped, name)
    message = f"the link ends before {rest!r}; if that belongs to the name, write {escaped}"
    return finding_about(mention, "raw-link", message, fix, (mention.start, end))


def _has_only_url_escapes(mention: Mention) -> bool:
    """Return whether the mention has no escapes but those of URLs."""
    try:
        return mention.doi is not None and DOI.parse(mention.text).name == mention.doi.name
    except DOISyntaxError:
        return False


def _has_tex_escapes(doi: DOI) -> bool:
    """Return whether a name has TeX escapes; the advice on them says what to write, and not ``%5C``."""
    return any(advice.code == "tex-escape" for advice in advise(doi))


def _asked_for(link: str) -> str:
    """Return the name that browsers ask for when they follow a link."""
    authority = _AUTHORITY.match(link)
    if authority is not None:
        path = link[authority.end() :]
    else:  # the link starts with the host
        path = link[link.find("/") + 1 :]

    path = _path_in_browsers(path)
    try:
        return DOI.parse(_PROXY + path).name
    except DOISyntaxError:
        from urllib.parse import unquote  # slow to import

        return unquote(path)


def _path_in_browsers(path: str) -> str:
    """Return a path as browsers request it, without dot segments (WHATWG URL, path state)."""
    path = re.sub(r"[\t\n\r]", "", path.rstrip())
    segments = re.split(r"[/\\]", path)
    dots = [re.sub("%2e", ".", segment, flags=re.IGNORECASE) for segment in segments]

    kept: list[str] = []
    for segment, plain in zip(segments, dots, strict=True):
        if plain == "..":
            del kept[-1:]
        elif plain != ".":
            kept.append(segment)
    if dots[-1] in {".", ".."}:
        kept.append("")  # the path still ends with a slash
    return "/".join(kept)


def title_findings(mentions: Sequence[Mention]) -> Iterator[Finding]:
    """Return a finding for each link whose visible text is one DOI and whose target is another."""
    for first, second in pairwise(mentions):
        if first.part.field:
            return
        if first.doi is None or second.doi is None or first.doi == second.doi:
            continue
        if second.start - first.end > _FAR:
            continue
        syntax = first.part.syntax
        if _fits(_TITLE_FIRST.get(syntax), first, second):
            yield _differs(first, first.doi, second.doi)
        elif _fits(_TARGET_FIRST.get(syntax), first, second):
            yield _differs(second, second.doi, first.doi)


def _fits(link: _Link | None, first: Mention, second: Mention) -> bool:
    """Return whether two mentions are in one link of this form."""
    if link is None:
        return False
    text = first.part.text
    between = text[first.end : second.start]
    if not re.match(link.between, between):
        return False
    before = text[max(0, first.start - _FAR) : first.start]
    after = text[second.end : second.end + _FAR]
    return re.search(link.before, before) is not None and re.match(link.after, after) is not None


def _differs(title: Mention, shown: DOI, target: DOI) -> Finding:
    message = f"the text says {shown.name}, the link leads to {target.name}"
    return finding_about(title, "text-differs", message)._replace(doi=target.name)


# Their suggestions drop text, or guess at what is lost
_NOT_FIXED = frozenset(
    {"run-on", "lost-character", "placeholder", "dropped-query", "dropped-fragment"}
)


def advice_findings(mention: Mention) -> Iterator[Finding]:
    """Return the advice on a mention: on its name, and on its spelling if the part has no escapes there."""
    doi = mention.doi
    if doi is None:
        return
    if _has_foreign_entity(mention, doi):
        yield _entity(mention, doi)
    for advice in _advice(mention, doi):
        message = advice.message
        # A decoded name is usually meant, and the message says what to do if not
        if advice.suggestion and advice.code != "decoded-escape":
            message += f"; did you mean {advice.suggestion}?"
        yield finding_about(mention, advice.code, message, _suggested(mention, advice))


def _has_foreign_entity(mention: Mention, doi: DOI) -> bool:
    """Return whether the name was read without an entity of HTML that is none in this type of file."""
    part = mention.part
    if not part.field and part.syntax not in _ESCAPES_ANY_CHARACTER:
        return False
    text = mention.text.replace("\\", "")  # in BibTeX also \&\#60;
    return unescape_html(text) != text and unescape_html(doi.name) == doi.name


def _entity(mention: Mention, doi: DOI) -> Finding:
    """Return the finding on the entity; the fix of a field writes the character, since no name has entities."""
    part = mention.part
    message = f"an HTML entity in the name; did you mean {doi.name}?"
    written = _written(part, doi) if part.field else None
    fix = None if written is None else fix_at(part, mention.span, written)
    return finding_about(mention, "entity", message, fix)


def _advice(mention: Mention, doi: DOI) -> tuple[Advice, ...]:
    """Return the advice on a mention with escapes of URLs and no others, or else on its DOI."""
    if "%" in mention.text and _has_only_url_escapes(mention):
        return advise(mention.text)
    return advise(doi)


def _suggested(mention: Mention, advice: Advice) -> Fix | None:
    """Return the fix that writes what the advice suggests; None if it cannot, or a person has to look."""
    if mention.doi is None or advice.suggestion is None or advice.code in _NOT_FIXED:
        return None
    part = mention.part
    if not part.field and is_embedded(mention):
        return None

    better = DOI.parse(advice.suggestion)
    text = _rewritten(mention, mention.doi, better, advice.suggestion)
    if text is None or text == mention.text:
        return None
    changed_name = better.name if better.name != mention.doi.name else None
    return fix_at(part, mention.span, text, changed_name)


def _rewritten(mention: Mention, doi: DOI, better: DOI, spelling: str) -> str | None:
    """Return the mention with another DOI, with its label or link; None if that cannot be written there.

    :param spelling: the text for ``DOI.parse`` that stands for the other DOI.
    """
    text = mention.text
    part = mention.part

    # Most advice leaves out the end of a name; the rest then stays as the author wrote it
    if doi.name.startswith(better.name):
        left_out = doi.name[len(better.name) :]
        shorter = text.removesuffix(left_out)
        if shorter != text and reads_as(part, shorter, better):
            return shorter

    label = mention.label
    if _has_proxy(label):
        name = encode(better.name, LINK)
    else:
        name = spelling.removeprefix(label_of(spelling))
    for written in (label + name, label + escape(name, part.syntax)):
        if reads_as(part, written, better):
            return written
    return None


def reads_as(part: Part, text: str, doi: DOI) -> bool:
    """Return whether a text is read as a DOI, and nothing else, in a part of this kind."""
    mentions = list(mentions_in(Part(text, part.syntax, field=part.field)))
    if len(mentions) != 1:
        return False
    (mention,) = mentions
    is_whole = mention.span == (0, len(text))
    return is_whole and mention.doi is not None and mention.doi.name == doi.name


_WITHOUT_DIRECTORY = re.compile(
    rf"""
    (?: doi: \s* | {PROXY_PATTERN} / )?
    (?: 1?0? [.,:] )?        # missing or mistyped: 1000/182, .1000/182, 0.1000/182, 10,1000/182
    ( [0-9]{{4,9}} / \S+ )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_URL = re.compile(r"https?://\S*\Z", re.IGNORECASE)
_NOT_OF_NAME = re.compile(r"[.,;:!?\"'’”)\]}>]+")
_ESCAPED = re.compile(r"\\([_#&$])")
_BARE = re.compile(r"(?<!\\)[_#&$]")
_LONGEST_SHOWN = 80  # characters of a value in a message


def field_findings(mention: Mention, tex_escape: str) -> Iterator[Finding]:
    """Return the first flaw of a field, and the advice on its name if it holds nothing else."""
    part = mention.part
    doi = mention.doi
    if doi is None:
        yield _no_doi(mention)
        return

    before = part.text[: mention.start].lstrip()
    after = part.text[mention.end :].rstrip()
    if "10." in before or "10." in after:
        # Several DOIs: if one of them is broken, the first valid one gets the finding on the whole value
        if mention.start == _first_beside_broken(part.text, part.syntax):
            yield _not_all(mention, doi, before, after)
        else:
            yield from advice_findings(mention)
        return
    if before or after:
        yield _not_all(mention, doi, before, after)
        return

    if mention.label:
        what = "holds a link" if _has_proxy(mention.label) else "holds a label"
        yield _form(mention, what, _bare(mention, doi, mention.span))
        return

    yield from advice_findings(mention)
    if part.syntax == "bibtex":
        finding = _tex_escape(mention, doi, tex_escape)
        if finding is not None:
            yield finding


@lru_cache(maxsize=1)  # all mentions of a field ask
def _first_beside_broken(text: str, syntax: str) -> int | None:
    """Return where the first DOI of a field begins; None unless the field also holds a broken one."""
    mentions = list(mentions_in(Part(text, syntax, field=True)))
    others = []  # what is before, between and after the mentions
    end_before = 0
    for mention in mentions:
        others.append(text[end_before : mention.start])
        end_before = mention.end
    others.append(text[end_before:])

    has_broken = any("10." in other for other in others)
    return mentions[0].start if has_broken else None


def _value_span(part: Part) -> Span:
    """Return the span of a field's text without outer white space."""
    start = len(part.text) - len(part.text.lstrip())
    return start, start + len(part.text.strip())


def _no_doi(mention: Mention) -> Finding:
    """Return the finding on a field whose text is not a DOI."""
    reason = mention.error.reason if mention.error else "not a DOI"
    shown = mention.text
    if len(shown) > _LONGEST_SHOWN:
        shown = shown[:_LONGEST_SHOWN] + "…"
    message = f"{shown!r} is not a DOI: {reason}"
    return finding_about(mention, "syntax", message, _restored(mention), _value_span(mention.part))


def _restored(mention: Mention) -> Fix | None:
    """Return the fix that writes what the error suggests, or puts ``10.`` back."""
    doi = _probably_meant(mention)
    if doi is None:
        return None
    written = _written(mention.part, doi)
    return fix_at(mention.part, mention.span, written, doi.name) if written else None


def _probably_meant(mention: Mention) -> DOI | None:
    """Return the DOI that an invalid text was meant to be, or None if that is not known."""
    without_directory = _WITHOUT_DIRECTORY.fullmatch(mention.text)
    if mention.error is not None and mention.error.suggestion:
        text = mention.error.suggestion
    elif without_directory is not None:
        text = f"10.{without_directory[1]}"
    elif isinstance(mention.handle, DOI):  # but for characters that nobody sees
        return mention.handle
    else:
        return None
    try:
        return DOI.parse(text)
    except DOISyntaxError:
        return None


def _not_all(mention: Mention, doi: DOI, before: str, after: str) -> Finding:
    """Return the finding on a field that holds more than the mention."""
    part = mention.part
    span = _value_span(part)
    value = part.text.strip()

    if not before:
        rest = dropped(mention) if is_web_link(mention.label) else ""
        if rest:
            return _form(mention, "holds a link", _longer_fix(mention, rest))
        if not mention.label and _NOT_OF_NAME.fullmatch(after):
            fix = fix_at(part, span, mention.text, doi.name)
            message = f"the name ends in {after[-9:]!r}"
            finding = finding_about(mention, "trailing-punctuation", message, fix, span)
            return finding._replace(doi=DOI.parse(value).name)
    return _form(mention, _contents(value, before, after), _bare(mention, doi, span))


def _longer_fix(mention: Mention, rest: str) -> Fix | None:
    """Return the fix that writes the name with what follows the link."""
    name = longer_name(mention, rest)
    if name is None:
        return None
    written = _written(mention.part, DOI(name))
    if written is None:
        return None
    return fix_at(mention.part, _value_span(mention.part), written, name)


def _contents(value: str, before: str, after: str) -> str:
    """Return what a field holds besides a DOI, in words."""
    has_only_heads = not after and label_of(before) == before
    if has_only_heads:
        return "holds a link" if "doi.org" in before else "holds a label"

    # A link to another site, or one that goes on after the name
    is_one_word = len(value.split()) == 1
    if is_one_word and (is_web_link(value) or _URL.match(before)):
        return "holds a link"
    return "holds more than a DOI"


def _form(mention: Mention, what: str, fix: Fix | None) -> Finding:
    return finding_about(
        mention, "field-form", f"the DOI field {what}", fix, _value_span(mention.part)
    )


def _bare(mention: Mention, doi: DOI, span: Span) -> Fix | None:
    """Return the fix that leaves only the name, as the mention writes it or else escaped for the part.

    None if neither would be read as the DOI.
    """
    written: str | None = mention.name
    if not written or "%" in written or not reads_as(mention.part, written, doi):
        written = _written(mention.part, doi)
    if written is None:
        return None
    return fix_at(mention.part, span, written)


def _written(part: Part, doi: DOI) -> str | None:
    """Return the text for a DOI in a field: its name if that is read as it is, or else escaped."""
    for text in (doi.name, escape(doi.name, part.syntax)):
        is_balanced = text.count("{") == text.count("}")
        if is_balanced and reads_as(part, text, doi):
            return text
    return None


def _tex_escape(mention: Mention, doi: DOI, tex_escape: str) -> Finding | None:
    """Return the finding on escapes that the bibliography's program does not want, or wants.

    :param tex_escape: as for ``part_findings``.
    """
    text = mention.text
    if tex_escape == "any":
        return None
    if tex_escape == "raw":
        better = _ESCAPED.sub(r"\1", text)
        message = "an escape, which biblatex takes literally"
    else:
        better = _BARE.sub(r"\\\g<0>", text)
        message = "not escaped, as BibTeX styles need it"

    if better == text or not reads_as(mention.part, better, doi):
        return None
    fix = fix_at(mention.part, mention.span, better)
    return finding_about(mention, "tex-escape", message, fix, _value_span(mention.part))
