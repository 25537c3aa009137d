"""Where a DOI in plain text ends."""

import re

from doiuri._characters import NOT_GRAPHIC
from doiuri._find._start import UNSPACED, Lead, in_query

# Always the end: white space, what no name holds, typographic quotation marks, other scripts' punctuation
_HARD = (
    "\\s`|«»\u2014\u2018-\u2022\u2026\u2039\u203a\u060c\u061b\u061f\u06d4\u0964\u0965\u3001-\u3003\u3008-\u3011"
    "\u3014-\u301f\uff01\uff08\uff09\uff0c\uff0e\uff1a-\uff1c\uff1e\uff1f\uff3b\uff3d\uff5b\uff5d-\uff65"
) + NOT_GRAPHIC
# Perhaps the end: what is on both sides decides
_SOFT = "()\\[\\]{}<>,;:'\"*\\\\?#&\u2013" + UNSPACED
_CLEAR = f"[^{_HARD}{_SOFT}]"
# What needs no second look: clear characters, and what most names with others have, those that contain a SICI
_PLAIN = re.compile(
    rf"(?:{_CLEAR}++|:(?!//)|;(?=[0-9]-)|\((?!10\.|[HhDdWwUuIiPpAa/]){_CLEAR}*+\)|<[0-9](?:{_CLEAR}|:(?!//))*+>)*+"
)
_STOP = re.compile(f"[{_HARD}{_SOFT}]")
_IS_SOFT = re.compile(f"[{_SOFT}]")

# Followed by one of these, a comma, a semicolon, a dash or a bracket ends the name
_NEXT = re.compile(
    r" ?(?:https?:|//|www\.|dx\.doi\.org/|doi\b|urn:|info:|PMC?ID\b|PubMed\b|CrossRef\b|arXiv\b|ISBN\b"
    r"|Google\b|10\.[0-9]{4,}+(?:\.[0-9]+)*+(?:/|%2F))",
    re.IGNORECASE,
)
_TAG = re.compile(
    r"<(?:/|!--|(?:[aip]|br|em|li|t[dhr]|div|span|strong|su[bp]|ref|cite|code|italic|bold|img|hr)(?:[\s/][^<>]{0,200})?>)",
    re.IGNORECASE,
)
_ENTITY = re.compile(
    r"&(?:(?:quot|apos|nbsp|rdquo|rsquo|raquo|#0{0,4}(?:34|39|160));|lt;/|gt;(?!\.?[A-Za-z0-9]))"
)
_IN_ENTITY = re.compile(r"&#?[A-Za-z0-9]+\Z")
_NEXT_FIELD = re.compile(r"&[A-Za-z][\w.]*=")
_AFTER_QUOTE = re.compile(r'"[._/-]?[A-Za-z0-9]')
_POSSESSIVE = re.compile(r"'s?(?!\w)")
_SICI_CHECK = re.compile(r";[0-9]-")
_CLOSERS = frozenset(")]}>")
_ENDINGS = frozenset(["", ", ", "; ", "' ", '" ', '",', "* ", ",\n", ";\n"])
_OPENER = {")": "(", "]": "[", "}": "{", ">": "<"}
_LINE_LENGTH = 300  # how far around a name the columns of a table are looked for
_COLUMNS = {",": re.compile(r",[^\s,]"), ";": re.compile(r";[^\s;]")}


