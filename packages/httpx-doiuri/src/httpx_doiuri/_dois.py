"""The requests for DOIs: what ``Client`` and ``AsyncClient`` have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
from doiuri import DOI, DOISyntaxError
from doiuri.plugins import encode_params, user_agent

from httpx_doiuri._peers import Peers
from httpx_doiuri._redirects import Chain, Redirects

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from doiuri.plugins import ClientOptions

    from httpx_doiuri._peers import Trace

    AnyClient = httpx.Client | httpx.AsyncClient

_DEFAULT_AGENT = f"python-httpx/{httpx.__version__}"


def is_doi_uri(url: httpx.URL | str) -> bool:
    """Return whether a URL, as the caller gave it, has the scheme ``doi``."""
    return url.scheme == "doi" if isinstance(url, httpx.URL) else str(url)[:4].lower() == "doi:"


class DOIRequests:
    """Builds the requests of one client for DOIs, and knows the connections of the client."""

    def __init__(self, options: ClientOptions, params: Any, trace: type[Trace]) -> None:
        self._options = options
        self._peers = Peers(trace)
        self._user_agent = user_agent("httpx-doiuri", options.settings.mailto)
        self.set_params(params)

    def set_params(self, params: Any) -> None:
        """Set the client's own parameters, as the caller gave them: httpx turns True into "true"."""
        self._params = _encode(params)

    def build(
        self,
        build: Callable[..., httpx.Request],
        method: str,
        uri: httpx.URL | str,
        client_headers: httpx.Headers,
        options: dict[str, Any],
    ) -> httpx.Request:
        """Return the request to the resolver.

        :param build: ``build_request`` of httpx.
        :param uri: what the caller wrote, with the scheme ``doi``.
        :param options: the caller's other arguments for ``build``.
        """
        doi = _parse(uri)
        headers = httpx.Headers(client_headers)
        headers.update(options.get("headers"))
        location = self._options.request_url(doi, headers.get("Accept"))
        request = build(method, location, **options)
        has_body = options.get("content") is not None or options.get("json") is not None
        if request.method not in {"GET", "HEAD"} or has_body or options.get("data") or options.get("files"):
            message = f"{doi.name}: a DOI is read-only; use GET or HEAD without a body, not {request.method}"
            raise httpx.UnsupportedProtocol(message, request=request)
        query = self._query(options.get("params"))
        request.url = httpx.URL(f"{location}?{query}" if query else location)
        if request.headers.get("User-Agent") in {None, _DEFAULT_AGENT}:
            request.headers["User-Agent"] = self._user_agent
        Chain(doi).set_on(request)
        return request

    def is_for_doi(self, request: httpx.Request) -> bool:
        """Return whether a request is for a DOI: one that :meth:`build` returned, or that follows it.

        :raises httpx.InvalidURL: if it has a ``doi:`` URI that was not given to :meth:`build`.
        """
        if request.url.scheme == "doi":
            raise httpx.InvalidURL(_not_a_string(request.url))
        return Chain.of(request) is not None

    def sending(self, request: httpx.Request) -> AbstractContextManager[Trace]:
        """Trace an ordinary request while it is sent: one for a DOI may use its connection later."""
        return self._peers.traced(request)

    def redirects(
        self, client: AnyClient, request: httpx.Request, auth: Any, follow: bool | object
    ) -> Redirects:
        """Return the redirects that start with a request for a DOI; the arguments are those of ``send``."""
        follows = client.follow_redirects if follow is httpx.USE_CLIENT_DEFAULT else bool(follow)
        return Redirects(client, self._options, self._peers, request, auth, follows)

    def _query(self, given: Any) -> str:
        """Return the query for the client's parameters, those ``given`` replacing them by name."""
        query = _encode(given)
        replaced = httpx.QueryParams(query)
        kept = [
            part for part in self._params.split("&") if not httpx.QueryParams(part).keys() & replaced.keys()
        ]
        return "&".join(part for part in (*kept, query) if part)


def _encode(params: Any) -> str:
    return encode_params(params.multi_items() if isinstance(params, httpx.QueryParams) else params)


def _parse(uri: httpx.URL | str) -> DOI:
    if isinstance(uri, httpx.URL):
        raise httpx.InvalidURL(_not_a_string(uri))
    try:
        return DOI.from_uri(str(uri))
    except DOISyntaxError as error:
        raise httpx.InvalidURL(str(error)) from error


def _not_a_string(uri: httpx.URL) -> str:
    advice = "pass the doi: URI to the client as a string: httpx.URL changes names such as 10.1000/../x"
    return f"{str(uri)!r:.200}: {advice}"
