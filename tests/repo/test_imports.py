"""No import points upwards or in a circle, plugins use the public core, and files are short enough to read.

All imports count: those in functions and those for type checkers, too.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / "packages"
FILES = sorted(PACKAGES.glob("*/src/**/*.py"))
CORE_ROOT = PACKAGES / "doiuri" / "src" / "doiuri"
CORE = [file for file in FILES if CORE_ROOT in file.parents]
PLUGIN_FILES = [file for file in FILES if file not in CORE]

# The modules and packages of the core, "" being doiuri/__init__.py: each may import those in the lines above
LAYERS = [
    {"_errors", "_files", "_json", "_names", "_patterns", "_urls"},
    {"_encoding", "_hosts", "markdown", "tex"},
    {"_connections", "bibtex"},
    {"_models", "_parse"},
    {"_doi"},
    {"_advice", "_find", "_settings"},
    {"records"},
    {"citations"},
    {""},
    {"rest"},
    {"resolver"},
    {"plugins"},
    {"testing"},
]
# The folders of the proxy, in the same order; the modules beside them use all
PROXY_ROOT = PACKAGES / "doiuri-proxy" / "src" / "doiuri_proxy"
PROXY_LAYERS = [{"records"}, {"http"}]
# The modules and folders of the command, in the same order
CLI_ROOT = PACKAGES / "doiuri-cli" / "src" / "doiuri_cli"
CLI_ORDER = "files readers _mentions rules output _config registry _examine _run _fixes commands _main"
CLI_LAYERS = [*({name} for name in CLI_ORDER.split()), {"__main__", ""}]
# References upwards that only type checkers read, and why there is no way around them
TYPE_ONLY = {
    ("_errors", "_doi"): "the type of an error's attribute doi",
    ("_models", "_doi"): "the type that models read and write",
}
# The only import of a plugin by the core
ANSWERS = ("testing/__init__.py", "doiuri_proxy")  # resolver_for answers as the proxy does
# Public modules of the core, and which plugins may use another plugin's public modules
PUBLIC = {
    *("", "bibtex", "citations", "plugins", "plugins.citing", "plugins.clients", "plugins.connections"),
    *("plugins.display", "plugins.survey", "records", "resolver", "rest", "markdown", "tex", "testing"),
}
ALLIES = {"sphinx_doiuri": {"docutils_doiuri"}}
# Files whose imports by name are the lazy face of a package: there is no other way to load on first use
LAZY = {
    "doiuri/__init__.py",
    "doiuri/resolver/__init__.py",
    "doiuri_cli/readers/__init__.py",
    "doiuri_proxy/__init__.py",
}

MOST_LINES = 600


@dataclass(frozen=True)
class Import:
    """One import of one of our own modules by a statement in a file."""

    file: Path
    line: int
    target: Path
    typing_only: bool

    def __str__(self) -> str:
        return f"{relative(self.file)}:{self.line} imports {module_of(self.target)}"


def source_of(file: Path) -> Path:
    return next(folder for folder in file.parents if folder.name == "src")


def relative(file: Path) -> str:
    return file.relative_to(source_of(file)).as_posix()


def module_of(file: Path) -> str:
    parts = file.relative_to(source_of(file)).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, Path]:
    """Our own modules, by full name."""
    return {module_of(file): file for file in FILES}


def statements(node: ast.AST, typing_only: bool = False) -> Iterator[tuple[ast.stmt, bool]]:
    """The import statements below a node at any depth, each with whether it is for type checkers only."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, typing_only
        elif isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            for statement in child.body:
                yield from statements(ast.Module([statement], []), typing_only=True)
            yield from statements(ast.Module(child.orelse, []), typing_only)
        else:
            yield from statements(child, typing_only)


def names(statement: ast.stmt, file: Path) -> Iterator[str]:
    """The full names that a statement imports; relative imports are resolved."""
    if isinstance(statement, ast.Import):
        yield from (alias.name for alias in statement.names)
    elif isinstance(statement, ast.ImportFrom):
        package = file.relative_to(source_of(file)).parent.parts
        base = package[: len(package) - statement.level + 1] if statement.level else ()
        module = ".".join([*base, *([statement.module] if statement.module else [])])
        yield from (f"{module}.{alias.name}" for alias in statement.names)


@cache
def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf-8"))


@cache
def imports(file: Path) -> tuple[Import, ...]:
    """The imports of our own modules; a name that is not a module counts for the module that defines it."""
    found = {}
    for statement, typing_only in statements(tree(file)):
        for name in names(statement, file):
            target = modules().get(name) or modules().get(name.rpartition(".")[0])
            if target is not None and target != file:
                found[statement.lineno, target] = Import(file, statement.lineno, target, typing_only)
    return tuple(found.values())


def member(file: Path, root: Path = CORE_ROOT) -> str:
    """The module or package right below ``root`` that a file belongs to; "" for ``__init__``."""
    first = file.relative_to(root).parts[0].removesuffix(".py")
    return "" if first == "__init__" else first


