"""Where redirects may lead."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urljoin, urlsplit

from doiuri._hosts import decoded_host, is_private
from doiuri.resolver.http._request import TransportError

if TYPE_CHECKING:
    from doiuri.resolver.http._request import Request

MAX_REDIRECTS = 10
REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})

_NOT_IN_HOSTS = frozenset("%/\\@?# ")


def redirect_target(url: str, location: str, request: Request) -> str:
    """Return the URL that a redirect from ``url`` leads to.

    :raises TransportError: if the redirect must not be followed.
    """
    target = _parsed(url, location, request)
    if target.scheme not in {"http", "https"} or not target.hostname or "@" in target.netloc:
        raise _refusal(f"redirected to something other than an http or https URL: {location[:80]!r}", request)
    before = urlsplit(url)
    if target.hostname != before.hostname:
        _check_other_host(target, before, request)
    if before.scheme == "https" and target.scheme == "http" and not request.any_host:
        raise _refusal("redirected from https to http", request)
    return target._replace(fragment="").geturl()


def _refusal(reason: str, request: Request) -> TransportError:
    """Return the error of a redirect. If it may lead anywhere, the record chose it, not the server."""
    return TransportError(reason, counts=not request.any_host)


def _parsed(url: str, location: str, request: Request) -> SplitResult:
    try:
        text = location.encode("latin-1").decode("utf-8", "replace")  # as requests reads it
        target = urlsplit(urljoin(url, text))
        _ = target.hostname, target.port
    except ValueError:
        raise _refusal("redirected to an invalid URL", request) from None
    if not target.netloc.isprintable() or not _NOT_IN_HOSTS.isdisjoint(decoded_host(target.hostname)):
        raise _refusal("redirected to an invalid URL", request)
    return target


def _check_other_host(target: SplitResult, before: SplitResult, request: Request) -> None:
    if not request.any_host:
        place = f"{target.scheme}://{target.netloc:.260}"
        raise _refusal(f"redirected to {place}; if this is intended, set it as the resolver", request)
    # A record on a public server must not make us send requests to the user's own network
    if is_private(decoded_host(target.hostname)) and not (
        request._private or is_private(decoded_host(before.hostname))
    ):
        raise private_network(request)


def private_network(request: Request) -> TransportError:
    """Return the error of a redirect from a public server into the user's own network."""
    return _refusal("redirected into a private network", request)
