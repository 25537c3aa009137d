"""The source lines of inline nodes.

docutils gives an inline node the line on which its block begins. Warnings need the line of the node itself.
"""

from __future__ import annotations

from pathlib import Path

from docutils import nodes


def set_line(node: nodes.Element) -> None:
    """Set ``node.line`` to the source line of the node, if the source of its block is known."""
    if node.line is None and isinstance(child := next(iter(node.children), None), nodes.image):
        node.source, node.line = child.source, child.line  # a link around an image has no line
    block = _block(node)
    if block is not None:
        node.source, node.line = node.source or block.source, node.line or block.line
    if node.line is not None:
        node.line += _lines_before(node, block)


def _block(node: nodes.Element) -> nodes.TextElement | None:
    """Return the paragraph, title or term that contains an inline node, if its source is known."""
    parent: nodes.Node | None = node.parent
    while isinstance(parent, nodes.TextElement) and isinstance(parent, nodes.Inline):
        parent = parent.parent
    return parent if isinstance(parent, nodes.TextElement) and parent.rawsource else None


def _lines_before(node: nodes.Element, block: nodes.TextElement | None) -> int:
    """Return the number of lines of the block before a node; nodes with the same source are counted off."""
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
    """Return the part of a node's source that reStructuredText and MyST share: the backticks, or the URI."""
    raw: str = node.rawsource or node.get("refuri", "")
    return raw[raw.find("`") :] if "`" in raw else raw


def place_in_file(path: Path, text: str) -> str:
    """Return the location of a text in a file for a warning, as ``file:line``; ``file:`` if it is not there.

    :param path: the file.
    :param text: a part of the line to find, the first if there are several.
    """
    number = next((str(number) for number, line in enumerate(_lines_of(path), 1) if text in line), "")
    return f"{path}:{number}"


def _lines_of(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
