"""The layers of the package: server uses app, app uses records; no import circles."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import doiuri_proxy

ROOT = Path(doiuri_proxy.__file__).parent
LAYERS = ["records", "app", "server"]


def imports(file: Path) -> set[str]:
    """Return the package's modules that a file imports, also in functions, but not for type checkers only."""
    names: set[str] = set()
    nodes: list[ast.AST] = [ast.parse(file.read_text(encoding="utf-8"))]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("doiuri_proxy."):
            module = str(node.module).removeprefix("doiuri_proxy.")
            names |= {f"{module}.{name.name}" for name in node.names} if module in LAYERS else {module}
        nodes.extend(ast.iter_child_nodes(node))
    return names


GRAPH = {
    ".".join(file.relative_to(ROOT).with_suffix("").parts): imports(file)
    for file in ROOT.rglob("[!_]*/_*.py")
}


def test_the_modules_are_seen() -> None:
    assert {"app._redirect", "records._source", "server._service"} <= GRAPH.keys()
    assert "records._upstream" in GRAPH["records._open"]


def test_no_layer_imports_from_one_above() -> None:
    for module, names in GRAPH.items():
        layer = LAYERS.index(module.partition(".")[0])
        above = [name for name in names if name.partition(".")[0] not in LAYERS[: layer + 1]]
        assert not above, f"{module} imports {above}"


def test_there_is_no_circle() -> None:
    TopologicalSorter(GRAPH).prepare()  # raises CycleError
