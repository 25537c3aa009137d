"""What is remembered along the redirects that began at one DOI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri.plugins import origin

if TYPE_CHECKING:
    from collections.abc import Iterable
    from urllib.request import Request

    from doiuri import Handle

CREDENTIALS = ("Authorization", "Cookie")


class Chain(dict[str, int]):
    """The URLs asked for on behalf of one DOI, in order, with the number of times.

    urllib hands a request's ``redirect_dict`` on to the request that follows a redirect, and counts the
    visits in it. So this one goes all the way, and ``request.redirect_dict`` shows the caller where it went.
    """

    def __init__(self, doi: Handle, url: str, *, record: bool) -> None:
        """Begin at ``url``, which asks for the ``record`` of ``doi``, or else for what it leads to."""
        super().__init__({url: 1})
        self.doi = doi
        self.url = url
        self.record = record
        self.credentials: dict[str, str] = {}

    def add_credentials(self, request: Request) -> None:
        """Add what the caller gave for the resolver, if that is where ``request`` goes.

        As unredirected headers: urllib forwards any others to every host.
        """
        given = [name for name in CREDENTIALS if name in request.headers]
        if (given or self.credentials) and self.is_resolver(request):
            for name in given:
                self.credentials[name] = request.headers.pop(name)
            for name, value in self.credentials.items():
                request.add_unredirected_header(name, value)

    def drop_credentials(self, request: Request, added: Iterable[tuple[str, str]]) -> None:
        """Drop what an opener has added as to every request, unless ``request`` goes to the resolver."""
        secrets = {name.capitalize(): value for name, value in added if name.capitalize() in CREDENTIALS}
        if secrets and not self.is_resolver(request):
            for name, value in secrets.items():
                if request.get_header(name) == value:
                    request.remove_header(name)

    def is_resolver(self, request: Request) -> bool:
        """Whether ``request`` goes to the scheme, host and port that the chain began at."""
        return origin(request.full_url) == origin(self.url)


def chain_of(request: Request) -> Chain | None:
    """Return the chain that a request belongs to, None for one that has nothing to do with a DOI."""
    chain = getattr(request, "redirect_dict", None)
    return chain if isinstance(chain, Chain) else None
