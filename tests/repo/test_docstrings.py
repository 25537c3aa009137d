"""The examples in the docstrings of all packages are true."""

from __future__ import annotations

import doctest
import importlib
import inspect
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
