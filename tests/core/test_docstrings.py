"""The examples in the core's docstrings are true, and no signature shows a live object."""

import doctest
import importlib
import inspect
import os
import pkgutil
from collections.abc import Iterator

import doiuri
import pytest

MODULES = [info.name for info in pkgutil.walk_packages(doiuri.__path__, "doiuri.")]
PUBLIC = {name: getattr(doiuri, name) for name in doiuri.__all__}


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    module = importlib.import_module(name)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in doctest.DocTestFinder().find(module, extraglobs=PUBLIC | vars(module)):
        runner.run(test)
    assert runner.summarize(verbose=False).failed == 0


def functions(module: object) -> Iterator[object]:
    """The functions and methods of a module."""
    for value in vars(module).values():
        if inspect.isfunction(value):
            yield value
        elif inspect.isclass(value):
            yield from filter(callable, vars(value).values())
            yield from (value.__func__ for value in vars(value).values() if isinstance(value, classmethod))


@pytest.mark.parametrize("name", MODULES)
def test_no_default_is_the_environment(name: str) -> None:
    """Sphinx prints defaults, so the environment of whoever builds the manual would be in it."""
    for function in functions(importlib.import_module(name)):
        try:
            parameters = inspect.signature(function).parameters.values()  # type: ignore[arg-type]
        except (TypeError, ValueError):
            continue
        assert not any(isinstance(parameter.default, type(os.environ)) for parameter in parameters), function
