"""Cookies without a domain, which requests sends to every host, are meant for the resolver."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from requests.utils import to_native_string

if TYPE_CHECKING:
    from requests import PreparedRequest


def cookie_host(base: str) -> str:
    """Return the host of ``base`` as http.cookiejar writes it: with ".local" if it has no dot."""
    host = urlsplit(base).hostname or ""
    host = f"[{host}]" if ":" in host else host
    return host if "." in host else f"{host}.local"


def bind_cookies(request: PreparedRequest, host: str) -> None:
    """Bind a request's own cookies to the resolver's ``host``.

    At a redirect requests would send those of ``cookies=`` to every host, and a Cookie header to none.
    """
    jar = request._cookies  # type: ignore[attr-defined]
    for cookie in [cookie for cookie in jar if not cookie.domain]:
        jar.clear("", cookie.path, cookie.name)
        cookie.domain = host
        jar.set_cookie(cookie)
    header = to_native_string(request.headers.get("Cookie", ""), "latin-1")  # type: ignore[no-untyped-call]
    for pair in header.split(";"):
        name, _, value = pair.strip().partition("=")
        if name and name not in jar.keys():  # noqa: SIM118 - "in jar" compares cookies, not names
            jar.set(name, value, domain=host)


def rebind_cookies(request: PreparedRequest, host: str) -> None:
    """Bind the session's cookies too, which requests adds to a request that follows a redirect."""
    request.headers.pop("Cookie", None)
    bind_cookies(request, host)
    request.prepare_cookies(request._cookies)  # type: ignore[attr-defined]
