"""DOIs in HTML and XML: in text, in attributes, in CDATA and scripts."""

import html
import re

from doiuri._find._rendered import View, next_token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri._find._plain import Found
    from doiuri._find._rendered import Edit

# A tag holds no raw "<": so each "<" is read up to the next one only, and the time stays linear.
TAG = r"<[/!?]?[A-Za-z](?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*+>"
ENTITY = r"&(?:\#[0-9]{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});?"
INVISIBLE = "\xad\u200b\u2060\ufeff"  # where a browser may break the line inside a name
_FIRST = re.compile(f"[<&{INVISIBLE}]")
_TOKEN = re.compile(rf"<!--|<!\[CDATA\[|{TAG}|{ENTITY}|[{INVISIBLE}]")
_BREAK = re.compile(r"</?wbr\b", re.IGNORECASE)
_CLOSERS = {
    "<![cdata[": re.compile(r"\]\]>"),
    "<script": re.compile("</script", re.IGNORECASE),
    "<style": re.compile("</style", re.IGNORECASE),
}
_ESCAPED_SLASH = re.compile(r"\\/")  # as in the JSON of scripts, so that no "</" is there
# A name alone matches too: so each is read once, and the time stays linear
_ATTRIBUTE = re.compile(r"([^\s=<>\"'/]++)(?:\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+)))?")
_ENTITY = re.compile(rf"{ENTITY}|[{INVISIBLE}]")
_IN_URL = re.compile(rf"{ENTITY}|[{INVISIBLE}\t\n\r]")  # URLs lose these: WHATWG URL, basic parser
_URLS = frozenset({"href", "xlink:href", "src", "cite", "action", "resource", "about", "rdf:about", "itemid"})


def found(text: str) -> "Iterator[Found]":
    """Yield start, end and DOI of each mention in HTML or XML."""
    begin = position = 0
    edits: list[Edit] = []
    while (token := next_token(text, position, _FIRST, _TOKEN)) is not None:
        mark, position = token[0], token.end()
        if mark[0] != "<":
            edits.append((token.start(), position, shown(mark)))
            continue
        if _BREAK.match(mark):
            edits.append((token.start(), position, ""))
            continue
        yield from View(text, begin, token.start(), edits).names()
        edits = []
        yield from in_tag(text, token.start(), position)
        begin = position
        position = _raw_end(text, mark, position)
        if position > begin:
            slashes = [(*mark.span(), "/") for mark in _ESCAPED_SLASH.finditer(text, begin, position)]
            yield from View(text, begin, position, slashes).names()
            begin = position
    yield from View(text, begin, len(text), edits).names()


def _raw_end(text: str, mark: str, position: int) -> int:
    """Return where the raw text that ``mark`` opens ends: CDATA, a script; else ``position``."""
    closer = _CLOSERS.get(mark[:9].rstrip(">\t\n\r\f /").partition(" ")[0].lower())
    if closer is None:
        return position
    end = closer.search(text, position)
    return end.start() if end else len(text)


def in_tag(text: str, start: int, end: int) -> "Iterator[Found]":
    """Yield the mentions in the attributes of the tag ``text[start:end]``."""
    if "10." not in text[start:end]:
        return
    for attribute in _ATTRIBUTE.finditer(text, start, end):
        if attribute.lastindex == 1:
            continue
        begin, stop = attribute.span(attribute.lastindex or 0)
        is_url = attribute[1].lower() in _URLS
        view = View(text, begin, stop, edits(text, begin, stop, _IN_URL if is_url else _ENTITY))
        found = view.whole(link=True) if is_url else None
        if found is not None:
            yield found
        else:
            yield from view.names()


def edits(text: str, start: int, end: int, pattern: re.Pattern[str] = _ENTITY) -> "list[Edit]":
    """Return the entities of ``text[start:end]``, and what is dropped, as edits."""
    return [(*token.span(), shown(token[0])) for token in pattern.finditer(text, start, end)]


def shown(mark: str) -> str:
    """Return what readers see for an entity or an invisible character."""
    character = html.unescape(mark)
    return "" if character in INVISIBLE or character in "\t\n\r" else character
