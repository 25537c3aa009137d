"""A local DOI proxy: offline builds, tests, shared caches."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from doiuri_proxy.app._http import Request
    from doiuri_proxy.records._records import RecordsError
    from doiuri_proxy.server._protocol import Limits
    from doiuri_proxy.server._running import Running, running

__all__ = ["Limits", "RecordsError", "Request", "Running", "running"]

# Where each name lives: loaded on first use, for pytest imports this package in runs that need no proxy.
_HOMES = {
    "Limits": "server._protocol",
    "RecordsError": "records._records",
    "Request": "app._http",
    "Running": "server._running",
    "running": "server._running",
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
