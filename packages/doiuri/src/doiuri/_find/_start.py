"""What is before a DOI in plain text: a label, a link, another URL, or a word that it is part of."""

import re
from typing import NamedTuple

_BLANK = "[ \t\u00a0\u2007\u2009\u202f]{0,4}"
_LETTERS = "A-Za-z0-9\u00c0-\u024f"  # of scripts that put spaces between words
# The case of ASCII letters does not count ("doİ" is no label), but for the API's path, as in DOI.parse
_LEAD = re.compile(
    rf"(?:(?P<link>(?:(?ai:https?)://|(?<![{_LETTERS}_:/])//|(?<![{_LETTERS}_.@/:%-]))"
    r"(?ai:(?:dx\.|www\.)?doi\.org\.?)(?::[0-9]{1,4})?/"
    r"(?:api/handles/|(?ai:/?(?:info:doi/|info:hdl/|urn:doi:|doi:|hdl:)?)))"
    rf"|(?<![{_LETTERS}])(?ai:info:doi/|info:hdl/|urn:doi:|hdl:|doi{_BLANK}:?{_BLANK}))\Z"
)
_LEAD_LENGTH = 64  # no label or link before a name is longer
_CLEAR = frozenset(["", "\n", "(", "[", "<", '"'])  # before a mention these tell nothing
_CLEAR_OR_BLANK = _CLEAR | {" "}
_COMMON = {
    "/": (("https://doi.org/", "link"), ("http://dx.doi.org/", "link")),
    ":": (("doi:", "text"), ("DOI:", "text")),
    " ": (("DOI: ", "text"), ("doi: ", "text"), ("DOI ", "text")),
}
_ENDS_OF_LEADS = "/:iI \t\u00a0\u2007\u2009\u202f"
_NOT_IN_URLS = " \t\n\r\"'<>"
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}\Z")
_URL_LENGTH = 500  # how far back a URL is looked for: enough for real ones, and time stays linear

# Scripts that put no space between a name and the words beside it
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_UNSPACED = re.compile(f"[{UNSPACED}]")
_CURRENCY = "$¢£¤¥€₹₽₩₺₿"  # a price such as $10.5000/kg


class Lead(NamedTuple):
    """What is before a name: where the mention starts, whether with a label or link, and in what place.

    The place is "text", "link" (to the proxy), "url" (another's path), "query" or "escaped" (in a query).
    """

    start: int
    labelled: bool
    place: str


_new = tuple.__new__  # half the time of Lead(…)


def lead(text: str, start: int, last: int = 0) -> Lead | None:
    """Return what is before the name at ``start``; None if it is part of a longer word or number.

    At ``last`` the mention before ends: a label or link begins there at the earliest.
    """
    before = text[start - 1 : start]
    if before in _CLEAR or (before == " " and text[start - 2 : start - 1] not in _ENDS_OF_LEADS):
        return _new(Lead, (start, False, "text"))
    for common, place in _COMMON.get(before, ()):
        first = start - len(common)
        if first >= last and text.startswith(common, first) and text[first - 1 : first] in _CLEAR_OR_BLANK:
            return _new(Lead, (first, True, place))
    if before in _ENDS_OF_LEADS:
        window = text[max(last, start - _LEAD_LENGTH) : start].lower()
        match = _LEAD.search(text, start - len(window), start) if "doi" in window or "hdl" in window else None
        if match is not None:
            place = _place(text, match.start())
            link = match["link"] is not None and place not in {"escaped", "query"}
            return Lead(match.start(), True, "link" if link else place)
    if not before.isspace() and _is_inside(text, start, before):
        return None
    return Lead(start, False, _place(text, start))


def _place(text: str, start: int) -> str:
    before = text[start - 1 : start]
    if before == "/":
        return "url"
    if before == "=":
        return "query" if in_query(text, start) else "text"
    if before.isalnum() and _ESCAPE.search(text, max(0, start - 3), start):
        return "escaped"
    return "text"


def in_query(text: str, start: int) -> bool:
    """Return whether ``start`` is in the query of a URL."""
    before = _url_before(text, start)
    return "?" in before or "&" in before


def _url_before(text: str, start: int) -> str:
    window = text[max(0, start - _URL_LENGTH) : start]
    return window[max(window.rfind(character) for character in _NOT_IN_URLS) + 1 :]


def _is_inside(text: str, start: int, before: str) -> bool:
    earlier = text[start - 2 : start - 1]
    if before.isalnum():
        if _ESCAPE.search(text, max(0, start - 3), start) or earlier == "\\":
            return False  # the character is part of %2F or \n
        return not _UNSPACED.match(before)
    if before in "._@-":
        return earlier.isdigit() if before in ".-" else earlier.isalnum()
    return before in _CURRENCY
