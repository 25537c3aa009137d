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

    def add_credentials(self, request: Request) -> None:
        """Send the caller's credentials with ``request`` if it goes to the resolver.

        They are made unredirected headers: urllib would repeat ordinary ones at every host.
        """
        given = [name for name in CREDENTIALS if name in request.headers]
        if (given or self.credentials) and self.is_to_resolver(request):
            for name in given:
                self.credentials[name] = request.headers.pop(name)
            for name, value in self.credentials.items():
                request.add_unredirected_header(name, value)

    def drop_credentials(self, request: Request, addheaders: Iterable[tuple[str, str]]) -> None:
        """Remove the credentials in an opener's ``addheaders`` unless ``request`` goes to the resolver."""
        added = {name.capitalize(): value for name, value in addheaders if name.capitalize() in CREDENTIALS}
        if added and not self.is_to_resolver(request):
            for name, value in added.items():
                if request.get_header(name) == value:
                    request.remove_header(name)

    def is_to_resolver(self, request: Request) -> bool:
        """Return whether ``request`` has the origin of the first request."""
        from doiuri.plugins import origin

        return origin(request.full_url) == origin(self.url)


def redirects_of(request: Request) -> Redirects | None:
    """Return the redirects that ``request`` is part of, or None if it is not for a DOI."""
    redirects = getattr(request, "redirect_dict", None)
    return redirects if isinstance(redirects, Redirects) else None
