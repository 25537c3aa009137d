"""The redirects of a request for a DOI, and the credentials that stay with the resolver."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from urllib.request import Request

    from doiuri import Handle
    from doiuri.plugins import TargetCheck

CREDENTIALS = ("Authorization", "Cookie")


class Redirects(dict[str, int]):
    """The URLs requested for one DOI, in order, each with the number of requests.

    It serves as ``redirect_dict`` of each request: urllib counts visits in it, and hands it on to the request
    that follows a redirect. So each of them knows its DOI, and the caller's request shows the URLs.
    """

    def __init__(self, doi: Handle, url: str, *, record: bool, check: TargetCheck) -> None:
        """Start at ``url``: the DOI's record if ``record``, else the link, which redirects to its target."""
        super().__init__({url: 1})
        self.doi = doi
        self.url = url
        self.record = record
        self.check = check
        self.credentials: dict[str, str] = {}
        self._left = False  # whether a redirect has led to another host; a later one may lead back

    def add_credentials(self, request: Request) -> None:
        """Send the caller's credentials with ``request`` if it goes to the resolver.

        They are made unredirected headers: urllib would repeat ordinary ones at every host.
        """
        to_resolver = self.is_to_resolver(request)
        # urllib makes the requests that follow redirects unverifiable; a first one may be opened again
        self._left = not to_resolver or (self._left and request.unverifiable)
        given = [name for name in CREDENTIALS if name in request.headers]
        if (given or self.credentials) and to_resolver:
            for name in given:
                self.credentials[name] = request.headers.pop(name)
            for name, value in self.credentials.items():
                if self._may_send(name, request):
                    request.add_unredirected_header(name, value)

    def drop_credentials(self, request: Request, addheaders: Iterable[tuple[str, str]]) -> None:
        """Remove the credentials in an opener's ``addheaders`` that ``request`` must not have."""
        added = {name.capitalize(): value for name, value in addheaders if name.capitalize() in CREDENTIALS}
        for name, value in added.items():
            if request.get_header(name) == value and not self._may_send(name, request):
                request.remove_header(name)

    def _may_send(self, name: str, request: Request) -> bool:
        """Return whether ``request`` goes to the resolver and, except for cookies, was chosen by it."""
        return self.is_to_resolver(request) and (name == "Cookie" or not self._left)

    def is_to_resolver(self, request: Request) -> bool:
        """Return whether ``request`` has the origin of the first request."""
        from doiuri.plugins import origin

        return origin(request.full_url) == origin(self.url)


def redirects_of(request: Request) -> Redirects | None:
    """Return the redirects that ``request`` is part of, or None if it is not for a DOI."""
    redirects = getattr(request, "redirect_dict", None)
    return redirects if isinstance(redirects, Redirects) else None
