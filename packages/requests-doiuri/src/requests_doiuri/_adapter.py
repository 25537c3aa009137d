"""Sessions of requests that get ``doi:`` URIs, and where the redirects of a DOI may lead.

What is known about a request for a DOI is kept in a response hook, because requests hands hooks on to the
requests that follow redirects: ``Prepared`` until the request is sent, and ``Redirects`` from then on. The
caller's request itself is never changed: a copy of it is sent.

requests has no hook between connecting and sending. So the addresses of a host are looked up before a
redirect is followed, and the session checks the peer of the connection before each request.
"""

from __future__ import annotations

import copy
import hashlib
import io
import sys
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from doiuri import DOI, BadRecord
from doiuri.connections import guarding
from doiuri.plugins import user_agent
from doiuri.plugins.clients import ClientOptions, TargetError, carries_record, check_record
from requests import PreparedRequest, Session, exceptions
from requests.adapters import HTTPAdapter
from requests.cookies import RequestsCookieJar
from requests.sessions import merge_setting
from requests.utils import default_user_agent, select_proxy, to_native_string
from urllib3 import HTTPResponse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Unpack

    from doiuri.plugins.clients import ClientArguments
    from requests import Request, Response

    Hook = Callable[..., Any]

AnySession = TypeVar("AnySession", bound=Session)
AnyHook = TypeVar("AnyHook", bound="Prepared | Redirects")

_MOUNTED = "_doiuri_mounted"  # an attribute of a session; its copies do not have it

_sent: ContextVar[PreparedRequest | None] = ContextVar("sent", default=None)
"""The request for a DOI that is being sent, for its key in requests-cache; None: another request."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """A response hook that does nothing but keep what a prepared ``doi:`` request cannot hold."""

    doi: DOI
    query: str = ""
    """The parameters for the resolver, encoded."""
    hooks: tuple[Hook, ...] = ()
    """The caller's own hooks, which get all responses. Those of an authentication get the resolver's only."""
    auth_headers: tuple[str, ...] = ()
    """The names of the headers that an authentication has set."""

    def __call__(self, response: Response, **_options: object) -> None:
        """Leave the response as it is."""


@dataclass(frozen=True, eq=False)
class Redirects:
    """A response hook that checks where the redirects for a DOI lead, and the record at their end."""

    prepared: Prepared
    options: ClientOptions
    cookies: RequestsCookieJar
    """The cookies of the request; only the resolver gets them."""
    wants_record: bool
    """Whether the request is for the record."""
    left_resolver: bool = False
    """Whether a redirect has led to another host; a later one may have led back to the resolver."""

    @property
    def doi(self) -> DOI:
        return self.prepared.doi

    def __call__(self, response: Response, **options: Mapping[str, str] | None) -> None:
        """Check a response.

        :raises requests.exceptions.ConnectionError: if it is a redirect that must not be followed, or is not
            the record that was asked for.
        """
        with self.refusals(response.request, response):
            if response.is_redirect:
                self._check_redirect(response, options.get("proxies"))
            elif self.wants_record and carries_record(response.status_code):
                self._check_record(response)

    def _check_redirect(self, response: Response, proxies: Mapping[str, str] | None) -> None:
        """Raise TargetError if a redirect must not be followed; behind a proxy, addresses are not known."""
        location = response.headers["Location"]
        if not location:  # requests would take the redirect for the answer
            raise TargetError("redirected to an invalid URL: ''")
        check = self.options.target_check()
        target = check.redirect_target(response.url, location, downgrade=True)
        if not select_proxy(target, proxies):
            check.check_addresses(target)

    def _check_record(self, response: Response) -> None:
        """Raise BadRecord if a response is not the record that was asked for."""
        check_record(
            self.doi,
            url=response.url,
            method=response.request.method or "",
            status=response.status_code,
            content_type=response.headers.get("Content-Type", ""),
            body=response.content,
        )

    @contextmanager
    def refusals(
        self, request: PreparedRequest, response: Response | None = None
    ) -> Iterator[None]:
        """Raise ConnectionError, which names the DOI, for a target or an answer that is refused."""
        try:
            yield
        except (TargetError, BadRecord) as error:
            if response is not None:
                response.close()
            message = str(error)
            if isinstance(error, TargetError):
                message = f"{self.doi.name}: {message}"
            raise exceptions.ConnectionError(message, request=request, response=response) from error

    def drop_authentication(self, request: PreparedRequest) -> None:
        """Remove from a request what the caller or an authentication has added for the resolver."""
        for name in ("Authorization", *self.prepared.auth_headers):
            request.headers.pop(name, None)
        _set_hooks(request, self.prepared.hooks, self)

    def set_cookies(self, request: PreparedRequest, session: Session) -> None:
        """Send only the cookies that have a domain; requests sends the others to every host."""
        jar = RequestsCookieJar()
        jar.update(self.cookies)
        for cookie in session.cookies:
            if cookie.domain:
                jar.set_cookie(cookie)
        request.headers.pop("Cookie", None)
        request.prepare_cookies(jar)


def _hook(request: PreparedRequest, kind: type[AnyHook]) -> AnyHook | None:
    """Return the hook of this kind that a request has; None if it has none."""
    hooks = getattr(request, "hooks", {"response": ()})  # some requests of requests-cache have none
    for hook in hooks["response"]:
        if isinstance(hook, kind):
            return hook
    return None


def _prepared_hook(request: PreparedRequest, doi: DOI) -> Prepared:
    """Return what the session has noted when it prepared a ``doi:`` request.

    It is new if another session has prepared the request, or if its URL was changed since.
    """
    prepared = _hook(request, Prepared)
    redirects = _hook(request, Redirects)
    if redirects is not None:  # it has been sent: it is one of a history
        prepared = redirects.prepared
    if prepared is None or prepared.doi != doi:
        return Prepared(doi)
    return prepared


def _set_hooks(request: PreparedRequest, hooks: Iterable[Hook], ours: Hook) -> None:
    """Set the response hooks of a request: these, with ours in place of an earlier one of ours."""
    kept = [hook for hook in hooks if not isinstance(hook, Prepared | Redirects)]
    # a new dictionary: copies of a request share the old one
    request.hooks = {**request.hooks, "response": [*kept, ours]}


def _request_cookies(request: PreparedRequest, base: str) -> RequestsCookieJar:
    """Return the cookies in the header of a ``doi:`` request, with the resolver's domain."""
    domain = urlsplit(base).hostname or ""
    if ":" in domain:
        domain = f"[{domain}]"
    if "." not in domain:
        domain = f"{domain}.local"  # as http.cookiejar writes a host without a dot
    jar = RequestsCookieJar()
    header = to_native_string(request.headers.get("Cookie", ""), "latin-1")  # type: ignore[no-untyped-call]
    for pair in header.split(";"):
        name, _, value = pair.strip().partition("=")
        if name:
            jar.set(name, value, domain=domain)
    return jar


