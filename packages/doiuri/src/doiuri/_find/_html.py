"""DOIs in HTML and XML: in text, attributes, CDATA and scripts."""

from __future__ import annotations

import html
import re
from itertools import chain
from typing import TYPE_CHECKING

from doiuri._find._patterns import lazy
from doiuri._find._plain import SIMPLE, simple_value
from doiuri._find._rendered import Rendered
from doiuri._find._scan import MOST, Scanner, a_name, no_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from doiuri._find._plain import Mention
    from doiuri._find._scan import Part

# A tag holds no raw "<", so each "<" is read up to the next one only, and the time stays linear.
TAG = r"<[/!?]?[A-Za-z][^<>\"']*+(?:(?:\"[^\"<]*+\"|'[^'<]*+')[^<>\"']*+)*>"
ENTITY = r"&(?:\#[0-9]{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});?"
INVISIBLE = "\xad\u200b\u2060\ufeff"  # where a browser may break the line inside a name
# The same as alternatives: a set with more than two ranges, one of them above U+00FF, takes long to compile
INVISIBLE_ONE = r"\xad|[\u200b\u2060]|\ufeff"
_BREAK = lazy(r"</?wbr\b", re.IGNORECASE)
# For skipping: begins no entity for "1"; may begin one for a character that a name continues with
NO_ENTITY_OF_1 = r"&(?:[A-Za-z]++(?![0-9])|\#(?![0-9]*49)[0-9]{1,7}+|(?![#A-Za-z]))"
AMPERSAND = "&(?!(?:#82[1-3][0-9]|#160|nbsp|[nm]dash|[lr][ds]quo|amp|lt|gt|quot);)"
_NAME = lazy(a_name(rf"(?:{AMPERSAND}|{INVISIBLE_ONE}|[\t\n\r]|</?wbr)"))
_ENTITY_OF_1 = lazy(r"&#(?:[0-9]*49|[xX][0-9a-fA-F]*31)")
_UNUSUAL = lazy(r"<(?:[sS](?i:cript|tyle)|!\[(?i:cdata)\[|(?:pub|article|object)-id\b)")
_STARTS_PART = lazy(rf"(?!(?i:</?wbr\b))(?:{TAG}|<!--)")
_NO_NAME = no_name(r"(?:[&\t\n\r\xad]|[\u200b\u2060]|\ufeff)")
_IN_VALUE = rf"(?:{NO_ENTITY_OF_1}|{_NO_NAME})"
_OTHERS = r"(?>(?: [a-z-]++=(?:\"[^\"<>&1]*+\"|'[^'<>&1]*+'))*)"  # attributes
_VALUE = (
    rf"(?:\"[^\"<&1]*+(?>(?:{_IN_VALUE}[^\"<&1]*+){{0,{MOST}}})\""
    rf"|'[^'<&1]*+(?>(?:{_IN_VALUE}[^'<&1]*+){{0,{MOST}}})'|{_IN_VALUE})"
)
TAG_WITHOUT_NAMES = (
    r"<(?:/|(?!script|style))(?!wbr)[a-z][a-z0-9]*+(?![^\s/>])"
    rf"[^<>\"'&1]*+(?>(?:{_VALUE}[^<>\"'&1]*+){{0,{MOST}}})>"
)
# A name that is all the text between two tags
_BETWEEN_TAGS = lazy(rf" ?{SIMPLE}(?=</(?!wbr)[a-z]+>)")
_RAW_CLOSERS = {
    "<![cdata[": lazy(r"\]\]>"),
    "<script": lazy("</script", re.IGNORECASE),
    "<style": lazy("</style", re.IGNORECASE),
}
_ESCAPED_SLASH = lazy(r"\\/")  # JSON in scripts writes it, so that no "</" occurs
# Matches a name without a value too: each is then read once, and the time stays linear.
_ATTRIBUTE = lazy(r"([^\s=<>\"'/]++)(?:\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+)))?")
_ENTITY = lazy(rf"{ENTITY}|{INVISIBLE_ONE}")
_JATS_DOI = lazy(r"<(?:pub|article|object)-id\b[^<>]*\spub-id-type\s*=\s*[\"']doi[\"']")
_BROKEN_NAME = lazy(r"\s*(10\.[0-9]{4,9}/?(?:[^\s<>&]{0,99}\s{1,9}(?!10\.|doi)[^\s<>&]{1,99}))\s*</")
_SPACE = lazy(r"\s+")
_IN_URL = lazy(rf"{ENTITY}|{INVISIBLE_ONE}|[\t\n\r]")  # WHATWG URL, basic parser: removes tabs and newlines
_URLS = frozenset({"href", "xlink:href", "src", "cite", "action", "resource", "about", "rdf:about", "itemid"})


