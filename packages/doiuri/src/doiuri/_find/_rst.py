"""DOIs in reStructuredText: escapes, literals, roles, embedded and explicit targets."""

import re

from doiuri._find._rendered import View, next_token

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from doiuri._find._plain import Found
    from doiuri._find._rendered import Edit

_FIRST = re.compile(r"[\\`_]")
_TOKEN = re.compile(r"(?P<escape>\\.)|(?P<literal>``)|(?P<phrase>`)|(?P<target>_)", re.DOTALL)
_ROLE = re.compile(r":([A-Za-z][\w.+:-]{0,99}):\Z")
_MARGIN = re.compile(r"^([ \t]*)(?:\.\.[ ]_|__)\Z", re.MULTILINE)
_REST = re.compile(
    r"(?:_?(?:`[^`\n]*`|(?:\\.|[^\\:\n`])*+):|(?<=__))([ \t]+|[ \t]*\n[ \t]+)(?=\S)", re.DOTALL
)
_NEAR = 120  # how far back a role's name or a target's margin is looked for
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPE_OR_SPACE = re.compile(r"\\(.)|\s+", re.DOTALL)
_CLOSER = re.compile(r"(?:\\.|[^`\\])*+`", re.DOTALL)
_EXPLICIT = re.compile(r"(?:^|(?<=\s))<")
_DOI_ROLE = re.compile(r"(?:^|[:_-])doi\Z", re.IGNORECASE)
_TAIL = "_"  # an underscore at the end of a word makes it a reference


def found(text: str) -> "Iterator[Found]":
    """Yield start, end and DOI of each mention in reStructuredText."""
    begin = position = 0
    edits: list[Edit] = []
    while (token := next_token(text, position, _FIRST, _TOKEN)) is not None:
        start, position = token.span()
        kind = token.lastgroup
        if kind == "escape" and not token[0][1].isspace():
            edits.append((start, position, token[0][1]))
            continue
        target = _target(text, position) if kind == "target" else None
        if kind == "target" and target is None:
            continue
        yield from View(text, begin, start, edits).names(_TAIL)
        edits = []
        if target is not None:
            yield from _delimited(text, *target, _ESCAPE_OR_SPACE)
            position = target[1]
        elif kind == "literal":
            end = text.find("``", position)
            if end >= 0:
                yield from View(text, position, end).names()
                position = end + 2
        elif kind == "phrase":
            closer = _CLOSER.match(text, position)
            if closer is not None:
                role = _ROLE.search(text, max(0, start - _NEAR), start)
                yield from _phrase(text, position, closer.end() - 1, role[1] if role else None)
                position = closer.end()
        begin = position
    yield from View(text, begin, len(text), edits).names(_TAIL)


def _target(text: str, place: int) -> tuple[int, int] | None:
    """Return from where to where the URI is of the explicit target whose mark ends at ``place``."""
    margin = _MARGIN.search(text, max(0, place - _NEAR), place)
    rest = _REST.match(text, place) if margin else None
    if margin is None or rest is None:
        return None
    _, line_end, blanks = rest[1].rpartition("\n")
    if line_end and len(blanks) <= len(margin[1]):
        return None  # an internal target, and the next line is another block
    return rest.end(), _block_end(text, rest.end(), margin[1])


def _phrase(text: str, start: int, end: int, role: str | None) -> "Iterator[Found]":
    """Yield the mentions in interpreted text or a phrase reference: ``title <target>``, or one text."""
    labelled = role is not None and _DOI_ROLE.search(role) is not None
    pattern = _ESCAPE if role is not None else _ESCAPE_OR_SPACE
    openings = list(_EXPLICIT.finditer(text, start, end)) if text[end - 1] == ">" else []
    if not openings:
        yield from _delimited(text, start, end, _ESCAPE, labelled=labelled)
        return
    # The title may hold a "<" too; that of a name (SICI) has no blank before it. docutils drops white space
    # in a reference's target.
    explicit = openings[-1]
    yield from View(text, start, explicit.start(), _edits(text, start, explicit.start(), _ESCAPE)).names()
    yield from _delimited(text, explicit.end(), end - 1, pattern, labelled=labelled)


def _delimited(
    text: str, start: int, end: int, pattern: re.Pattern[str], *, labelled: bool = False
) -> "Iterator[Found]":
    link = pattern is _ESCAPE_OR_SPACE
    found = View(text, start, end, _edits(text, start, end, pattern)).whole(labelled=labelled, link=link)
    if found is not None:
        yield found
    else:
        yield from View(text, start, end, _edits(text, start, end, _ESCAPE)).names(_TAIL)


def _edits(text: str, start: int, end: int, pattern: re.Pattern[str]) -> "list[Edit]":
    return [(*edit.span(), edit[1] or "") for edit in pattern.finditer(text, start, end)]


def _block_end(text: str, start: int, indent: str) -> int:
    """Return where the block of ``start`` ends: before the next line that is indented no deeper."""
    while True:
        end = text.find("\n", start)
        if end < 0:
            return len(text)
        line = text[end + 1 : end + 2 + len(indent)]
        if not (line.startswith(indent) and line[-1:] in {" ", "\t"} and len(line) > len(indent)):
            return end
        following = text.find("\n", end + 1)
        if not text[end + 1 : following if following >= 0 else len(text)].strip():
            return end
        start = end + 1
