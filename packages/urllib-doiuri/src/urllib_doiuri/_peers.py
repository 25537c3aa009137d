"""Check the address that urllib connects to for a DOI: a host's name may resolve to a private one.

urllib has no hook between connecting and sending, so this module uses the opener's list of handlers, which
urllib does not document.
"""

from __future__ import annotations

import copy
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, cast
from urllib.error import URLError
from urllib.request import AbstractHTTPHandler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from http.client import HTTPConnection, HTTPResponse
    from urllib.request import BaseHandler, Request

    from urllib_doiuri._redirects import Redirects


class _Opener(Protocol):
    handle_open: dict[str, list[BaseHandler]]


@contextmanager
def refusals(redirects: Redirects) -> Iterator[None]:
    """Raise URLError, which names the DOI, for a target that is refused."""
    from doiuri.plugins import TargetError

    try:
        yield
    except TargetError as error:
        raise URLError(f"{redirects.doi.name}: {error}") from error


def open_checked(handler: BaseHandler, request: Request, redirects: Redirects) -> HTTPResponse | None:
    """Open a request with the handlers that come after ``handler``, as the opener would.

    Those that connect check the peer before they send anything.
    """
    handlers = cast("_Opener", handler.parent).handle_open[request.type]
    if handler in handlers:
        later = handlers[handlers.index(handler) + 1 :]
    else:  # another thread has removed it
        later = [other for other in handlers if handler < other]
    for other in later:
        checked = _checked(other, redirects) if isinstance(other, AbstractHTTPHandler) else other
        with refusals(redirects):
            response: HTTPResponse | None = getattr(checked, f"{request.type}_open")(request)
        if response is not None:
            return response
    return None


def _checked(handler: AbstractHTTPHandler, redirects: Redirects) -> AbstractHTTPHandler:
    """Return a copy of a handler whose connections check their peer."""

    def do_open(
        http_class: Callable[..., HTTPConnection], request: Request, **options: object
    ) -> HTTPResponse:
        def connection(*args: object, **kwargs: object) -> HTTPConnection:
            made = http_class(*args, **kwargs)
            through_proxy = request.has_proxy() or vars(request).get("_tunnel_host")
            return made if through_proxy else _check_when_connected(made, request, redirects)

        return handler.do_open(connection, request, **options)

    checked = copy.copy(handler)
    checked.do_open = do_open  # type: ignore[assignment, method-assign]
    return checked


def _check_when_connected(
    connection: HTTPConnection, request: Request, redirects: Redirects
) -> HTTPConnection:
    connect = connection.connect

    def connect_and_check() -> None:
        connect()
        try:
            redirects.check.check_peer(request.full_url, str(connection.sock.getpeername()[0]))
        except BaseException:
            connection.close()
            raise

    connection.connect = connect_and_check  # type: ignore[method-assign]
    return connection
