"""The requests adapter for ``doi:`` URIs, sessions that have it, and where the redirects of a DOI may lead.

requests has no hook between connecting and sending. So the addresses of a host are looked up before a
redirect is followed; a session that ``mount`` has set up also checks the peer of each new connection.
"""

from __future__ import annotations

import hashlib
import io
import sys
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from doiuri import DOI
from doiuri.plugins import user_agent
from doiuri.plugins.clients import ClientOptions, TargetError
from doiuri.plugins.connections import guarding
from requests import Session, exceptions
from requests.adapters import HTTPAdapter
from requests.cookies import RequestsCookieJar
from requests.sessions import merge_setting
from requests.utils import default_user_agent, select_proxy, to_native_string
from urllib3 import HTTPResponse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Unpack

    from doiuri.plugins.clients import ClientArguments, TargetCheck
    from requests import PreparedRequest, Request, Response

AnySession = TypeVar("AnySession", bound=Session)


@dataclass(frozen=True, eq=False)
class Redirects:
    """A response hook of the requests for one DOI, which requests hands on with each redirect."""

    doi: DOI
    query: str  # the parameters for the resolver, encoded
    check: TargetCheck | None = None
    cookies: RequestsCookieJar | None = None  # those that only the resolver gets

    def set_on(self, request: PreparedRequest) -> None:
        """Make this the hook of a request."""
        others = [hook for hook in request.hooks["response"] if not isinstance(hook, Redirects)]
        request.hooks = {**request.hooks, "response": [*others, self]}

    @classmethod
    def of(cls, request: PreparedRequest) -> Redirects | None:
        """Return the hook of a request; None if it is not for a DOI."""
        hooks = getattr(request, "hooks", {"response": ()})  # requests-cache has requests without
        return next((hook for hook in hooks["response"] if isinstance(hook, cls)), None)

    def __call__(self, response: Response, **options: Mapping[str, str] | None) -> None:
        """Check where a redirect leads.

        :raises requests.exceptions.ConnectionError: if it must not be followed.
        """
        if not response.is_redirect or self.check is None:
            return
        with self.refusals(response.request, response):
            target = self.check.redirect_target(
                response.url, response.headers["Location"], downgrade=True
            )
            if not select_proxy(target, options.get("proxies")):
                self.check.check_addresses(target)

    @contextmanager
    def refusals(
        self, request: PreparedRequest, response: Response | None = None
    ) -> Iterator[None]:
        """Raise ConnectionError, which names the DOI, for a target that is refused."""
        try:
            yield
        except TargetError as error:
            if response is not None:
                response.close()
            message = f"{self.doi.name}: {error}"
            raise exceptions.ConnectionError(message, request=request, response=response) from error


def _own_cookies(request: PreparedRequest, base: str) -> RequestsCookieJar:
    """Return the cookies of a ``doi:`` request, bound to the resolver."""
    host = urlsplit(base).hostname or ""
    host = f"[{host}]" if ":" in host else host
    jar = RequestsCookieJar()
    header = to_native_string(request.headers.get("Cookie", ""), "latin-1")  # type: ignore[no-untyped-call]
    for pair in header.split(";"):
        name, _, value = pair.strip().partition("=")
        if name:  # http.cookiejar writes a host without a dot like this
            jar.set(name, value, domain=host if "." in host else f"{host}.local")
    return jar


