"""The global opener: put the handler in, take it out; and urlopen with or without it."""

from __future__ import annotations

import copy
import socket
import threading
import urllib.request
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.request import (
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    build_opener,
    getproxies,
    install_opener,
)

import doiuri

from urllib_doiuri._handler import DOIHandler

if TYPE_CHECKING:
    import ssl
    from collections.abc import Sequence
    from http.client import HTTPResponse
    from urllib.request import Request, _DataType

    from doiuri import Handle
    from doiuri.plugins import Settings

    from urllib_doiuri._handler import Follow

_NO_TIMEOUT_GIVEN: float = socket._GLOBAL_DEFAULT_TIMEOUT  # type: ignore[attr-defined]
_lock = threading.Lock()
_installed: DOIHandler | None = None
_made_with = 0  # the number of handlers of the opener that install() made; 0 if it found one


def install(
    resolver: str | None = None,
    offline: bool | str | None = None,
    mailto: str | None = None,
    follow: Follow = "record",
) -> DOIHandler:
    """Make ``urllib.request.urlopen`` and ``urlretrieve`` open ``doi:`` URIs; return the handler.

    The global opener keeps its handlers; where there is none yet, one is made. The settings are those of
    DOIHandler, read now; a second call replaces them, without a moment in which ``doi:`` is unknown.
    """
    global _installed, _made_with  # noqa: PLW0603 - as global as urllib's opener
    handler = DOIHandler(resolver, offline, mailto, follow)
    handler.handler_order -= 1  # type: ignore[misc]  # before a DOIHandler that the opener has of its own
    with _lock:
        before, opener = _installed, _global_opener()
        if opener is None:
            opener = build_opener(handler)
            install_opener(opener)
            _made_with = len(vars(opener)["handlers"])
        else:
            opener.add_handler(handler)
            if before is None or before.parent is not opener:
                _made_with = 0
        _installed = handler
        if before is not None:
            _take_out(before)
    return handler


def uninstall() -> None:
    """Undo ``install()``; handlers that others have added stay. Does nothing where nothing is installed."""
    global _installed
    with _lock:
        handler, _installed = _installed, None
        if handler is None:
            return
        opener = handler.parent
        if opener is _global_opener() and len(vars(opener)["handlers"]) == _made_with:
            install_opener(None)
        _take_out(handler)


def urlopen(
    url: str | Request,
    data: _DataType | None = None,
    timeout: float | None = _NO_TIMEOUT_GIVEN,
    *,
    context: ssl.SSLContext | None = None,
    resolver: str | None = None,
    offline: bool | str | None = None,
    mailto: str | None = None,
    follow: Follow | None = None,
) -> HTTPResponse:
    """Open ``url`` as ``urllib.request.urlopen`` does, ``doi:`` URIs too, installed or not.

    Takes a TLS ``context`` as well, for which urllib's own leaves the global opener aside, and the
    settings of DOIHandler; if none is given, those of ``install()`` hold, or else the environment's. The
    other handlers are those of the global opener, where there is one.
    """
    handler = _handler(resolver, offline, mailto, follow)
    present = _global_opener()
    if context is None and present is not None and handler is _installed and handler.parent is present:
        opener = present
    elif present is not None:
        opener = _like(present, handler, context)
    elif context is not None:
        opener = build_opener(HTTPSHandler(context=context), copy.copy(handler))
    else:
        opener = _opener(handler.settings, handler.follow, tuple(sorted(getproxies().items())))
    response: HTTPResponse = opener.open(url, data, timeout)
    return response


def record_request(
    doi: str | Handle,
    *,
    type: str | Sequence[str] = (),  # noqa: A002 - the API's own word
    index: int | Sequence[int] = (),
    auth: bool = False,
    cert: bool = False,
    resolver: str | None = None,
) -> Request:
    """Return the request for a record with the REST API's parameters, which a ``doi:`` URI cannot hold.

    ``doi`` is a DOI, or what ``Handle.parse`` takes. ``type`` and ``index`` (one or several) choose values,
    those that match any of them; ``auth`` asks the authoritative server, ``cert`` for a certified answer.
    Any opener opens it. The resolver is that of ``install()``, or else the environment's. Raises
    DOISyntaxError.
    """
    handle = doiuri.Handle.parse(doi) if isinstance(doi, str) else doi
    handler = _handler(resolver, None, None, None)
    return handler.record_request(handle, type=type, index=index, auth=auth, cert=cert)


def _handler(
    resolver: str | None, offline: bool | str | None, mailto: str | None, follow: Follow | None
) -> DOIHandler:
    if _installed is not None and (resolver, offline, mailto, follow) == (None, None, None, None):
        return _installed
    return DOIHandler(resolver, offline, mailto, follow or "record")


@lru_cache(maxsize=8)  # to make an opener is to read the system's certificates: 20 ms
def _opener(settings: Settings, follow: Follow, proxies: tuple[tuple[str, str], ...]) -> OpenerDirector:
    handler = DOIHandler(settings.base, settings.offline, settings.mailto, follow)
    return build_opener(ProxyHandler(dict(proxies)), handler)


def _like(present: OpenerDirector, handler: DOIHandler, context: ssl.SSLContext | None) -> OpenerDirector:
    """Return an opener with copies of the handlers of another, but with this one for DOIs and ``context``."""
    replaced = (DOIHandler,) if context is None else (DOIHandler, HTTPSHandler)
    opener = OpenerDirector()
    opener.addheaders = present.addheaders
    for one in vars(present)["handlers"]:
        if not isinstance(one, replaced):
            opener.add_handler(copy.copy(one))
    opener.add_handler(copy.copy(handler))
    if context is not None:
        opener.add_handler(HTTPSHandler(context=context))
    return opener


def _global_opener() -> OpenerDirector | None:
    opener: OpenerDirector | None = urllib.request._opener  # type: ignore[attr-defined]
    return opener


def _take_out(handler: DOIHandler) -> None:
    """Take a handler out of its opener, by new lists: other threads may be walking the old."""
    parts = vars(handler.parent)
    parts["handlers"] = [one for one in parts["handlers"] if one is not handler]
    tables = [parts["handle_open"], parts["process_request"], parts["process_response"]]
    for table in [*tables, *parts["handle_error"].values()]:
        for kind, handlers in table.items():
            table[kind] = [one for one in handlers if one is not handler]
