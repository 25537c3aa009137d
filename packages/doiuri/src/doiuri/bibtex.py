"""BibTeX: the entries of a file, their fields, and the names in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from doiuri.tex import plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "ENTRY",
    "NEXT_ENTRY",
    "BibTeXEntry",
    "EntryScanner",
    "Field",
    "ValuePiece",
    "closing",
    "entries",
    "names",
]

# Outside of entries all is comment; after a percent sign, entries too
ENTRY = re.compile(
    r"""
    @ [ \t]* (?P<type> [A-Za-z][\w-]* ) \s*
    (?P<open> [{(] ) \s*
    (?P<key> (?: [^\s,{}="@] [^\s,{}="]* )? ) \s* ,?
    """,
    re.VERBOSE,
)
NEXT_ENTRY = re.compile(r"\n[ \t]*@[A-Za-z][\w-]*[ \t]*[{(]")
_COMMENTED_OUT = re.compile(r"[ \t]*%")
_NAME = re.compile(
    r"""
    (?> (?: [\s,]++ | %[^\r\n]* )* )             # space and comments before a field
    (?: (?P<name> [^\s=,{}()"\#%]+ ) \s* = \s*
    |   (?P<close> [})] )                         # the end of the entry
    )
    """,
    re.VERBOSE,
)
_MACRO = re.compile(r"[^\s=,{}()\"#%]+")
_FURTHER = 2_000  # characters of a value after a line that begins with an entry
_LONGEST_MACRO = 10_000  # so that macros of macros do not fill the memory
_JOINED = re.compile(r"\s*#\s*")
_INITIAL = re.compile(r"(?<=\b\w\.)(?=\w)")  # of "D.E."
_PROTECTED = re.compile(
    r"""
    ( \\ (?: [a-z]+ | . ) \s* \{ [^{}]* \} )    # not the argument of a command, such as an accent
    | \{ (?! \\ ) [^{}]* \}
    """,
    re.IGNORECASE | re.VERBOSE,
)
_DELIMITER = re.compile(r"\\.|[{}\"]", re.DOTALL)
_NAMED_PART = re.compile(r"(?:family|given|prefix|suffix)\s*=")  # BibLaTeX manual, section 2.3.3


def _separator(pattern: str) -> re.Pattern[str]:
    r"""Return a pattern that finds a separator, a brace, or a command with the space that ends it.

    ``_split`` passes over commands, so that the space of "\o " and the comma of "\," separate nothing.
    """
    return re.compile(rf"\\(?:[a-z]+[ \t]*|.)|[{{}}]|{pattern}", re.DOTALL | re.IGNORECASE)


_AND = _separator(r"(?:(?<=\s)|^)and(?=\s|$)")
_COMMA = _separator(",")
_SPACE = _separator(r"[\s~]+")


class ValuePiece(NamedTuple):
    """A piece of a value: a text in braces or quotation marks, or the text of a macro."""

    start: int
    """Where it starts, with its delimiter."""

    end: int
    """Where it ends."""

    text: str | None
    """The text of a macro, None if it is what the file has."""

    @property
    def span(self) -> tuple[int, int]:
        """Where its text starts and ends, without delimiters; of a macro, where its name does."""
        if self.text is None:
            return self.start + 1, self.end - 1
        return self.start, self.end


class Field(NamedTuple):
    """A field of an entry."""

    name: str
    """Its name, in lower case."""

    start: int
    """Where the name starts."""

    value: list[ValuePiece]
    """The pieces of its value."""

    @property
    def span(self) -> tuple[int, int]:
        """Where the text of its value starts and ends, without the outer delimiters."""
        return self.value[0].span[0], self.value[-1].span[1]


class BibTeXEntry(NamedTuple):
    """An entry with its fields."""

    type: str
    """Its type, in lower case."""

    key: str
    """Its key; "" if it has none."""

    start: int
    """Where it starts."""

    end: int
    """Where it ends."""

    is_closed: bool
    """Whether it ends with its brace."""

    fields: dict[str, str]
    """The text of each field, in TeX, with macros replaced."""

    spans: dict[str, tuple[int, int]]
    """Where the text of each field starts and ends."""


def entries(text: str) -> Iterator[BibTeXEntry]:
    """Yield the entries of a file.

    Of a field that an entry has twice, the first counts, as in BibTeX. A broken entry has the fields before
    the place where it is broken.

    >>> entry = next(entries("@Book{knuth1984, title = {The {TeX}book}, year = 1984}"))
    >>> entry.type, entry.key, entry.fields
    ('book', 'knuth1984', {'title': 'The {TeX}book', 'year': '1984'})
    """
    scanner = EntryScanner(text)
    for beginning, limit in scanner.entries():
        fields: dict[str, str] = {}
        spans: dict[str, tuple[int, int]] = {}
        for field in scanner.fields(limit):
            if field.name not in fields:
                fields[field.name] = scanner.text_of(field.value)
                spans[field.name] = field.span
        yield BibTeXEntry(
            beginning["type"].lower(),
            beginning["key"],
            beginning.start(),
            scanner.end,
            scanner.is_closed,
            fields,
            spans,
        )


class EntryScanner:
    """Finds the entries of one file, and their fields.

    ``entries`` yields the beginning of an entry; ``fields`` then reads its fields, and leaves ``end`` and
    ``is_closed`` behind. What ``@string`` defines is remembered for the entries that follow.

    An entry ends with its brace. If that is missing, or the entry is broken in another way, it ends before
    the next line that begins with an entry, and what is left of it is read as one text.

    :ivar end: where the last entry ends, once its fields are read.
    :ivar is_closed: whether it ends with its brace.
    """

    def __init__(self, text: str) -> None:
        self.end = 0
        self.is_closed = False
        self._text = text
        # Where the next line that begins with an entry starts, as ``_next_entry`` found it last
        self._next_start = 0
        self._macros: dict[str, str] = {}

    def entries(self) -> Iterator[tuple[re.Match[str], int]]:
        """Yield how each entry begins, and where it ends at the latest; the next one begins at ``end``."""
        text = self._text
        while (entry := ENTRY.search(text, self.end)) is not None:
            line = text.rfind("\n", self.end, entry.start()) + 1 or self.end
            if _COMMENTED_OUT.match(text, line):
                line_end = text.find("\n", entry.start())
                self.end = len(text) if line_end < 0 else line_end
                continue

            self.end = entry.end()
            limit = self._next_entry(self.end)
            match entry["type"].lower():
                case "comment" | "preamble":
                    self.end = closing(text, entry.start("open"), limit) or limit
                case "string":
                    self.end = self._string(entry.start("key"), limit)
                case _:
                    yield entry, limit

    def fields(self, limit: int) -> Iterator[Field]:
        """Yield the fields of the entry that ``entries`` yielded last, up to its brace or to what is broken.

        :param limit: where it ends at the latest. If a value goes on behind that, a later line limits the entry
        """
        position = self.end
        self.end = limit
        self.is_closed = False
        while True:
            name = _NAME.match(self._text, position, limit)
            if name is None:
                return
            if name["close"]:
                self.end = name.end()
                self.is_closed = True
                return
            value = self._value(name.end(), limit)
            if value is None:
                return
            yield Field(name["name"].lower(), name.start("name"), value)
            position = value[-1].end
            if position > limit:  # the value has a line that begins like an entry
                self.end = limit = self._next_entry(position)

    def text_of(self, value: list[ValuePiece]) -> str:
        """Return the text of a value, with macros replaced; a macro that is not known shows its name."""
        return "".join(piece.text or self._text[slice(*piece.span)] for piece in value)

    def _next_entry(self, start: int) -> int:
        """Return where the next line that begins with an entry starts."""
        if self._next_start < start:
            following = NEXT_ENTRY.search(self._text, start - 1)
            self._next_start = following.start() + 1 if following else len(self._text)
        return self._next_start

    def _value(self, start: int, limit: int) -> list[ValuePiece] | None:
        """Return the pieces of the value at ``start``, as in {a} # jan # "b"; None if it is broken.

        A line that begins with an entry is part of the value if the braces around it are balanced, so the value
        may end behind ``limit``.
        """
        pieces: list[ValuePiece] = []
        while True:
            piece = self._piece(start, limit)
            if piece is None:
                return None
            pieces.append(piece)
            limit = max(limit, piece.end)
            joined = _JOINED.match(self._text, piece.end, limit)
            if joined is None:
                return pieces
            start = joined.end()

    def _piece(self, start: int, limit: int) -> ValuePiece | None:
        """Return the piece of a value at ``start``: a text, a number or a macro; None if there is none."""
        end = closing(self._text, start, limit + _FURTHER)
        if end is not None:
            return ValuePiece(start, end, None)
        word = _MACRO.match(self._text, start, limit)
        if word is None:
            return None
        text = word[0] if word[0].isdecimal() else self._macros.get(word[0].lower(), "")
        return ValuePiece(start, word.end(), text)

    def _string(self, start: int, limit: int) -> int:
        """Remember the macro that ``@string`` defines; return where its value ends, or ``limit`` if broken."""
        name = _NAME.match(self._text, start, limit)
        if name is None or name["close"]:
            return limit
        value = self._value(name.end(), limit)
        if value is None:
            return limit
        self._macros[name["name"].lower()] = self.text_of(value)[:_LONGEST_MACRO]
        return value[-1].end


def closing(text: str, start: int, limit: int) -> int | None:
    """Return where the value ends that a brace or quotation mark at ``start`` opens.

    None if there is neither of them, or nothing closes it before ``limit``. A quotation mark in braces closes
    nothing, and neither does an escaped one.
    """
    opening = text[start : start + 1]
    if opening not in {"{", '"'}:
        return None
    depth = 0
    for token in _DELIMITER.finditer(text, start + 1, limit):
        is_outside_braces = depth == 0
        if token[0] == "{":
            depth += 1
        elif token[0] == "}" and not is_outside_braces:
            depth -= 1
        elif token[0] == "}":
            return token.end() if opening == "{" else None
        elif token[0] == opening and is_outside_braces:
            return token.end()
    return None


def names(value: str) -> list[dict[str, str]]:
    r"""Return the names in a field such as ``author`` as CSL-JSON; the last may be "others" (et al.).

    What braces enclose is a ``literal``, or one word of a name.

    >>> names(r"van der Berg, Anna and {Unicode Consortium} and Donald~E. Knuth and others")[:2]
    [{'family': 'Berg', 'non-dropping-particle': 'van der', 'given': 'Anna'}, {'literal': 'Unicode Consortium'}]
    """
    texts = (text.strip() for text in _split(value, _AND))
    return [_name(text) for text in texts if text]


def _name(tex: str) -> dict[str, str]:
    """Return a name as CSL-JSON; one without given names, such as "Aristotle", is a literal."""
    parts = _parts_of_name(tex)
    if "given" in parts:
        parts["given"] = _INITIAL.sub(" ", parts["given"])
    texts = {part: plain_text(tex) for part, tex in parts.items()}
    name = {part: text for part, text in texts.items() if text}
    if list(name) == ["family"]:
        return {"literal": name["family"]}
    return name


def _parts_of_name(text: str) -> dict[str, str]:
    """Return the parts of a name as CSL-JSON has them, in TeX.

    The forms of BibTeX are "Anna van der Berg", "van der Berg, Anna" and "van der Berg, Jr., Anna"; BibLaTeX also
    has "family=Berg, given=Anna, prefix=van der".
    """
    if _is_whole(text):
        return {"literal": text}
    parts = [part.strip() for part in _split(text, _COMMA)]
    if _NAMED_PART.match(text):
        return _parts_by_their_names(parts)

    if len(parts) == 1:
        words = _words(text)
        count = _count_given(words)
        return {**_family_parts(words[count:]), "given": " ".join(words[:count])}

    family_parts = _family_parts(_words(parts[0]))
    if len(parts) == 2:
        return {**family_parts, "given": parts[1]}
    return {**family_parts, "given": parts[-1], "suffix": parts[1]}


def _is_whole(text: str) -> bool:
    r"""Return whether braces enclose all of a name, as in "{NASA}"; those of an accent ("{\'E}") do not count."""
    return text[0] == "{" and text[1:2] != "\\" and closing(text, 0, len(text)) == len(text)


def _parts_by_their_names(parts: list[str]) -> dict[str, str]:
    """Return the parts of a name in BibLaTeX's own form, such as "family=Berg, given=Anna"."""
    named = {}
    for part in parts:
        name, _, value = part.partition("=")
        named[name.strip()] = value
    return {
        "family": named.get("family", ""),
        "non-dropping-particle": named.get("prefix", ""),
        "given": named.get("given", ""),
        "suffix": named.get("suffix", ""),
    }


def _words(text: str) -> list[str]:
    return [word for word in _split(text, _SPACE) if word]


def _count_given(words: list[str]) -> int:
    """Return how many words of a name without commas are given names: 1 for "Anna van der Berg", 2 for "D. E. Li".

    They end before the first particle, or before the last word.
    """
    for count, word in enumerate(words[:-1]):
        if _is_particle(word):
            return count
    return len(words) - 1


def _family_parts(words: list[str]) -> dict[str, str]:
    """Return the particle and the family name, as of "van der Berg"; the last word is always a family name."""
    count = 0
    while count < len(words) - 1 and _is_particle(words[count]):
        count += 1
    return {
        "family": " ".join(words[count:]),
        "non-dropping-particle": " ".join(words[:count]),
    }


def _is_particle(word: str) -> bool:
    """Return whether a word begins with a small letter, as "von" does, unless braces protect it, as in "{von}"."""
    return plain_text(_PROTECTED.sub(r"\1", word))[:1].islower()


def _split(text: str, separator: re.Pattern[str]) -> list[str]:
    """Return the pieces of a text between separators that are not in braces."""
    pieces: list[str] = []
    depth = 0
    start = 0
    for token in separator.finditer(text):
        if token[0] == "{":
            depth += 1
        elif token[0] == "}":
            depth -= 1
        elif depth == 0 and not token[0].startswith("\\"):
            pieces.append(text[start : token.start()])
            start = token.end()
    return [*pieces, text[start:]]
