"""Jinja's templates, each compiled once in a process: that is most of the time of a small site."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from jinja2 import Environment

_compile = Environment.compile
_codes: dict[tuple[object, ...], Any] = {}


def _compile_once(environment: Environment, *template: Any, **options: Any) -> Any:
    key = (type(environment), *environment.extensions, *template, *options.items())
    if key not in _codes:
        _codes[key] = _compile(environment, *template, **options)
    return _codes[key]


@contextmanager
def compiled_once() -> Iterator[None]:
    """Let all environments of a class and its extensions share their compiled templates."""
    with mock.patch.object(Environment, "compile", _compile_once):
        yield
