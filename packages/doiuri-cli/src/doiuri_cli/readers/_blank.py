"""Blank out what is not read, such as code: the rest of the text keeps its places."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Span = tuple[int, int]

# May stand for what a name continues with; one set of all of them would take long to compile
_ESCAPED = r"(?:[\\%&{}<\xad]|(?=[\u200b\u2060])|\ufeff)"
_BROKEN = r"10(?:[&{<]|\\(?![%&#$_]))|1\\-0"
# The start of a name, also one with escapes or invisible characters, but not a decimal
# A longer run of digits and dots counts too, so that none is read twice, and the time stays linear
_RUN = "[0-9.]{0,30}+"
_NAME = re.compile(rf"10\.{_RUN}(?:[0-9./:]|{_ESCAPED})|{_BROKEN}")
# One that counts without a label: versions and addresses such as v10.2/guide are frequent
_BARE_NAME = re.compile(rf"10\.(?:[0-9]{{4}}{_RUN}[0-9./:]|{_RUN}{_ESCAPED})|{_BROKEN}")
_LABEL = re.compile("doi|hdl", re.IGNORECASE)
_ON_LINE = re.compile(r"[^\r\n]+")


def may_mention(text: str) -> bool:
    """Return whether the text may mention a DOI. Most files are passed over by this alone."""
    if "doi" in text or "arxiv:`" in text or "{arxiv}`" in text:
        return True
    # An invalid DOI is meant by "doi" only; with a name, any label counts
    return _NAME.search(text) is not None and bool(_BARE_NAME.search(text) or _LABEL.search(text))


def blanked(text: str, spans: Iterable[Span]) -> str:
    """Return the text with blanks in the place of the spans; line ends stay.

    :param text: the text.
    :param spans: start and end of each piece, in order. One that cannot mention a DOI may stay as it is.
    """
    pieces: list[str] = []
    last = 0
    for start, end in spans:
        if start < last or not holds_sign(text, start, end):
            continue
        pieces += text[last:start], _ON_LINE.sub(_blanks, text[start:end])
        last = end
    return "".join((*pieces, text[last:])) if pieces else text


def stretches(text: str, separator: str) -> Iterator[Span]:
    """Yield start and end of the pieces of the text between separators that may mention a DOI, in order."""
    signs = dict.fromkeys(("10", "doi", "arxiv"), -1)  # where each is found next
    position = 0
    while True:
        for sign, place in signs.items():
            if place < position:
                signs[sign] = _next_name(text, position) if sign == "10" else text.find(sign, position)
                if signs[sign] < 0:
                    signs[sign] = len(text)
        place = min(signs.values())
        if place == len(text):
            return
        before = text.rfind(separator, position, place)
        start = before + len(separator) if before >= 0 else position
        after = text.find(separator, place)
        position = after if after >= 0 else len(text)
        yield start, position


def paragraphs(text: str) -> Iterator[Span]:
    """Yield start and end of the paragraphs that may mention a DOI, in order."""
    return stretches(text, "\n\r\n" if "\r\n" in text else "\n\n")


def _next_name(text: str, start: int) -> int:
    name = _NAME.search(text, start)
    return name.start() if name else -1


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
        found = closer.search(self._text, start)
        if found is None:
            self._missing.add(closer)
            return None
        return found.end()
