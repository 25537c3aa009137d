"""Where redirects may lead."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urljoin, urlsplit

from doiuri._hosts import decoded_host, is_private
from doiuri.resolver.http._request import TransportError, is_elsewhere

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
    if not request.any_host:
        _check_same_host(target, urlsplit(url), request)
    elif (
        not request._private
        and is_elsewhere(target.geturl(), request.url)
        and is_private(decoded_host(target.hostname))
    ):
        raise private_network(request)
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


def _check_same_host(target: SplitResult, before: SplitResult, request: Request) -> None:
    if target.hostname != before.hostname:
        place = f"{target.scheme}://{target.netloc:.260}"
        raise _refusal(f"redirected to {place}; if this is intended, set it as the resolver", request)
    if before.scheme == "https" and target.scheme == "http":
        raise _refusal("redirected from https to http", request)


def private_network(request: Request) -> TransportError:
    """Return the error of a redirect into the user's own network, which a record must not choose."""
    return _refusal("redirected into a private network; private=True allows it", request)
