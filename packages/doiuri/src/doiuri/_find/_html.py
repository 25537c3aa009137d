"""DOIs in HTML and XML: in text, attributes, CDATA and scripts."""

from __future__ import annotations

import html
import re
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

from doiuri._find._markup import Scanner, Stretch, VisibleText, name_start
from doiuri._patterns import lazy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from doiuri._find._markup import Construct
    from doiuri._find._plain import MentionSpan

# A tag holds no raw "<", so each "<" is read up to the next one only, and the time stays linear.
TAG = (
    r"<[/!?]?[A-Za-z][^<>\"']*+"
    r"(?:(?:\"[^\"<]*+\"|'[^'<]*+')[^<>\"']*+)*>"  # values of attributes, in quotation marks
)
ENTITY = r"&(?:\#[0-9]{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});?"
INVISIBLE = "\xad\u200b\u2060\ufeff"  # where a browser may break the line inside a name
# The same as alternatives: a set with more than two ranges, one of them above U+00FF, takes long to compile
INVISIBLE_ONE = r"\xad|[\u200b\u2060]|\ufeff"
_BREAK = lazy(r"</?[wW][bB][rR]\b")
# May begin an entity for a character that a name continues with
AMPERSAND = "&(?!(?:#82[1-3][0-9]|#160|nbsp|[nm]dash|[lr][ds]quo|amp|lt|gt|quot);)"
# A milestone of TEI: where a line, a page or a column of the source begins, also inside a name
_MILESTONE = lazy(r"<[lpc]b\b")
_LONGEST_SPACE = 40  # before a milestone
_IN_WORD = lazy(r"""<[^<>]*\sbreak\s*=\s*["']no["']""")
# What may go on with a name after a milestone, and is neither prose nor the number of the next reference
_REST_OF_NAME = lazy(r"(?!10\.)(?![0-9]+[.)\]]?(?:[\s<]|\Z))[a-z0-9._/()-]*[0-9]")
_IN_NAME = lazy(r"10\.?(?>(?:[^\s<>]+|\s*<[lpc]b\b[^<>]*>\s*)*)\s*\Z")
_MILESTONES = lazy(r"(?:\s*<[lpc]b\b[^<>]*>)+\s*\Z")
_NAME_LENGTH = 200  # how far before a milestone the start of the name is looked for
_NUMBER = lazy(r"[0-9]+(?:[\s<]|\Z)")
_SPACE_BEFORE = lazy(r"\s+")
_NAME = lazy(name_start(rf"(?:{AMPERSAND}|{INVISIBLE_ONE}|[\t\n\r]|</?wbr|<[lpc]b)"))
ENTITY_OF_1 = lazy(r"&#(?:[0-9]*49|[xX][0-9a-fA-F]*31)")
_UNUSUAL = lazy(
    r"""
    <
    (?: [sS] (?i: cript | tyle )
    |   !\[ (?i: cdata ) \[
    |   (?: pub | article | object )-id\b
    )
    """,
    re.VERBOSE,
)
_STARTS_CONSTRUCT = lazy(rf"(?!(?i:</?wbr\b)|<[lpc]b\b)(?:{TAG}|<!--)")
_RAW_CLOSERS = {
    "<![cdata[": lazy(r"\]\]>"),
    "<script": lazy("</script", re.IGNORECASE),
    "<style": lazy("</style", re.IGNORECASE),
}
_ESCAPED_SLASH = lazy(r"\\/")  # JSON in scripts writes it, so that no "</" occurs
# Matches a name without a value too: each is then read once, and the time stays linear.
_ATTRIBUTE = lazy(
    r"""
    ( [^\s=<>"'/]++ )
    (?:
        \s*+ = \s*+
        (?: " ( [^"]* ) " | ' ( [^']* ) ' | ( [^\s"'>]+ ) )
    )?
    """,
    re.VERBOSE,
)
_ENTITY = lazy(rf"{ENTITY}|{INVISIBLE_ONE}")
_JATS_DOI = lazy(
    r"""
    < (?: pub | article | object )-id\b
    [^<>]* \s pub-id-type \s* = \s* ["']doi["']
    """,
    re.VERBOSE,
)
# A name with a blank in it, but not two names
_BROKEN_NAME = lazy(
    r"""
    \s*
    ( 10\.[0-9]{4,9}/?
      (?: [^\s<>&]{0,99} \s{1,9} (?! 10\. | doi ) [^\s<>&]{1,99} )
    )
    \s* </
    """,
    re.VERBOSE,
)
_SPACE = lazy(r"\s+")
# WHATWG URL, basic parser: removes tabs and newlines
_IN_URL = lazy(rf"{ENTITY}|{INVISIBLE_ONE}|[\t\n\r]")
_URLS = frozenset(
    "href xlink:href src cite action about resource rdf:about rdf:resource itemid".split()  # noqa: SIM905
)


