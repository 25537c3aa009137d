"""The element tree: find the links inside raw HTML elements, and turn links back into text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from markdown.util import HTML_PLACEHOLDER_RE, STX

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from xml.etree.ElementTree import Element

    from markdown.util import HtmlStash

# Elements in which a link is invalid, or would change what the author wants to show.
_NO_LINKS = re.compile(
    r"<(/?)(a|button|code|kbd|math|option|pre|samp|script|select|style|svg|textarea|title|tt|var)(?=[\s/>])",
    re.IGNORECASE,
)


def in_raw_html(root: Element, stash: HtmlStash) -> set[Element]:
    """Return the links between raw tags such as ``<a>`` and ``</a>``.

    A tag that is never closed encloses nothing.
    """
    tags = [_NO_LINKS.match(raw) if isinstance(raw, str) else None for raw in stash.rawHtmlBlocks]
    if not any(tags):
        return set()
    opened: dict[str, list[Element]] = {}
    inside: set[Element] = set()
    for item in _walk(root):
        if not isinstance(item, str):
            for links in opened.values():
                links.append(item)
        elif STX in item:
            for marker in HTML_PLACEHOLDER_RE.finditer(item):
                tag = tags[int(marker[1])]
                if tag and tag[1]:
                    inside.update(opened.pop(tag[2].lower(), ()))
                elif tag:
                    opened[tag[2].lower()] = []
    return inside


def _walk(root: Element) -> Iterator[Element | str]:
    """Yield the links and texts of a tree, in document order."""
    stack: list[Element | str] = [root]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
            continue
        if item.tag == "a":
            yield item
        if item.text:
            yield item.text
        if item.tail:
            stack.append(item.tail)
        stack.extend(reversed(item))


def dissolve(root: Element, links: Mapping[Element, tuple[str, str]]) -> None:
    """Replace each of ``links`` by its content, with the two given texts before and after it."""
    parents = [parent for parent in root.iter() if any(child in links for child in parent)]
    for parent in reversed(parents):  # inner ones first
        content = _Content(parent)
        for child in list(parent):
            if child in links:
                before, after = links[child]
                content.add(before + (child.text or ""))
                for grandchild in child:
                    content.add(grandchild)
                content.add(after + (child.tail or ""))
            else:
                content.add(child)
        content.close()


class _Content:
    """Rebuilds the content of ``parent`` from texts and elements, added in order."""

    def __init__(self, parent: Element) -> None:
        self._parent = parent
        self._children: list[Element] = []
        self._texts = [parent.text or ""]

    def add(self, item: Element | str) -> None:
        if isinstance(item, str):
            self._texts.append(item)
            return
        self._flush()
        self._children.append(item)
        self._texts = [item.tail or ""]

    def _flush(self) -> None:
        text = "".join(self._texts) or None
        if self._children:
            self._children[-1].tail = text
        else:
            self._parent.text = text

    def close(self) -> None:
        self._flush()
        self._parent[:] = self._children