class DOIAdapter(HTTPAdapter):
    """A transport adapter that answers a ``doi:`` request with a redirect to the resolver.

    The session follows the redirect with its own adapters, proxies, certificates, timeouts and hooks, and
    shows it in ``history``. :func:`mount` is the usual way to add one to a session;
    ``session.mount("doi:", DOIAdapter())`` alone lacks what that adds.

    :param resolver: base URL of the DOI resolver; default ``DOIURI_RESOLVER``, else ``https://doi.org``.
    :param offline: send no requests for DOIs; default ``DOIURI_OFFLINE``, else false.
    :param mailto: mail address for the User-Agent header; default ``DOIURI_MAILTO``, else none.
    :param follow: what to get: the DOI's ``"record"`` (draft-lemieux-doi-uri-scheme-00 §3), or the
        ``"target"`` that it points to. An ``Accept`` header that prefers another type than JSON asks for
        content negotiation instead of the record.
    :param private: whether redirects may lead to this machine or into a private network; default false.
    :raises ValueError: if an option or a variable is invalid. The environment is read here, not later.
    """

    __attrs__ = (*HTTPAdapter.__attrs__, "options")  # what a copy has

    def __init__(self, resolver: str | None = None, **options: Unpack[ClientArguments]) -> None:
        super().__init__()
        self.options = ClientOptions.read(resolver, **options)
        """The options in use, those from the environment included."""

    def send(self, request: PreparedRequest, *_: object, **_options: object) -> Response:
        """Return a redirect to the resolver, without any traffic.

        :raises requests.exceptions.InvalidURL: if the URL is not a strict ``doi:`` URI.
        :raises requests.exceptions.InvalidSchema: if the method is not GET or HEAD, or there is a body.
        :raises requests.exceptions.ConnectionError: if ``offline`` is set.
        """
        prepared = Redirects.of(request)
        try:
            doi = DOI.from_uri(request.url or "")
        except ValueError as error:
            raise exceptions.InvalidURL(str(error), request=request) from error
        if request.method not in {"GET", "HEAD"} or request.body is not None:
            message = f"{doi.name}: a DOI is read-only; use GET or HEAD without a body, not {request.method}"
            raise exceptions.InvalidSchema(message, request=request)
        settings = self.options.settings
        if settings.offline:
            raise exceptions.ConnectionError(
                f"{doi.name}: offline: request not sent", request=request
            )
        if request.headers.get("User-Agent") in {None, default_user_agent()}:
            request.headers["User-Agent"] = user_agent("requests-doiuri", settings.mailto)
        # the encoded form: requests appends the fragment of a request's URL to the target
        request.url = doi.uri
        query = prepared.query if prepared is not None and prepared.doi == doi else ""
        redirects = Redirects(
            doi, query, self.options.target_check(), _own_cookies(request, settings.base)
        )
        redirects.set_on(request)
        # At a redirect requests would send cookies without a domain to every host, and a header to none
        request.headers.pop("Cookie", None)
        request.headers.pop("Host", None)  # which it would send to all
        request.prepare_cookies(redirects.cookies)
        location = self.options.request_url(doi, request.headers.get("Accept"), query)
        headers = {"Location": location, "Content-Length": "0"}
        raw = HTTPResponse(io.BytesIO(), headers, 302, 11, reason="Found", preload_content=False)
        response = self.build_response(request, raw)
        if "Authorization" in request.headers:
            # requests drops it if a redirect leads to another host; a doi: URI has none
            response.request = request.copy()
            response.request.url = location
        return response


def mount(
    session: AnySession, resolver: str | None = None, **options: Unpack[ClientArguments]
) -> AnySession:
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
        requests_cache = sys.modules.get(
            "requests_cache"
        )  # its sessions exist only once it is imported
        if requests_cache is not None and isinstance(session, requests_cache.CacheMixin):
            own = session.settings.key_fn or requests_cache.create_key
            session.settings.key_fn = partial(_key, session, own)
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
            raise exceptions.InvalidURL(str(error), request=request) from error
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
    manager = getattr(
        session.get_adapter(url), "poolmanager", None
    )  # an adapter of the user's may have none
    with (
        redirects.refusals(request),
        guarding(manager, url, redirects.check) if manager else nullcontext(),
    ):
        return send(request, **options)


def _key(
    session: Session, own: Callable[..., str], *, request: PreparedRequest, **options: object
) -> str:
    """Return the key of a requests-cache session, and what that ignores or normalizes of a DOI's request."""
    key, redirects = own(request=request, **options), Redirects.of(request)
    adapter = session.get_adapter("doi:")
    if redirects is None or not isinstance(adapter, DOIAdapter):
        return key
    base, accept = adapter.options.settings.base, request.headers.get("Accept")
    parts = f"{request.url} {redirects.query} {base} {adapter.options.follow} {accept!r}"
    # a hash, since the filesystem backend uses the key as a file name
    return f"{key}-{hashlib.blake2b(parts.encode(), digest_size=16).hexdigest()}"
