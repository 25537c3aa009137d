"""Small faults for the functions of a source file, and which functions a change touches."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

Function = ast.FunctionDef | ast.AsyncFunctionDef
OTHER_OPERATOR: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


@dataclass(frozen=True)
class Fault:
    """One place of a source file, and the code that replaces it."""

    path: str
    line: int
    """The first line of the place, counted from 1."""
    lines: range
    """The lines of the statement; a compound statement counts without its body."""
    start: int
    """Offsets in the file's bytes."""
    end: int
    before: str
    after: str

    def applied(self, source: bytes) -> bytes:
        return source[: self.start] + self.after.encode() + source[self.end :]


def changed_functions(new: str, old: Iterable[str]) -> list[Function]:
    """Return the functions of a file that are in none of the old ones; comments and layout do not count."""
    known = set()
    for text in old:
        known |= {ast.dump(function) for function in functions(text)}
    return [function for function in functions(new) if ast.dump(function) not in known]


def functions(text: str) -> Iterator[Function]:
    """Yield functions and methods; a function inside another is part of it."""
    pending: list[ast.AST] = [ast.parse(text)]
    while pending:
        node = pending.pop(0)
        if isinstance(node, Function):
            yield node
        else:
            pending += ast.iter_child_nodes(node)


def faults_of(function: Function, path: str, source: bytes) -> list[Fault]:
    """Return the faults for one function of a source file, in the order of their places."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    faults = {}
    for statement, node in places(function):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        before = source[start:end].decode()
        for variant in variants(node, is_condition=node is getattr(statement, "test", None)):
            after = ast.unparse(variant)
            if isinstance(variant, ast.expr):
                after = f"({after})"
            fault = Fault(path, node.lineno, reach(statement), start, end, before, after)
            faults[start, end, after] = fault
    ordered = sorted(faults.values(), key=lambda fault: (fault.start, -fault.end))
    return [fault for fault in ordered if is_code(fault.applied(source))]


def is_code(source: bytes) -> bool:
    """Return whether a file can be compiled: not so with parentheses around the key of a pattern."""
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


def reach(statement: ast.stmt) -> range:
    """Return the lines of a statement, without its body; of a function, those of its first statement."""
    if isinstance(statement, Function):
        first = statement.body[0]
        if is_docstring(first) and len(statement.body) > 1:
            first = statement.body[1]
        return reach(first)
    body: list[ast.AST] = getattr(statement, "body", None) or getattr(statement, "cases", [])
    if body:
        first_inside = next(part for part in ast.walk(body[0]) if isinstance(part, ast.stmt))
        return range(statement.lineno, max(first_inside.lineno, statement.lineno + 1))
    return range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)


def places(function: Function) -> Iterator[tuple[ast.stmt, ast.stmt | ast.expr]]:
    """Yield each statement and expression of a function, with the statement that it is in.

    Annotations, docstrings, f-strings and the types of ``cast`` are left out: to change those changes nothing,
    or their places are not known before Python 3.12.
    """
    pending: list[tuple[ast.stmt, ast.AST]] = [(function, function)]
    while pending:
        statement, node = pending.pop(0)
        if is_docstring(node) or isinstance(node, ast.JoinedStr):
            continue
        if isinstance(node, ast.stmt):
            statement = node
        if isinstance(node, ast.stmt | ast.expr):
            yield statement, node
        for name, value in ast.iter_fields(node):
            if name in {"annotation", "returns", "decorator_list"}:
                continue
            parts = value if isinstance(value, list) else [value]
            if name == "args" and isinstance(node, ast.Call) and is_cast(node):
                parts = parts[1:]
            pending += [(statement, part) for part in parts if isinstance(part, ast.AST)]


def is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def is_cast(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "cast"


def variants(node: ast.stmt | ast.expr, *, is_condition: bool) -> Iterator[ast.stmt | ast.expr]:
    """Yield what may replace a statement or an expression."""
    match node:
        case (
            ast.Raise() | ast.AugAssign() | ast.Delete() | ast.Expr(value=ast.Call() | ast.Await())
        ):
            yield ast.Pass()
        case ast.Continue():
            yield ast.Break()
        case ast.Break():
            yield ast.Continue()
        case ast.Return(value=ast.expr() as value) if not is_none(value):
            yield ast.Return(ast.Constant(None))
        case ast.Compare():
            for index, operator in enumerate(node.ops):
                other = copy.deepcopy(node)
                other.ops[index] = OTHER_OPERATOR[type(operator)]()
                yield other
        case ast.BoolOp():
            for index in range(len(node.values)):
                values = node.values[:index] + node.values[index + 1 :]
                yield values[0] if len(values) == 1 else ast.BoolOp(node.op, values)
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.BinOp():
            yield node.left
        case ast.IfExp():
            yield node.body
            yield node.orelse
        case ast.Call():
            for keyword in node.keywords:
                if keyword.arg is not None:
                    others = [other for other in node.keywords if other is not keyword]
                    yield ast.Call(node.func, node.args, others)
        case ast.Subscript(slice=ast.Slice(lower=lower, upper=upper, step=step)):
            if lower is not None:
                yield ast.Subscript(node.value, ast.Slice(None, upper, step), node.ctx)
            if upper is not None:
                yield ast.Subscript(node.value, ast.Slice(lower, None, step), node.ctx)
        case ast.Constant():
            yield from other_values(node.value)
    if is_condition and isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.NamedExpr):
        yield ast.UnaryOp(ast.Not(), node)


def is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def other_values(value: object) -> Iterator[ast.Constant]:
    """Yield another constant of the same type."""
    match value:
        case bool():
            yield ast.Constant(not value)
        case int() | float():
            yield ast.Constant(value + 1)
        case str():
            yield ast.Constant("" if value else "X")
        case bytes():
            yield ast.Constant(b"" if value else b"X")
