"""DOIs in reStructuredText: escapes, literals, roles, embedded and explicit targets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from doiuri._find._markup import Piece, Rendered, Scanner, name_start
from doiuri._patterns import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri._find._markup import Part
    from doiuri._find._plain import Mention

_TAIL = "_"  # an underscore at the end of a word makes it a reference
_ROLE = lazy(r":([A-Za-z][\w.+:-]{0,99}):\Z")
_DOI_ROLE = lazy(r"(?:^|[:_-])doi\Z", re.IGNORECASE)
_NEARBY = 120  # how far back the name of a role and the margin of a target are looked for
_MARGIN = lazy(r"^([ \t]*)(?:\.\.[ ]_|__)\Z", re.MULTILINE)
_TARGET_NAME = lazy(
    r"(?:_?(?:`[^`\n]*`|[^\\:\n`]*+(?:\\.[^\\:\n`]*+)*):|(?<=__))([ \t]+|[ \t]*\n[ \t]+)(?=\S)",
    re.DOTALL,
)
_EMBEDDED_URI = lazy(r"(?:^|(?<=\s))<")
_PHRASE_END = lazy(r"[^`\\]*+(?:\\.[^`\\]*+)*`", re.DOTALL)
_ESCAPE = lazy(r"\\(.)", re.DOTALL)
# Inside the angle brackets of a SICI, a line is broken behind a dash or colon
_BREAK = r"\n(?<=[-:]\n)[ \t]*(?=[^\s<>`]{1,40}>[0-9]\.[0-9]\.(?:CO|TX);)"
_ESCAPE_OR_BREAK = lazy(rf"\\(.)|{_BREAK}", re.DOTALL)
_SICI_BREAK = lazy(_BREAK)
_ESCAPE_OR_SPACE = lazy(
    r"\\(.)|\s+", re.DOTALL
)  # docutils drops white space in the URI of a target

_BLANKS = r"\s+[0-9./:%\\]"


class RST(Scanner):
    """reStructuredText."""

    # The second is for URIs of targets: docutils drops white space there
    names = lazy(name_start(r"\\")), lazy(name_start(_BLANKS) + "(?<=[/<:]1)")
    boundary = lazy(
        r"\n(?=[ \t]*+(?:\.\. |\r?(?:\n|\Z)))"
    )  # before explicit markup or a blank line
    first = lazy(r"[\\`_]")
    token = lazy(
        r"(?P<escape>\\.)|(?P<literal>``)|(?P<phrase>`)|(?P<target>_(?:(?<=\.\. _)|(?<=__)(?<!\S__)))",
        re.DOTALL,
    )
    delimiters: ClassVar = {">": (" <", "\n<"), "`": (" `", ":`", "(`", "\n`")}
    tail = _TAIL

    def stretch(self, start: int, end: int, edits: list[Piece]) -> Rendered:
        if self.text.find("<", start, end) >= 0:
            breaks = [
                Piece(*line.span(), "") for line in _SICI_BREAK.finditer(self.text, start, end)
            ]
            edits = sorted(edits + breaks)
        return super().stretch(start, end, edits)

    def meaning(self, token: re.Match[str], end: int) -> str | Part | None:
        match token.lastgroup:
            case "escape" if not token[0][1].isspace():
                return token[0][1]
            case "literal":
                return self._literal(token.end(), end)
            case "phrase":
                return self._phrase(token, end)
            case "target":
                return self._target(token.end())
            case _:
                return (), token.end()  # escaped white space: nothing is seen, but names end there

    def _literal(self, start: int, limit: int) -> Part:
        end = self.text.find("``", start, limit)
        if end < 0:
            return (), start
        return Rendered(self.text, start, end).mentions(), end + 2

    def _phrase(self, token: re.Match[str], limit: int) -> Part:
        """Interpreted text or a phrase reference."""
        start, end = token.span()
        phrase = _PHRASE_END.match(self.text, end, limit)
        if phrase is None:
            return (), end
        role = _ROLE.search(self.text, max(0, start - _NEARBY), start)
        return _in_phrase(self.text, end, phrase.end() - 1, role[1] if role else None), phrase.end()

    def _target(self, start: int) -> Part | None:
        """The URI of an explicit target whose underscore ends at ``start``."""
        margin = _MARGIN.search(self.text, max(0, start - _NEARBY), start)
        name = _TARGET_NAME.match(self.text, start) if margin else None
        if margin is None or name is None:
            return None
        _, line_end, blanks = name[1].rpartition("\n")
        if line_end and len(blanks) <= len(margin[1]):
            return None  # an internal target, and the next line is another block
        end = _block_end(self.text, name.end(), margin[1])
        return _delimited(self.text, name.end(), end, link=True), end


def _in_phrase(text: str, start: int, end: int, role: str | None) -> Iterator[Mention]:
    """Yield the mentions in a phrase: in its title and its ``<target>``, or in its one text."""
    labelled = role is not None and _DOI_ROLE.search(role) is not None
    openings = list(_EMBEDDED_URI.finditer(text, start, end)) if text[end - 1] == ">" else []
    # The title may hold a "<" too; a name (SICI) has no blank before
    title_end, target_start = openings[-1].span() if openings else _repeated(text, start, end)
    if title_end == end:
        yield from _delimited(text, start, end, labelled=labelled)
        return
    yield from Rendered.replacing(text, (start, title_end), _ESCAPE, _unescaped).mentions()
    yield from _delimited(text, target_start, end - 1, labelled=labelled, link=role is None)


def _repeated(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span of the "<" in ``NAME<NAME>``, with the same name twice; or the ``end``, empty."""
    opening = text.rfind("<", start, end) if text[end - 1] == ">" else -1
    first, second = text.find("10.", start, opening), text.find("10.", opening, end)
    if start < first < second < end or start == first < second:
        same = text[first:opening].lower() == text[second : end - 1].lower()
        return (opening, opening + 1) if same else (end, end)
    return end, end


def _delimited(
    text: str, start: int, end: int, *, labelled: bool = False, link: bool = False
) -> Iterator[Mention]:
    pattern = _ESCAPE_OR_SPACE if link else _ESCAPE
    rendered = Rendered.replacing(text, (start, end), pattern, _unescaped)
    mention = rendered.whole(labelled=labelled, link=link)
    if mention is not None:
        yield mention
    else:
        yield from Rendered.replacing(text, (start, end), _ESCAPE_OR_BREAK, _unescaped).mentions(
            _TAIL
        )


def _unescaped(token: re.Match[str]) -> str:
    return token[1] or ""


def _block_end(text: str, start: int, indent: str) -> int:
    """Return where the block of ``start`` ends: before a blank line or one that is indented no deeper."""
    block = re.compile(rf"[^\n]*+(?>(?:\n{indent}[ \t]++\S[^\n]*+)*)").match(text, start)
    return block.end() if block else start
