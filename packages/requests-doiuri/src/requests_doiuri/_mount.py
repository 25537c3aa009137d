"""Teach a session ``doi:`` URIs."""

from __future__ import annotations

import hashlib
import sys
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from doiuri import DOI
from doiuri.plugins.clients import ClientOptions
from requests import Session
from requests.cookies import RequestsCookieJar
from requests.exceptions import InvalidURL
from requests.sessions import merge_setting

from requests_doiuri._adapter import DOIAdapter, Redirects

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Unpack

    from doiuri.plugins.clients import ClientArguments
    from requests import PreparedRequest, Request, Response

AnySession = TypeVar("AnySession", bound=Session)


def mount(session: AnySession, resolver: str | None = None, **options: Unpack[ClientArguments]) -> AnySession:
    """Make ``session`` get ``doi:`` URIs, and return it. A second call replaces the options.

    Beyond ``session.mount("doi:", DOIAdapter())`` this passes ``params=`` on to the resolver, which requests
    drops for such URIs, sends the session's cookies without a domain to no other host, checks the address of
    each connection to a target, and keeps the cache of a requests-cache session from taking one DOI for
    another. A copy of the session, or one that was pickled, has the adapter only; mount it again.

    >>> import requests
    >>> session = mount(requests.Session(), resolver="https://doi.org")
    >>> response = session.get("doi:10.1000/182", params={"type": "URL"}, allow_redirects=False)
    >>> response.next.url
    'https://doi.org/api/handles/10.1000/182?type=URL'

    :param session: a ``requests.Session``, or one of a subclass, as those of requests-cache and CacheControl.
    :param resolver: base URL of the DOI resolver; default ``DOIURI_RESOLVER``, else ``https://doi.org``. The
        other options are those of :class:`DOIAdapter`.
    :raises ValueError: if an option or a variable is invalid. The environment is read here, not later.
    """
    session.mount("doi:", DOIAdapter(resolver, **options))
    if not isinstance(vars(session).get("send"), partial):
        session.prepare_request = partial(_prepare, session, session.prepare_request)  # type: ignore[method-assign]
        session.send = partial(_send, session, session.send)  # type: ignore[method-assign]
    _distinguish_dois(session)
    return session


def _prepare(
    session: Session, prepare: Callable[[Request], PreparedRequest], request: Request
) -> PreparedRequest:
    """Prepare a request; one for a DOI keeps its parameters, which a ``doi:`` URI cannot hold."""
    prepared = prepare(request)
    url = prepared.url or ""
    if url[:4].lower() == "doi:":
        params = merge_setting(request.params, session.params)  # type: ignore[no-untyped-call]
        try:
            Redirects(DOI.from_uri(url), ClientOptions.query(params)).set_on(prepared)
        except ValueError as error:
            raise InvalidURL(str(error), request=request) from error
    return prepared


def _send(
    session: Session, send: Callable[..., Response], request: PreparedRequest, **options: Any
) -> Response:
    """Send a request; one for a DOI with the cookies that may go there, and with checked connections."""
    redirects, url = Redirects.of(request), request.url or ""
    if redirects is None or redirects.cookies is None or url[:4].lower() == "doi:":
        return send(request, **options)
    jar = RequestsCookieJar()
    jar.update(redirects.cookies)
    for cookie in session.cookies:
        if cookie.domain:
            jar.set_cookie(cookie)
    request.headers.pop("Cookie", None)
    request.prepare_cookies(jar)
    with redirects.sending(request, session.get_adapter(url)):
        return send(request, **options)


def _distinguish_dois(session: Session) -> None:
    """Extend the cache keys of a requests-cache session; do nothing to any other session."""
    requests_cache = sys.modules.get("requests_cache")  # its sessions exist only once it is imported
    if requests_cache is None or not isinstance(session, requests_cache.CacheMixin):
        return
    if not isinstance(session.settings.key_fn, _DOIKeys):
        session.settings.key_fn = _DOIKeys(session, session.settings.key_fn or requests_cache.create_key)


class _DOIKeys:
    """Appends to the session's own key of a request for a DOI what that ignores or normalizes."""

    def __init__(self, session: Session, key_function: Callable[..., str]) -> None:
        self.session = session
        self.key_function = key_function

    def __call__(self, *, request: PreparedRequest, **options: object) -> str:
        key = self.key_function(request=request, **options)
        redirects = Redirects.of(request)
        adapter = self.session.get_adapter("doi:")
        if redirects is None or not isinstance(adapter, DOIAdapter):
            return key
        settings, accept = adapter.options.settings, request.headers.get("Accept")
        parts = f"{request.url} {redirects.query} {settings.base} {adapter.options.follow} {accept!r}"
        # A hash, since the filesystem backend uses the key as a file name.
        return f"{key}-{hashlib.blake2b(parts.encode(), digest_size=16).hexdigest()}"
