"""A local DOI proxy: offline builds, tests, shared caches."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from doiuri_proxy._server import Running, running
    from doiuri_proxy.http._http import Request
    from doiuri_proxy.records._files import RecordsError

__all__ = ["RecordsError", "Request", "Running", "running"]


def __getattr__(name: str) -> object:
    # pytest imports this package in every run, for the plugin: load the rest on first use.
    if name == "app":  # `uvicorn doiuri_proxy:app`
        from doiuri_proxy._server import app_of_environ

        return app_of_environ()
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from doiuri_proxy._server import Running, running
    from doiuri_proxy.http._http import Request
    from doiuri_proxy.records._files import RecordsError

    public = {"RecordsError": RecordsError, "Request": Request, "Running": Running, "running": running}
    return public[name]


def __dir__() -> list[str]:
    return __all__
