r"""How mentions are spelled: their flaws, and what to write instead. Pure, without the file around the part.

One cause, one flaw. For the mentions of a part:

1. If the visible text of a link is one DOI and its target another, that is ``text-differs``, beside all others.
2. Then each mention by itself. Left out are the identifiers of arXiv, and in text links such as
   ``https://doi.org/f3sz4k``: only the registry knows whether they are short DOIs.
3. A short DOI is ``short-doi``, and a text that is no DOI ``syntax``; nothing else is said about them.
4. Else the groups that fit. What is found first leaves out what stands below it in its group; the advice on a
   name stands beside the flaws of the link, for it has another remedy.

=================  ========================  ==============================================================
group              flaws, first to last      remark
=================  ========================  ==============================================================
field for a DOI    ``trailing-punctuation``  if only that follows the name
\                  ``field-form``            also for an http or doubled link, or one with a fragment
\                  advice, ``tex-escape``    a bare name
link or label      ``doubled``               takes in all labels and links before the name
\                  ``not-https``             replaces scheme and host only
\                  ``raw-link``              replaces the path; may stand beside ``not-https``
name               advice                    ``dropped-query`` and ``dropped-fragment`` are ``raw-link`` here
=================  ========================  ==============================================================

Queries and fragments that links really have are left alone (``?locatt=…``, ``#page=3``), and so are links to
the REST API. Code is left out by the readers.
"""

from __future__ import annotations

import html
import re
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from doiuri import DOI, LINK, DOISyntaxError, ShortDOI, advise, encode
from doiuri.plugins import PROXY_PATTERN, unescape_html

from doiuri_cli._mentions import HEAD, WEB, label_of, mentions_in
from doiuri_cli.readers import Part
from doiuri_cli.rules._keep import is_usual

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from doiuri import Advice, Handle

    from doiuri_cli._mentions import Mention

    Span = tuple[int, int]


class Rewrite(NamedTuple):
    """What to write in place of a piece of a part."""

    span: Span  # the offsets in the part's text of the piece's first character, and after its last one
    text: str
    name: str | None = None  # the name that it changes the DOI to; None if the DOI stays the same


class Flaw(NamedTuple):
    """What is wrong with how a mention is spelled."""

    mention: Mention
    code: str  # the code of its rule
    message: str  # what is wrong, in words
    rewrite: Rewrite | None = None  # what would put it right; None if nothing is known to
    span: Span | None = None  # the piece of the part that is wrong; None: the mention
    name: str | None = None  # the DOI that it is about; None: that of the mention


def flaws_in(mentions: Sequence[Mention], *, tex_escape: str) -> Iterator[Flaw]:
    """Yield what is wrong with how the mentions of a part are spelled, as the head of this file says it.

    :param tex_escape: how DOI fields of BibTeX have to write ``_``: "raw", "escape" or "any".
    """
    yield from _title_flaws(mentions)
    for mention in mentions:
        may_be_page = mention.may_be_page
        is_field = mention.part.field
        if mention.is_eprint or (may_be_page and not is_field):
            continue

        # In a field, a link that may lead to a page is no DOI, until the registry says more
        short = mention.handle if mention.doi is None and not may_be_page else None
        if isinstance(short, ShortDOI):
            yield Flaw(mention, "short-doi", short_doi_message(short), name=short.name)
        elif is_field:
            yield from _field_flaws(mention, tex_escape)
        elif mention.doi is None:
            reason = mention.error.reason if mention.error else "not a DOI"
            yield Flaw(mention, "syntax", reason)
        else:
            yield from _link_flaws(mention, mention.doi)
            yield from _advice_flaws(mention, mention.doi)


def short_doi_message(short: Handle) -> str:
    """Return what is wrong with a short DOI."""
    return f"{short.name} is a short DOI; write the DOI that {short.url}?noredirect shows"


# Links with a title
_FAR = 300  # characters between two mentions, and around them, that are looked at
_MARKUP = r"(?:[*_]|\\texttt\{|\\nolinkurl\{|<(?:span|small|b|i|em|strong|tt)\b[^<>]*>\s*){0,4}"
_END = r"(?:[*_}]|</(?:span|small|b|i|em|strong|tt)>\s*){0,4}"


