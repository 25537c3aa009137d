"""What a reader returns: the parts of a file that may mention DOIs, with the place of every character.

However a file writes a text, each character of it has its place in the file:

1. A reader passes over what cannot mention a DOI (``may_mention``, ``stretches``), and puts blanks in the place of
   what is not read, such as code (``blanked``), so that the rest keeps its places.
2. It undoes the escapes of its format (``undo``), and keeps where each character came from.
3. A ``Part`` has the text, the places, and what writes a text as the format does (``encode``).
4. A part of a text within a text, such as a docstring in a notebook's cell, becomes one of the text around it
   (``moved``).
5. ``location_of`` says where a piece of a part is, as people count lines and columns.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import NamedTuple, Protocol

from doiuri_cli.files import Lines, Source, SourceLocation, region_of

Span = tuple[int, int]


def unchanged(text: str) -> str:
    """Return the text: the file writes it as it is."""
    return text


_NO_FILE = Source("", "")


class Part(NamedTuple):
    """A part of a file that is written in one syntax.

    A part that the file has unchanged needs ``text``, ``syntax`` and ``start`` only.
    """

    text: str
    """The text, with the escapes of the file's format undone."""

    syntax: str = "text"
    """The syntax, as for :func:`doiuri.find`."""

    start: int = 0
    """Where the text starts in the file, if the file has it unchanged."""

    places: Sequence[int] | None = None
    """Where each character of the text stands in the file, and last where the text ends; None if the file has
    the text unchanged."""

    cell: int | None = None
    """The number of the notebook's cell, from 1; positions then count within the cell."""

    cell_text: str = ""
    """The text of the cell, if the part is only a piece of it, such as a comment."""

    cell_places: Sequence[int] | None = None
    """Where each character stands in ``cell_text``."""

    entry: str = ""
    """The citation key of the entry in a bibliography, or the name of the column; empty if there is none."""

    field: bool = False
    """Whether the text is the whole value of a field for a DOI."""

    labelled: bool = False
    """Whether only names with a label, and links, count: a bare name may be something else, as in a program."""

    ignored: frozenset[str] = frozenset()
    """The codes that are not reported in the notebook's cell, as a tag of it says; "*" stands for all codes."""

    encode: Callable[[str], str] = unchanged
    """Writes a text as the file's format does; the reverse of what the reader did. It raises ValueError if
    the format cannot represent the text."""

    source: Source = _NO_FILE
    """The file; readers leave it out."""

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where a piece of the text stands in the file.

        :param start: offset in the text of the piece's first character.
        :param end: offset after its last character.
        """
        if self.places is None:
            return self.start + start, self.start + end
        return self.places[start], self.places[end]

    def span_in_cell(self, start: int, end: int) -> tuple[int, int]:
        """Return where a piece of the text stands in the text of the notebook's cell.

        :param start: offset in the text of the piece's first character.
        :param end: offset after its last character.
        """
        if self.cell_places is None:
            return start, end
        return self.cell_places[start], self.cell_places[end]


def location_of(part: Part, start: int, end: int) -> SourceLocation:
    """Return where a piece of a part's text is: in the file, or in a notebook in the cell.

    :param start: offset in the text of the piece's first character.
    :param end: offset after its last character.
    """
    path = part.source.path
    entry = part.entry or None
    span = part.span(start, end)
    if part.cell is None:
        return SourceLocation.in_text(part.source.lines, path, *span, entry=entry)

    in_file = region_of(part.source.lines, *span)
    in_cell = part.span_in_cell(start, end)
    return SourceLocation.in_text(
        cell_lines(part), path, *in_cell, cell=part.cell, entry=entry, in_file=in_file
    )


def cell_text(part: Part) -> str:
    """Return the text of the notebook's cell that a part is in."""
    return part.cell_text or part.text


def cell_lines(part: Part) -> Lines:
    """Return the lines of the notebook's cell that a part is in."""
    return _lines(cell_text(part))


@lru_cache(4)  # a cell has many mentions one after the other
def _lines(text: str) -> Lines:
    return Lines(text)


def read_text(source: Source) -> Iterator[Part]:
    """Return the whole text of a plain text."""
    yield Part(source.text)


