"""The source lines of inline nodes.

docutils gives an inline node the line on which its block begins. Reports need the line of the node itself.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.utils import get_source_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet


def set_lines(document: nodes.document, inline: Sequence[nodes.Element]) -> None:
    """Set the file and line of inline nodes, as far as they are known.

    The lines of docutils are wrong in tables, docstrings, and what directives parse or read from files. So a
    node is on a line of its block that has its source; or else on the nearest line that has it, in its own
    file or another one that the document is made of. Nodes with the same source take these lines in turn.

    :param document: the document, whose settings name the files.
    :param inline: the nodes, in their order, before any of them is replaced.
    """
    texts = [_written(node).partition("\n")[0] for node in inline]
    lasts = [_estimate(node, text) for node, text in zip(inline, texts, strict=True)]
    names = [(node.source or "").partition(":docstring of ")[0] for node in inline]
    read = getattr(document.settings.record_dependencies, "list", ())
    places: dict[str, list[tuple[str, int]]] = {text: [] for text in texts}
    for name in dict.fromkeys((*names, *map(str, read))):
        for text, line in _find_lines(places.keys(), name):
            places[text].append((name, line))
    free = {text: Counter(found) for text, found in places.items()}
    for node, text, own, last in zip(inline, texts, names, lasts, strict=True):
        if node.line and places[text]:
            node.source, node.line = best = _nearest(free[text], own, node.line, last)
            free[text][best] -= 1


def _nearest(places: Counter[tuple[str, int]], own: str, first: int, last: int) -> tuple[str, int]:
    """Return the place in a block, or else the nearest one; if possible, one that is free."""

    def rank(place: tuple[str, int]) -> tuple[bool, bool, bool, int]:
        is_other, distance = place[0] != own, max(first - place[1], place[1] - last, 0)
        return is_other or distance > 0, places[place] <= 0, is_other, distance

    return min(places, key=rank)


def _estimate(node: nodes.Element, text: str) -> int:
    """Set the line of a node to that of its block, if it has none; return the last line that it may be on."""
    if node.line is None and isinstance(child := next(iter(node.children), None), nodes.image):
        node.source, node.line = child.source, child.line  # a link around an image has no line
    block: nodes.Node | None = node.parent
    while isinstance(block, nodes.TextElement) and isinstance(block, nodes.Inline):
        block = block.parent
    written = block.rawsource if isinstance(block, nodes.TextElement) else ""
    source, line = get_source_line(block if block and written else node)
    node.source, node.line = node.source or source, node.line or line
    return (node.line or 0) + (written.count("\n") if text in written else 0)


def _find_lines(texts: AbstractSet[str], name: str) -> Iterator[tuple[str, int]]:
    """Yield the texts in a file, each with its line from 1; the time is linear if they have few lengths."""
    try:
        lines = Path(name).read_text("utf-8-sig").splitlines()
    except (OSError, ValueError):
        return
    lengths, firsts = {len(text) for text in texts} - {0}, {text[:1] for text in texts}
    for number, line in enumerate(lines, 1):
        for start, character in enumerate(line):
            if character in firsts:
                for text in texts & {line[start : start + length] for length in lengths}:
                    yield text, number


def _written(node: nodes.Element) -> str:
    """Return the part of a node's source that reStructuredText and MyST share: the backticks, or the URI.

    That of a reference to a named target is its URI, which is written where the target is defined.
    """
    raw: str = node.rawsource
    uri: str = node.get("refuri", "")
    is_role = "`" in raw and raw[-1] in "`:"
    if not is_role and uri not in re.sub(r"\s|\\", "", raw):
        return uri
    return raw[raw.find("`") :] if "`" in raw else raw