class _TitledLink(NamedTuple):
    """The patterns of what stands around two mentions if they are the title and the target of a link."""

    before: str
    between: str
    after: str


_TITLE_FIRST = {
    "markdown": _TitledLink(
        before=rf"(?<![\\!])\[{_MARKUP}\Z", between=rf"{_END}\]\(\s*<?\Z", after=r""
    ),
    "rst": _TitledLink(before=r"`\Z", between=r"\s+<\Z", after=r">`"),
}
_HTML = _TitledLink(
    before=r"\bhref\s*=\s*[\"']?\Z",
    between=rf"[\"']?[^<>]*>\s*{_MARKUP}\Z",
    after=rf"{_END}</a\s*>",
)
_TEX = _TitledLink(before=r"\\href\s*\{\Z", between=rf"\}}\s*\{{{_MARKUP}\Z", after=rf"{_END}\}}")
_ASCIIDOC = _TitledLink(
    before="", between=r"(?:\+\+|\$\$|\])?\[[*_`+]{0,4}\Z", after=r"[*_`+]{0,4}\^?\]"
)
_TARGET_FIRST = {
    "asciidoc": _ASCIIDOC,
    "html": _HTML,
    "xml": _HTML,
    "markdown": _HTML,
    "tex": _TEX,
    "bibtex": _TEX,
}


def _title_flaws(mentions: Sequence[Mention]) -> Iterator[Flaw]:
    """Yield a flaw for each link whose visible text is one DOI and whose target is another."""
    for first, second in pairwise(mentions):
        if first.part.field:  # the value of a field is no markup
            return
        if first.doi is None or second.doi is None or first.doi == second.doi:
            continue
        if second.start - first.end > _FAR:
            continue
        syntax = first.part.syntax
        if _fits(_TITLE_FIRST.get(syntax), first, second):
            yield _text_differs(first, first.doi, second.doi)
        elif _fits(_TARGET_FIRST.get(syntax), first, second):
            yield _text_differs(second, second.doi, first.doi)


def _fits(link: _TitledLink | None, first: Mention, second: Mention) -> bool:
    """Return whether two mentions are the title and the target of a link of this form."""
    if link is None:
        return False
    text = first.part.text
    between = text[first.end : second.start]
    if not re.match(link.between, between):
        return False
    before = text[max(0, first.start - _FAR) : first.start]
    after = text[second.end : second.end + _FAR]
    return re.search(link.before, before) is not None and re.match(link.after, after) is not None


def _text_differs(title: Mention, named: DOI, target: DOI) -> Flaw:
    message = f"the text says {named.name}, the link leads to {target.name}"
    return Flaw(title, "text-differs", message, name=target.name)


# Links

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


def _has_proxy(head: str) -> bool:
    """Return whether a head is a link to the DOI proxy, and not only a label."""
    return "doi.org" in head.lower()


def _is_web_link(text: str) -> bool:
    """Return whether a text begins with a link that browsers open."""
    return _WEB.match(text) is not None


def _link_flaws(mention: Mention, doi: DOI) -> Iterator[Flaw]:
    """Yield what is wrong with how a link or label is written: ``doubled``, or ``not-https`` and ``raw-link``."""
    # In a link such as https://web.archive.org/web/1/https://doi.org/10.1000/1, nothing can be changed
    if _is_embedded(mention):
        return

    doubled = _doubled(mention)
    if doubled is not None:
        yield doubled
        return

    for flaw in (_not_https(mention), _raw_link(mention, doi)):
        if flaw is not None:
            yield flaw


def _is_embedded(mention: Mention) -> bool:
    """Return whether a mention is in a link to another site, as of a web archive, or names a namespace."""
    start = _start_of_heads(mention)
    before = mention.part.text[max(0, start - _FAR) : start]
    *_, beginning_of_link = _AROUND_LINK.split(before)
    if _IN_LINK.search(beginning_of_link):
        return True
    return _IDENTIFIER.search(before) is not None


