"""The DOIs that a part of a file mentions."""

from __future__ import annotations

import re
from collections import deque
from functools import cache
from heapq import merge
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from doiuri import DOI, DOISyntaxError, Handle, ShortDOI, find, find_one
from doiuri.plugins import ARXIV_PATTERN, PROXY_PATTERN, arxiv_doi, unescape_html, untrimmed

from doiuri_cli.readers._keys import is_reference
from doiuri_cli.readers._part import location_of, may_mention

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri import Match

    from doiuri_cli.files import SourceLocation
    from doiuri_cli.readers import Part

    Span = tuple[int, int]

# The labels and links that stand before a name
WEB = rf"{PROXY_PATTERN}/+(?:api/handles/)?"  # what a link to a DOI proxy starts with
HEAD = rf"(?:{WEB}|info:(?:doi|hdl)/|urn:doi:|hdl:|doi:)"
_HEADS = re.compile(rf"{HEAD}+", re.IGNORECASE)
_LABEL = re.compile(r"doi[ \t\u00a0]*:?[ \t\u00a0]*", re.IGNORECASE)
# Such a value of a field is one name, though find would end it earlier: at a full stop, before a second name
_WHOLE_NAME = re.compile(r"10\.[0-9]+/[A-Za-z0-9._/()-]+\Z")
# A link to a name whose check character is "#", which find takes for that of a fragment (ANSI/NISO Z39.56)
_SICI_LINK = re.compile(
    rf"""
    {PROXY_PATTERN} / 10\. [^\s\\{{}}$\#?]*
    [0-9] \. [0-9] \. [A-Z]{{2}} ; [0-9] - \#
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ENTITY = re.compile(r"&(?:#[0-9]+|#[xX][0-9A-Fa-f]+|[A-Za-z][A-Za-z0-9]*);")
# find undoes entities in their values, together with other escapes
_UNDO_ENTITIES = frozenset({"bibtex", "tex"})
_TO_BE_NUMBERED = re.compile(r"X{4}|x{4}")  # 10.5281/zenodo.XXXXXXX
_HOST = r"(?i:\.org)/(?:api/handles/)?(?=10[./])"
_BEFORE_HOST = re.compile(r"(?:https?://)?(?:dx\.|www\.)?\Z", re.IGNORECASE)
_HOST_LENGTH = len("https://www.")
# It begins with a literal, which the regex engine finds fast
_SHORT_LINK = re.compile(
    r"""
    (?<=doi) \.org/ (?= [a-z]*[0-9] ) [a-z0-9]{3,7}
    (?! [\w/%=&?\#:~@+-] | \.\w )  # a page of the site may have a longer path
    """,
    re.VERBOSE,
)
_BEFORE_SHORT = re.compile(r"(?<![\w/=:])https?://(?:dx\.)?doi\Z")
_BOUND = (
    "{1,1000}+"  # of what has to be closed: otherwise a run of labels would take quadratic time
)
# What announces a DOI, valid or not: here what follows "doi", in _BEFORE what must stand before it
_ANNOUNCEMENTS = {
    "text": rf"{_HOST}(?P<link>[^\s<>\"'`|\\]*)",
    "markdown": rf"{_HOST}(?P<link>[^\s<>\"'`|\\)\]]*)|(?::[pt])?\}}`(?P<role>[^`]*)`|:(?P<uri>[^\s<>()]+)",
    "rst": rf"{_HOST}(?P<link>[^\s<>\"'`|]*)|:(?:[A-Za-z]+:)?`(?P<role>[^`\\]*+(?:\\.[^`\\]*+)*)`"
    rf"|:(?P<uri>[^\s<>`]{_BOUND})(?=>`)",
    "asciidoc": rf"{_HOST}(?P<link>[^\s<>\"'`|\[\]]*)",
    "html": rf"{_HOST}(?P<link>[^\s<>\"'`|]*)|:(?P<uri>[^\s<>\"']{_BOUND})(?=[\"'])"
    r"|[\"']\s+content=[\"'](?P<content>[^\"'<>]*)[\"']|[\"']>(?P<element>[^<>]*)<",
    "tex": rf"{_HOST}(?P<link>[^\s<>\"'`|{{}}]*)|[ \t]*\{{(?P<role>[^{{}}]*)\}}",
}
_ANNOUNCEMENTS |= {"xml": _ANNOUNCEMENTS["html"], "bibtex": _ANNOUNCEMENTS["tex"]}
_BEFORE: dict[str, dict[str, tuple[str, ...]]] = {
    "markdown": {"uri": ("](", "](<", "<", "]: "), "role": ("{",)},
    "rst": {"uri": (" <",), "role": (":",)},
    "html": {
        "uri": ('="', "='"),
        "content": ("_", ".", '="', "='"),
        "element": ('-id-type="', "-id-type='"),
    },
    "tex": {"role": ("\\",)},
}
_BEFORE |= {"xml": _BEFORE["html"], "bibtex": _BEFORE["tex"]}
_BEFORE_LENGTH = 40
_NO_MENTION = re.compile(
    r"""
    \\ (?: def | (?: new | renew | provide ) command\*? ) \s* \\\Z   # it defines a command of TeX
  | \s (?: pre | suf ) fix=[\"'] \Z                                   # of a style of CSL
    """,
    re.VERBOSE,
)
# Roles for e-prints of arXiv, with or without a title; what follows the name of the archive is its DOI's
_EPRINT = rf"`(?:[^`]{{0,300}}<)?\s*(?P<id>{ARXIV_PATTERN})\s*>?`"
_EPRINTS = {"rst": f":arxiv:{_EPRINT}", "markdown": rf"\{{arxiv\}}{_EPRINT}"}
_TITLE = re.compile(r".*\s<(.*)>\Z", re.DOTALL)
_TAIL = ".,;:!?)]}'\""
# What is before the target of a link, which is complete. Elsewhere a program or a reader adds a suffix to a
# prefix: in a macro, a constant, a namespace, or the attribute of a template
_ATTRIBUTE = r"""[\s"'](?i:(?:[a-z]+:)?href|src|cite|content|resource)\s*=\s*["']\Z"""
_COMMAND = r"\\(?:url|href|doi|path|nolinkurl)\s*\{\Z"
_BEFORE_TARGET = {
    "markdown": rf"[(<]\Z|{_ATTRIBUTE}",
    "rst": r"<\Z",
    "asciidoc": r"link:(?:\+\+|\$\$|pass:\[)?\Z",
    "html": _ATTRIBUTE,
    "xml": _ATTRIBUTE,
    "tex": _COMMAND,
    "bibtex": rf"{_COMMAND}|(?i:\b(?:url|doi)\s*=\s*)[\"{{]+\Z",
}
_CLOSING = {"(": ") ", "<": ">", '"': '"', "'": "'", "{": "}"}
_CLOSING |= {":": "[", "[": "]"}  # AsciiDoc: link:…[x], link:pass:[…][x]
_PREFIX = re.compile(r"10\.[0-9.]*/?")
_SUFFIX = re.compile(r"10(?:\.[^\s/]*/\S|/[A-Za-z0-9]+\Z)")
_PLACEHOLDER = (
    r"[{}<>\[\]$*…|]|%(?:[(sdr]|\Z)|#[0-9]|\.\.\.|(?i:x{3}|n{4}|y{4}|10\.x|10\.n|todo|tbd|tba|\byour\b|\bfixme\b)|_{3}|-{3}|\?\?|@[A-Z_]+@"
    r"|\A(?i:doi|name|number|prefix|suffix|prefix/suffix|none|null|nil|id|identifier)\Z"
)
_TEMPLATE = re.compile(r"[{}$]|%(?:[(sdr]|\Z)")
_NONE = (
    r"(?i)[-–—.?/\s]*|#?n\.?/?\s?a\.?|nan|(?:no|without)\s+doi(?:\s+\w+)?"
    r"|(?:not|un)\s?(?:yet\s+)?(?:available|assigned|known|published)"
)


class Mention(NamedTuple):
    """A DOI mentioned in a part of a file, or what stands in the place of one."""

    part: Part  # the part
    start: int  # offset of its first character in the text of the part
    end: int  # offset after its last character
    text: str  # the mention as the part has it, with its label or link
    label: str  # what the text has before the name; empty if the DOI is invalid
    doi: DOI | None  # the DOI; None if it is invalid
    error: DOISyntaxError | None = None  # what is wrong if it is invalid
    is_eprint: bool = False  # whether it is an identifier of arXiv, in a role for them

    @property
    def span(self) -> Span:
        """Its offsets in the text of the part: of its first character, and after its last one."""
        return self.start, self.end

    @property
    def name(self) -> str:
        """The name as the part has it."""
        return self.text.removeprefix(self.label)

    @property
    def handle(self) -> Handle | None:
        """The DOI or short DOI, also if a field hides characters in it; None if the text is neither."""
        if self.doi is not None:
            return self.doi
        if self.may_be_page:  # the link leaves out the "10/"
            suffix = self.text.rpartition("/")[2]
            return Handle.parse(f"10/{suffix}")
        if self.part.field and not self.text.isprintable():
            return _one_in(self.text)
        if "10/" not in self.text:  # no short DOI, which parsing would take long to find out
            return None

        try:
            handle = Handle.parse(self.text)
        except DOISyntaxError:
            return None
        return handle if isinstance(handle, ShortDOI) else None

    @property
    def may_be_page(self) -> bool:
        """Whether it is a link such as ``https://doi.org/f3sz4k``: to a short DOI, or to a page of the site."""
        return self.doi is None and (0, len(self.text)) in _short_links(self.text)

    def located(self) -> LocatedMention:
        """Return what is kept of the mention after its file was read."""
        name: str | None = None
        key = ""
        longer: tuple[str, ...] = ()
        handle = self.handle
        if handle is not None:
            name = handle.name
            key = handle.key
            longer_names = untrimmed(handle, self.part.text, self.start, self.end)
            longer = tuple(doi.name for doi in longer_names)

        # one object takes less memory than two that are equal
        text = name if name == self.text else self.text
        key = name if name == key else key
        start, end = self.part.span(*self.span)
        return LocatedMention(
            location=location_of(self.part, *self.span),
            text=text,
            name=name,
            key=key,
            start=start,
            end=end,
            field=self.part.field,
            longer=longer,
            may_be_page=self.may_be_page,
        )


class LocatedMention(NamedTuple):
    """What is kept of a mention after its file was read."""

    location: SourceLocation  # where it is
    text: str  # the mention as the part has it, with its label or link
    name: str | None  # the name of the DOI or short DOI; None if it is invalid
    key: str  # the DOI's key; empty if it is invalid
    start: int  # offset in the file of its first character
    end: int  # offset after its last one
    field: bool  # whether it is the value of a field for a DOI
    # the names that it may mean if the DOI does not exist; see ``untrimmed``
    longer: tuple[str, ...]
    may_be_page: bool  # whether it counts only if the registry has it: a link without the "10/"


def mentions_in(part: Part) -> Iterator[Mention]:
    """Yield the mentions in a part, in order.

    A field is one whole mention, valid or not. In text an invalid one counts only where a DOI is announced:
    in a link to a DOI proxy, a role or a command. What is still to be filled in does not count, nor
    does a bare name that is the key of an entry, as in ``[@10.1000/182]``.
    """
    if part.field:
        yield from _field(part)
        return
    if not may_mention(part.text):
        return
    mentions = [_in_text(part)]
    if part.syntax in _EPRINTS and "arxiv" in part.text:
        mentions.append(_eprints(part))
    if "doi.org/" in part.text:
        mentions.append(_in_short_links(part))
    yield from merge(*mentions, key=attrgetter("start"))


def _in_short_links(part: Part) -> Iterator[Mention]:
    """Yield the links to short DOIs without the "10/"; only the registry knows which are none."""
    for start, end in _short_links(part.text):
        yield Mention(part, start, end, part.text[start:end], "", None)


def _short_links(text: str) -> Iterator[Span]:
    """Yield start and end of the links that may lead to short DOIs."""
    for name in _SHORT_LINK.finditer(text):
        first = max(0, name.start() - len("https://dx.doi"))
        head = _BEFORE_SHORT.search(text, first, name.start())
        if head is not None:
            yield head.start(), name.end()


def _eprints(part: Part) -> Iterator[Mention]:
    """Yield the e-prints in roles; the DOI is that of all versions."""
    for role in _compiled(_EPRINTS[part.syntax]).finditer(part.text):
        doi = arxiv_doi(role)
        yield Mention(part, *role.span("id"), role["id"], "", doi, is_eprint=True)


def _in_text(part: Part) -> Iterator[Mention]:
    """Yield the DOIs in a text, and what is invalid where one is announced, in order.

    What ``find`` finds comes first: an announcement that overlaps it is of the same DOI. In the reStructuredText
    ``:doi:`10.1000/1` or :doi:`10.1000```, the second role announces what is invalid.
    """
    announced = deque(_announced(part.text, part.syntax))
    last = 0  # where the mention before ends
    for match in find(part.text, part.syntax):
        if _TO_BE_NUMBERED.search(match.text):
            continue
        while announced and announced[0][0] < match.start:
            start, end = announced.popleft()
            if last <= start and end <= match.start:
                yield from _invalid(part, start, end)
        if _counts(part, match):
            yield Mention(part, *match)
        last = match.end

    for start, end in announced:
        # Only an announcement that is yielded hides what overlaps it: a valid one or a placeholder is none
        if last <= start:
            for invalid in _invalid(part, start, end):
                yield invalid
                last = end


def _counts(part: Part, match: Match) -> bool:
    """Return whether a match is a mention: not if it is the key of an entry, or a template in a program."""
    if part.labelled:
        return bool(match.label) and not _TEMPLATE.search(match.text)
    return bool(match.label) or not is_reference(part.text, match.start, part.syntax)


def _field(part: Part) -> Iterator[Mention]:
    """Yield the DOIs in a field; if there are none, its whole text, unless it says that there is none.

    A field that is one name is read whole: nothing is trimmed of it, and its last character may be a full stop.
    """
    text = part.text.strip()
    if not text or _TO_BE_NUMBERED.search(text):
        return

    # One name, or a link to one
    start = part.text.index(text)
    whole = Mention(part, start, start + len(text), text, "", None)
    if _WHOLE_NAME.match(text):
        yield whole._replace(doi=DOI.parse(text))
        return
    if _SICI_LINK.fullmatch(text):
        yield whole._replace(label=label_of(text), doi=DOI.parse(f"{text[:-1]}%23"))
        return
    if part.syntax not in _UNDO_ENTITIES:
        escaped = _with_entities(text)
        if escaped is not None:
            yield whole._replace(label=label_of(text), doi=escaped)
            return

    # Several names, or a name in a text
    is_searchable = not _has_invisible_in_name(text)
    several = list(_matches_in_field(part)) if is_searchable else []
    if several:
        yield from (Mention(part, *match) for match in several)
        return

    # A label and a name, such as "doi: 10.1000/1"
    try:
        yield whole._replace(label=label_of(text), doi=DOI.parse(text))
    except DOISyntaxError as error:
        # A doubled link, or one to another site
        in_links = list(find(part.text, part.syntax)) if is_searchable else []
        if in_links:
            yield from (Mention(part, *match) for match in in_links)
        elif not _is_left_out(text, part.syntax):
            yield whole._replace(error=error)


def _is_left_out(text: str, syntax: str) -> bool:
    """Return whether the text of a field is still to be filled in, or says that there is no DOI.

    In BibTeX, "n/a" is not left out: styles would make a link of it.
    """
    if _is_placeholder(text):
        return True
    return syntax != "bibtex" and _compiled(_NONE).fullmatch(text) is not None


def label_of(text: str) -> str:
    """Return the labels and links that a text begins with."""
    heads = _HEADS.match(text) or _LABEL.match(text)
    return heads[0] if heads else ""


def _with_entities(text: str) -> DOI | None:
    """Return the DOI that a field is but for its entities, which no name has; None if it has none.

    For ``10.1000/a&amp;b``, it is ``10.1000/a&b``.
    """
    undone = _ENTITY.sub(lambda entity: unescape_html(entity[0]), text)
    is_one_name = len(undone.split()) == 1 and undone.count("10.") == 1
    if undone == text or not is_one_name:
        return None
    try:
        return DOI.parse(undone)
    except DOISyntaxError:
        return None


def _has_invisible_in_name(text: str) -> bool:
    """Return whether a name in a text has characters that nobody sees: ``find`` would end it there."""
    if text.isprintable():
        return False
    meant = _one_in(text)
    return meant is not None and all(match.doi != meant for match in find(text))


def _one_in(text: str) -> Handle | None:
    """Return the DOI in a text without its characters that nobody sees; None if there is none, or several."""
    try:
        return find_one(text)
    except DOISyntaxError:
        return None


def _matches_in_field(part: Part) -> Iterator[Match]:
    """Yield what ``find`` finds in a field; nothing if the field is a single name, whose end it would trim.

    In TeX, it trims nothing in braces, so the field is searched as ``doi={…}``.
    """
    if part.syntax in {"bibtex", "tex"}:
        before = "doi={"
        for match in find(f"{before}{part.text}}}", part.syntax):
            yield match._replace(start=match.start - len(before), end=match.end - len(before))
        return

    is_one_name = len(part.text.split()) == 1 and part.text.count("10.") == 1
    if not is_one_name:
        yield from find(part.text, part.syntax)


def _announced(text: str, syntax: str) -> Iterator[Span]:
    """Yield start and end of what a link, a role or a command announces as a DOI, valid or not, in order."""
    if "DOI" in text:
        pattern = _announcement(syntax, "(?:doi|DOI)")
    elif "doi" in text:
        pattern = _announcement(syntax, "doi")
    else:
        return
    for token in pattern.finditer(text):
        span = _span(text, token, token.lastgroup or "", syntax)
        if span is not None:
            yield span


@cache
def _announcement(syntax: str, start: str) -> re.Pattern[str]:
    # The regex engine finds a literal at the start fast
    return re.compile(f"{start}(?:{_ANNOUNCEMENTS[syntax]})", re.DOTALL)


def _span(text: str, token: re.Match[str], kind: str, syntax: str) -> Span | None:
    """Return where the mention stands, with its label or link; None if no DOI is announced.

    :param kind: the group of the announcement that matched, such as "link" or "role".
    """
    start, end = token.span()
    if kind == "link":
        return _span_of_link(text, token, syntax)
    before = text[max(0, start - _BEFORE_LENGTH) : start]
    if not before.endswith(_BEFORE[syntax][kind]) or _NO_MENTION.search(before):
        return None

    if kind == "uri":
        # A program adds a name to the prefix in y="doi:10.1000/"; in href="doi:10.1000/" it is a mistake
        is_in_attribute = before[-1] in "\"'"
        is_prefix = is_in_attribute and _PREFIX.fullmatch(token[kind])
        if is_prefix and not _is_target(text, start, end, syntax):
            return None
        return start, end

    # The content of a role, a command or an element; of "a title <10.1000/182>", the name
    first, end = token.span(kind)
    title = _TITLE.match(text, first, end)
    return title.span(1) if title else (first, end)


def _span_of_link(text: str, token: re.Match[str], syntax: str) -> Span | None:
    """Return where a link to a DOI proxy stands, without punctuation at its end.

    None if it may mean a prefix alone, as in a program that adds a suffix, unless it is the target of a link.
    """
    start, end = token.span()
    head = _BEFORE_HOST.search(text, max(0, start - _HOST_LENGTH), start)
    first = head.start() if head else start
    is_in_word = text[first - 1 : first].isalnum()  # "mydoi.org" is another host

    path = token["link"].rstrip(_TAIL)
    end -= len(token["link"]) - len(path)
    if is_in_word or path == "10":
        return None
    if not (_SUFFIX.match(path) or _is_target(text, first, end, syntax)):
        return None
    return first, end


def _is_target(text: str, start: int, end: int, syntax: str) -> bool:
    """Return whether a piece of a text is the whole target of a link, as in ``[title](target)``."""
    pattern = _BEFORE_TARGET.get(syntax)
    if pattern is None:
        return False
    closing = _CLOSING.get(text[start - 1 : start], "")
    # At the end of the text, nothing has to close the target: "" is in any text
    if text[end : end + 1] not in closing:
        return False
    first = max(0, start - _BEFORE_LENGTH)
    return _compiled(pattern).search(text, first, start) is not None


def _invalid(part: Part, start: int, end: int) -> Iterator[Mention]:
    """Yield the mention with what is wrong with it, unless it is valid or still to be filled in."""
    text = part.text[start:end]
    if not text.strip():
        return
    try:
        DOI.parse(text)
    except DOISyntaxError as error:
        if not _is_placeholder(text):
            yield Mention(part, start, end, text, "", None, error)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern that few files need and that takes long to compile."""
    return re.compile(pattern)


def _is_placeholder(text: str) -> bool:
    """Return whether a text has what a person or a program is to fill in."""
    return _compiled(_PLACEHOLDER).search(text) is not None
