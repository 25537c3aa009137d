"""What urllib lacks for openers: change the handlers of one in use, copy one, and tell which one is global.

``OpenerDirector`` has no opposite of ``add_handler``, so this module uses attributes that urllib does not
document.
"""

from __future__ import annotations

import bisect
import copy
import urllib.request
from typing import TYPE_CHECKING, Protocol, TypeVar, cast
from urllib.request import HTTPSHandler, OpenerDirector

from urllib_doiuri._handler import DOIHandler

if TYPE_CHECKING:
    import ssl
    from urllib.request import BaseHandler

_Key = TypeVar("_Key", str, int)


class _Tables(Protocol):
    """The attributes of an opener in which ``add_handler`` enters a handler."""

    handlers: list[BaseHandler]
    handle_open: dict[str, list[BaseHandler]]
    process_request: dict[str, list[BaseHandler]]
    process_response: dict[str, list[BaseHandler]]
    handle_error: dict[str, dict[int, list[BaseHandler]]]


def global_opener() -> OpenerDirector | None:
    """Return the opener that ``urllib.request.urlopen`` uses, or None if there is none yet."""
    opener: OpenerDirector | None = urllib.request._opener  # type: ignore[attr-defined]
    return opener


def handlers_of(opener: OpenerDirector) -> list[BaseHandler]:
    """Return the handlers of an opener, in order."""
    return list(cast("_Tables", opener).handlers)


def add_handler(opener: OpenerDirector, handler: BaseHandler) -> None:
    """Do as ``opener.add_handler(handler)``, for an opener that other threads may be using.

    urllib inserts the handler before it has a ``parent``, and into lists that others may be iterating over.
    """
    tables = cast("_Tables", opener)
    added = cast("_Tables", new := OpenerDirector())
    new.add_handler(handler)
    handler.add_parent(opener)
    for protocol, by_status in added.handle_error.items():
        _add_to(tables.handle_error.setdefault(protocol, {}), by_status, handler)
    _add_to(tables.process_response, added.process_response, handler)
    _add_to(tables.process_request, added.process_request, handler)
    _add_to(tables.handle_open, added.handle_open, handler)
    tables.handlers = _with(handler, tables.handlers)


def _add_to(
    table: dict[_Key, list[BaseHandler]], added: dict[_Key, list[BaseHandler]], handler: BaseHandler
) -> None:
    for key in added:
        table[key] = _with(handler, table.get(key, []))


def _with(handler: BaseHandler, handlers: list[BaseHandler]) -> list[BaseHandler]:
    together = list(handlers)
    bisect.insort(together, handler)
    return together


def remove_handler(opener: OpenerDirector, handler: BaseHandler) -> None:
    """Undo ``opener.add_handler(handler)``.

    Each list is replaced, not changed: another thread may be iterating over it.
    """
    tables = cast("_Tables", opener)
    tables.handlers = _without(handler, tables.handlers)
    for by_scheme in (tables.handle_open, tables.process_request, tables.process_response):
        for scheme, handlers in by_scheme.items():
            by_scheme[scheme] = _without(handler, handlers)
    for by_status in tables.handle_error.values():
        for status, handlers in by_status.items():
            by_status[status] = _without(handler, handlers)


def _without(handler: BaseHandler, handlers: list[BaseHandler]) -> list[BaseHandler]:
    return [other for other in handlers if other is not handler]


def copy_opener(
    opener: OpenerDirector, handler: DOIHandler, context: ssl.SSLContext | None
) -> OpenerDirector:
    """Return a copy of ``opener`` with ``handler`` as its only DOIHandler.

    A handler belongs to one opener, so they are copied too.

    :param context: the TLS context of the copy; None keeps the HTTPSHandler of ``opener``.
    """
    replaced = (DOIHandler,) if context is None else (DOIHandler, HTTPSHandler)
    kept = [other for other in handlers_of(opener) if not isinstance(other, replaced)]
    new = OpenerDirector()
    new.addheaders = opener.addheaders
    for other in (*kept, handler):
        new.add_handler(copy.copy(other))
    if context is not None:
        new.add_handler(HTTPSHandler(context=context))
    return new
