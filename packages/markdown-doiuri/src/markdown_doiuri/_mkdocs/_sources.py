"""The sources of pages: which DOIs they mention, and which line a converted line comes from."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from doiuri import find

from markdown_doiuri._code import without_code

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri import DOI
    from mkdocs.structure.files import File

_LABEL = re.compile(r"(?:urn:|info:)?(?:doi|hdl)|(?:https?:)?//(?:dx\.|www\.)?doi\.org|<", re.IGNORECASE)


class Read(NamedTuple):
    """What the source of a page mentions, each DOI once, in order."""

    dois: list[DOI]
    cited: list[DOI]
    """Those of citations such as ``[@doi:10.1000/182]``."""


class Sources:
    """The DOIs in the sources of a site's pages; a file is read again only if it has changed."""

    def __init__(self, *, bare_names: bool) -> None:
        self._bare_names = bare_names
        self._known: dict[str, tuple[tuple[int, int], Read]] = {}  # by path, with what tells changes

    def read(self, file: File) -> Read:
        """Return the DOIs in the source of a page; code and math are left out."""
        path = file.abs_src_path
        if path is None:  # made by a plugin
            return self._find(file.content_string)
        status = Path(path).stat()
        state = status.st_mtime_ns, status.st_size
        known = self._known.get(path)
        if known is None or known[0] != state:
            known = self._known[path] = state, self._find(file.content_string)
        return known[1]

    def _find(self, source: str) -> Read:
        if "10." not in source:
            return Read([], [])
        # What this leaves out by mistake is requested with its page.
        text = without_code(source)
        dois: dict[DOI, None] = {}
        cited: dict[DOI, None] = {}
        for start, _, written, doi in find(text, "markdown"):
            if self._bare_names or _LABEL.match(written):
                dois[doi] = None
            if text[max(0, start - 2) : start].rstrip("{").endswith("@"):
                cited[doi] = None
        return Read(list(dois), list(cited))


class Lines:
    """The lines of a page's file that the lines of its converted text come from."""

    def __init__(self, source: str, converted: str) -> None:
        self._lines: list[int] = []
        self._offset = 0
        if source.endswith(converted):
            self._offset = source.count("\n", 0, len(source) - len(converted))  # front matter
        else:
            self._lines = list(_origins(source.splitlines(), converted.splitlines()))

    def __getitem__(self, line: int) -> int:
        """Return the line in the file for a line of the converted text; both are counted from 1."""
        return self._lines[line - 1] if line <= len(self._lines) else line + self._offset


def _origins(source: list[str], converted: list[str]) -> Iterator[int]:
    """Yield the line of the source for each converted line; for a new one, that replaced or before it."""
    for tag, start, end, first, last in SequenceMatcher(None, source, converted).get_opcodes():
        for number in range(last - first):
            yield max(1, start + number + 1 if tag == "equal" else min(start + number + 1, end))
