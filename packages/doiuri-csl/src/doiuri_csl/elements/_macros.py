"""Check the macros of a style before it is used: all are there, none calls itself, their sizes are bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from doiuri_csl._errors import CSLError
    from doiuri_csl._xml import Node

# Of 2,858 public styles, the largest layout draws 1,835 elements with its macros, in 69 levels.
_MOST_ELEMENTS = 20_000
_DEEPEST = 100


class _Size(NamedTuple):
    """How much an element draws at most, with all macros that it calls."""

    elements: int
    depth: int


def macros_of(root: Node) -> dict[str, Node]:
    """Return the macros of a style by their names.

    :raises CSLError: if a macro has no name
    """
    macros = {}
    for macro in root.children("macro"):
        if "name" not in macro:
            raise macro.error("has no name")
        macros[macro.get("name")] = macro
    return macros


def check_macros(area: Node, macros: dict[str, Node]) -> list[Node]:
    """Return the elements of an area and of all macros that its layout calls, each once.

    :raises CSLError: if a macro is missing or calls itself, or if the layout or a sort key draws too much
    """
    sizes = _Sizes(macros)
    for node in area.all():
        if node.name in ("layout", "key"):
            sizes.check(node)
    return sizes.elements_of(area)


class _Sizes:
    """The sizes of macros; each is worked out once."""

    def __init__(self, macros: dict[str, Node]) -> None:
        self._macros = macros
        self._known: dict[str, _Size] = {}
        self._open: list[str] = []

    def check(self, node: Node) -> None:
        """Check that an element does not draw too much.

        :raises CSLError: if it is too much, or if a macro is missing or calls itself
        """
        size = self._size(node, 1)
        if size.elements > _MOST_ELEMENTS:
            raise node.error(
                f"draws {size.elements:,} elements with its macros, more than {_MOST_ELEMENTS:,}"
            )

    def _size(self, node: Node, depth: int) -> _Size:
        """Return the size of an element with all that it contains and calls.

        :param depth: how deep it stands in the layout, with the macros around it
        :raises CSLError: if something in it is too deep
        """
        if depth > _DEEPEST:  # ends the recursion
            raise _too_deep(node)

        sizes = [self._size(child, depth + 1) for child in node]
        macro = self._called(node)
        if macro:
            sizes.append(self._size_of_macro(macro, node, depth + 1))
        deepest = max((size.depth for size in sizes), default=0)
        # A macro of known size was measured at another depth
        if depth + deepest > _DEEPEST:
            raise _too_deep(node)

        counts = [size.elements for size in sizes]
        if node.name == "choose":  # draws one child
            return _Size(1 + max(counts, default=0), 1 + deepest)
        return _Size(1 + sum(counts), 1 + deepest)

    def _called(self, node: Node) -> str:
        """Return the macro that an element calls; "" if it calls none."""
        return node.get("macro") if node.name in ("text", "key") else ""

    def _size_of_macro(self, name: str, caller: Node, depth: int) -> _Size:
        """Return the size of a macro, which is worked out when it is called first.

        :param caller: the element that calls it, for the error
        :raises CSLError: if there is no such macro, or if it calls itself
        """
        if name in self._known:
            return self._known[name]
        if name not in self._macros:
            raise caller.error(f"there is no macro {name!r}")
        if name in self._open:
            circle = " → ".join([*self._open[self._open.index(name) :], name])
            raise caller.error(f"macro {name!r} calls itself: {circle}")
        self._open.append(name)
        size = self._size(self._macros[name], depth)
        self._open.pop()
        self._known[name] = size
        return size

    def elements_of(self, area: Node) -> list[Node]:
        """Return the elements of an area's layout, and of all macros that it calls."""
        elements: list[Node] = []
        called = set[str]()
        unread = area.children("layout")
        while unread:
            for element in unread.pop().all():
                elements.append(element)
                name = self._called(element)
                if name and name not in called:
                    called.add(name)
                    unread.append(self._macros[name])
        return elements


def _too_deep(node: Node) -> CSLError:
    return node.error(f"elements and macros are nested more than {_DEEPEST} deep")
