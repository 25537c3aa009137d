"""The line on which an author wrote something.

docutils gives all that is inline in a block the line on which the block begins. Authors get the line itself.
"""

from pathlib import Path

from docutils import nodes


def set_line(node: nodes.Element) -> None:
    """Set ``node.line`` to the line that the node was written on, where its block tells."""
    if node.line is None and isinstance(child := next(iter(node.children), None), nodes.image):
        # a link around an image has no line of its own; with docutils 0.20, nor has the image
        node.source, node.line = child.source, child.line or _line_in_source(child)
    block = _block(node)
    if block is not None:
        node.source, node.line = node.source or block.source, node.line or block.line
    if node.line is not None:
        node.line += _lines_before(node, block) - _lines_late(node)


def _line_in_source(directive: nodes.Element) -> int | None:
    """Find the first place of a directive in the document's file, whatever stands left of it."""
    first, *others = [line.strip() for line in directive.rawsource.splitlines()] or [""]
    path = Path(directive.document.get("source", "") if directive.document else "")
    lines = [line.strip() for line in _lines_of(path)]
    for number, line in enumerate(lines, 1):
        if line.endswith(first) and lines[number : number + len(others)] == others:
            return number
    return None


def _lines_late(node: nodes.Element) -> int:
    """Count by how many lines docutils 0.20 is late with a term: it looks at the end of the definition."""
    parent: nodes.Node | None = node.parent
    while isinstance(parent, nodes.TextElement):
        parent = parent.parent
    if not isinstance(parent, nodes.definition_list_item) or parent[-1].line is not None:
        return 0
    return max(parent.rawsource.count("\n") - 1, 0)


def _block(node: nodes.Element) -> nodes.TextElement | None:
    """The paragraph, title, term … around an inline node, if it still has its source text."""
    parent: nodes.Node | None = node.parent
    while isinstance(parent, nodes.TextElement) and isinstance(parent, nodes.Inline):
        parent = parent.parent
    return parent if isinstance(parent, nodes.TextElement) and parent.rawsource else None


def _lines_before(node: nodes.Element, block: nodes.TextElement | None) -> int:
    """Count the line breaks before the node; of several that are written alike, before the right one."""
    written = _written(node)
    if block is None or not written or written not in block.rawsource:
        return 0
    place = -1
    for other in block.findall(type(node)):
        if _written(other) == written:
            place = block.rawsource.find(written, place + 1)
        if other is node:
            break
    return block.rawsource.count("\n", 0, max(place, 0))


def _written(node: nodes.Element) -> str:
    """What to look for: the URI, or the text in backticks, which is the same in reStructuredText and MyST."""
    raw: str = node.rawsource or node.get("refuri", "")
    return raw[raw.find("`") :] if "`" in raw else raw


def place_in_file(path: "Path", text: str) -> str:
    """Return ``file:line`` of the first line that has the text, for a warning; ``file:`` where none has."""
    number = next((str(number) for number, line in enumerate(_lines_of(path), 1) if text in line), "")
    return f"{path}:{number}"


def _lines_of(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
