"""A local DOI proxy: offline builds, tests, shared caches."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from doiuri_proxy._resolver import resolver_for
    from doiuri_proxy._server import Running, running
    from doiuri_proxy.http._answer import answer
    from doiuri_proxy.http._http import Request, Response
    from doiuri_proxy.records._files import RecordsError
    from doiuri_proxy.records._source import Records

__all__ = [
    "Records",
    "RecordsError",
    "Request",
    "Response",
    "Running",
    "answer",
    "resolver_for",
    "running",
]

_MODULES = {
    "Records": "records._source",
    "RecordsError": "records._files",
    "Request": "http._http",
    "Response": "http._http",
    "answer": "http._answer",
    "resolver_for": "_resolver",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used; ``app`` is a new application of the environment each time."""
    # pytest imports this package in every run, for the plugin: load the rest on first use.
    if name == "app":  # `uvicorn doiuri_proxy:app`
        from doiuri_proxy._server import app_of_environ

        return app_of_environ()
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"doiuri_proxy.{_MODULES.get(name, '_server')}"), name)


def __dir__() -> list[str]:
    return __all__
