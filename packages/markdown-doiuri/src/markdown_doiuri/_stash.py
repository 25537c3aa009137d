"""Markdown's stash: what earlier inline patterns replaced by placeholders, and the text that it came from."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from markdown.treeprocessors import InlineProcessor as InlineTreeprocessor
from markdown.util import AMP_SUBSTITUTE, ETX, HTML_PLACEHOLDER_RE, INLINE_PLACEHOLDER, STX

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from markdown import Markdown

ENTITY = r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});"
STASHED = INLINE_PLACEHOLDER % "([0-9]+)"
MARKER = f"{STX}[^{STX}{ETX}]*{ETX}"

_ESCAPED = re.compile(f"{STX}([0-9]{{1,6}}){ETX}")
_MARKED = re.compile(f"{STASHED}|{ENTITY}|{STX}")


def literal(text: str) -> str:
    """Return ``text`` with its "&" protected: the serializer would leave ``&lt;`` unescaped."""
    return text.replace("&", f"{AMP_SUBSTITUTE}amp;")


def unescaped(text: str) -> str:
    """Return ``text`` with the placeholders of backslash escapes replaced by their characters."""
    return _ESCAPED.sub(lambda marker: chr(int(marker[1])), text)


def escaped(node: Element | str | None) -> str:
    """Return the character if ``node`` is a backslash escape, or ""."""
    return unescaped(node) if isinstance(node, str) and _ESCAPED.fullmatch(node) else ""


class Stash:
    """The stash of one Markdown instance, whose content is that of the document being converted."""

    def __init__(self, md: Markdown) -> None:
        self._md = md

    @property
    def _inline(self) -> InlineTreeprocessor:
        inline = self._md.treeprocessors["inline"]
        assert isinstance(inline, InlineTreeprocessor)  # noqa: S101 (for mypy)
        return inline

    @property
    def nodes(self) -> dict[str, Element | str]:
        """The stashed nodes, by the number in their placeholders."""
        return self._inline.stashed_nodes

    def add(self, node: Element) -> str:
        """Stash a node as Markdown does; return its placeholder."""
        number = f"{len(self.nodes):04}"
        self.nodes[number] = node
        return INLINE_PLACEHOLDER % number

    def raw_html(self, node: str) -> str:
        """Return the raw tag if ``node`` is the placeholder of one, or ""."""
        found = HTML_PLACEHOLDER_RE.fullmatch(node)
        raw = self._md.htmlStash.rawHtmlBlocks[int(found[1])] if found else ""
        return raw if isinstance(raw, str) else ""

    def in_link(self) -> bool:
        """Return whether the text being processed is that of a link."""
        return "a" in self._inline.ancestors

    def attribute_lists(self) -> bool:
        """Return whether the extension attr_list, which reads ``{: .class }``, is in use."""
        return "attr_list" in self._md.treeprocessors

    def source(self, text: str) -> tuple[str, int]:
        """Return ``text`` up to other markup, escapes and entities decoded, and the length of that part."""
        if STX not in text and "&" not in text:
            return text, len(text)
        parts: list[str] = []
        last = 0
        for marked in _MARKED.finditer(text):
            part = escaped(self.nodes.get(marked[1])) if marked[1] else html.unescape(marked[0])
            if part in {"", STX}:
                return "".join(parts) + text[last : marked.start()], marked.start()
            parts += text[last : marked.start()], part
            last = marked.end()
        return "".join(parts) + text[last:], len(text)