class DOIAdapter(HTTPAdapter):
    """A transport adapter that answers a ``doi:`` request with a redirect to the resolver.

    The session follows the redirect with its own adapters, proxies, certificates, timeouts and hooks, and
    shows it in ``history``. :func:`mount` adds one to a session.
    """

    __attrs__ = (*HTTPAdapter.__attrs__, "options")  # what a copy has

    def __init__(self, resolver: str | None = None, **options: Unpack[ClientArguments]) -> None:
        super().__init__()
        self.options = ClientOptions.read(resolver, **options)
        """The options in use, those from the environment included."""

    def started(self, request: PreparedRequest) -> PreparedRequest:
        """Return a copy of a ``doi:`` request that checks its redirects.

        :raises requests.exceptions.InvalidURL: if the URL is not a strict ``doi:`` URI.
        :raises requests.exceptions.InvalidSchema: if the method is not GET or HEAD, or there is a body.
        """
        doi = _doi_of(request)
        if request.method not in {"GET", "HEAD"} or request.body is not None:
            reason = f"a DOI is read-only; use GET or HEAD without a body, not {request.method}"
            raise exceptions.InvalidSchema(f"{doi.name}: {reason}", request=request)

        redirects = Redirects(
            _prepared_hook(request, doi),
            self.options,
            cookies=_request_cookies(request, self.options.resolver),
            wants_record=self.options.wants_record(request.headers.get("Accept")),
        )
        started = request.copy()
        # the encoded form: requests appends the fragment of a request's URL to the target
        started.url = doi.uri
        if started.headers.get("User-Agent") in {None, default_user_agent()}:
            started.headers["User-Agent"] = user_agent("requests-doiuri", self.options.mailto)
        _set_hooks(started, request.hooks["response"], redirects)
        return started

    def send(self, request: PreparedRequest, *_: object, **_options: object) -> Response:
        """Return a redirect to the resolver, without any traffic.

        :raises requests.exceptions.InvalidSchema: if the session is not mounted.
        :raises requests.exceptions.ConnectionError: if ``offline`` is set.
        """
        redirects = _hook(request, Redirects)
        if redirects is None:
            message = (
                f"{request.url}: the session was copied, or its method send was replaced;"
                " call requests_doiuri.mount(session) again"
            )
            raise exceptions.InvalidSchema(message, request=request)
        doi = redirects.doi
        if self.options.offline:
            message = f"{doi.name}: offline: request not sent"
            raise exceptions.ConnectionError(message, request=request)
        accept = request.headers.get("Accept")
        location = self.options.request_url(doi, accept, redirects.prepared.query)
        headers = {"Location": location, "Content-Length": "0"}
        raw = HTTPResponse(io.BytesIO(), headers, 302, 11, reason="Found", preload_content=False)
        return self.build_response(request, raw)


