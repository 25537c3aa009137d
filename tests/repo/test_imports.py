"""The house's order: imports of the core point back, plugins use the public core and never each other."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGES = Path(__file__).parents[2] / "packages"
CORE = PACKAGES / "doiuri" / "src" / "doiuri"
FILES = sorted(PACKAGES.glob("*/src/**/*.py"))
PLUGINS = {path.parent.parent.name.replace("-", "_") for path in PACKAGES.glob("*/src/*")} - {"doiuri"}

MODULES = {path.stem for path in CORE.iterdir()} - {"__init__"}

# Each layer may import those before it; modules of one layer stand side by side.
LAYERS = [
    {"_errors", "_urls"},
    {"_characters", "_resolution_errors"},
    {"_encoding"},
    {"_parse"},
    {"_doi"},
    {"_advice", "_display", "_find", "_settings"},
    {"records"},
    {"rest"},
    {"plugins"},
    {"resolver"},
    {"testing"},
]


def running(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a tree, without what only type checkers read."""
    yield node
    typing_only = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    for child in [] if typing_only else ast.iter_child_nodes(node):
        yield from running(child)


def imports(file: Path) -> Iterator[str]:
    """The absolute names of the modules that a file imports, relative imports worked out."""
    package = file.relative_to(next(p for p in file.parents if p.name == "src")).parent.parts
    for node in running(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def place(name: str) -> tuple[int, str]:
    """The layer of a module or package of the core, and its name."""
    for number, members in enumerate(LAYERS):
        if name in members:
            return number, name
    pytest.fail(f"{name} has no place in the house: add it to LAYERS")


@pytest.mark.parametrize("file", sorted(CORE.rglob("*.py")), ids=lambda p: str(p.relative_to(CORE)))
def test_imports_of_the_core_point_back(file: Path) -> None:
    own = file.relative_to(CORE).parts[0].removesuffix(".py")
    if own == "__init__":
        return
    layer, member = place(own)
    for name in imports(file):
        first, *rest = name.split(".")
        if first == "doiuri" and rest and rest[0] in MODULES:
            other, owner = place(rest[0])
            assert other < layer or owner == member, f"{own} imports {rest[0]}"


@pytest.mark.parametrize("file", [f for f in FILES if CORE not in f.parents], ids=lambda p: p.name)
def test_plugins_use_the_public_core_and_never_each_other(file: Path) -> None:
    own = file.relative_to(PACKAGES).parts[2]
    allowed = {own} | ({"docutils_doiuri"} if own == "sphinx_doiuri" else set())
    for name in imports(file):
        first, *rest = name.split(".")
        assert first not in PLUGINS - allowed, f"{own} imports {first}"
        if first == "doiuri":
            private = [part for part in rest if part.startswith("_") and not part.startswith("__")]
            assert not private, f"{own} imports the private {name}"


def test_importing_the_core_needs_the_standard_library_only() -> None:
    probe = "import doiuri, sys; [getattr(doiuri, name) for name in doiuri.__all__]; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    names = {name.partition(".")[0] for name in run.stdout.split()}
    foreign = {n for n in names if n not in sys.stdlib_module_names and not n.startswith(("_", "doiuri"))}
    assert foreign <= {"sitecustomize"}, foreign
