"""What Markdown's earlier patterns put away, read back: markers as the text that they stand for."""

import html
import re
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.treeprocessors import InlineProcessor as InlineTreeprocessor
from markdown.util import AMP_SUBSTITUTE, ETX, HTML_PLACEHOLDER_RE, INLINE_PLACEHOLDER, STX

ENTITY = r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});"
STASHED = INLINE_PLACEHOLDER % "([0-9]+)"
MARKER = f"{STX}[^{STX}{ETX}]*{ETX}"

_ESCAPED = re.compile(f"{STX}([0-9]{{1,6}}){ETX}")
_MARKED = re.compile(f"{STASHED}|{ENTITY}|{STX}")


def literal(text: str) -> str:
    """Return ``text`` so that the serializer shows it as it is; ``&lt;`` it would take for markup."""
    return text.replace("&", f"{AMP_SUBSTITUTE}amp;")


def unescaped(text: str) -> str:
    """Return ``text`` with the markers of backslash escapes turned into their characters."""
    return _ESCAPED.sub(lambda marker: chr(int(marker[1])), text)


def escaped(node: Element | str | None) -> str:
    """Return the character of the backslash escape that ``node`` is, or ""."""
    return unescaped(node) if isinstance(node, str) and _ESCAPED.fullmatch(node) else ""


class Stash:
    """What the inline patterns of one Markdown instance have put away so far."""

    def __init__(self, md: Markdown) -> None:
        self._md = md

    @property
    def _inline(self) -> InlineTreeprocessor:
        inline = self._md.treeprocessors["inline"]
        assert isinstance(inline, InlineTreeprocessor)  # noqa: S101 (for mypy)
        return inline

    @property
    def nodes(self) -> dict[str, Element | str]:
        """What is put away in this document, by the number in its marker."""
        return self._inline.stashed_nodes

    def next_marker(self) -> str:
        """Return the marker that the next thing put away will get."""
        return INLINE_PLACEHOLDER % f"{len(self.nodes):04}"

    def raw_html(self, node: str) -> str:
        """Return the raw tag that ``node`` stands for, or ""."""
        found = HTML_PLACEHOLDER_RE.fullmatch(node)
        raw = self._md.htmlStash.rawHtmlBlocks[int(found[1])] if found else ""
        return raw if isinstance(raw, str) else ""

    def in_link(self) -> bool:
        """Tell whether the text in hand is the text of a link."""
        return "a" in self._inline.ancestors

    def attribute_lists(self) -> bool:
        """Tell whether ``{: .class }`` after a link means something."""
        return "attr_list" in self._md.treeprocessors

    def written(self, text: str) -> tuple[str, int]:
        """Return ``text`` with escapes and entities undone, up to other markup, and how far that is."""
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
