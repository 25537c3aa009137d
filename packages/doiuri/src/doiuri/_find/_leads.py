"""What stands before a DOI in plain text: a label, a link, another URL, or the word it is part of."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from doiuri._parse import FIXED_SPACES, LABELS, PATHS
from doiuri._patterns import lazy
from doiuri._urls import DOI_ORG, PROXY_HOST_PATTERN

_BLANKS = " \t" + FIXED_SPACES
_BLANK = f"[{_BLANKS}]{{0,4}}"
# Of scripts that put spaces between words; a set of both ranges would take long to compile
_LETTERS = "A-Za-z0-9"
_NO_LETTER_BEFORE = "(?<![\u00c0-\u024f])"
_LABEL = "|".join(map(re.escape, LABELS))
_PATH = "|".join(map(re.escape, PATHS))
# As in DOI.parse, only ASCII letters match in both cases ("doİ" is not a label), the paths in lower case
_LABEL_OR_LINK = lazy(
    rf"""
    (?:
        (?P<link>
            (?:
                (?ai: https? )://
            |   {_NO_LETTER_BEFORE}
                (?<! [{_LETTERS}]_ )
                (?:
                    (?<! [{_LETTERS}:/] ) //         # a link without its scheme,
                |   (?<! [{_LETTERS}.@/:%-] )        # or without both scheme and slashes
                )
            )
            (?ai: (?: {PROXY_HOST_PATTERN} ) \.? )
            (?: : [0-9]{{1,4}} )?
            /
            (?: {_PATH} | (?ai: /? (?: {_LABEL} )? ) )
        |
            (?ai: https?:\\/\\/ (?: {PROXY_HOST_PATTERN} ) \\/ )    # in JSON
        )
    |
        {_NO_LETTER_BEFORE}
        (?<! [{_LETTERS}] )
        (?ai: {_LABEL} | doi {_BLANK} [:\uff1a]? {_BLANK} )
    )
    \Z
    """,
    re.VERBOSE,
)
_LONGEST = 64  # characters of a label or link
_LAST_OF_LABELS = "/:\uff1aiI" + _BLANKS
# The most frequent labels and links, by their last character
_FREQUENT = {
    "/": (f"{DOI_ORG}/", "http://dx.doi.org/"),
    ":": ("doi:", "DOI:"),
    " ": ("DOI: ", "doi: ", "DOI "),
}
_STARTS = frozenset(["", "\n", "(", "[", "<", '"', "\u201c"])  # what follows starts afresh
_STARTS_OR_BLANK = _STARTS | {" "}
_NOT_IN_URLS = " \t\n\r\"'<>"
_AFTER_URL = lazy(r"[\s\"'<>?#]")
_ESCAPE = lazy(r"%[0-9A-Fa-f]{2}\Z")
# %2F, \n, \u002f, $$U
_ESCAPED_OR_SUBFIELD = lazy(r"(?:%[0-9A-Fa-f]{2}|\\.|\\u[0-9A-Fa-f]{4}|\$\$[A-Z])\Z", re.DOTALL)
# The kinds of publications that precede a name in a URL of Springer's
_SPRINGER = frozenset(["/art:", "/chp:", "/bok:"])
_BIBXML = "/reference.doi."  # how the files of the IETF's bibxml begin, and ".xml" follows
_BADGE = "shields.io/badge/"
_BADGE_LENGTH = 200  # how far back its URL is looked for
_URL_LENGTH = 500  # how far back the start of a URL is looked for; a bound keeps the time linear

# Scripts without spaces between words: a name may follow a word directly
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_UNSPACED = lazy(f"[{UNSPACED}]")
_CURRENCY = "$¢£¤¥€₹₽₩₺₿"  # a price such as $10.5000/kg

# The word "doi" with only markup after it: '"doi": "', '<b>DOI</b> ', '<x type="doi" y="z">'
_LABEL_NEARBY = lazy(
    r"""
    (?:
        (?: <doi\s | ["']doi["']\s ) [^<>]{0,99} > \s{0,99}
    |
        (?<! [A-Za-z0-9/] ) dois?
        (?: </? [^<>]{0,99} > | [ \n]content= | [^\w<] ){1,8}
    )
    \Z
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NEARBY = 120  # characters


Notation = Literal[
    "text",
    "link",  # to the DOI proxy: https://doi.org/10.1000/182
    "url",  # in the path of another URL: https://example.org/10.1000/182/pdf
    "query",  # of a URL: https://example.org/?doi=10.1000/182
    "badge",  # in the text of one by shields.io: https://img.shields.io/badge/DOI-10.1000%2F182-blue
    "escaped",  # after an escape, in a query that holds another URL: ?u=https%3A%2F%2Fdoi.org%2F10.1000%2F182
    "json",  # with an escaped slash: "10.1000\/182"
]
"""How a name is written: what is before it decides how it ends, and which escapes it has."""


class Lead(NamedTuple):
    """What stands before a name.

    :ivar start: where the mention starts: at its label or link, or else at the name.
    :ivar labelled: whether it has a label or is a link to the DOI proxy.
    :ivar notation: how the name is written.
    """

    start: int
    labelled: bool
    notation: Notation


def frequent_lead(text: str, start: int, previous_end: int) -> int | None:
    """Return where the mention of the name at ``start`` starts, if what stands before it is frequent; else None.

    Frequent are a blank, a bracket or a quotation mark, and labels such as "doi:" and "https://doi.org/".
    No label or link starts before ``previous_end``, the end of the previous mention.
    """
    previous = text[start - 1 : start]
    if previous in _STARTS:
        return start
    # a blank after a word, and not after a label as in "DOI: "
    if previous == " " and text[start - 2 : start - 1] not in _LAST_OF_LABELS:
        return start
    for label in _FREQUENT.get(previous, ()):
        label_start = start - len(label)
        if label_start < previous_end or not text.startswith(label, label_start):
            continue
        if text[label_start - 1 : label_start] in _STARTS_OR_BLANK:
            return label_start
    return None


def lead_before(text: str, start: int, previous_end: int = 0) -> Lead | None:
    """Return what stands before the name at ``start``; None if the name is part of a longer word or number.

    Such parts are the names in "v10.1000/182", "1.10.1000/182" and "$10.5000/kg".
    No label or link starts before ``previous_end``, the end of the previous mention.
    """
    mention_start = frequent_lead(text, start, previous_end)
    previous = text[start - 1 : start]
    if mention_start is not None:
        notation: Notation = "link" if previous == "/" else "text"
        return Lead(mention_start, mention_start < start, notation)

    if previous in _LAST_OF_LABELS:
        label_or_link = _label_or_link(text, start, previous_end)
        if label_or_link is not None:
            return label_or_link
    if previous and not previous.isspace() and _is_inside_word(text, start, previous):
        return None
    return Lead(start, False, _notation(text, start))


def _label_or_link(text: str, start: int, previous_end: int) -> Lead | None:
    """Return the lead that is a label or a link to the DOI proxy and ends at ``start``; None if there is none.

    A link may stand in the query of another URL, as in ``?u=https://doi.org/10.1000/182``: then its notation is
    "query".
    """
    window_start = max(previous_end, start - _LONGEST)
    window = text[window_start:start].lower()
    if "doi" not in window and "hdl" not in window:
        return None
    label_or_link = _LABEL_OR_LINK.search(text, window_start, start)
    if label_or_link is None:
        return None

    mention_start = label_or_link.start()
    notation = _notation(text, mention_start)
    if label_or_link["link"] is not None and notation not in {"escaped", "query", "badge"}:
        notation = "link"
    return Lead(mention_start, True, notation)


def _notation(text: str, start: int) -> Notation:
    """Return the notation of what starts at ``start``, by what stands before it; never "link" or "json"."""
    previous = text[start - 1 : start]
    if in_badge(text, start):
        return "badge"
    if previous == "/" or (previous == ":" and text[start - 5 : start] in _SPRINGER):
        return "url"
    if previous == "." and text[start - len(_BIBXML) : start].lower() == _BIBXML:
        return "url"
    if previous in {"=", "+"} and in_query(text, start):
        return "query"
    if _ESCAPE.search(text, max(0, start - 3), start):
        return "escaped"
    return "text"


def in_query(text: str, start: int) -> bool:
    """Return whether ``start`` is in the query of a URL, as after ``https://example.org/?doi=``."""
    window = text[max(0, start - _URL_LENGTH) : start]
    before_url = max(window.rfind(character) for character in _NOT_IN_URLS)
    url = window[before_url + 1 :]
    return "?" in url or "&" in url


def in_badge(text: str, start: int) -> bool:
    """Return whether ``start`` is in the text of a badge, as after ``https://img.shields.io/badge/DOI-``."""
    window = text[max(0, start - _BADGE_LENGTH) : start]
    badge = window.rfind(_BADGE)
    return badge >= 0 and not _AFTER_URL.search(window, badge)


def _is_inside_word(text: str, start: int, previous: str) -> bool:
    """Return whether the name at ``start`` only continues what ends with the ``previous`` character.

    It continues a word in "v10.1000/182", but not in "%2F10.1000/182" or "は10.1000/182"; a number in
    "1.10.1000/182", and a price in "$10.5000/kg".
    """
    if previous.isalnum():
        if _ESCAPED_OR_SUBFIELD.search(text, max(0, start - 6), start):
            return False
        return previous.isascii() or not _UNSPACED.match(previous)

    second_previous = text[start - 2 : start - 1]
    if previous in ".-":
        return second_previous.isdigit() and not in_badge(text, start)
    if previous in "_@":
        return second_previous.isalnum()
    return previous in _CURRENCY


def has_label_nearby(source: str, place: int) -> bool:
    """Return whether ``place`` comes after the word "doi" and nothing but markup, as in ``<b>DOI</b> 10.12/a``.

    Then even a short number such as "10.12" is the prefix of a DOI, and no decimal.
    """
    start = max(0, place - _NEARBY)
    if "doi" not in source[start:place].lower():
        return False
    return _LABEL_NEARBY.search(source, start, place) is not None