def mount(
    session: AnySession, resolver: str | None = None, **options: Unpack[ClientArguments]
) -> AnySession:
    """Make ``session`` get ``doi:`` URIs, and return it. A second call replaces the options.

    A copy of the session, or one that was pickled, has to be mounted again.

    >>> import requests
    >>> session = mount(requests.Session(), resolver="https://doi.org")
    >>> response = session.get("doi:10.1000/182", params={"type": "URL"}, allow_redirects=False)
    >>> response.next.url
    'https://doi.org/api/handles/10.1000/182?type=URL'

    Authentication ends if a redirect leads to another host: its headers are removed, and the hooks that it
    registered are not called any more. The session can tell your own hooks from these only if it has prepared
    the request; otherwise no hook gets the responses of other hosts.

    :param session: a ``requests.Session``, or one of a subclass, as those of requests-cache and CacheControl.
    :param resolver: base URL of the DOI resolver; default ``DOIURI_RESOLVER``, else ``https://doi.org``.
    :param offline: send no requests for DOIs; default ``DOIURI_OFFLINE``, else false.
    :param mailto: mail address for the User-Agent header; default ``DOIURI_MAILTO``, else none.
    :param follow: what to get: the DOI's ``"record"`` (draft-lemieux-doi-uri-scheme-00 §3), or the
        ``"target"`` that it points to. An ``Accept`` header that prefers another type than JSON asks for
        content negotiation instead of the record.
    :param private: whether redirects may lead to this machine or into a private network; default false.
    :raises ValueError: if an option or a variable is invalid. The environment is read here, not later.
    """
    session.mount("doi:", DOIAdapter(resolver, **options))
    if _MOUNTED in vars(session):
        return session

    vars(session)[_MOUNTED] = True
    session.prepare_request = partial(_prepare, session, session.prepare_request)  # type: ignore[method-assign]
    session.send = partial(_send, session, session.send)  # type: ignore[method-assign]
    session.rebuild_auth = partial(_rebuild_auth, session, session.rebuild_auth)  # type: ignore[method-assign]
    # if this is one of its sessions, it is imported
    requests_cache = sys.modules.get("requests_cache")
    if requests_cache is not None and isinstance(session, requests_cache.CacheMixin):
        create_key = session.settings.key_fn or requests_cache.create_key
        session.settings.key_fn = partial(_key, session, create_key)
    return session


def _is_doi(url: object) -> bool:
    """Return whether a URL, as requests takes them, is a ``doi:`` URI."""
    text = url.decode("utf-8", "replace") if isinstance(url, bytes) else str(url)
    return text.lstrip()[:4].lower() == "doi:"


def _doi_of(request: PreparedRequest) -> DOI:
    """Return the DOI of a ``doi:`` request.

    :raises requests.exceptions.InvalidURL: if it is not a strict URI.
    """
    try:
        return DOI.from_uri(request.url or "")
    except ValueError as error:
        raise exceptions.InvalidURL(str(error), request=request) from error


class _NotedAuth:
    """An authentication; afterwards, the headers that it set and the hooks that it registered are known."""

    def __init__(self, auth: Any) -> None:
        self._auth = auth
        self.headers: tuple[str, ...] = ()
        self.hooks: list[Hook] = []

    def __call__(self, request: PreparedRequest) -> PreparedRequest:
        before = request.headers.copy()
        request.prepare_auth(self._auth)
        after = request.headers.items()
        self.headers = tuple(name for name, value in after if before.get(name) != value)
        self.hooks = list(request.hooks["response"])  # requests registers the caller's later
        return request


