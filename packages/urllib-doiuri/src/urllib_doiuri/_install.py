"""``doi:`` URIs for urllib's global opener, and for one call."""

from __future__ import annotations

import copy
import urllib.request
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.request import HTTPSHandler, OpenerDirector, ProxyHandler, build_opener, getproxies

import doiuri

from urllib_doiuri._handler import DOIHandler
from urllib_doiuri._redirects import Redirects

if TYPE_CHECKING:
    import ssl
    from collections.abc import Sequence
    from http.client import HTTPResponse
    from typing import Unpack
    from urllib.request import Request, _DataType

    from doiuri import Handle
    from doiuri.plugins.clients import ClientArguments

_DEFAULT: Any = object()


class _GlobalHandler(DOIHandler):
    """The handler that ``install`` adds; it precedes a DOIHandler that the opener has already.

    Openers cannot remove a handler, so ``uninstall`` switches it off.
    """

    handler_order = DOIHandler.handler_order - 1
    installed = False

    def doi_open(self, req: Request) -> HTTPResponse | None:
        return super().doi_open(req) if self.installed else None


_handler: _GlobalHandler | None = None
_made: OpenerDirector | None = None  # the global opener, if install() made it


def _global_opener() -> OpenerDirector | None:
    opener: OpenerDirector | None = urllib.request._opener  # type: ignore[attr-defined] # has no public reader
    return opener


def install(resolver: str | None = None, **options: Unpack[ClientArguments]) -> DOIHandler:
    """Make ``urllib.request.urlopen`` and ``urlretrieve`` open ``doi:`` URIs; return the handler.

    The global opener keeps its handlers; if there is none, one is made. A second call replaces the options.
    The options, and the errors about them, are those of :class:`DOIHandler`.
    """
    global _handler, _made  # noqa: PLW0603 - urllib's opener is global too
    new, opener = _GlobalHandler(resolver, **options), _global_opener()
    if _handler is None or _handler.parent is not opener:
        if _handler is not None:
            _handler.installed = False
        if opener is None:
            opener = _made = build_opener()
        opener.add_handler(new)
        urllib.request.install_opener(opener)
        _handler = new
    _handler.options, _handler.installed = new.options, True
    return _handler


def uninstall() -> None:
    """Undo :func:`install`; do nothing if it was not called."""
    global _handler, _made  # noqa: PLW0603
    if _handler is not None:
        _handler.installed = False
    if _made is not None:
        if _made is _global_opener():
            urllib.request.install_opener(None)
        _handler = _made = None


def urlopen(
    url: str | Request,
    data: _DataType | None = None,
    timeout: float | None = _DEFAULT,
    *,
    context: ssl.SSLContext | None = None,
    resolver: str | None = None,
    **options: Unpack[ClientArguments],
) -> HTTPResponse:
    """Open ``url``, which may be a ``doi:`` URI, as ``urllib.request.urlopen`` does.

    Works without :func:`install`. The options are those of :class:`DOIHandler`. If none is given, those of
    :func:`install` apply, or else the environment's. The other handlers are those of the global opener, if
    there is one.

    :param url: a URL, a strict ``doi:`` URI, or a request for one.
    :param data: the body, in octets; DOIs take none.
    :param timeout: seconds to wait at each step; default ``socket.getdefaulttimeout()``.
    :param context: the TLS context of this call.
    :returns: the response, as urllib's. ``url`` is the last URL requested.
    :raises ValueError: if an option is invalid; DOISyntaxError, a ValueError, if the URI is.
    :raises urllib.error.HTTPError: if the response is an HTTP error; 404 for a DOI that does not exist. Its
        ``__cause__`` is the core's error if the resolver explains it, such as :exc:`doiuri.DOINotFound`.
    :raises urllib.error.URLError: if the request failed, or with ``offline``.
    """
    opener = _opener(_handler_for(resolver, **options), context)
    response: HTTPResponse = opener.open(url, data, *(() if timeout is _DEFAULT else (timeout,)))
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

    :param doi: a DOI, or text for :meth:`doiuri.Handle.parse`. The parameters are those of
        :func:`doiuri.rest.record_url`.
    :param resolver: base URL of the DOI resolver; default that of :func:`install`, else the environment's.
    :raises DOISyntaxError: if ``doi`` cannot be parsed.
    """
    from doiuri.rest import record_url

    handle = doiuri.Handle.parse(doi) if isinstance(doi, str) else doi
    handler = _handler_for(resolver)
    base = handler.options.settings.base
    url = record_url(handle, base=base, type=type, index=index, auth=auth, cert=cert)
    return handler._request(Redirects(handle, url, record=True, options=handler.options))


def _handler_for(resolver: str | None, **options: Unpack[ClientArguments]) -> DOIHandler:
    """Return the installed handler if no option is given, or else a new one."""
    if _handler is not None and _handler.installed and {resolver, *options.values()} <= {None}:
        return _handler
    return DOIHandler(resolver, **options)


def _opener(handler: DOIHandler, context: ssl.SSLContext | None) -> OpenerDirector:
    """Return the opener for one call: a copy of the global one, with ``handler`` as its only DOIHandler."""
    present = _global_opener()
    if context is None and present is not None and handler is _handler and handler.parent is present:
        return present
    present, new = present or _default_opener(tuple(sorted(getproxies().items()))), OpenerDirector()
    new.addheaders = present.addheaders
    replaced = (DOIHandler,) if context is None else (DOIHandler, HTTPSHandler)
    kept = [other for other in present.handlers if not isinstance(other, replaced)]  # type: ignore[attr-defined]
    for other in (*kept, handler):
        new.add_handler(copy.copy(other))  # a handler belongs to one opener
    if context is not None:
        new.add_handler(HTTPSHandler(context=context))
    return new


@lru_cache(maxsize=8)  # building an opener reads the system's certificates, which takes 20 ms
def _default_opener(proxies: tuple[tuple[str, str], ...]) -> OpenerDirector:
    return build_opener(ProxyHandler(dict(proxies)))