class Ends:
    """The ends of the names of one ``text``; asked in order, all answers together take linear time."""

    def __init__(self, text: str) -> None:
        self._text = text
        # Brackets known to stay open and the place up to which that is known, the nearest last: without
        # them, every name in "10.1000/a(10.1000/a(…" would be read to the end of the text.
        self._stops: list[int] = []

    def end(self, lead: Lead, start: int) -> int:
        """Return where the name whose suffix begins at ``start`` ends, before trimming."""
        text = self._text
        plain = _PLAIN.match(text, start)
        end = plain.end() if plain else start
        following = text[end : end + 2]
        if following[:1] in _CLOSERS or following in _ENDINGS or not _IS_SOFT.match(text, end):
            return end
        stops = self._stops
        while stops and stops[-1] <= start:
            stops.pop()
        limit = stops[-1] if stops else len(text)
        opened: list[int] = []
        if end == start and text[start] == "<" and text[start + 1 : start + 2].isalnum():
            opened, end = [start], start + 1  # no tag, for then nothing would be left of the name
        while (stop := _STOP.search(text, end, limit)) is not None:
            end = stop.start()
            if self._ends(stop[0], end, lead, opened):
                break
            end += 1
        else:
            end = limit
        if not opened:
            return end
        self._stops += [end, *reversed(opened)]
        return opened[0]

    def _ends(self, character: str, place: int, lead: Lead, opened: list[int]) -> bool:
        """Return whether the name ends at ``place``; keep ``opened``, its brackets open there, up to date."""
        text = self._text
        if character in "([{<":
            opened.append(place)
            return self._ends_at_opener(character, place)
        if character in ")]}>":
            if opened and text[opened[-1]] == _OPENER[character]:
                opened.pop()
                return False
            return True
        if character in ",;":
            return self._separates(character, place, lead)
        if character in "?#":
            return lead.place != "text"
        check = _CHECKS.get(character)
        if check is not None:
            return check(text, place, lead)
        return not _IS_SOFT.match(character) or _is_next_word(text, place)

    def _ends_at_opener(self, character: str, place: int) -> bool:
        text = self._text
        if character == "<" and _TAG.match(text, place):
            return True
        return text.startswith("[^", place) or _NEXT.match(text, place + 1) is not None

    def _separates(self, character: str, place: int, lead: Lead) -> bool:
        text = self._text
        if _NEXT.match(text, place + 1):
            return True
        if character == ";" and (_SICI_CHECK.match(text, place) or _IN_ENTITY.search(text, place - 8, place)):
            return False
        before = text[lead.start - 1 : lead.start]
        return before == character or (before in "\r\n" and _is_row(text, lead.start, place))


def _is_row(text: str, start: int, place: int) -> bool:
    """Return whether the separator at ``place`` parts columns, as another in its line or one beside it."""
    rest, _, following = text[place + 1 : place + _LINE_LENGTH].partition("\n")
    below = following.partition("\n")[0]
    above = text[max(0, start - _LINE_LENGTH) : start].rstrip("\r\n").rpartition("\n")[2]
    return any(_COLUMNS[text[place]].search(line) for line in (rest, below, above))


def _is_next_word(text: str, place: int) -> bool:
    """Return whether words of an unspaced script begin at ``place``, right after an ASCII name."""
    before = text[place - 1]
    return before.isascii() and (before.isalnum() or before in ")]}>")


def _quote_ends(text: str, place: int, lead: Lead) -> bool:
    before = text[lead.start - 1 : lead.start]
    return before == '"' or lead.place != "text" or not _AFTER_QUOTE.match(text, place)


def _apostrophe_ends(text: str, place: int, lead: Lead) -> bool:
    return text[lead.start - 1 : lead.start] == "'" or _POSSESSIVE.match(text, place) is not None


def _star_ends(text: str, place: int, lead: Lead) -> bool:  # noqa: ARG001
    return text[lead.start - 1 : lead.start] == "*"


def _backslash_ends(text: str, place: int, lead: Lead) -> bool:  # noqa: ARG001
    return text[place + 1 : place + 2] not in set("_%&#${}")


def _ampersand_ends(text: str, place: int, lead: Lead) -> bool:
    if lead.place in {"query", "escaped"} or _ENTITY.match(text, place):
        return True
    if text[lead.start - 1 : lead.start] == "=" and _NEXT_FIELD.match(text, place):
        return True
    return (lead.place == "url" and in_query(text, lead.start)) or _joins(text, place, lead)


def _colon_ends(text: str, place: int, lead: Lead) -> bool:  # noqa: ARG001
    return text.startswith("://", place)


def _joins(text: str, place: int, lead: Lead) -> bool:  # noqa: ARG001
    return _NEXT.match(text, place + 1) is not None


_CHECKS = {
    '"': _quote_ends,
    "'": _apostrophe_ends,
    "*": _star_ends,
    "\\": _backslash_ends,
    "&": _ampersand_ends,
    ":": _colon_ends,
    "\u2013": _joins,
}
