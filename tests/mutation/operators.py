"""Mutations that cosmic-ray lacks: a statement removed, and a call replaced by its only argument."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import parso
from parso.python.tree import ExprStmt, PythonNode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from parso.tree import NodeOrLeaf

    Position = tuple[tuple[int, int], tuple[int, int]]


class RemoveStatement:
    """Replace a call, an assignment to an attribute or an item, or a ``raise`` by ``pass``."""

    def mutation_positions(self, node: NodeOrLeaf) -> Iterator[Position]:
        if node.parent is not None and node.parent.type == "simple_stmt" and removable(node):
            yield node.start_pos, node.end_pos

    def mutate(self, node: NodeOrLeaf, index: int) -> NodeOrLeaf:
        del index
        return replacement(node, "pass")

    @classmethod
    def arguments(cls) -> tuple[()]:
        return ()


class ReplaceCallByArgument:
    """Replace ``f(x)`` by ``x``: a missing escape, conversion or copy."""

    def mutation_positions(self, node: NodeOrLeaf) -> Iterator[Position]:
        if only_argument(node) is not None:
            yield node.start_pos, node.end_pos

    def mutate(self, node: NodeOrLeaf, index: int) -> NodeOrLeaf:
        del index
        argument = only_argument(node)
        assert argument is not None
        return replacement(node, f"({argument.get_code()})")

    @classmethod
    def arguments(cls) -> tuple[()]:
        return ()


class Provider:
    """The operators of this file, in the form that cosmic-ray asks for."""

    OPERATORS: ClassVar = {kind.__name__: kind for kind in (RemoveStatement, ReplaceCallByArgument)}

    def __iter__(self) -> Iterator[str]:
        return iter(self.OPERATORS)

    def __getitem__(self, name: str) -> type[RemoveStatement | ReplaceCallByArgument]:
        return self.OPERATORS[name]


def removable(node: NodeOrLeaf) -> bool:
    """Whether a statement is neither a docstring nor defines a name, which would end in a NameError."""
    if isinstance(node, ExprStmt):
        return all(name.parent is not node for name in node.get_defined_names(include_setitem=True))
    return node.type in {"atom_expr", "power", "raise_stmt", "del_stmt"}


def only_argument(node: NodeOrLeaf) -> NodeOrLeaf | None:
    """The argument of a call that has one positional argument and nothing else."""
    if not isinstance(node, PythonNode) or node.type not in {"atom_expr", "power"}:
        return None
    call = node.children[-1]
    if not isinstance(call, PythonNode) or call.type != "trailer" or len(call.children) != 3:
        return None
    argument = call.children[1]
    called = call.get_code().startswith("(") and argument.type not in {"arglist", "argument"}
    return argument if called else None


def replacement(node: NodeOrLeaf, code: str) -> NodeOrLeaf:
    """``code`` as a node in place of another, behind the same blanks and comments."""
    module: NodeOrLeaf = parso.parse(node.get_first_leaf().prefix + code)
    return module
