"""BibTeX: the entries of a file, their fields, and the names in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from doiuri.tex import plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ENTRY", "NEXT_ENTRY", "EntryScanner", "Field", "Piece", "closing", "names"]

# Outside of entries all is comment; after a percent sign, entries too
ENTRY = re.compile(
    r"@[ \t]*(?P<type>[A-Za-z][\w-]*)\s*(?P<open>[{(])\s*(?P<key>(?:[^\s,{}=\"@][^\s,{}=\"]*)?)\s*,?"
)
NEXT_ENTRY = re.compile(r"\n[ \t]*@[A-Za-z][\w-]*[ \t]*[{(]")
_COMMENTED_OUT = re.compile(r"[ \t]*%")
_BETWEEN = r"(?>(?:[\s,]++|%[^\r\n]*)*)"  # fields
_NAME = re.compile(rf"{_BETWEEN}(?:(?P<name>[^\s=,{{}}()\"#%]+)\s*=\s*|(?P<close>[}})]))")
_MACRO = re.compile(r"[^\s=,{}()\"#%]+")
_FURTHER = 2_000  # characters of a value after a line that begins with an entry
_LONGEST_MACRO = 10_000  # so that macros of macros do not fill the memory
_JOINED = re.compile(r"\s*#\s*")
_INITIAL = re.compile(r"(?<=\b\w\.)(?=\w)")  # of "D.E."
_PROTECTED = re.compile(r"\{(?!\\)[^{}]*\}")
_DELIMITER = re.compile(r"\\.|[{}\"]", re.DOTALL)
_AND, _COMMA, _SPACE = (
    re.compile(rf"\\(?:[a-z]+[ \t]*|.)|[{{}}]|{separator}", re.DOTALL | re.IGNORECASE)
    for separator in (r"(?:(?<=\s)|^)and(?=\s|$)", ",", r"[\s~]+")
)


class Piece(NamedTuple):
    """A piece of a value: a text in braces or quotation marks, or the text of a macro."""

    start: int
    """Where it starts, with its delimiter."""

    end: int
    """Where it ends."""

    text: str | None
    """The text of a macro, None if it is what the file has."""


class Field(NamedTuple):
    """A field of an entry."""

    name: str
    """Its name, in lower case."""

    start: int
    """Where the name starts."""

    value: list[Piece]
    """The pieces of its value."""


class EntryScanner:
    """Finds the entries of one file, and their fields.

    An entry ends with its brace. If that is missing, or the entry is broken in another way, it ends before
    the next line that begins with an entry, and what is left of it is read as one text.

    :ivar end: where the last entry ends, once its fields are read.
    :ivar is_closed: whether it ends with its brace.
    """

    def __init__(self, text: str) -> None:
        self.end = 0
        self.is_closed = False
        self._text = text
        self._limit = 0  # before the next line that begins with an entry
        self._macros: dict[str, str] = {}

    def entries(self) -> Iterator[tuple[re.Match[str], int]]:
        """Yield how each entry begins, and where it ends at the latest; the next one begins at ``end``."""
        text = self._text
        while (entry := ENTRY.search(text, self.end)) is not None:
            line = text.rfind("\n", self.end, entry.start()) + 1 or self.end
            self.end = entry.end()
            if _COMMENTED_OUT.match(text, line):
                following = text.find("\n", entry.start())
                self.end = following if following >= 0 else len(text)
                continue
            limit = self._next_entry(self.end)
            match entry["type"].lower():
                case "comment" | "preamble":
                    self.end = closing(text, entry.start("open"), limit) or limit
                case "string":
                    self.end = self._string(entry.start("key"), limit)
                case _:
                    yield entry, limit

    def fields(self, limit: int) -> Iterator[Field]:
        """Yield the fields of the entry that ``entries`` yielded last.

        :param limit: where it ends at the latest.
        """
        position = self.end
        self.end, self.is_closed = limit, False
        while True:
            name = _NAME.match(self._text, position, limit)
            if name is None:
                return
            if name["close"]:
                self.end, self.is_closed = name.end(), True
                return
            value = self._value(name.end(), limit)
            if value is None:
                return
            yield Field(name["name"].lower(), name.start("name"), value)
            position = value[-1].end
            if position > limit:
                self.end = limit = self._next_entry(position)

    def text_of(self, value: list[Piece]) -> str:
        """Return the text of a value, with macros replaced; of one that is not known, its name."""
        return "".join(
            self._text[start + 1 : end - 1] if text is None else text or self._text[start:end]
            for start, end, text in value
        )

    def _next_entry(self, start: int) -> int:
        if self._limit < start:
            following = NEXT_ENTRY.search(self._text, start - 1)
            self._limit = following.start() + 1 if following else len(self._text)
        return self._limit

    def _value(self, start: int, limit: int) -> list[Piece] | None:
        """Return the pieces of the value at ``start``, with their delimiters; None if it is broken.

        A line that begins with an entry is part of the value if the braces around it are balanced.
        """
        text, pieces = self._text, list[Piece]()
        while True:
            end, macro = closing(text, start, limit + _FURTHER), None
            if end is None:
                word = _MACRO.match(text, start, limit)
                if word is None:
                    return None
                end = word.end()
                macro = word[0] if word[0].isdecimal() else self._macros.get(word[0].lower(), "")
            limit = max(limit, end)
            pieces.append(Piece(start, end, macro))
            joined = _JOINED.match(text, end, limit)
            if joined is None:
                return pieces
            start = joined.end()

    def _string(self, start: int, limit: int) -> int:
        """Remember the macro that ``@string`` defines, and return where it ends."""
        name = _NAME.match(self._text, start, limit)
        value = self._value(name.end(), limit) if name and name["name"] else None
        if name is None or not value:
            return limit
        self._macros[name["name"].lower()] = self.text_of(value)[:_LONGEST_MACRO]
        return value[-1].end


def closing(text: str, start: int, limit: int) -> int | None:
    """Return where the value ends that a brace or quotation mark opens; None if nothing closes it."""
    opening, depth = text[start : start + 1], 0
    for token in _DELIMITER.finditer(text, start + 1, limit) if opening in {"{", '"'} else ():
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if depth < 0:
            return token.end() if opening == "{" else None
        if depth == 0 and token[0] == opening == '"':
            return token.end()
    return None


def names(value: str) -> list[dict[str, str]]:
    r"""Return the names in a field such as ``author`` as CSL-JSON; the last may be "others" (et al.).

    Family names have their particles; what braces enclose is a ``literal``.

    >>> names(r"van der Berg, Anna and {Unicode Consortium} and Donald~E. Knuth and others")[:2]
    [{'family': 'van der Berg', 'given': 'Anna'}, {'literal': 'Unicode Consortium'}]
    """
    texts = (text.strip() for text in _split(value, _AND))
    return [_name(text) for text in texts if text]


def _name(text: str) -> dict[str, str]:
    parts = [part.strip() for part in _split(text, _COMMA)]
    if text[0] == "{" and closing(text, 0, len(text)) == len(text) and text[1] != "\\":
        name = {"literal": text}
    elif re.match(r"(?:family|given|prefix|suffix)\s*=", text):  # BibLaTeX's own form
        name = {
            member.strip(): value for member, _, value in (part.partition("=") for part in parts)
        }
        name["family"] = f"{name.pop('prefix', '')} {name.get('family', '')}"
    elif len(parts) > 1:
        name = {
            "family": parts[0],
            "given": parts[-1],
            "suffix": parts[1] if len(parts) > 2 else "",
        }
    else:
        words = [word for word in _split(text, _SPACE) if word]
        start = next(
            (at for at, word in enumerate(words[:-1]) if _is_particle(word)), len(words) - 1
        )
        name = {"family": " ".join(words[start:]), "given": " ".join(words[:start])}
    name["given"] = _INITIAL.sub(" ", name.get("given", ""))
    return {part: shown for part, tex in name.items() if (shown := plain_text(tex))}


def _is_particle(word: str) -> bool:
    return plain_text(_PROTECTED.sub("", word))[:1].islower()


def _split(text: str, separator: re.Pattern[str]) -> list[str]:
    """Return the pieces of a text between separators that are not in braces."""
    pieces, depth, start = [], 0, 0
    for token in separator.finditer(text):
        if token[0] in {"{", "}"}:
            depth += 1 if token[0] == "{" else -1
        elif depth == 0 and not token[0].startswith("\\"):
            pieces.append(text[start : token.start()])
            start = token.end()
    return [*pieces, text[start:]]
