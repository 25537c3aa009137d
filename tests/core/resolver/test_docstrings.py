"""The examples in the docstrings of the resolver run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest
from doiuri import resolver

MODULES = [module.name for module in pkgutil.walk_packages(resolver.__path__, "doiuri.resolver.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