def _prepare(
    session: Session, prepare: Callable[[Request], PreparedRequest], request: Request
) -> PreparedRequest:
    """Prepare a request; one for a DOI keeps its parameters, which a ``doi:`` URI cannot hold."""
    if not _is_doi(request.url):
        return prepare(request)

    used_auth = session.auth if request.auth is None else request.auth
    auth = _NotedAuth(used_auth)
    copied = copy.copy(request)
    copied.auth = auth
    prepared = prepare(copied)

    hooks = prepared.hooks["response"]
    hooks_of_caller = tuple(hook for hook in hooks if hook not in auth.hooks)
    params = merge_setting(request.params, session.params)  # type: ignore[no-untyped-call]
    query = ClientOptions.query(params)
    ours = Prepared(_doi_of(prepared), query, hooks=hooks_of_caller, auth_headers=auth.headers)
    _set_hooks(prepared, hooks, ours)
    return prepared


def _send(
    session: Session, send: Callable[..., Response], request: PreparedRequest, **options: Any
) -> Response:
    """Send a request. For a DOI, a copy of it is sent, which checks its redirects, over checked connections.

    requests calls this for the ``doi:`` request, and again for each request that follows a redirect.
    """
    url = request.url or ""
    redirects = _hook(request, Redirects)
    if not _is_doi(url) and redirects is None:
        with _sending(None):
            return send(request, **options)

    adapter = session.get_adapter(url)
    if isinstance(adapter, DOIAdapter):
        started = adapter.started(request)
        with _sending(started):
            return send(started, **options)
    if redirects is None:  # the user has mounted another adapter for some DOIs
        return send(request, **options)

    with _sending(request), redirects.refusals(request):
        manager = getattr(adapter, "poolmanager", None)  # an adapter of the user may have none
        if manager is None:
            return send(request, **options)
        with guarding(manager, url, redirects.options.target_check()):
            return send(request, **options)


@contextmanager
def _sending(request: PreparedRequest | None) -> Iterator[None]:
    """Note the request for a DOI that is being sent."""
    token = _sent.set(request)
    try:
        yield
    finally:
        _sent.reset(token)


def _rebuild_auth(
    session: Session,
    rebuild: Callable[[PreparedRequest, Response], None],
    request: PreparedRequest,
    response: Response,
) -> None:
    """Remove from a request that follows a redirect what its host must not get; requests calls this."""
    redirects = _hook(request, Redirects)
    if redirects is None:
        rebuild(request, response)
        return

    if not redirects.options.is_at_resolver(request.url or ""):
        redirects = replace(redirects, left_resolver=True)
    if redirects.left_resolver:
        redirects.drop_authentication(request)
    elif "Authorization" not in request.headers:
        rebuild(request, response)  # netrc may have an entry for the resolver
    request.headers.pop("Host", None)  # a doi: URI has none
    redirects.set_cookies(request, session)


def _key(
    session: Session,
    create_key: Callable[..., str],
    *,
    request: Any,  # requests-cache has types of its own
    **options: object,
) -> str:
    """Return the key of requests-cache; for a DOI, with a hash of what that key ignores or normalizes."""
    request = _request_of_key(request)
    key = create_key(request=request, **options)
    redirects = _hook(request, Redirects)
    adapter = session.get_adapter("doi:")
    if redirects is None or not isinstance(adapter, DOIAdapter):
        return key

    query = redirects.prepared.query
    doi_options = adapter.options
    accept = request.headers.get("Accept")
    parts = f"{request.url} {query} {doi_options.resolver} {doi_options.follow} {accept!r}"
    # a hash, because the filesystem backend uses the key as a file name
    digest = hashlib.blake2b(parts.encode(), digest_size=16).hexdigest()
    return f"{key}-{digest}"


def _request_of_key(request: Any) -> Any:
    """Return the request of which requests-cache wants the key; for a DOI, it has our hook.

    requests-cache compares an answer that has a Vary header by keys: that of the request being sent, and that
    of the request in the cache. The latter lacks our hook, and is the last one of a chain of redirects, so only
    its headers count: they are put on a copy of the request that is being sent.
    """
    sent = _sent.get()
    if sent is None or isinstance(request, PreparedRequest):
        return request
    copied = sent.copy()
    copied.headers = request.headers
    return copied
