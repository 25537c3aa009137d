"""The source lines of inline nodes.

docutils gives an inline node the line on which its block begins. Reports need the line of the node itself.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from copy import deepcopy
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.utils import get_source_line

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    _Lines = dict[tuple[int, type[nodes.Element]], dict[int, int]]


def set_lines(document: nodes.document, inline: Sequence[nodes.Element]) -> None:
    """Set the file and line of inline nodes, as far as they are known.

    The lines of docutils are wrong in tables, docstrings, and what directives parse or read from files. If a
    node's source is not on its line, the node moves to the nearest line that has it, in its own file or
    another one that the document is made of.

    :param document: the document, whose settings name the files.
    :param inline: the nodes, in their order, before any of them is replaced.
    """
    lines: _Lines = {}
    for node in inline:
        _estimate(node, lines)
    texts = [_written(node).partition("\n")[0] for node in inline]
    names = [_file_of(node) for node in inline]
    read = getattr(document.settings.record_dependencies, "list", ())
    sources = dict.fromkeys((*names, *map(str, read)))
    files = {name: _lines_in_file(texts, name) for name in sources}
    free = deepcopy(files)
    misplaced = []
    for node, name, text in zip(inline, names, texts, strict=True):
        if node.line not in files[name].get(text, ()):
            misplaced.append((node, name, text))
        elif node.line and node.line in free[name][text]:  # it is not if a substitution is used twice
            free[name][text].remove(node.line)
            node.source = name
    for node, name, text in misplaced:
        file = next((file for file in (name, *files) if free[file].get(text)), name)
        near, left = node.line, free[file].get(text)
        if near and (found := left or files[file].get(text)):
            node.source, node.line = file, min(found, key=lambda line: abs(line - near))
            if left:
                left.remove(node.line)


def _estimate(node: nodes.Element, lines: _Lines) -> None:
    """Set the line of a node to that of its block, and the lines before it there."""
    if node.line is None and isinstance(child := next(iter(node.children), None), nodes.image):
        node.source, node.line = child.source, child.line  # a link around an image has no line
    block = _block(node)
    source, line = get_source_line(block or node)
    node.source, node.line = node.source or source, node.line or line
    if block is not None and node.line is not None:
        key = id(block), type(node)
        if key not in lines:
            lines[key] = _lines_in_block(block, type(node))
        node.line += lines[key][id(node)]


def _block(node: nodes.Element) -> nodes.TextElement | None:
    """Return the paragraph, title or term that contains an inline node, if its source is known."""
    parent: nodes.Node | None = node.parent
    while isinstance(parent, nodes.TextElement) and isinstance(parent, nodes.Inline):
        parent = parent.parent
    return parent if isinstance(parent, nodes.TextElement) and parent.rawsource else None


def _lines_in_block(block: nodes.TextElement, kind: type[nodes.Element]) -> dict[int, int]:
    """Return the number of lines of a block before each node of a kind, by the node's id.

    Nodes with the same source are counted off. A node whose source is not in the block is on the first line.
    """
    written = [(id(node), _written(node)) for node in block.findall(kind)]
    found = _lines_with({text for _, text in written}, block.rawsource)
    left = {text: cycle((*lines, 0)) for text, lines in found.items()}
    return {node: next(left[text]) for node, text in written}


def _lines_in_file(texts: Collection[str], name: str) -> dict[str, list[int]]:
    """Return the lines of a file, from 1, that have each text; none if the file cannot be read."""
    try:
        source = "\n".join(Path(name).read_text("utf-8-sig").splitlines())
    except (OSError, ValueError):
        return {}
    return {text: [line + 1 for line in found] for text, found in _lines_with(texts, source).items()}


def _lines_with(texts: Collection[str], source: str) -> dict[str, list[int]]:
    """Return the lines, from 0, that have each text, in time that is linear if the texts have few lengths."""
    found: dict[str, list[int]] = {text: [] for text in texts}
    ends = [end.start() for end in re.finditer("\n", source)]
    first = "".join({text[:1] for text in texts})
    starts = [start.start() for start in re.finditer(f"[{re.escape(first)}]", source)] if first else ()
    for length in {len(text) for text in texts if text}:
        for start in starts:
            text = source[start : start + length]
            if text in found and len(text) == length:  # it is shorter at the end
                found[text].append(bisect_left(ends, start))
    return found


def _file_of(node: nodes.Element) -> str:
    """Return the file of a node; the source of one in a docstring is ``file:docstring of name``."""
    return (node.source or "").partition(":docstring of ")[0]


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