def _start_of_heads(mention: Mention) -> int:
    """Return where the labels and links right before a mention start; its own start if there are none.

    In ``"see doi:https://doi.org/10.1000/182"``, with a mention that starts at ``https``, it is that of ``doi:``.
    """
    text = mention.part.text
    start = mention.start
    if not text.endswith(("/", ":"), 0, start):
        return start
    before = text[max(0, start - _LONGEST_HEADS) : start]
    heads = _HEADS_BEFORE.search(before)
    return start - len(heads[1]) if heads else start


def _doubled(mention: Mention) -> Flaw | None:
    """Return the flaw of several labels or links before a name: ``https://doi.org/doi:10.1000/182``."""
    text = mention.part.text
    start = _start_of_heads(mention)
    name_start = mention.start + len(mention.label)
    heads = text[start:name_start]
    if not _DOUBLED.fullmatch(heads.rstrip()):
        return None

    head = _PROXY if _has_proxy(heads) else "doi:"
    rewrite = _rewrite_of_head(text, (start, name_start), head)
    message = f"one label or address before the name is enough: {text[start : mention.end]}"
    return Flaw(mention, "doubled", message, rewrite, (start, mention.end))


def _not_https(mention: Mention) -> Flaw | None:
    """Return the flaw of a link with http or an old host; the rewrite also drops the port."""
    old = _OLD.match(mention.text)
    if old is None:
        return None
    end = mention.start + old.end()
    host = _PROXY.removesuffix("/")
    rewrite = _rewrite_of_head(mention.part.text, (mention.start, end), host)
    return Flaw(mention, "not-https", mention.text, rewrite)


def _rewrite_of_head(text: str, span: Span, head: str) -> Rewrite | None:
    """Return the rewrite of a link's head; None after a broken scheme (``http: //doi.org``), which stays."""
    # If the head has no scheme, one may stand before it, broken
    start, _ = span
    if text.startswith("http", start):
        return Rewrite(span, head)
    before = text[max(0, start - _LONGEST_HEADS) : start]
    if text.startswith("//", start) and before.rstrip().endswith((":", ";")):
        return None
    return None if _BROKEN_SCHEME.search(before) else Rewrite(span, head)


def _raw_link(mention: Mention, doi: DOI) -> Flaw | None:
    """Return the flaw of a link that browsers or plugins read as another DOI."""
    text = mention.part.text
    if not _is_web_link(mention.label):
        # A doi: URI has no query and no fragment, so plugins refuse one
        is_uri = mention.label.lower().startswith("doi:")
        rest = _REST.match(text, mention.end) if is_uri else None
        return _cut(mention, doi, rest[0]) if rest else None

    dropped = _dropped(mention, doi)
    if dropped:
        return _cut(mention, doi, dropped)
    # With escapes of the file's format, the text of the mention is not what browsers get
    if not _has_only_url_escapes(mention, doi) or _has_tex_escapes(doi):
        return None

    reason = _misread(mention, doi)
    if reason is None:
        return None
    name_start = mention.start + len(mention.label)
    rewrite = Rewrite((name_start, mention.end), doi.url.removeprefix(_PROXY))
    return Flaw(mention, "raw-link", f"{reason}; write {doi.url}", rewrite)


def _cut(mention: Mention, doi: DOI, rest: str) -> Flaw:
    """Return the flaw of a link that ends before its name does, if the rest belongs to the name."""
    end = mention.end + len(rest)
    escaped = rest.replace("#", "%23").replace("?", "%3F")
    name = _longer_name(doi, rest)
    rewrite = None if name is None else Rewrite((mention.end, end), escaped, name)
    message = f"the link ends before {rest!r}; if that belongs to the name, write {escaped}"
    return Flaw(mention, "raw-link", message, rewrite, (mention.start, end))


def _longer_name(doi: DOI, rest: str) -> str | None:
    """Return the name with what follows the link; None if that is no name."""
    try:
        return DOI.from_name(doi.name + rest).name
    except DOISyntaxError:
        return None


