"""Find the statements that have to be read twice: ``python tests/repo/reading.py FILE...``.

A program can see five of the ways to put two ideas into one statement:

- a conditional expression inside a call, a comprehension, an f-string or another conditional expression;
- two assignments in one line;
- a regular expression of more than 60 characters on one line;
- arithmetic with a comparison, a lambda with a condition, a look-up in a literal dict;
- a comprehension in a comprehension, or with two ``for``.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST_PATTERN = 60
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# A conditional expression in one of these is read as a part of what is around it.
_TRANSPARENT = (
    ast.BoolOp,
    ast.BinOp,
    ast.UnaryOp,
    ast.keyword,
    ast.Tuple,
    ast.List,
    ast.Starred,
    ast.Subscript,
)
_TWO_IDEAS = (ast.Call, ast.FormattedValue, ast.IfExp, ast.comprehension, *_COMPREHENSIONS)


class Place(NamedTuple):
    """A statement that has to be read twice."""

    line: int
    reason: str


def places(source: str) -> list[Place]:
    """Return the places of a module that break the rules above, in the order of their lines."""
    tree = ast.parse(source)
    parents: dict[ast.AST, ast.AST] = {}
    for node in ast.walk(tree):
        parents |= dict.fromkeys(ast.iter_child_nodes(node), node)
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.expr | ast.stmt):
            found += [Place(node.lineno, reason) for reason in _reasons(node, parents)]
    return sorted(found)


def _reasons(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> Iterator[str]:
    match node:
        case ast.IfExp():
            around = parents[node]
            while isinstance(around, _TRANSPARENT):
                around = parents[around]
            if isinstance(around, _TWO_IDEAS):
                yield f"conditional expression in {type(around).__name__}"
        case ast.Assign(targets=[ast.Tuple(), *_], value=ast.Tuple() | ast.IfExp()):
            yield "two assignments in one line"
        case ast.Call(func=ast.Attribute(attr="get", value=ast.Dict())):
            yield "look-up in a literal dict"
        case ast.Call(args=[pattern, *_]) if _is_long_pattern(node, pattern):
            yield "long regular expression on one line"
        case ast.Lambda():
            conditions = ast.IfExp | ast.BoolOp | ast.Compare
            if any(isinstance(part, conditions) for part in ast.walk(node.body)):
                yield "lambda with a condition"
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult()):
            if isinstance(node.left, ast.Compare) or isinstance(node.right, ast.Compare):
                yield "comparison in arithmetic"
        case ast.AugAssign(value=ast.Compare()):
            yield "comparison in arithmetic"
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            inner = [part for part in ast.walk(node) if isinstance(part, _COMPREHENSIONS)]
            if len(inner) > 1 or len(node.generators) > 1:
                yield "nested comprehension"


def _is_long_pattern(call: ast.Call, pattern: ast.expr) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name not in {"compile", "lazy"} or not isinstance(pattern, ast.Constant | ast.JoinedStr):
        return False
    quotes = 2
    on_one_line = pattern.lineno == pattern.end_lineno
    return on_one_line and len(ast.unparse(pattern)) > _LONGEST_PATTERN + quotes


if __name__ == "__main__":
    for name in sys.argv[1:]:
        for place in places(Path(name).read_text(encoding="utf-8")):
            print(f"{name}:{place.line}: {place.reason}")
