"""``doi:`` URIs for urllib's global opener, and for one call."""

from __future__ import annotations

import copy
import socket
import threading
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.request import HTTPSHandler, ProxyHandler, build_opener, getproxies, install_opener

import doiuri

from urllib_doiuri._handler import DOIHandler
from urllib_doiuri._openers import add_handler, copy_opener, global_opener, handlers_of, remove_handler

if TYPE_CHECKING:
    import ssl
    from collections.abc import Sequence
    from http.client import HTTPResponse
    from urllib.request import BaseHandler, OpenerDirector, Request, _DataType

    from doiuri import Handle
    from doiuri.plugins import ClientOptions, Follow

_DEFAULT_TIMEOUT: float = socket._GLOBAL_DEFAULT_TIMEOUT  # type: ignore[attr-defined]


class _GlobalHandler(DOIHandler):
    """The handler that ``install`` adds; it precedes a DOIHandler that the opener has already."""

    handler_order = DOIHandler.handler_order - 1


class _Installation(NamedTuple):
    """What ``install`` did, for ``uninstall`` to undo."""

    handler: _GlobalHandler
    opener: OpenerDirector
    default_handlers: list[BaseHandler] | None
    """The other handlers of an opener that ``install`` made; None for an opener that was there."""


_lock = threading.Lock()
_installation: _Installation | None = None


def install(
    resolver: str | None = None,
    offline: bool | str | None = None,
    mailto: str | None = None,
    follow: Follow = "record",
    private: bool | None = None,
) -> DOIHandler:
    """Make ``urllib.request.urlopen`` and ``urlretrieve`` open ``doi:`` URIs; return the handler.

    The global opener keeps its handlers; if there is none, one is made. A second call replaces the options.
    Threads may use the opener meanwhile.

    :param resolver: base URL of the DOI resolver; default ``DOIURI_RESOLVER``, else ``https://doi.org``.
    :param offline: send no requests for DOIs; default ``DOIURI_OFFLINE``, else false.
    :param mailto: mail address for the User-Agent header; default ``DOIURI_MAILTO``, else none.
    :param follow: what to open: the DOI's ``"record"``, or the ``"target"`` that it points to.
    :param private: whether redirects may lead to this machine or into a private network; default only if the
        resolver itself is there.
    :raises ValueError: if an option or a variable is invalid. The environment is read here, not later.
    """
    global _installation  # noqa: PLW0603 - urllib's opener is global too
    handler = _GlobalHandler(resolver, offline, mailto, follow, private)
    with _lock:
        previous, opener = _installation, global_opener()
        if opener is None:
            opener = build_opener()
            default_handlers: list[BaseHandler] | None = handlers_of(opener)
            opener.add_handler(handler)
            install_opener(opener)
        else:
            add_handler(opener, handler)
            default_handlers = previous.default_handlers if previous and previous.opener is opener else None
        _installation = _Installation(handler, opener, default_handlers)
        if previous is not None:  # only now, so that no call in between finds doi: unknown
            remove_handler(previous.opener, previous.handler)
    return handler


def uninstall() -> None:
    """Undo :func:`install`; do nothing if it was not called.

    Handlers that others have added stay, and so does an opener that has any.
    """
    global _installation
    with _lock:
        installed, _installation = _installation, None
        if installed is None:
            return
        remove_handler(installed.opener, installed.handler)
        is_unchanged = handlers_of(installed.opener) == installed.default_handlers
        if is_unchanged and installed.opener is global_opener():
            install_opener(None)


def urlopen(
    url: str | Request,
    data: _DataType | None = None,
    timeout: float | None = _DEFAULT_TIMEOUT,
    *,
    context: ssl.SSLContext | None = None,
    resolver: str | None = None,
    offline: bool | str | None = None,
    mailto: str | None = None,
    follow: Follow | None = None,
    private: bool | None = None,
) -> HTTPResponse:
    """Open ``url``, which may be a ``doi:`` URI, as ``urllib.request.urlopen`` does.

    Works without :func:`install`. If no option is given, those of :func:`install` apply, or else the
    environment's. The other handlers are those of the global opener, if there is one.

    :param url: a URL, a strict ``doi:`` URI, or a request for one.
    :param data: the body, in octets; DOIs take none.
    :param timeout: seconds to wait at each step; default ``socket.getdefaulttimeout()``.
    :param context: the TLS context of this call.
    :param resolver: base URL of the DOI resolver.
    :param offline: send no requests for DOIs.
    :param mailto: mail address for the User-Agent header.
    :param follow: what to open: the DOI's ``"record"``, or the ``"target"`` that it points to.
    :param private: whether redirects may lead to this machine or into a private network; default only if the
        resolver itself is there.
    :returns: the response, as urllib's. ``url`` is the last URL requested.
    :raises ValueError: if an option is invalid; DOISyntaxError, a ValueError, if the URI is.
    :raises urllib.error.HTTPError: if the response is an HTTP error; 404 for a DOI that does not exist. Its
        ``__cause__`` is the core's error if the resolver explains it, such as :exc:`doiuri.DOINotFound`.
    :raises urllib.error.URLError: if the request failed, or with ``offline``.
    """
    handler = _handler(resolver, offline, mailto, follow, private)
    opener = _opener(handler, context)
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
    """Return a request for a record with the REST API's parameters, which a ``doi:`` URI cannot hold.

    Any opener can open it.

    >>> record_request("10.1000/182", type="URL", resolver="https://doi.org").full_url
    'https://doi.org/api/handles/10.1000/182?type=URL'

    :param doi: a DOI, or text for :meth:`doiuri.Handle.parse`.
    :param type: return only values of this type, or of any of these.
    :param index: return only the value at this index, or at any of these. With ``type``, a value that matches
        either is returned.
    :param auth: ask the authoritative server, not the resolver's cache.
    :param cert: ask for an authenticated answer.
    :param resolver: base URL of the DOI resolver; default that of :func:`install`, else the environment's.
    :raises DOISyntaxError: if ``doi`` cannot be parsed.
    """
    handle = doiuri.Handle.parse(doi) if isinstance(doi, str) else doi
    handler = _handler(resolver)
    return handler.record_request(handle, type=type, index=index, auth=auth, cert=cert)


def _handler(
    resolver: str | None,
    offline: bool | str | None = None,
    mailto: str | None = None,
    follow: Follow | None = None,
    private: bool | None = None,
) -> DOIHandler:
    """Return the installed handler if no option is given, or else a new one."""
    installed = _installation
    if installed is not None and {resolver, offline, mailto, follow, private} == {None}:
        return installed.handler
    return DOIHandler(resolver, offline, mailto, follow or "record", private)


def _opener(handler: DOIHandler, context: ssl.SSLContext | None) -> OpenerDirector:
    """Return the opener for one call."""
    present = global_opener()
    if present is None:
        if context is not None:
            return build_opener(HTTPSHandler(context=context), copy.copy(handler))
        return _default_opener(handler.options, tuple(sorted(getproxies().items())))
    if context is None and handler in handlers_of(present):
        return present
    return copy_opener(present, handler, context)


@lru_cache(maxsize=8)  # building an opener reads the system's certificates, which takes 20 ms
def _default_opener(options: ClientOptions, proxies: tuple[tuple[str, str], ...]) -> OpenerDirector:
    settings = options.settings
    handler = DOIHandler(settings.base, settings.offline, settings.mailto, options.follow, options.private)
    return build_opener(ProxyHandler(dict(proxies)), handler)