def _dropped(mention: Mention, doi: DOI) -> str:
    """Return what browsers drop of a link but may belong to its name; "" for a usual query or fragment.

    For ``https://doi.org/10.1000/x#1``, it is ``#1``; for ``https://doi.org/10.1000/x#page=3``, it is "".
    """
    following = _REST.match(mention.part.text, mention.end)
    if following is None:
        return ""
    rest = following[0]
    if len(rest) > _LONGEST_REST:
        return ""

    # The check character of a SICI ends the name, whatever follows it (ANSI/NISO Z39.56)
    first = rest[0]
    if not is_usual(doi.name, first):
        return first

    rest = rest.rstrip(_PUNCTUATION)
    return "" if is_usual(doi.name, rest) else rest


def _has_only_url_escapes(mention: Mention, doi: DOI) -> bool:
    """Return whether the mention has no escapes but those of URLs."""
    try:
        return DOI.parse(mention.text).name == doi.name
    except DOISyntaxError:
        return False


def _has_tex_escapes(doi: DOI) -> bool:
    """Return whether a name has TeX escapes; the advice on them says what to write, and not ``%5C``."""
    return any(advice.code == "tex-escape" for advice in advise(doi))


def _misread(mention: Mention, doi: DOI) -> str | None:
    """Return why a link does not lead to its DOI, or None if it does."""
    asked = _name_asked_for(mention.text)
    if asked != doi.name:
        return f"browsers ask for {asked}"
    mark = _ENDS_LINK.search(mention.text)
    if mark is not None and mention.part.syntax not in _ESCAPES_ANY_CHARACTER:
        return f"{mark[0]!r} has to be escaped in a link"
    return None


def _name_asked_for(link: str) -> str:
    """Return the name that browsers ask for when they follow a link.

    For ``https://doi.org/10.1000/a/../b``, it is ``10.1000/b``.
    """
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


# A field for a DOI

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


def _field_flaws(mention: Mention, tex_escape: str) -> Iterator[Flaw]:
    """Yield the first flaw of a field, or the advice on its name if it holds nothing else."""
    part = mention.part
    doi = mention.doi
    if doi is None:
        yield _no_doi(mention)
        return

    before = part.text[: mention.start].lstrip()
    after = part.text[mention.end :].rstrip()
    # Several DOIs are no flaw, unless one of them is broken: that is said once, of the first
    has_several = "10." in before or "10." in after
    if has_several and mention.start != _first_beside_broken(part.text, part.syntax):
        yield from _advice_flaws(mention, doi)
        return
    if before or after:
        yield _not_alone(mention, doi, before, after)
        return
    if mention.label:
        contents = "holds a link" if _has_proxy(mention.label) else "holds a label"
        yield _form(mention, contents, _bare(mention, doi, mention.span))
        return

    yield from _advice_flaws(mention, doi)
    if part.syntax == "bibtex":
        flaw = _tex_escape(mention, doi, tex_escape)
        if flaw is not None:
            yield flaw


@lru_cache(maxsize=1)  # all mentions of a field ask
def _first_beside_broken(text: str, syntax: str) -> int | None:
    """Return where the first DOI of a field with several begins; None unless it also holds a broken one.

    That DOI then gets the flaw of the whole field: in ``"10.1000/1, 10.1000"``, the first.
    """
    mentions = list(mentions_in(Part(text, syntax, field=True)))
    unread = []  # the texts before, between and after the mentions
    last = 0
    for mention in mentions:
        unread.append(text[last : mention.start])
        last = mention.end
    unread.append(text[last:])

    has_broken = any("10." in gap for gap in unread)
    return mentions[0].start if has_broken else None


def _value_span(part: Part) -> Span:
    """Return the span of a field's text without outer white space."""
    start = len(part.text) - len(part.text.lstrip())
    return start, start + len(part.text.strip())


def _no_doi(mention: Mention) -> Flaw:
    """Return the flaw of a field whose text is not a DOI; the rewrite is the DOI that was probably meant."""
    part = mention.part
    rewrite = None
    doi = _probably_meant(mention)
    if doi is not None:
        spelling = _spelling_in_field(part, doi)
        rewrite = Rewrite(mention.span, spelling, doi.name) if spelling else None

    reason = mention.error.reason if mention.error else "not a DOI"
    value = mention.text
    if len(value) > _LONGEST_SHOWN:
        value = value[:_LONGEST_SHOWN] + "…"
    message = f"{value!r} is not a DOI: {reason}"
    return Flaw(mention, "syntax", message, rewrite, _value_span(part))


