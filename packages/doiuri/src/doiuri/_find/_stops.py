"""Where a name ends because of the notation it is written in: a query, a badge, JSON, a template."""

from __future__ import annotations

import re

from doiuri._find._patterns import lazy

_NEXT = r"(?:10\.[0-9]{4,}|https?(?::|%3A)|doi(?::|%3A)|%22|%20|\+)"
# Each with the literal that it begins with: str.find is many times faster than the regex engine
_ANYWHERE = (
    ("$$", lazy(r"\$\$[A-Z]")),  # subfields of library systems
    ("%5Cn", lazy(r"%5Cn(?=https?:|10\.)")),  # Mendeley's line break between two links
)
_OR = ("+", lazy(r"\+(?:OR|AND)\+"))
_LISTED = rf"(?:2C|3B)(?={_NEXT})"
_IN_QUERY = (("%", lazy(rf"%(?:20|22|7C|0[AD]|{_LISTED})", re.IGNORECASE)), _OR)
_IN_ESCAPED = (("%", lazy(rf"%(?:20|22|7C|0[AD]|26|3F|23|{_LISTED})", re.IGNORECASE)), _OR)
_STOPS = {"query": _ANYWHERE + _IN_QUERY, "escaped": _ANYWHERE + _IN_ESCAPED}

_WINDOW = 4000  # characters that are searched at once: longer names are not cut

_BADGE = "shields.io/badge/"
_BADGE_LENGTH = 200  # how far back its URL is looked for
_LONGEST = 500  # characters of a name in a badge
# shields.io: "--" is a dash, "__" an underscore; a single dash ends the text, a single underscore is a blank
_BADGE_TEXT = lazy(rf"(?>(?:[^-_\s\"<>?#]|--|__){{0,{_LONGEST}}})")
_NOT_IN_URLS = lazy(r"[\s\"'<>?#]")

JSON_ESCAPE = lazy(r"\\(?:/|u00(?:2[13-9A-Fa-f]|[3-7][0-9A-Fa-f]|[C-Fc-f][0-9A-Fa-f]))")
"""A slash or a character of a name in JSON."""

_TEMPLATE = lazy(
    r"\{\{|\$\{|\{[a-z][A-Za-z0-9_.]+\}|\{[0-9]?\}(?![\w.{-])|%[sd](?![0-9A-Fa-f])|<(?:(?:[a-z]+[_-]?)?id|doi|name|number|prefix|suffix|version|year)>"
)
_QUOTIENT = lazy(r"10\.[0-9]+/[0-9]+(?:\.[0-9]+)?[eE][-+][0-9]{1,3}(?![\w./-])")


_LINE_BREAK = lazy(r"(?:\\|%5C)n(?:https?:|10\.)")


def holds_line_break(value: str) -> bool:
    """Return whether the value holds two links with the line break between them that Mendeley writes."""
    return _LINE_BREAK.search(value) is not None


class Stops:
    """Where in one ``text`` a notation ends the names; each part of the text is searched once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._next: dict[re.Pattern[str], int] = {}

    def after(self, start: int, place: str) -> int:
        """Return the first stop from ``start`` on, for names in such a ``place``; the text's end if none."""
        text = self._text
        end = len(text)
        if place == "badge" and (badge := _BADGE_TEXT.match(text, start)):
            end = badge.end()
        for literal, pattern in _STOPS.get(place, _ANYWHERE):
            stop = self._next.get(pattern, -1)
            if stop < start:
                stop = start + _WINDOW
                if text.find(literal, start, stop) >= 0 and (found := pattern.search(text, start, stop + 9)):
                    stop = found.start()
                self._next[pattern] = stop
            if pattern.match(text, stop):
                end = min(end, stop)
        return end


def in_badge(text: str, start: int) -> bool:
    """Return whether ``start`` is in the text of a badge."""
    window = text[max(0, start - _BADGE_LENGTH) : start]
    badge = window.rfind(_BADGE)
    return badge >= 0 and not _NOT_IN_URLS.search(window, badge)


def undone(name: str, place: str) -> str:
    """Return the name without the escapes of a badge or of JSON."""
    if place == "badge":
        return name.replace("--", "-").replace("__", "_")
    if place == "json":
        return JSON_ESCAPE.sub(lambda escape: chr(int(escape[0][2:] or "2F", 16)), name)
    return name


def is_template(prefix: re.Match[str], end: int) -> bool:
    """Return whether a program is to fill in the name after ``prefix``: ``10.1000/{number}``."""
    text = prefix.string
    return _TEMPLATE.search(text, prefix.end(), end) is not None or _TEMPLATE.match(text, end) is not None


def is_quotient(prefix: re.Match[str]) -> bool:
    """Return whether the name is two numbers, the second with an exponent: ``10.4912/7.05e-08``."""
    return _QUOTIENT.match(prefix.string, prefix.start()) is not None
