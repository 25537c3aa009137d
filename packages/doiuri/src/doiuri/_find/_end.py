"""Where a DOI in plain text ends: before a delimiter, without trailing punctuation and parts of a URL."""

from __future__ import annotations

import re

from doiuri._characters import NOT_GRAPHIC
from doiuri._find._patterns import lazy
from doiuri._find._publishers import without_files, without_page
from doiuri._find._start import UNSPACED, Lead, in_query
from doiuri._find._stops import JSON_ESCAPE

# Always the end: white space, what no name holds, typographic quotation marks, other scripts' punctuation
_HARD = (
    "\\s`|«»\u2014\u2018-\u2022\u2026\u2039\u203a\u060c\u061b\u061f\u06d4\u0964\u0965\u3001-\u3003\u3008-\u3011"
    "\u3014-\u301f\uff01\uff08\uff09\uff0c\uff0e\uff1a-\uff1c\uff1e\uff1f\uff3b\uff3d\uff5b\uff5d-\uff65"
) + NOT_GRAPHIC
# Sometimes the end, depending on what is on both sides
_SOFT = "()\\[\\]{}<>,;:'\"*\\\\?#&\u2013" + UNSPACED
_CLEAR = f"[^{_HARD}{_SOFT}]"
# What never needs a second look: clear characters, and the soft ones of most other names, those with a SICI
_SIMPLE = lazy(
    rf"{_CLEAR}*+(?>(?:(?::(?!//)|;(?=[0-9]-)|\((?!10\.|[HhDdWwUuIiPpAa/]){_CLEAR}*+\)"
    rf"|<[0-9]{_CLEAR}*+(?>(?::(?!//){_CLEAR}*+){{0,9}})>){_CLEAR}*+){{0,200}})"
)
_STOP = lazy(f"[{_HARD}{_SOFT}]")
_IS_SOFT = lazy(f"[{_SOFT}]")

# Before one of these, a comma, a semicolon, a dash or a bracket ends the name
_NEXT = lazy(
    r" ?(?:https?:|//|www\.|dx\.doi\.org/|doi\b|urn:|info:|PMC?ID\b|PubMed\b|CrossRef\b|arXiv\b|ISBN\b"
    r"|Google\b|10\.[0-9]{4,}+(?![0-9.]*?\.(?![0-9]))[0-9.]*+(?:/|%2F))",
    re.IGNORECASE,
)
_TAG = lazy(
    r"<(?:/|!--|(?:[aip]|br|em|li|t[dhr]|div|span|strong|su[bp]|ref|cite|code|italic|bold|img|hr)(?:[\s/][^<>]{0,200})?>)",
    re.IGNORECASE,
)
_ENTITY = lazy(r"&(?:(?:quot|apos|nbsp|rdquo|rsquo|raquo|#0{0,4}(?:34|39|160));|lt;/|gt;(?!\.?[A-Za-z0-9]))")
_IN_ENTITY = lazy(r"&#?[A-Za-z0-9]+\Z")
_NEXT_FIELD = lazy(r"&[A-Za-z][\w.]*=")
_AFTER_QUOTE = lazy(r'"[._/-]?[A-Za-z0-9]')
_POSSESSIVE = lazy(r"'s?(?!\w)")
_SICI_CHECK = lazy(r";[0-9]-")
_TEX_ESCAPED = frozenset("_%&#${}")
_ENDINGS = frozenset(["", ", ", "; ", "' ", '" ', '",', "* ", ",\n", ";\n"])
_OPENERS = frozenset("([{<")
_OPENER_OF = {")": "(", "]": "[", "}": "{", ">": "<"}
_LINE_LENGTH = 300  # how far around a name the columns of a table are looked for
_COLUMNS = {",": lazy(r",[^\s,]"), ";": lazy(r";[^\s;]")}


def name_end(prefix: re.Match[str], lead: Lead, unclosed: list[int], limit: int) -> int:
    """Return where the name that begins with ``prefix`` ends, before trimming; at ``limit`` at the latest.

    ``unclosed`` keeps the time linear: otherwise each name in "10.1000/a(10.1000/a(…" would be read to the
    end of the text. Start with an empty list, and pass it again for the names that follow in the same text.
    """
    text, start = prefix.string, prefix.end()
    simple = _SIMPLE.match(text, start, limit)
    end = simple.end() if simple else start
    following = text[end : end + 2]
    if following[:1] in _OPENER_OF or following in _ENDINGS or not _IS_SOFT.match(text, end):
        return end
    # Places where a search has to stop, the nearest last: brackets known to stay open, and behind them where
    # the search for their closing brackets stopped
    while unclosed and unclosed[-1] <= start:
        unclosed.pop()
    limit = min(limit, unclosed[-1]) if unclosed else limit
    opened: list[int] = []
    if end == start and text[start] == "<" and text[start + 1 : start + 2].isalnum():
        opened, end = [start], start + 1  # not a tag: it would leave nothing of the name
    while (stop := _STOP.search(text, end, limit)) is not None:
        end = stop.start()
        if _ends(text, end, lead, opened):
            break
        end += 1
    else:
        end = limit
    if not opened:
        return end
    unclosed += [end, *reversed(opened)]
    return opened[0]


def _ends(text: str, place: int, lead: Lead, opened: list[int]) -> bool:
    """Return whether the name ends at ``place``; update ``opened``, the places of its open brackets."""
    character = text[place]
    if character in _OPENERS:
        opened.append(place)
        return _bracket_ends(text, place)
    if character in _OPENER_OF:
        if opened and text[opened[-1]] == _OPENER_OF[character]:
            opened.pop()
            return False
        return True
    check = _CHECKS.get(character)
    if check is not None:
        return check(text, place, lead)
    return not _IS_SOFT.match(character) or _word_begins(text, place)


