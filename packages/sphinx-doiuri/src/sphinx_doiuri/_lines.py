"""The source lines of inline nodes.

docutils gives an inline node the line on which its block begins. Warnings need the line of the node itself.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes

if TYPE_CHECKING:
    from collections.abc import Collection


class InlineLines:
    """The source lines of the inline nodes of a document, as long as none of them is replaced."""

    def __init__(self) -> None:
        self._lines: dict[tuple[int, type[nodes.Element]], dict[int, int]] = {}

    def set_on(self, node: nodes.Element) -> None:
        """Set ``node.line`` to the source line of the node, if the source of its block is known."""
        if node.line is None and isinstance(child := next(iter(node.children), None), nodes.image):
            node.source, node.line = child.source, child.line  # a link around an image has no line
        block = _block(node)
        if block is None:
            return
        node.source, node.line = node.source or block.source, node.line or block.line
        if node.line is not None:
            node.line += self._lines_before(node, block)

    def _lines_before(self, node: nodes.Element, block: nodes.TextElement) -> int:
        key = id(block), type(node)
        if key not in self._lines:
            self._lines[key] = _lines_in(block, type(node))
        return self._lines[key][id(node)]


def _block(node: nodes.Element) -> nodes.TextElement | None:
    """Return the paragraph, title or term that contains an inline node, if its source is known."""
    parent: nodes.Node | None = node.parent
    while isinstance(parent, nodes.TextElement) and isinstance(parent, nodes.Inline):
        parent = parent.parent
    return parent if isinstance(parent, nodes.TextElement) and parent.rawsource else None


def _lines_in(block: nodes.TextElement, kind: type[nodes.Element]) -> dict[int, int]:
    """Return the number of lines of a block before each node of a kind, by the node's id.

    Nodes with the same source are counted off. A node whose source is not in the block is on the first line.
    """
    written = [(id(node), _written(node)) for node in block.findall(kind)]
    positions = _positions({text for _, text in written}, block.rawsource)
    left = {text: cycle((*found, 0)) for text, found in positions.items()}
    ends = [end.start() for end in re.finditer("\n", block.rawsource)]
    return {node: bisect_left(ends, next(left[text])) for node, text in written}


def _positions(texts: Collection[str], source: str) -> dict[str, list[int]]:
    """Return where each text is in a source, in time that is linear if the texts have few lengths."""
    positions: dict[str, list[int]] = {text: [] for text in texts}
    first = "".join({text[:1] for text in texts})
    starts = [start.start() for start in re.finditer(f"[{re.escape(first)}]", source)] if first else ()
    for length in {len(text) for text in texts if text}:
        for start in starts:
            text = source[start : start + length]
            if text in positions and len(text) == length:  # it is shorter at the end
                positions[text].append(start)
    return positions


def _written(node: nodes.Element) -> str:
    """Return the part of a node's source that reStructuredText and MyST share: the backticks, or the URI."""
    raw: str = node.rawsource or node.get("refuri", "")
    return raw[raw.find("`") :] if "`" in raw else raw


def location_in_file(path: Path, text: str) -> str:
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