def _probably_meant(mention: Mention) -> DOI | None:
    """Return the DOI that an invalid text was meant to be, or None if that is not known.

    For ``1000/182``, it is ``10.1000/182``.
    """
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


def _not_alone(mention: Mention, doi: DOI, before: str, after: str) -> Flaw:
    """Return the flaw of a field that holds more than the mention."""
    part = mention.part
    span = _value_span(part)
    value = part.text.strip()

    # A link, after which "#1" may belong to the name
    rest = _dropped(mention, doi) if not before and _is_web_link(mention.label) else ""
    if rest:
        longer = _longer_name(doi, rest)
        spelling = None if longer is None else _spelling_in_field(part, DOI(longer))
        with_rest = None if spelling is None else Rewrite(span, spelling, longer)
        return _form(mention, "holds a link", with_rest)

    # "10.1000/182.": the full stop is read as a part of the name
    if not before and not mention.label and _NOT_OF_NAME.fullmatch(after):
        message = f"the name ends in {after[-9:]!r}"  # of many characters, the last ones
        rewrite = Rewrite(span, mention.text, doi.name)
        name = DOI.parse(value).name
        return Flaw(mention, "trailing-punctuation", message, rewrite, span, name)

    return _form(mention, _contents(value, before, after), _bare(mention, doi, span))


def _contents(value: str, before: str, after: str) -> str:
    """Return what a field holds besides a DOI, in words."""
    has_only_heads = not after and label_of(before) == before
    if has_only_heads:
        return "holds a link" if "doi.org" in before else "holds a label"

    # A link to another site, or one that goes on after the name
    is_one_word = len(value.split()) == 1
    if is_one_word and (_is_web_link(value) or _URL.match(before)):
        return "holds a link"
    return "holds more than a DOI"


def _form(mention: Mention, contents: str, rewrite: Rewrite | None) -> Flaw:
    message = f"the DOI field {contents}"
    return Flaw(mention, "field-form", message, rewrite, _value_span(mention.part))


def _bare(mention: Mention, doi: DOI, span: Span) -> Rewrite | None:
    """Return the rewrite that leaves only the name, as the mention writes it or else escaped for the part.

    None if neither would be read as the DOI.
    """
    # A link escapes characters as "%3C", which a bare name does not
    spelling: str | None = mention.name
    if not spelling or "%" in spelling or not _reads_as(mention.part, spelling, doi):
        spelling = _spelling_in_field(mention.part, doi)
    return None if spelling is None else Rewrite(span, spelling)


def _spelling_in_field(part: Part, doi: DOI) -> str | None:
    """Return how a field writes a DOI: its name, or else with escapes; None if neither would be read as it."""
    for text in (doi.name, _escape(doi.name, part.syntax)):
        # BibTeX counts braces, escaped or not: with one too many or too few, the field would end elsewhere
        is_balanced = text.count("{") == text.count("}")
        if is_balanced and _reads_as(part, text, doi):
            return text
    return None


