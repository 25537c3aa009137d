"""Read the XML of styles and locales: elements with their lines, bounded, without entities."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from xml.parsers import expat

from doiuri_csl._errors import CSLError, naming_file

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

NAMESPACE = "http://purl.org/net/xbiblio/csl"
LANG = "xml:lang"

_LARGEST = 4_000_000
_DEEPEST = 100
_XML_PREFIX = "http://www.w3.org/XML/1998/namespace "


@dataclass(eq=False)
class Node:
    """An element of CSL."""

    name: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    nodes: list[Node] = field(default_factory=list)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __contains__(self, attribute: str) -> bool:
        return attribute in self.attributes

    def get(self, attribute: str, default: str = "") -> str:
        """Return the value of an attribute."""
        return self.attributes.get(attribute, default)

    def children(self, name: str) -> list[Node]:
        """Return the children with a name."""
        return [node for node in self.nodes if node.name == name]

    def child(self, name: str) -> Node | None:
        """Return the first child with a name, or None if there is none."""
        for node in self.nodes:
            if node.name == name:
                return node
        return None

    def all(self) -> Iterator[Node]:
        """Yield the element and everything inside of it."""
        yield self
        for node in self.nodes:
            yield from node.all()

    def error(self, reason: str) -> CSLError:
        """Return the error that something is wrong with this element."""
        return CSLError(reason, line=self.line, element=self.name)

    def number(self, attribute: str, default: int = 0) -> int:
        """Return the whole number of an attribute, or the default if it is missing.

        :raises CSLError: if it is not a number
        """
        if attribute not in self.attributes:
            return default
        value = self.attributes[attribute].strip()
        if not (value.isascii() and value.isdigit() and len(value) < 7):
            raise self.error(f"{attribute}={value!r} is not a number")
        return int(value)


class _XMLParser:
    """Builds the tree from what expat reports.

    :param encoding: that of the content; None for the one that it declares
    """

    def __init__(self, encoding: str | None) -> None:
        self._parser = expat.ParserCreate(encoding, namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        # No file of CSL needs a document type, which could define entities that grow without bounds.
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._top = Node("", {}, 0)
        """Stands above the root element."""

        self._open = [self._top]
        """The elements around the place that is read."""

    def read(self, content: bytes) -> Node:
        """Return the root element.

        :raises CSLError: if the content is not XML, is too large, or has what CSL does not need
        """
        if len(content) > _LARGEST:
            raise CSLError(f"is larger than {_LARGEST // 1_000_000} MB")
        try:
            self._parser.Parse(content, True)
        except expat.ExpatError as error:
            reason = f"not XML: {expat.ErrorString(error.code)}"
            raise CSLError(reason, line=error.lineno) from None
        return self._top.nodes[0]

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        """Open an element; expat calls this with names such as "http://purl.org/net/xbiblio/csl style"."""
        line = self._parser.CurrentLineNumber
        namespace, _, local_name = name.rpartition(" ")
        node = Node(local_name, {_attribute(key): value for key, value in attributes.items()}, line)
        if len(self._open) > _DEEPEST:
            raise node.error(f"elements are nested more than {_DEEPEST} deep")
        # Elements of other namespaces mean nothing to a processor (CSL 1.0.2, Namespacing).
        if namespace == NAMESPACE:
            self._open[-1].nodes.append(node)
        elif len(self._open) == 1:
            raise node.error(f"is not an element of CSL: its namespace is not {NAMESPACE}")
        # Open in any case: what stands inside of an element of another namespace is left out with it
        self._open.append(node)

    def _end(self, name: str) -> None:  # noqa: ARG002
        self._open.pop()

    def _text(self, text: str) -> None:
        self._open[-1].text += text

    def _doctype(self, *_: object) -> None:
        raise CSLError("has a document type (<!DOCTYPE>)", line=self._parser.CurrentLineNumber)


def _attribute(name: str) -> str:
    """Return the name of an attribute; the language keeps its usual prefix."""
    if name.startswith(_XML_PREFIX):
        return f"xml:{name.removeprefix(_XML_PREFIX)}"
    return name


def read_xml(content: bytes | str) -> Node:
    """Return the root element.

    :raises CSLError: if the content is not XML, has a document type, or is too large or too deep
    """
    if isinstance(content, str):
        # The encoding that the text declares is no longer its own.
        return _XMLParser("utf-8").read(content.encode("utf-8", "surrogatepass"))
    return _XMLParser(None).read(content)


def read_file(path: str | os.PathLike[str], name: str) -> Node:
    """Return the root element of a file.

    :raises CSLError: if it cannot be read or its root is not ``name``; it says the path
    """
    with naming_file(path):
        return check_root(read_xml(Path(path).read_bytes()), name)


def check_root(node: Node, name: str) -> Node:
    """Return a root element if it has the name, "style" or "locale".

    :raises CSLError: if it has another one
    """
    if node.name != name:
        raise node.error(f"is not a {name} of CSL")
    return node
