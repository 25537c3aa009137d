"""The examples in the docstrings are true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import doiuri.records
import doiuri.rest
import doiuri.testing
import pytest

MODULES = [
    f"{package.__name__}.{module.name}"
    for package in (doiuri.records, doiuri.rest, doiuri.testing)
    for module in pkgutil.iter_modules(package.__path__)
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