class HTML(Scanner):
    """HTML or XML."""

    first = lazy(f"[<&{INVISIBLE}]")
    token = lazy(rf"<!--|<!\[CDATA\[|{TAG}|{ENTITY}|{INVISIBLE_ONE}")

    frequent = lazy(
        rf"<a{_OTHERS} href=(?:\"(?=[^\s<>\"'&]++\")|'(?=[^\s<>\"'&]++')){SIMPLE}[\"']{_OTHERS} ?/?>"
    )

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._next = {_NAME: -1, _UNUSUAL: -1, _ENTITY_OF_1: -1}  # where each is found next

    def replacement(self, token: re.Match[str]) -> str | None:
        if self.text[token.start()] != "<":
            return unescaped(token)
        return "" if _BREAK.match(token[0]) else None

    def part(self, token: re.Match[str]) -> Part:
        start, end = token.span()
        broken = _broken_name(self.text, token)
        if broken is not None:
            return (broken,), broken[1]
        raw_end = self._raw_end(token)
        if raw_end == end:
            return in_tag(self.text, start, end), end
        raw = Rendered.replacing(self.text, (end, raw_end), _ESCAPED_SLASH, lambda _: "/")
        return chain(in_tag(self.text, start, end), raw.mentions()), raw_end

    def _raw_end(self, token: re.Match[str]) -> int:
        """Return where the CDATA, script or style that the token opens ends; the token's end if none."""
        if not _UNUSUAL.match(self.text, token.start()):
            return token.end()
        opener = token[0][:9].rstrip(">\t\n\r\f /").partition(" ")[0].lower()
        closer = _RAW_CLOSERS.get(opener)
        if closer is None:
            return token.end()
        end = closer.search(self.text, token.end())
        return end.start() if end else len(self.text)

    def _skip(self, start: int) -> tuple[int, int, re.Match[str] | None]:
        # Tags hold no "<", so the part that a name is in or follows is found from the name backwards
        for pattern, place in self._next.items():
            if place < start:
                found = pattern.search(self.text, start)
                self._next[pattern] = found.start() if found else len(self.text)
        end = min(self._next.values())
        begin = end
        while (begin := self.text.rfind("<", start, begin)) >= 0:
            part = _STARTS_PART.match(self.text, begin)
            if part is not None:
                begin = part.end() if part.end() <= end else begin
                frequent = self.frequent.match(self.text, begin) or _BETWEEN_TAGS.match(self.text, begin)
                return begin, end, frequent
        return start, end, None


def _broken_name(text: str, token: re.Match[str]) -> Mention | None:
    """Return the mention in an element of JATS for a DOI in whose name a typesetter left a blank."""
    name = _BROKEN_NAME.match(text, token.end()) if _JATS_DOI.match(token[0]) else None
    if name is None:
        return None
    return Rendered.replacing(text, name.span(1), _SPACE, lambda _: "").whole(labelled=True)


def in_tag(text: str, start: int, end: int) -> Iterable[Mention]:
    """Return the mentions in the attributes of the tag ``text[start:end]``."""
    return _in_attributes(text, start, end) if text.find("10.", start, end) >= 0 else ()


def _in_attributes(text: str, start: int, end: int) -> Iterator[Mention]:
    for attribute in _ATTRIBUTE.finditer(text, start, end):
        if attribute.lastindex == 1:
            continue  # no value
        span = attribute.span(attribute.lastindex or 0)
        if text.find("10", *span) < 0:
            continue
        if attribute[1].lower() in _URLS:
            if simple := simple_value(text, *span):
                yield simple
            else:
                yield from Rendered.replacing(text, span, _IN_URL, unescaped).whole_or_mentions(link=True)
        else:
            yield from Rendered.replacing(text, span, _ENTITY, unescaped).mentions()


def unescaped(token: re.Match[str]) -> str:
    """Return what readers see for an entity, an invisible character, or white space in a URL."""
    character = html.unescape(token[0])
    return "" if character in INVISIBLE or character in "\t\n\r" else character