class Reader(Protocol):
    """A function that reads one type of file; the entry point ``doiuri.readers`` registers it."""

    def __call__(self, source: Source) -> Iterable[Part]:
        """Return the parts of a file that may mention DOIs, in order.

        :raises ReadError: if the file is not what its name says.
        """


class ReadError(ValueError):
    """A file is not what its name says, such as a notebook that is not JSON.

    :param reason: what is wrong.
    :param line: the line of the first character that is wrong, from 1; None if it is not known.
    :param column: its column, from 1.
    """

    def __init__(self, reason: str, line: int | None = None, column: int = 1) -> None:
        message = reason if line is None else f"line {line}, column {column}: {reason}"
        super().__init__(message)
        self.reason = reason
        self.line = line
        self.column = column


_LINE_BREAK = re.compile(r"[\r\n]")


class Decoded(NamedTuple):
    """A text without the escapes of its format."""

    text: str  # the text
    places: Sequence[int]  # where each character stands, and last where the text ends


def undo(
    text: str,
    spans: Iterable[tuple[int, int]],
    escape: re.Pattern[str],
    meaning: Callable[[re.Match[str]], str],
) -> Decoded:
    """Return pieces of a text, concatenated, without their escapes.

    Of YAML's ``a''b`` with the escape ``''``, the text is ``a'b``, with the places 0, 1, 3 and, at its end, 4.

    :param spans: offsets of the first character of each piece, and after its last one.
    :param escape: matches one escape.
    :param meaning: returns what an escape stands for; each character of it has the place of the escape.
    """
    pieces: list[str] = []
    places = array("q")  # a list takes four times the memory
    end = 0
    for start, end in spans:
        last = start
        for match in escape.finditer(text, start, end):
            meant = meaning(match)
            pieces += [text[last : match.start()], meant]
            places.extend(range(last, match.start()))
            places.extend([match.start()] * len(meant))
            last = match.end()
        pieces.append(text[last:end])
        places.extend(range(last, end))
    places.append(end)
    return Decoded("".join(pieces), places)


def moved(part: Part, places: Sequence[int], encode: Callable[[str], str] = unchanged) -> Part:
    """Return a part of an embedded text, such as a docstring, as a part of the text around it.

    :param places: where each character of the text stands, and where it ends.
    :param encode: escapes a text as the text around it needs it.
    """
    if encode is not unchanged:
        part = part._replace(encode=partial(_nested, part.encode, encode))  # can be pickled
    if isinstance(places, range) and part.places is None:
        # The text around it has the part unchanged: only the start differs
        return part._replace(start=places[part.start])
    return part._replace(places=[places[place] for place in inner_places(part)])


def _nested(inner: Callable[[str], str], outer: Callable[[str], str], text: str) -> str:
    return outer(inner(text))


def inner_places(part: Part) -> Sequence[int]:
    """Return where each character of a part stands, and where it ends."""
    return part.places or range(part.start, part.start + len(part.text) + 1)


def one_line(text: str) -> str:
    """Return the text: the file writes it as it is, in a line.

    :raises ValueError: if the text has a line break.
    """
    if _LINE_BREAK.search(text):
        raise ValueError(f"a line break cannot be written here: {text!r}")
    return text


_ATTEMPT = re.compile(r"(?=\D*\d).*?(?:10\.|/|doi\s*:)", re.IGNORECASE | re.DOTALL)
_LINK = re.compile(r"\s*(?:https?:)?//[^\s#?]*?10\.", re.IGNORECASE)


def is_attempt(text: str) -> bool:
    """Return whether the value of a key ``doi`` is meant for one.

    A description is not, nor the key of something else, nor the label of a field, such as "DOI/URL".
    """
    return _ATTEMPT.match(text) is not None


def value_of_doi(part: Part) -> Part:
    """Return the value of a key ``doi`` that no schema describes: a field, or a text if it is a link.

    Templates of sites use the key as the address of a link, and programs return links in it.
    """
    return part._replace(field=not _LINK.match(part.text))


def unwritable(text: str) -> str:
    """Refuse a text: nothing is fixed in the part.

    :raises ValueError: always.
    """
    raise ValueError(f"nothing is written here: {text!r}")


