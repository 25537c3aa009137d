"""The public names: those that ``tests/repo/public.toml`` lists."""

from __future__ import annotations

import importlib
import re
import tomllib
from typing import NamedTuple

from support.manual.building import ROOT

_CLASS = re.compile(r"^class (\w+)", re.MULTILINE)
SOURCES = sorted(ROOT.glob("packages/*/src/**/*.py"))


def listed_names() -> dict[str, list[str]]:
    """Return the names that ``tests/repo/public.toml`` lists, by module."""
    return tomllib.loads((ROOT / "tests" / "repo" / "public.toml").read_text("utf-8"))


def module_of(file_name: str) -> str:
    """Return the module of a source file: ``doiuri.works`` for ``…/src/doiuri/works/__init__.py``."""
    name = file_name.rpartition("/src/")[2].removesuffix(".py").removesuffix("/__init__")
    return name.replace("/", ".")


class PublicClass(NamedTuple):
    """A public class, the modules in which it is public, and the module that defines it."""

    name: str
    value: type
    modules: tuple[str, ...]
    defined_in: str


def public_classes() -> list[PublicClass]:
    """Return the public classes of all packages, each once."""
    modules: dict[type, list[str]] = {}
    for module, names in listed_names().items():
        for name in names:
            value: object = getattr(importlib.import_module(module), name)
            if isinstance(value, type):
                modules.setdefault(value, []).append(module)

    definitions: dict[str, list[str]] = {}
    for file in SOURCES:
        for name in _CLASS.findall(file.read_text("utf-8")):
            definitions.setdefault(name, []).append(module_of(file.as_posix()))

    classes = []
    for cls, public in modules.items():
        for candidate in definitions.get(cls.__name__, []):
            if getattr(importlib.import_module(candidate), cls.__name__, None) is cls:
                classes.append(PublicClass(cls.__name__, cls, tuple(public), candidate))
    return classes