def _bracket_ends(text: str, place: int) -> bool:
    if text[place] == "<" and _TAG.match(text, place):
        return True
    return text.startswith("[^", place) or _next_follows(text, place)


def _next_follows(text: str, place: int) -> bool:
    """Return whether another name, or a label or link of one, follows the character at ``place``."""
    return _NEXT.match(text, place + 1) is not None


def _word_begins(text: str, place: int) -> bool:
    """Return whether words of an unspaced script begin at ``place``, right after an ASCII name."""
    before = text[place - 1]
    return before.isascii() and (before.isalnum() or before in ")]}>")


def _separator_ends(text: str, place: int, lead: Lead) -> bool:
    character = text[place]
    if _next_follows(text, place):
        return True
    if character == ";" and (_SICI_CHECK.match(text, place) or _IN_ENTITY.search(text, place - 8, place)):
        return False
    before = text[lead.start - 1 : lead.start]
    return before == character or (before in "\r\n" and _in_table(text, lead.start, place))


def _in_table(text: str, start: int, place: int) -> bool:
    """Return whether the separator at ``place`` is between columns: its line or one beside it has more."""
    rest, _, following = text[place + 1 : place + _LINE_LENGTH].partition("\n")
    below = following.partition("\n")[0]
    above = text[max(0, start - _LINE_LENGTH) : start].rstrip("\r\n").rpartition("\n")[2]
    return any(_COLUMNS[text[place]].search(line) for line in (rest, below, above))


def _quote_ends(text: str, place: int, lead: Lead) -> bool:
    before = text[lead.start - 1 : lead.start]
    return before == '"' or lead.place != "text" or not _AFTER_QUOTE.match(text, place)


def _apostrophe_ends(text: str, place: int, lead: Lead) -> bool:
    return text[lead.start - 1 : lead.start] == "'" or _POSSESSIVE.match(text, place) is not None


def _star_ends(text: str, _place: int, lead: Lead) -> bool:
    return text[lead.start - 1 : lead.start] == "*"


def _backslash_ends(text: str, place: int, lead: Lead) -> bool:
    if lead.place == "json":
        return not JSON_ESCAPE.match(text, place)
    return text[place + 1 : place + 2] not in _TEX_ESCAPED


def _ampersand_ends(text: str, place: int, lead: Lead) -> bool:
    if lead.place in {"query", "escaped"} or _ENTITY.match(text, place):
        return True
    if text[lead.start - 1 : lead.start] == "=" and _NEXT_FIELD.match(text, place):
        return True
    return (lead.place == "url" and in_query(text, lead.start)) or _next_follows(text, place)


def _colon_ends(text: str, place: int, _lead: Lead) -> bool:
    return text.startswith("://", place)


def _dash_ends(text: str, place: int, _lead: Lead) -> bool:
    return _next_follows(text, place)


def _query_ends(_text: str, _place: int, lead: Lead) -> bool:
    return lead.place != "text"


_CHECKS = {
    ",": _separator_ends,
    ";": _separator_ends,
    '"': _quote_ends,
    "'": _apostrophe_ends,
    "*": _star_ends,
    "\\": _backslash_ends,
    "&": _ampersand_ends,
    ":": _colon_ends,
    "\u2013": _dash_ends,
    "?": _query_ends,
    "#": _query_ends,
}


# Punctuation; then a dash, signs, full stops of other scripts, and the numbers of notes
_PUNCTUATION = frozenset(
    ".,;:!?'\"*/\\&=\u2013\u00a7\u00a9\u00ae\u00b6\u00b7\u2122\u2190\u2192\u0589\u05c3\u1362\u1363\u104a\u104b"
    "\ufffd\u00b9\u00b2\u00b3\u2070\u2074\u2075\u2076\u2077\u2078\u2079"
)
_EMPHASIS = "_~^="  # only if the same character stands on both sides
_BLANK = lazy(r"%(?:0[0-9A-F]|1[0-9A-F]|20|7F|C2%A[0D]|E2%80%8[B-F]|EF%BB%BF)\Z", re.IGNORECASE)
_LONGEST_BLANK = len("%E2%80%8B")
_SCHEME = lazy(r"https?\Z", re.IGNORECASE)


def trimmed(prefix: re.Match[str], end: int, lead: Lead, tail: str) -> int:
    """Return the end of the name after ``prefix``, leaving out punctuation and URL parts before ``end``.

    No name ends with a character of ``tail`` either.
    """
    text, suffix = prefix.string, prefix.end()
    before = text[lead.start - 1 : lead.start]
    if before and before in _EMPHASIS:
        tail += before
    if text[end : end + 1] == ">":
        tail += "-"  # an arrow
    end = _without_punctuation(text, suffix, end, tail)
    if "%" in text[suffix:end]:
        end = _without_blanks(text, suffix, end)
    if text.startswith("://", end):
        scheme = _SCHEME.search(text, max(suffix, end - 5), end)
        end = scheme.start() if scheme else end
    if lead.place == "url":
        end = without_page(prefix, end)
    elif lead.place == "escaped":
        end = without_files(prefix, end)
    return _without_punctuation(text, suffix, end, tail)


def _without_punctuation(text: str, suffix: int, end: int, tail: str) -> int:
    while end > suffix and (text[end - 1] in _PUNCTUATION or text[end - 1] in tail):
        end -= 1
    return end


def _without_blanks(text: str, suffix: int, end: int) -> int:
    """Return the end without percent-encoded blanks."""
    while blank := _BLANK.search(text, max(suffix, end - _LONGEST_BLANK), end):
        end = blank.start()
    return end
