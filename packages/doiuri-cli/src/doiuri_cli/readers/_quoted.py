"""Bibliographies in code, as manuals have them to say how a program is cited."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doiuri.bibtex import ENTRY, NEXT_ENTRY, closing

from doiuri_cli.readers._bibtex import parts
from doiuri_cli.readers._part import Part, moved

if TYPE_CHECKING:
    from collections.abc import Iterator

FIELD = re.compile(
    r"^[ \t]*(?:-[ \t]+)?[\"']?doi[\"']?[ \t]*[:=][ \t]*(?:\"(?P<double>[^\"\r\n]*)\"|'(?P<single>[^'\r\n]*)'"
    r"|(?P<plain>[^\s\"'\[{#&*!|>%@`](?:[^\r\n#]|(?<=\S)#)*?))[ \t]*(?:(?<=\s)#[^\r\n]*)?\r?$",
    re.IGNORECASE | re.MULTILINE,
)
_LINE_WITH_ENTRY = re.compile(r"(?:^[ \t>]*+|>)@(?=[A-Za-z]+[ \t]*\{)", re.MULTILINE)
_VALUE = re.compile(r"(?<=[ \t\"'])(?:https?://\S{1,99}?/|doi:)?10\.[0-9]{4,9}/\S+")  # not the URI doi:10.…
_COMMENT = 5000  # characters before a place in which a comment around it begins


def quoted(text: str, shown: str) -> Iterator[Part]:
    """Return the entries of BibTeX, and the fields of CFF and other YAML, that are in code.

    :param text: the text.
    :param shown: the text with blanks in the place of code.
    """
    if shown is text:
        return
    for line in _LINE_WITH_ENTRY.finditer(text):
        start = line.end() - 1
        entry = ENTRY.match(text, start)
        if entry is None or shown[start] == "@" or _in_comment(text, start):
            continue
        following = NEXT_ENTRY.search(text, entry.end())
        end = closing(text, entry.start("open"), following.start() if following else len(text))
        if end is not None:
            for part in parts(text[start:end]):
                yield moved(part, range(start, end + 1))
    for field in FIELD.finditer(text):
        start, end = field.span(field.lastgroup or 0)
        if shown[start:end].isspace() and _VALUE.fullmatch(text, start, end) and not _in_comment(text, start):
            yield Part(text[start:end], start=start, field=True)


def _in_comment(text: str, place: int) -> bool:
    before = max(0, place - _COMMENT)
    return text.rfind("<!--", before, place) > text.rfind("-->", before, place)
