"""Mentions of DOIs in running text: which of them are links, and where they begin and end."""

import re
from typing import NamedTuple

from doiuri import DOI, DOISyntaxError, Match, find

from markdown_doiuri._options import Options
from markdown_doiuri._rendered import BOUNDARY, View
from markdown_doiuri._report import Report
from markdown_doiuri._stash import Stash

_LABEL = re.compile(r"(?:urn:|info:)?(?:doi|hdl)(?![.\w])", re.IGNORECASE)
_LABEL_BEFORE = re.compile(r"(?<![A-Za-z0-9À-ɏ_-])doi[:\uff1a][ ]?", re.IGNORECASE)
_NAME = re.compile(rf"10\.[^\s{BOUNDARY}]*")
# Nearly all mentions: a usual label and name between blanks, without a character that Markdown could mean
_PLAIN = re.compile(
    r"(?:(?<=(?<![^ \n])doi:)|(?<=(?<![^ \n])DOI:)|(?<=(?<![^ \n])doi:[ ])|(?<=(?<![^ \n])DOI:[ ]))"
    r"10\.[0-9]{4,9}+/(?:[./-]*+[A-Za-z0-9]++)++(?=[.,;:!?]{0,3}+(?:[ \n]|\Z))"
)
_CLOSING = ".,;:!?)]}>\"'”’»"
_URL = 2_000  # characters of a URL that are looked at


class Mention(NamedTuple):
    """From ``start`` to ``end`` of the data, with the name at ``name``; ``text`` is what readers see."""

    start: int
    name: int
    end: int
    text: str
    doi: DOI


class Mentions:
    """Finds mentions in one text after the other, and reports what only looks like one."""

    def __init__(self, stash: Stash, options: Options, report: Report) -> None:
        self._stash = stash
        self._labels = options.bare
        self._names = options.bare_names
        self._report = report

    def find(self, data: str) -> list[Mention]:
        """Return the mentions in ``data``, in order."""
        if not self._names and not any(label in data.lower() for label in ("doi", "hdl")):
            return []
        view = View(data, self._stash)
        matches = list(find(view.text))
        if self._labels:
            self._report_attempts(view.text, matches)
        return [mention for match in matches if (mention := self._mention(match, view))]

    def plain(self, data: str, name: int) -> Mention | None:
        """Return the mention whose name begins at ``name`` if one look tells that :meth:`find` finds it."""
        match = _PLAIN.match(data, name)
        if (
            match is None or not self._labels or "$" in data or "{" in data
        ):  # it may be in math, or an attribute
            return None
        start, end = name - (5 if data[name - 1] == " " else 4), match.end()
        return Mention(start, name, end, data[start:end], DOI.parse(match[0]))

    def _mention(self, match: Match, view: View) -> Mention | None:
        start, name = match.start, view.text.find("10", match.start, match.end)
        labelled = _LABEL.match(match.text) is not None
        if not labelled and (label := _label_before(view.text, start)):
            start, labelled = start - label, True  # before a raw "#" the label is no part of the match
        if not (self._labels if labelled else self._names and name == start):
            return None
        if _in_word(view.text, start, labelled=labelled):
            return None
        if view.broken(start, name):
            start = name  # **DOI:** 10.1000/182
        begin, middle, end = view.place(start), view.place(name), view.place(match.end)
        if begin is None or middle is None or end is None:
            return None
        return Mention(begin, middle, end, view.text[start : match.end], match.doi)

    def _report_attempts(self, text: str, matches: list[Match]) -> None:
        """Report what has a label and a prefix, but is no DOI."""
        last = 0
        for start, end in [*((match.start, match.end) for match in matches), (len(text), 0)]:
            for name in _NAME.finditer(text, last, start):
                label = _label_before(text, name.start())
                written = text[name.start() - label : name.end()].rstrip(_CLOSING)
                try:
                    DOI.parse(written.replace("\uff1a", ":", 1))
                except DOISyntaxError as error:
                    if label:
                        self._report.bad(written, error)
            last = end


def _label_before(text: str, start: int) -> int:
    """Return the length of a label "doi:" right before ``start``, or 0."""
    for length in (4, 5):
        if start >= length and _LABEL_BEFORE.fullmatch(text, start - length, start):
            return length
    return 0


def _in_word(text: str, start: int, *, labelled: bool) -> bool:
    """Tell whether ``start`` is inside a longer word, a path or a URL."""
    before = text[start - 1 : start] if start else " "
    if before.isspace() or before == BOUNDARY:
        return False
    # find has looked at letters, which in some scripts stand beside a name without a space
    if (before.isascii() and before.isalnum()) or before in ("_-/" if labelled else "_-/.:@&=?#%+"):
        return True
    return "://" in text[max(0, start - _URL) : start].rsplit(maxsplit=1)[-1]
