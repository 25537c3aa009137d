"""Formatted text as data: parts of text, from CSL's rich text and from what citeproc-py returns.

In between, formatting is private-use characters, one before and one after what it applies to. A ``Work``
never contains such characters, and ``<`` has one too, so that nothing in a title is taken for markup.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import groupby, takewhile
from typing import TYPE_CHECKING, Literal, NamedTuple

from doiuri._text import RICH_TAGS, SMALL_CAPS, closing
from doiuri._urls import DOI_ORG, PROXY_PATTERN

if TYPE_CHECKING:
    from doiuri._doi import Handle
    from doiuri.citations._style import Terms
    from doiuri.works._work import Work

Format = Literal["emphasis", "strong", "subscript", "superscript", "small-caps"]
"""How a part looks."""


class Part(NamedTuple):
    """A part of a citation or an entry: text that looks the same and leads to the same place."""

    text: str
    """Plain text; escape it for the format that you write."""

    formats: frozenset[Format] = frozenset()
    """How it looks."""

    link: Handle | str | None = None
    """In an entry: the DOI or URL that it links to. In a citation: the key of the work that it cites."""


class Reference(NamedTuple):
    """An entry in a list of references."""

    work: Work
    """The work."""

    number: int
    """Its place in the list, from 1."""

    letter: str = ""
    """The letter after the year, such as "a"; "" if no other work has the same label."""

    is_ambiguous: bool = False
    """Whether a style that tells such works apart by more of them is to do so."""

    @property
    def key(self) -> Handle | str:
        """The DOI of the work, or its id in a works file."""
        return self.work.key


LINK = "\ue020"
"""Stands for the DOI or the URL of a work."""

MARKS = "\ue000-\ue01f"
"""The range of the marks of formats, as in a set of a regular expression."""

SPACE = "\ue021"
"""Stands for a space in what citeproc-py takes for one word."""

_LESS = "\ue022"
_CHARACTERS = {SPACE: " ", _LESS: "<"}
_TAGS: dict[str, Format] = {
    "<i>": "emphasis",
    "<b>": "strong",
    "<sub>": "subscript",
    "<sup>": "superscript",
    SMALL_CAPS: "small-caps",
}
_FORMATS = tuple(_TAGS.values())
_OPEN = {name: chr(0xE000 + number) for number, name in enumerate(_FORMATS)}
_CLOSE = {name: chr(0xE010 + number) for number, name in enumerate(_FORMATS)}
_MARK_OF = {tag: _OPEN[name] for tag, name in _TAGS.items()} | {
    closing(tag): _CLOSE[name] for tag, name in _TAGS.items()
}
_APOSTROPHE = re.compile(r"(?<=\w)['ʼ](?=\w)")
_STRAIGHT_END = re.compile(r'(?<=[^\s(\[“])"')
_STOPPED = re.compile(rf"(\.\.\.|(?<!\.)[.!?…])(?P<marks>[{MARKS}”’»“]*)\.(?![.\w])")
_DOUBLE = re.compile(rf"([,;:])([{MARKS}]*)\1")
_SPACES = re.compile(rf" ([{MARKS}]*) +")
_BEFORE_LINK = re.compile(rf"(?:(?=https?:){PROXY_PATTERN}/)?{LINK}")


def marked(name: Format, text: str) -> str:
    """Return text with the marks of a format."""
    return f"{_OPEN[name]}{text}{_CLOSE[name]}"


def from_rich(text: str) -> str:
    """Return CSL's rich text with marks in place of its tags."""
    if "<" in text:
        text = "".join(_MARK_OF.get(token, token) for token in RICH_TAGS.split(text)).replace(
            "<", _LESS
        )
    return _APOSTROPHE.sub("’", text)


def particle_of(family: str) -> str:
    """Return the words before a family name that begin in lower case, such as "van der"; "" for none."""
    return " ".join(takewhile(lambda word: word[0].islower(), family.split()[:-1]))


def tidied(text: str, terms: Terms) -> str:
    """Return text without double stops and spaces, and with stops where the language has them in quotes."""
    text = _with_quotes(text, terms)
    if terms.quotes_enclose:
        closing_quotes = "".join(terms.get(name) for name in ("close-quote", "close-inner-quote"))
        text = re.sub(rf"([{closing_quotes}][{MARKS}{closing_quotes}]*)([.,])", r"\2\1", text)
    text = _STOPPED.sub(r"\1\g<marks>", text)
    return _SPACES.sub(r" \1", _DOUBLE.sub(r"\1\2", text))


def _with_quotes(text: str, terms: Terms) -> str:
    """Return text with the quotation marks of the language: other ones inside of quotations."""
    outer, inner = (
        (terms.get(f"open-{kind}"), terms.get(f"close-{kind}")) for kind in ("quote", "inner-quote")
    )
    text = _STRAIGHT_END.sub(outer[1], text).replace('"', outer[0])
    shown = []
    depth = 0
    for token in re.split(f"({re.escape(outer[0])}|{re.escape(outer[1])})", text):
        if token == outer[0] and (token != outer[1] or not depth):
            shown.append((outer, inner)[depth % 2][0])
            depth += 1
        elif token == outer[1] and depth:
            depth -= 1
            shown.append((outer, inner)[depth % 2][1])
        else:
            shown.append(token)
    return "".join(shown)


def parts_of(text: str, link: Handle | str | None = None) -> tuple[Part, ...]:
    """Return the parts of text with marks; all of them lead to ``link``."""
    depth: Counter[Format] = Counter()
    characters: list[tuple[frozenset[Format], str]] = []
    for character in text:
        place = ord(character) - 0xE000
        if 0 <= place < len(_FORMATS):
            depth[_FORMATS[place]] += 1
        elif 0x10 <= place < 0x10 + len(_FORMATS):
            depth[_FORMATS[place - 0x10]] -= 1
        else:
            # Emphasis in emphasis is upright
            formats = (
                name
                for name, times in depth.items()
                if (times % 2 if name == "emphasis" else times)
            )
            characters.append((frozenset(formats), _CHARACTERS.get(character, character)))
    return tuple(
        Part("".join(character for _, character in run), formats, link)
        for formats, run in groupby(characters, key=lambda pair: pair[0])
    )


def link_of(work: Work) -> Handle | str | None:
    """Return what the entry of a work links to: its DOI, or else its URL; None for neither."""
    return work.doi or work.csl.get("URL")


def linked_parts(text: str, link: Handle | str | None) -> tuple[Part, ...]:
    """Return the parts of an entry; the link is where the style shows the DOI or URL, or else at the end."""
    if link is None:
        return parts_of(text.replace(LINK, ""))
    if LINK not in text:
        text = f"{text} {DOI_ORG}/{LINK}"
    shown: list[Part] = []
    end = 0
    for match in _BEFORE_LINK.finditer(text):
        name = link if isinstance(link, str) else link.url if len(match[0]) > 1 else link.name
        shown += *parts_of(text[end : match.start()]), Part(name, link=link)
        end = match.end()
    return *shown, *parts_of(text[end:])
