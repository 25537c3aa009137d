"""The examples in the docstrings of all packages are true, and no signature shows a live object."""

from __future__ import annotations

import doctest
import importlib
import inspect
import os
from collections.abc import Iterator
from pathlib import Path

import doiuri

SOURCES = sorted((Path(__file__).parents[2] / "packages").glob("*/src"))
FILES = [path.relative_to(source) for source in SOURCES for path in sorted(source.rglob("*.py"))]
MODULES = [
    ".".join(path.with_suffix("").parts).removesuffix(".__init__")
    for path in FILES
    if path.stem not in {"__main__", "pytest_plugin"}
]
PUBLIC = {name: getattr(doiuri, name) for name in doiuri.__all__}


def test_examples() -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for module in map(importlib.import_module, MODULES):
        if ">>> " not in inspect.getsource(module):
            continue
        for test in doctest.DocTestFinder().find(module, extraglobs=PUBLIC | vars(module)):
            runner.run(test)
    failed, attempted = runner.summarize(verbose=False)
    assert (failed, attempted > 100) == (0, True)


def functions(module: object) -> Iterator[object]:
    """The functions and methods of a module."""
    for value in vars(module).values():
        if inspect.isfunction(value):
            yield value
        elif inspect.isclass(value):
            yield from filter(callable, vars(value).values())
            yield from (value.__func__ for value in vars(value).values() if isinstance(value, classmethod))


def test_no_default_is_the_environment() -> None:
    """Sphinx prints defaults, so the manual would contain the environment of the machine that builds it."""
    for function in (found for name in MODULES for found in functions(importlib.import_module(name))):
        try:
            parameters = inspect.signature(function).parameters.values()  # type: ignore[arg-type]
        except (TypeError, ValueError):
            continue
        assert not any(isinstance(parameter.default, type(os.environ)) for parameter in parameters), function