class HTML(Scanner):
    """HTML or XML."""

    first = lazy(f"[<&{INVISIBLE}]")
    token = lazy(rf"<!--|<!\[CDATA\[|{TAG}|{ENTITY}|{INVISIBLE_ONE}")

    names = (_NAME, _UNUSUAL, ENTITY_OF_1)
    delimiters: ClassVar = {'"': ('="',), "'": ("='",)}

    def mentions(self) -> Iterator[MentionSpan]:
        """Yield the mentions, without those that break after a hyphen, as in "10.1000/a-<lb/>b".

        The hyphen may belong to the name, or only to the line.
        """
        for mention in super().mentions():
            _, _, end, _ = mention
            is_broken = self.text[end - 1] == "-" and _MILESTONE.match(
                self.text, self._after_space(end)
            )
            if not is_broken:
                yield mention

    def _after_space(self, place: int) -> int:
        """Return where the white space at ``place`` ends; ``place`` if there is none."""
        space = _SPACE_BEFORE.match(self.text, place)
        return space.end() if space else place

    def running_text(self, start: int, end: int, edits: list[Stretch]) -> VisibleText:
        """Return running text.

        Readers see no white space around a milestone inside a name, either: "10.1000/a <lb/> b" is 10.1000/ab.
        """
        previous_end = start  # of an edit; the white space before it was read
        without_space: list[Stretch] = []
        for edit in edits:
            if _MILESTONE.match(self.text, edit.start):
                before = self.text[max(previous_end, edit.start - _LONGEST_SPACE) : edit.start]
                space_start = edit.start - len(before) + len(before.rstrip())
                space_end = self._after_space(edit.end)
                edit = Stretch(max(previous_end, space_start), space_end, "")  # noqa: PLW2901
            without_space.append(edit)
            previous_end = edit.end
        return super().running_text(start, end, without_space)

    def _is_in_name(self, start: int, end: int) -> bool:
        """Return whether the milestone ``text[start:end]`` stands inside a name, as in "10.1000/ab<lb/>cd12".

        After a slash, or marked with break="no", it does. Otherwise no white space may be around it, and what
        follows must look like the rest of a name, and not like a number of its own.
        """
        before = self.text[max(0, start - _NAME_LENGTH) : start]
        if not _IN_NAME.search(before):
            return False
        last = _MILESTONES.sub("", before).rstrip()[-1:]
        if last == "-":  # which may belong to the line only
            return False
        if last == "/" or _IN_WORD.match(self.text, start):
            return True

        has_space = before[-1:].isspace() or self.text[end : end + 1].isspace()
        if has_space or not _REST_OF_NAME.match(self.text, end):
            return False
        if last.isalnum():
            return not _NUMBER.match(self.text, end)
        return last in "._"

    def block(self, begin: int, place: int) -> tuple[int, int]:
        """Return the start of the tag that ``place`` is in, or the end of the tag before; and the text's end.

        Tags hold no "<", so they are found from ``place`` backwards.
        """
        stop = len(self.text)
        start = place
        while (start := self.text.rfind("<", begin, start)) >= 0:
            construct = _STARTS_CONSTRUCT.match(self.text, start)
            if construct is not None:
                is_before = construct.end() <= place
                return construct.end() if is_before else start, stop
        return begin, stop

    def meaning(self, token: re.Match[str], end: int) -> str | Construct:  # noqa: ARG002 - the text is one block
        """Return what readers see for an entity, ``<wbr>`` or a milestone in a name, or else a tag as a construct.

        A ``<script>`` and CDATA are constructs with what they contain.
        """
        start, tag_end = token.span()
        if self.text[start] != "<":
            return unescaped(token)
        if _BREAK.match(self.text, start):
            return ""
        if _MILESTONE.match(self.text, start) and self._is_in_name(start, tag_end):
            return ""
        if not _UNUSUAL.match(self.text, start):
            return in_tag(self.text, start, tag_end), tag_end

        broken = _broken_name(self.text, token)
        if broken is not None:
            _, _, broken_end, _ = broken
            return (broken,), broken_end
        raw_end = self._raw_end(token)
        raw = VisibleText.replacing(self.text, (tag_end, raw_end), _ESCAPED_SLASH, lambda _: "/")
        return chain(in_tag(self.text, start, tag_end), raw.mentions()), raw_end

    def _raw_end(self, token: re.Match[str]) -> int:
        """Return where the CDATA, script or style that the token opens ends; the token's end if none."""
        tag = token[0][: len("<![CDATA[")].rstrip(">\t\n\r\f /")
        opener = tag.partition(" ")[0].lower()
        closer = _RAW_CLOSERS.get(opener)
        if closer is None:
            return token.end()
        end = closer.search(self.text, token.end())
        if end is None:
            return len(self.text)
        return end.start()


def _broken_name(text: str, token: re.Match[str]) -> MentionSpan | None:
    """Return the mention in an element of JATS for a DOI in whose name a typesetter left a blank; else None.

    Such as ``<pub-id pub-id-type="doi">10.1000/ abc</pub-id>``.
    """
    if not _JATS_DOI.match(token[0]):
        return None
    name = _BROKEN_NAME.match(text, token.end())
    if name is None:
        return None
    return VisibleText.replacing(text, name.span(1), _SPACE, lambda _: "").whole(labelled=True)


def in_tag(text: str, start: int, end: int) -> Iterable[MentionSpan]:
    """Return the mentions in the attributes of the tag ``text[start:end]``."""
    if text.find("10.", start, end) < 0:
        return ()
    return _in_attributes(text, start, end)


def _in_attributes(text: str, start: int, end: int) -> Iterator[MentionSpan]:
    """Yield the mentions in the attributes of a tag: a URL is read as a whole, any other value as text."""
    for attribute in _ATTRIBUTE.finditer(text, start, end):
        if attribute.lastindex == 1:
            continue  # no value
        value = attribute.span(attribute.lastindex or 0)  # of the group that matched: quoted or not
        if text.find("10", *value) < 0:
            continue
        if attribute[1].lower() in _URLS:
            url = VisibleText.replacing(text, value, _IN_URL, unescaped)
            yield from url.whole_or_mentions(link=True)
        else:
            yield from VisibleText.replacing(text, value, _ENTITY, unescaped).mentions()


def unescaped(token: re.Match[str]) -> str:
    """Return what readers see for an entity, an invisible character, or white space in a URL.

    That is "<" for "&lt;", and nothing for "&shy;", a zero-width space and a tab.
    """
    character = html.unescape(token[0])
    is_seen = character not in INVISIBLE and character not in "\t\n\r"
    return character if is_seen else ""
