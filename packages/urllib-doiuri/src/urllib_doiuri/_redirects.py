"""The requests for one DOI: the credentials that stay with the resolver, and the check of each new peer."""

from __future__ import annotations

from http.client import HTTPConnection
from typing import TYPE_CHECKING
from urllib.request import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from http.client import HTTPResponse

    from doiuri import Handle
    from doiuri.plugins.clients import ClientOptions

CREDENTIALS = ("Authorization", "Cookie")


class Redirects(dict[str, int]):
    """The URLs requested for one DOI, in order, each with the number of requests.

    It serves as ``redirect_dict`` of each request: urllib counts visits in it, and hands it on to the request
    that follows a redirect. So each of them knows its DOI, and the caller's request shows the URLs.
    """

    def __init__(self, doi: Handle, url: str, *, record: bool, options: ClientOptions) -> None:
        """Start at ``url``: the DOI's record if ``record``, else the link, which redirects to its target."""
        super().__init__({url: 1})
        self.doi = doi
        self.url = url
        self.record = record
        self.check = options.target_check()  # that of the handler that sends the request
        self.credentials: dict[str, str] = {}
        self.is_at_resolver = options.is_at_resolver
        self._left = False  # whether a redirect has led to another host; a later one may lead back

    def add_credentials(self, request: Request) -> None:
        """Send the caller's credentials with ``request`` if it goes to the resolver.

        They are made unredirected headers: urllib would repeat ordinary ones at every host.
        """
        at_resolver = self.is_at_resolver(request.full_url)
        # urllib makes the requests that follow redirects unverifiable; a first one may be opened again
        self._left = not at_resolver or (self._left and request.unverifiable)
        if not at_resolver:
            return
        for name in CREDENTIALS:
            if name in request.headers:
                self.credentials[name] = request.headers.pop(name)
            if name in self.credentials and self._may_send(name, request):
                request.add_unredirected_header(name, self.credentials[name])

    def drop_credentials(self, request: Request, addheaders: Iterable[tuple[str, str]]) -> None:
        """Remove the credentials in an opener's ``addheaders`` that ``request`` must not have."""
        for key, value in addheaders:
            name = key.capitalize()
            if (
                name in CREDENTIALS
                and not self._may_send(name, request)
                and request.get_header(name) == value
            ):
                request.remove_header(name)

    def _may_send(self, name: str, request: Request) -> bool:
        """Return whether ``request`` goes to the resolver and, except for cookies, was chosen by it."""
        return self.is_at_resolver(request.full_url) and (name == "Cookie" or not self._left)

    def do_open(
        self,
        open_with: Callable[..., HTTPResponse],
        http_class: Callable[..., HTTPConnection],
        request: Request,
        **options: object,
    ) -> HTTPResponse:
        """Do as ``open_with``, a handler's ``do_open``, with connections that check their peer."""
        # a proxy is no target, and urllib makes it the request's host; a function is the user's own business
        is_direct = request.host == Request(request.full_url).host  # noqa: S310 - http or https
        if is_direct and isinstance(http_class, type):
            http_class = _checked(
                http_class, lambda address: self.check.check_peer(request.full_url, address)
            )
        return open_with(http_class, request, **options)


def _checked(kind: type[HTTPConnection], check: Callable[[str], None]) -> type[HTTPConnection]:
    """Return a subclass that checks its peer once it is connected, before TLS and before the request."""

    class Checked(HTTPConnection):
        def connect(self) -> None:
            super().connect()
            try:
                check(str(self.sock.getpeername()[0]))
            except BaseException:
                self.close()
                raise

    # HTTPSConnection.connect calls that of its superclass, and then starts TLS
    return Checked if kind is HTTPConnection else type(kind.__name__, (kind, Checked), {})


def redirects_of(request: Request) -> Redirects | None:
    """Return the redirects that ``request`` is part of, or None if it is not for a DOI."""
    redirects = getattr(request, "redirect_dict", None)
    return redirects if isinstance(redirects, Redirects) else None
