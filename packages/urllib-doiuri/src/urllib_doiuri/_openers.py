"""What urllib lacks for openers: remove a handler, copy an opener, and tell which one is global.

``OpenerDirector`` has ``add_handler`` and no opposite, so this module uses attributes that urllib does not
document.
"""

from __future__ import annotations

import copy
import urllib.request
from typing import TYPE_CHECKING, Protocol, cast
from urllib.request import HTTPSHandler, OpenerDirector

from urllib_doiuri._handler import DOIHandler

if TYPE_CHECKING:
    import ssl
    from urllib.request import BaseHandler


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
