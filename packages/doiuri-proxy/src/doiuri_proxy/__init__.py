"""A local DOI proxy: offline builds, tests, shared caches."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from doiuri_proxy._http import Request
    from doiuri_proxy._protocol import Limits
    from doiuri_proxy._records import RecordsError
    from doiuri_proxy._running import Running, running

__all__ = ["Limits", "RecordsError", "Request", "Running", "running"]

# Where each name lives: loaded on first use, for pytest imports this package in runs that need no proxy.
_HOMES = {
    "Limits": "_protocol",
    "RecordsError": "_records",
    "Request": "_http",
    "Running": "_running",
    "running": "_running",
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