# May stand for what a name continues with; one set of all of them would take long to compile
_ESCAPED = r"(?:[\\%&{}<\xad]|(?=[\u200b\u2060])|\ufeff)"
_BROKEN = r"10(?:[&{<]|\\(?![%&#$_]))|1\\-0"
# The start of a name, also one with escapes or invisible characters, but not a decimal
# A longer run of digits and dots counts too, so that none is read twice, and the time stays linear
_RUN = "[0-9.]{0,30}+"
_NAME = re.compile(rf"10\.{_RUN}(?:[0-9./:]|{_ESCAPED})|{_BROKEN}")
# One that counts without a label: versions and addresses such as v10.2/guide are frequent
_BARE_NAME = re.compile(
    rf"""
    10\. (?: [0-9]{{4}} {_RUN} [0-9./:] | {_RUN} {_ESCAPED} )
  | {_BROKEN}
    """,
    re.VERBOSE,
)
_LABEL = re.compile("doi|hdl", re.IGNORECASE)
_ON_LINE = re.compile(r"[^\r\n]+")


def may_mention(text: str) -> bool:
    """Return whether the text may mention a DOI. Most files are passed over by this alone."""
    if "doi" in text or "DOI" in text or "Doi" in text or "arxiv:`" in text or "{arxiv}`" in text:
        return True
    # An invalid DOI is meant by "doi" only; with a name, any label counts
    return _NAME.search(text) is not None and bool(_BARE_NAME.search(text) or _LABEL.search(text))


def blanked(text: str, spans: Iterable[Span]) -> str:
    """Return the text with blanks in the place of the spans; line ends stay, and so does every offset.

    :param spans: start and end of each piece, in order. One that cannot mention a DOI may stay as it is.
    """
    pieces: list[str] = []
    last = 0
    for start, end in spans:
        if start < last or not holds_sign(text, start, end):
            continue
        pieces += [text[last:start], _ON_LINE.sub(_blanks, text[start:end])]
        last = end
    if not pieces:
        return text
    return "".join([*pieces, text[last:]])


def stretches(text: str, separator: str) -> Iterator[Span]:
    """Yield start and end of the pieces of the text between separators that may mention a DOI, in order.

    Of the lines "a", "doi" and "b", it is the second; the others are passed over without a look at each.
    """
    # Where each sign of a DOI stands next: each is searched again only when it was passed
    next_places = dict.fromkeys(("10", "doi", "arxiv"), -1)
    position = 0
    while True:
        for sign, place in next_places.items():
            if place < position:
                next_places[sign] = _next_sign(text, sign, position)
        nearest = min(next_places.values())
        if nearest == len(text):
            return

        before = text.rfind(separator, position, nearest)
        start = before + len(separator) if before >= 0 else position
        end = text.find(separator, nearest)
        position = end if end >= 0 else len(text)
        yield start, position


def paragraphs(text: str) -> Iterator[Span]:
    """Yield start and end of the paragraphs that may mention a DOI, in order."""
    separator = "\n\r\n" if "\r\n" in text else "\n\n"
    return stretches(text, separator)


def _next_sign(text: str, sign: str, start: int) -> int:
    """Return where a sign of a DOI stands next; the length of the text if it does not."""
    if sign == "10":
        name = _NAME.search(text, start)
        return name.start() if name else len(text)
    place = text.find(sign, start)
    return place if place >= 0 else len(text)


def holds_sign(text: str, start: int, end: int) -> bool:
    """Return whether a piece of the text may hold a sign of a DOI."""
    return any(text.find(sign, start, end) >= 0 for sign in ("10", "doi", "arxiv"))


def _blanks(line: re.Match[str]) -> str:
    return " " * len(line[0])


class Closers:
    """Finds what closes code. A closer that is not there is searched once, so that the time stays linear."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._missing: set[re.Pattern[str]] = set()

    def end(self, closer: re.Pattern[str], start: int) -> int | None:
        """Return where the next match of the closer from ``start`` on ends; None if there is none."""
        if closer in self._missing:
            return None
        match = closer.search(self._text, start)
        if match is None:
            self._missing.add(closer)
            return None
        return match.end()