def excused(found: Import) -> bool:
    """Whether a reference upwards is one of those in the core that have a reason."""
    if not {found.file, found.target} <= {*CORE}:
        return (relative(found.file).removeprefix("doiuri/"), module_of(found.target)) == ANSWERS
    return found.typing_only and (member(found.file), member(found.target)) in TYPE_ONLY


def test_every_module_of_the_core_has_a_layer() -> None:
    assert Counter(name for members in LAYERS for name in members) == Counter({member(file) for file in CORE})


@pytest.mark.parametrize(
    ("root", "layers"), [(CORE_ROOT, LAYERS), (PROXY_ROOT, PROXY_LAYERS), (CLI_ROOT, CLI_LAYERS)]
)
def test_no_import_points_upwards(root: Path, layers: list[set[str]]) -> None:
    rank = {name: number for number, members in enumerate(layers) for name in members}
    files = [file for file in FILES if file.is_relative_to(root) and member(file, root) in rank]
    assert len(files) > 10
    for found in (one for file in files for one in imports(file)):
        own = member(found.file, root)
        if found.target.is_relative_to(root):
            other = member(found.target, root)
            assert other == own or rank.get(other, 99) < rank[own] or excused(found), str(found)
        else:
            assert root != CORE_ROOT or excused(found), str(found)


def circles(edges: dict[Path, set[Path]]) -> Iterable[list[Path]]:
    """The circles of a graph, one for each group of files that reach each other."""
    done: set[Path] = set()

    def visit(file: Path, way: list[Path]) -> Iterator[list[Path]]:
        if file in way:
            yield [*way[way.index(file) :], file]
        elif file not in done:
            for other in sorted(edges[file]):
                yield from visit(other, [*way, file])
            done.add(file)

    for file in sorted(edges):
        yield from visit(file, [])


def test_no_circle_between_files() -> None:
    graph = {file: {one.target for one in imports(file) if not excused(one)} for file in FILES}
    found = [" -> ".join(map(relative, circle)) for circle in circles(graph)]
    assert not found, "\n".join(found)


def test_circles_are_seen() -> None:
    one, two, three = (Path(name) for name in "abc")
    assert [*circles({one: {two}, two: {three}, three: {two}})] == [[two, three, two]]
    assert not [*circles({one: {two, three}, two: {three}, three: set()})]


def test_imports_are_seen_wherever_they_are() -> None:
    program = """
        import a
        if TYPE_CHECKING:
            import b
        else:
            import c
        class D:
            def method(self):
                try:
                    from . import e
                except ImportError:
                    if self:
                        import f
        """
    seen = [(ast.unparse(node), typing) for node, typing in statements(ast.parse(dedent(program)))]
    assert [line for line, _ in seen] == [
        *(f"import {name}" for name in "abc"),
        "from . import e",
        "import f",
    ]
    assert [line for line, typing_only in seen if typing_only] == ["import b"]


def test_no_type_only_reference_is_listed_in_vain() -> None:
    found = [one for file in CORE for one in imports(file) if one.typing_only and one.target in CORE]
    assert {(member(one.file), member(one.target)) for one in found} >= {*TYPE_ONLY}


def test_imports_by_name_are_for_the_lazy_face_only() -> None:
    hidden = [
        f"{relative(file)}:{node.lineno}"
        for file in FILES
        if relative(file) not in LAZY
        for node in ast.walk(tree(file))
        if (isinstance(node, ast.Name) and node.id in {"import_module", "__import__"})
        or (isinstance(node, ast.Attribute) and node.attr == "import_module")
    ]
    assert not hidden


def test_plugins_use_the_public_core_and_never_each_other() -> None:
    for found in (one for file in PLUGIN_FILES for one in imports(file)):
        own = module_of(found.file).partition(".")[0]
        package, _, rest = module_of(found.target).partition(".")
        if package == own:
            continue
        assert package in {"doiuri"} | ALLIES.get(own, set()), f"{found}: plugins never use each other"
        assert package != "doiuri" or rest in PUBLIC, f"{found}: not a public module"


def test_plugins_import_no_private_names() -> None:
    packages = {name.partition(".")[0] for name in modules()}
    for file in PLUGIN_FILES:
        own = module_of(file).partition(".")[0]
        for statement, _ in statements(tree(file)):
            for name in names(statement, file):
                package, *rest = name.split(".")
                private = any(part.startswith("_") and not part.startswith("__") for part in rest)
                ours = package in packages - {own}
                assert not (ours and private), f"{relative(file)}:{statement.lineno} imports {name}"


def test_no_file_is_longer_than_a_subject() -> None:
    lengths = {relative(file): len(file.read_text("utf-8").splitlines()) for file in FILES}
    assert len(lengths) > 50  # all were seen
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}
