"""``doi:`` URIs for urllib's global opener, and for one call."""

from __future__ import annotations

import copy
import urllib.request
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.request import HTTPSHandler, OpenerDirector, ProxyHandler, build_opener, getproxies

from urllib_doiuri._handler import DOIHandler, Redirects

if TYPE_CHECKING:
    import ssl
    from collections.abc import Sequence
    from http.client import HTTPResponse
    from typing import Unpack
    from urllib.request import Request, _DataType

    from doiuri import Handle
    from doiuri.plugins.clients import ClientArguments

_DEFAULT: Any = object()

# The installed handler, the opener that has it, and the opener that this one replaces, if any
_installed: tuple[DOIHandler, OpenerDirector, OpenerDirector | None] | None = None


def _global_opener() -> OpenerDirector | None:
    return urllib.request._opener  # type: ignore[attr-defined, no-any-return] # has no public reader


def install(resolver: str | None = None, **options: Unpack[ClientArguments]) -> DOIHandler:
    """Make ``urllib.request.urlopen`` and ``urlretrieve`` open ``doi:`` URIs; return the handler.

    The new global opener has the handlers of the present one, or else urllib's own, and this handler as its
    only DOIHandler. A second call replaces the options. The options, and the errors about them, are those of
    :class:`DOIHandler`.
    """
    global _installed  # noqa: PLW0603 - urllib's opener is global too
    handler = DOIHandler(resolver, **options)
    uninstall()
    replaced = _global_opener()
    opener = _opener(handler)
    urllib.request.install_opener(opener)
    _installed = handler, opener, replaced
    return handler


def uninstall() -> None:
    """Undo :func:`install`; do nothing if it was not called, or if another opener was installed since."""
    global _installed  # noqa: PLW0603
    if _installed is not None and _installed[1] is _global_opener():
        urllib.request.install_opener(_installed[2])
    _installed = None


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
    :raises urllib.error.HTTPError: if the response is an HTTP error. Its ``__cause__`` is the core's error if
        the resolver explains it: :exc:`doiuri.DOINotFound` for a DOI that does not exist.
    :raises urllib.error.URLError: if the request failed, with ``offline``, or if the answer is not the record
        that was asked for, such as a login page or the "404 Not Found" of a gateway.
    """
    opener = _opener(copy.copy(_handler_for(resolver, **options)), context)
    timeouts = () if timeout is _DEFAULT else (timeout,)
    return opener.open(url, data, *timeouts)  # type: ignore[no-any-return]


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

    :param doi: a DOI, or the text of a DOI or short DOI. The parameters are those of
        :func:`doiuri.rest.record_url`.
    :param resolver: base URL of the DOI resolver; default that of :func:`install`, else the environment's.
    :raises DOISyntaxError: if ``doi`` cannot be parsed.
    """
    from doiuri.plugins import parse_name
    from doiuri.rest import record_url

    handle = parse_name(doi) if isinstance(doi, str) else doi
    options = _handler_for(resolver).options
    url = record_url(handle, base=options.resolver, type=type, index=index, auth=auth, cert=cert)
    return Redirects(handle, url, options, wants_record=True).request()


def _handler_for(resolver: str | None, **options: Unpack[ClientArguments]) -> DOIHandler:
    """Return the installed handler if no option is given, or else a new one."""
    given = [value for value in (resolver, *options.values()) if value is not None]
    if _installed is not None and not given:
        return _installed[0]
    return DOIHandler(resolver, **options)


def _opener(handler: DOIHandler, context: ssl.SSLContext | None = None) -> OpenerDirector:
    """Return a copy of the global opener with ``handler`` as its only DOIHandler, and one for the TLS context.

    Without a global opener, it is a copy of urllib's own.
    """
    present = _global_opener() or _default_opener(tuple(getproxies().items()))
    new = OpenerDirector()
    new.addheaders = present.addheaders
    replaced = (DOIHandler,) if context is None else (DOIHandler, HTTPSHandler)
    for other in present.handlers:  # type: ignore[attr-defined]
        if not isinstance(other, replaced):
            new.add_handler(copy.copy(other))  # a handler belongs to one opener
    new.add_handler(handler)
    if context is not None:
        new.add_handler(HTTPSHandler(context=context))
    return new


@lru_cache(maxsize=8)  # a new opener reads the system's certificates, which takes 20 ms
def _default_opener(proxies: tuple[tuple[str, str], ...]) -> OpenerDirector:
    return build_opener(ProxyHandler(dict(proxies)))
