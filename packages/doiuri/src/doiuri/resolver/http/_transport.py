"""Requests over HTTP: redirects, bodies, and what a user's session adds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import requests
from requests.adapters import HTTPAdapter
from requests.models import REDIRECT_STATI
from requests.utils import select_proxy
from urllib3.exceptions import HTTPError, ProtocolError

from doiuri._targets import TargetCheck, TargetError
from doiuri._urls import host_of, origin
from doiuri.connections import (
    TooLongError,
    chain_of,
    checked_proxy,
    guarding,
    is_of_proxy,
    pieces,
    sentence,
)
from doiuri.resolver.http import Reply, TransportError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from requests.adapters import BaseAdapter

    from doiuri._urls import Origin
    from doiuri.resolver.http import Request

MAX_REDIRECTS = 10
_PROXY_WANTS_CREDENTIALS = 407


class HTTPTransport:
    """Sends requests over a ``requests.Session``: the user's, or our own without cookies and netrc.

    What the user's session adds (authentication, headers, cookies) goes to the first host only, and not with
    a request that another one chose.

    :param own_session: returns our own session, which is replaced after a fork.
    """

    def __init__(
        self,
        own_session: Callable[[], requests.Session],
        users_session: requests.Session | None,
        user_agent: str,
        *,
        private: bool = False,
    ) -> None:
        self._own_session = own_session
        self._users_session = users_session
        self._user_agent = user_agent
        self._private = private
        self._settings: dict[Origin, Mapping[str, Any]] = {}

    def get(self, request: Request) -> Reply:
        """Send the request and follow its redirects; see ``Transport.get``."""
        sending = request._sending
        check = TargetCheck(request.url, self._private)
        try:
            for _ in range(MAX_REDIRECTS + 1):
                reply = self._reply(request, check)
                location = _redirect_location(reply)
                if location is None or not request.redirects:
                    return reply

                anywhere = request.any_host
                sending.url = check.redirect_target(
                    sending.url, location, same_host=not anywhere, downgrade=anywhere
                )
                if origin(sending.url) != origin(request.url):
                    sending.left_host = True
        except (HTTPError, OSError, ValueError) as error:
            raise _failure(error, request) from error
        # an address in a record may loop: then the server is not to blame
        raise TransportError(f"more than {MAX_REDIRECTS} redirects", counts=not request.any_host)

    def _reply(self, request: Request, check: TargetCheck) -> Reply:
        """Return the reply at the URL that a request has got to; the body of a redirect is not read."""
        sending = request._sending
        response = self._response(request, check)
        try:
            if response.status_code == _PROXY_WANTS_CREDENTIALS and sending.proxy:
                raise TransportError("proxy: HTTP status 407", host=sending.proxy)
            body = b""
            if not response.is_redirect:
                body = b"".join(pieces(response.raw, request.max_size))
            return Reply(response.status_code, response.headers, body, sending.url)
        finally:
            response.close()

    def _response(self, request: Request, check: TargetCheck) -> requests.Response:
        """Return the response at the URL that a request has got to, through a proxy if there is one for it.

        If the server had closed a kept connection, the request is sent again at once (RFC 9112 §9.3.1).
        """
        sending = request._sending
        url = sending.url
        session = self._users_session or self._own_session()
        adapter = session.get_adapter(url)
        if not isinstance(adapter, HTTPAdapter):  # it has to keep to the timeout itself
            return self._send(request, adapter)

        manager = adapter.poolmanager
        sending.proxy = ""  # a redirect may lead past the proxy
        proxy = select_proxy(url, self._settings_for(url)["proxies"])
        if proxy:
            proxy = checked_proxy(proxy)
            sending.proxy = host_of(proxy)
            manager = adapter.proxy_manager_for(proxy)

        while True:
            with guarding(manager, url, check, request.remaining) as guard:
                sending.guard = guard
                try:
                    return self._send(request, adapter)
                except requests.ConnectionError:
                    if not guard.reused:
                        raise

    def _send(self, request: Request, adapter: BaseAdapter) -> requests.Response:
        """Send one request and read the headers of the reply.

        Session.send is bypassed: it keeps cookies, and reads the body of a redirect without a limit.
        """
        url = request._sending.url
        headers = {
            "User-Agent": self._user_agent,
            "Accept": request.accept,
            "Accept-Encoding": "identity",
        }
        plain = requests.Request("GET", url, headers)
        settings = self._settings_for(url)
        if self._users_session is None or request._sending.left_host:
            prepared = plain.prepare()
            settings = {**settings, "cert": None}
        else:
            prepared = self._users_session.prepare_request(plain)
        return adapter.send(prepared, timeout=request.remaining(), **settings)

    def _settings_for(self, url: str) -> Mapping[str, Any]:
        """Return the arguments of an adapter for a URL, such as proxies and CA bundles.

        They come from the environment and the user's session, once for each server.
        """
        address = origin(url)
        settings = self._settings.get(address)
        if settings is None:
            source = self._users_session or requests.Session()  # a new one reads the environment
            settings = source.merge_environment_settings(url, {}, True, None, None)
            self._settings[address] = settings
        return settings


def _redirect_location(reply: Reply) -> str | None:
    """Return where a reply redirects to, or None if it does not."""
    if reply.status not in REDIRECT_STATI:
        return None
    return reply.headers.get("Location")


def _failure(error: BaseException, request: Request) -> TransportError | TimeoutError:
    """Return what to raise for an error of requests or urllib3.

    It counts as a failure of the server unless another one, or the record, is to blame.
    """
    sending = request._sending
    chain = chain_of(error)
    if any(isinstance(each, TargetError) for each in chain):
        # a redirect that may lead anywhere was chosen by the record, not by the server
        return TransportError(sentence(error), counts=not request.any_host)
    if isinstance(error, TooLongError):
        # some record is the longest: that says nothing about the server
        return TransportError(sentence(error), counts=False)
    if any(isinstance(each, TimeoutError | requests.Timeout) for each in chain):
        return TimeoutError()
    broken = (ProtocolError, ConnectionResetError, BrokenPipeError)
    transient = any(isinstance(each, broken) for each in chain)
    host = sending.proxy if is_of_proxy(error) else host_of(sending.url)
    return TransportError(
        sentence(error), transient=transient, counts=not request._elsewhere, host=host
    )


def new_session() -> requests.Session:
    """Return a session that does not read netrc."""
    session = requests.Session()
    session.trust_env = False  # the transport reads proxies and CA bundles from the environment
    adapter = HTTPAdapter(pool_connections=4, pool_maxsize=32)
    session.mount("http://", adapter)
    session.mount("https://", adapter)
    return session