def _tex_escape(mention: Mention, doi: DOI, tex_escape: str) -> Flaw | None:
    """Return the flaw of escapes that the bibliography's program does not want, or wants.

    :param tex_escape: as for ``flaws_in``.
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

    if better == text or not _reads_as(mention.part, better, doi):
        return None
    rewrite = Rewrite(mention.span, better)
    return Flaw(mention, "tex-escape", message, rewrite, _value_span(mention.part))


# The name

# Their suggestions drop text, or guess at what is lost
_NOT_FIXED = frozenset(
    {"run-on", "lost-character", "placeholder", "dropped-query", "dropped-fragment"}
)


def _advice_flaws(mention: Mention, doi: DOI) -> Iterator[Flaw]:
    """Yield the advice on a mention: on its name, and on its spelling if the part has no escapes there."""
    if _has_foreign_entity(mention, doi):
        message = f"an HTML entity in the name; did you mean {doi.name}?"
        # No name has entities, so that a field means the character
        spelling = _spelling_in_field(mention.part, doi) if mention.part.field else None
        rewrite = None if spelling is None else Rewrite(mention.span, spelling)
        yield Flaw(mention, "entity", message, rewrite)

    is_url_escaped = "%" in mention.text and _has_only_url_escapes(mention, doi)
    for advice in advise(mention.text if is_url_escaped else doi):
        message = advice.message
        # A decoded name is usually meant, and the message says what to do if not
        if advice.suggestion and advice.code != "decoded-escape":
            message += f"; did you mean {advice.suggestion}?"
        yield Flaw(mention, advice.code, message, _suggested(mention, doi, advice))


def _has_foreign_entity(mention: Mention, doi: DOI) -> bool:
    """Return whether the name was read without an entity of HTML that is none in this type of file."""
    part = mention.part
    if not part.field and part.syntax not in _ESCAPES_ANY_CHARACTER:
        return False
    text = mention.text.replace("\\", "")  # in BibTeX also \&\#60;
    return unescape_html(text) != text and unescape_html(doi.name) == doi.name


def _suggested(mention: Mention, doi: DOI, advice: Advice) -> Rewrite | None:
    """Return the rewrite that the advice suggests; None if it suggests none, or a person has to look."""
    if advice.suggestion is None or advice.code in _NOT_FIXED:
        return None
    if not mention.part.field and _is_embedded(mention):
        return None

    better = DOI.parse(advice.suggestion)
    text = _with_doi(mention, doi, better, advice.suggestion)
    if text is None or text == mention.text:
        return None
    changed_name = better.name if better.name != doi.name else None
    return Rewrite(mention.span, text, changed_name)


def _with_doi(mention: Mention, doi: DOI, better: DOI, spelling: str) -> str | None:
    """Return the mention with another DOI, with its label or link; None if that cannot be written there.

    :param spelling: the text for ``DOI.parse`` that stands for the other DOI.
    """
    text = mention.text
    part = mention.part

    # Most advice leaves out the end of a name; the rest then stays as the author wrote it
    if doi.name.startswith(better.name):
        left_out = doi.name[len(better.name) :]
        shorter = text.removesuffix(left_out)
        if shorter != text and _reads_as(part, shorter, better):
            return shorter

    label = mention.label
    if _has_proxy(label):
        name = encode(better.name, LINK)
    else:
        name = spelling.removeprefix(label_of(spelling))
    for candidate in (label + name, label + _escape(name, part.syntax)):
        if _reads_as(part, candidate, better):
            return candidate
    return None


# What the file would read


def _reads_as(part: Part, text: str, doi: DOI) -> bool:
    """Return whether a text is read as a DOI, and nothing else, in a part of this kind."""
    mentions = list(mentions_in(Part(text, part.syntax, field=part.field)))
    if len(mentions) != 1:
        return False
    (mention,) = mentions
    is_whole = mention.span == (0, len(text))
    return is_whole and mention.doi is not None and mention.doi.name == doi.name


_TEX_ESCAPES = str.maketrans(
    {character: f"\\{character}" for character in "%#&_${}"}
    | {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"}
    | {"<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}"}
)
_MARKDOWN_ENTITY = re.compile(r"&(?=#?[A-Za-z0-9])")
_MARKDOWN_MARKS = re.compile(
    r"""
    [\\`*\[\]<>]
  | (?<![A-Za-z0-9]) _ | _ (?![A-Za-z0-9])    # within a word, it is no mark
  | ~ (?=~) | (?<=~) ~                         # one is no mark
  | ! (?=\[)                                   # of an image
    """,
    re.VERBOSE,
)
_RST_MARKS = re.compile(r"[\\`*|]|_(?![A-Za-z0-9])")


def _escape(text: str, syntax: str) -> str:
    """Return the text as a file in a syntax has to write it."""
    match syntax:
        case "html" | "xml":
            return html.escape(text, quote=False)
        case "markdown":
            return _MARKDOWN_ENTITY.sub("&amp;", _MARKDOWN_MARKS.sub(r"\\\g<0>", text))
        case "rst":
            return _RST_MARKS.sub(r"\\\g<0>", text)
        case "tex" | "bibtex":
            return text.translate(_TEX_ESCAPES)
    return text
