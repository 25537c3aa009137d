"""The source lines of inline nodes.

docutils gives an inline node the line on which its block begins. Reports need the line of the node itself.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from docutils import nodes
from docutils.utils import get_source_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet


class _Line(NamedTuple):
    """A line of a file."""

    file: str
    number: int
    """Its number, from 1."""


class _Written(NamedTuple):
    """A node, the first line of its source, and where that may be."""

    node: nodes.Element
    text: str
    file: str
    last_line: int
    """The last line of the file that it may be on."""


def set_lines(document: nodes.document, inline: Sequence[nodes.Element]) -> None:
    """Set the file and line of inline nodes, as far as they are known.

    The lines of docutils are wrong in tables, docstrings, and what directives parse or read from files. So a
    node is on a line of its block that has its source; or else on the nearest line that has it, in its own
    file or another one that the document is made of. Nodes with the same source take these lines in turn.

    :param document: the document, whose settings name the files.
    :param inline: the nodes, in their order, before any of them is replaced.
    """
    written = []
    for node in inline:
        text = _source(node).partition("\n")[0]
        last_line = _estimate(node, text)
        file = (node.source or "").partition(":docstring of ")[0]
        written.append(_Written(node, text, file, last_line))

    included = getattr(document.settings.record_dependencies, "list", ())
    files = dict.fromkeys(item.file for item in written) | dict.fromkeys(map(str, included))
    free_by_text = _free_lines({item.text for item in written}, files)
    for node, text, file, last_line in written:
        free_on_line = free_by_text[text]
        if node.line and free_on_line:
            nearest = _nearest(free_on_line, file, node.line, last_line)
            free_on_line[nearest] -= 1
            node.source = nearest.file
            node.line = nearest.number


def _free_lines(texts: AbstractSet[str], files: Iterable[str]) -> dict[str, Counter[_Line]]:
    """Return the lines of files that have each of the texts, and how often: that many nodes have room there."""
    free_by_text: dict[str, Counter[_Line]] = {text: Counter() for text in texts}
    for file in files:
        for text, number in _find_lines(texts, file):
            free_by_text[text][_Line(file, number)] += 1
    return free_by_text


def _nearest(free_on_line: Counter[_Line], file: str, first: int, last: int) -> _Line:
    """Return the line in a block of a file, or else the nearest one; if possible, one that is free.

    :param free_on_line: how many more nodes each line has room for.
    :param first: the first line of the block.
    :param last: the last line of the block.
    """

    def rank(line: _Line) -> tuple[bool, bool, bool, int]:
        is_elsewhere = line.file != file
        distance = max(first - line.number, line.number - last, 0)
        is_outside = is_elsewhere or distance > 0
        is_taken = free_on_line[line] <= 0
        return is_outside, is_taken, is_elsewhere, distance

    return min(free_on_line, key=rank)


def _estimate(node: nodes.Element, text: str) -> int:
    """Set the line of a node to that of its block, if it has none; return the last line that it may be on.

    :param text: the first line of its source.
    """
    child = next(iter(node.children), None)
    if node.line is None and isinstance(child, nodes.image):  # a link around an image has no line
        node.source = child.source
        node.line = child.line

    with_line: nodes.Element = node
    block_text = ""
    block = _block_around(node)
    if block is not None and block.rawsource:
        with_line = block
        block_text = block.rawsource

    source, line = get_source_line(with_line)
    node.source = node.source or source
    node.line = node.line or line
    following_lines = block_text.count("\n") if text in block_text else 0
    return (node.line or 0) + following_lines


def _block_around(node: nodes.Element) -> nodes.TextElement | None:
    """Return the block of text that a node stands in, such as a paragraph; None if there is none."""
    block: nodes.Node | None = node.parent
    while isinstance(block, nodes.TextElement) and isinstance(block, nodes.Inline):
        block = block.parent
    return block if isinstance(block, nodes.TextElement) else None


def _find_lines(texts: AbstractSet[str], name: str) -> Iterator[tuple[str, int]]:
    """Yield the texts in a file, each with its line from 1; the time is linear if they have few lengths."""
    try:
        lines = Path(name).read_text("utf-8-sig").splitlines()
    except (OSError, ValueError):
        return
    lengths = {len(text) for text in texts} - {0}
    first_characters = {text[:1] for text in texts}
    for number, line in enumerate(lines, 1):
        for start, character in enumerate(line):
            if character not in first_characters:
                continue
            candidates = {line[start : start + length] for length in lengths}
            for text in texts & candidates:
                yield text, number


def _source(node: nodes.Element) -> str:
    """Return the text by which a node is found in a file.

    It is the part of the node's source that reStructuredText and MyST share: what follows the name of a role,
    from the first backtick on, or else the whole source. The source of a reference to a named target has no
    URI: there it is the URI, which is written where the target is defined.
    """
    raw: str = node.rawsource
    uri: str = node.get("refuri", "")
    if "doi_written" in node:  # in running text
        return raw
    is_role = "`" in raw and raw[-1] in "`:"  # "`10.1000/182`:doi:", too
    has_uri = uri in re.sub(r"\s|\\", "", raw)
    if not is_role and not has_uri:
        return uri
    _, backtick, content = raw.partition("`")
    return backtick + content if backtick else raw
