"""httpx' clients, extended for ``doi:`` URIs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import httpx
from doiuri.plugins import ClientOptions

from httpx_doiuri._dois import DOIRequests, is_doi_uri
from httpx_doiuri._peers import AsyncTrace, SyncTrace, Trace
from httpx_doiuri._redirects import following_request

if TYPE_CHECKING:
    from doiuri.plugins import Follow
    from httpx._client import BaseClient
else:
    BaseClient = object


class _DOIClient(BaseClient):
    """What both clients add to httpx' own."""

    _trace: ClassVar[type[Trace]]

    def __init__(
        self,
        *,
        resolver: str | None = None,
        offline: bool | str | None = None,
        mailto: str | None = None,
        follow: Follow = "record",
        private: bool | None = None,
        **options: Any,  # httpx does not export the types of its own
    ) -> None:
        self.doi_options = ClientOptions.read(resolver, offline, mailto, follow, private)
        """The options for DOIs in use, those from the environment included."""
        self._doi_requests = DOIRequests(self.doi_options, options.get("params"), self._trace)
        super().__init__(**options)

    @property
    def params(self) -> httpx.QueryParams:
        """The parameters of all requests. For DOIs they are encoded as those of a single request."""
        return super().params

    @params.setter
    def params(self, params: Any) -> None:
        self._doi_requests.set_params(params)
        httpx.Client.params.fset(self, params)  # type: ignore[attr-defined]

    def build_request(self, method: str, url: httpx.URL | str, **options: Any) -> httpx.Request:
        """Return a request as httpx' client does; for a ``doi:`` URI, one to the resolver.

        :param url: any URL, or a strict ``doi:`` URI, as a string.
        :raises httpx.InvalidURL: if a ``doi:`` URI is not strict, with the position and the repaired form.
        :raises httpx.UnsupportedProtocol: if a DOI is requested by another method than GET or HEAD, or with a
            body.
        """
        if not is_doi_uri(url):
            return super().build_request(method, url, **options)
        return self._doi_requests.build(super().build_request, method, url, self.headers, options)

    def _build_redirect_request(self, request: httpx.Request, response: httpx.Response) -> httpx.Request:
        # httpx' method: only here are errors about the Location header told from those of the caller's hooks
        return following_request(super()._build_redirect_request, request, response)


class Client(_DOIClient, httpx.Client):
    """An ``httpx.Client`` that gets ``doi:`` URIs. Other arguments than these are those of ``httpx.Client``.

    A ``doi:`` request is sent to the resolver. As with any URL, redirects are followed only with
    ``follow_redirects=True``: without it, a request that is not for the record returns the resolver's
    redirect, whose ``next_request`` leads to the target.

    >>> client = Client(resolver="https://doi.org", follow="target", follow_redirects=True)
    >>> client.build_request("GET", "doi:10.1000/456%23789").url
    URL('https://doi.org/10.1000/456%23789')

    :param resolver: base URL of the DOI resolver; default ``DOIURI_RESOLVER``, else ``https://doi.org``.
    :param offline: send no requests for DOIs; default ``DOIURI_OFFLINE``, else false.
    :param mailto: mail address for the User-Agent header; default ``DOIURI_MAILTO``, else none.
    :param follow: what to get: the DOI's ``"record"`` (draft-lemieux-doi-uri-scheme-00 §3), or the
        ``"target"`` that it points to. An ``Accept`` header that prefers another type than JSON asks for
        content negotiation instead of the record.
    :param private: whether redirects may lead to this machine or into a private network; default only if the
        resolver itself is there.
    :raises ValueError: if an option or a variable is invalid. The environment is read here, not later.
    """

    _trace = SyncTrace

    def send(
        self,
        request: httpx.Request,
        *,
        stream: bool = False,
        auth: Any = httpx.USE_CLIENT_DEFAULT,
        follow_redirects: Any = httpx.USE_CLIENT_DEFAULT,
    ) -> httpx.Response:
        """Return the response to a request, as ``httpx.Client`` does.

        For a DOI, ``auth`` and the client's own credentials are sent to the resolver only.

        :raises httpx.ConnectError: if ``offline`` is set and the request is for a DOI, or if a redirect leads
            into a private network and must not.
        :raises httpx.UnsupportedProtocol: if a redirect for a DOI leads to a URL that is not http or https.
        :raises httpx.RemoteProtocolError: if the target of a redirect for a DOI is not a URL.
        """
        if not self._doi_requests.is_for_doi(request):
            with self._doi_requests.sending(request) as trace:
                return trace.removed(
                    super().send(request, stream=stream, auth=auth, follow_redirects=follow_redirects)
                )
        redirects = self._doi_requests.redirects(self, request, auth, follow_redirects)
        while True:
            with redirects.sending() as trace:
                response = trace.removed(
                    super().send(redirects.request, stream=True, auth=redirects.auth, follow_redirects=False)
                )
            try:
                goes_on = redirects.follow(response)
                if goes_on or not stream:
                    response.read()
            except BaseException:
                response.close()
                raise
            if not goes_on:
                return response


class AsyncClient(_DOIClient, httpx.AsyncClient):
    """An ``httpx.AsyncClient`` that gets ``doi:`` URIs; for the arguments and options see :class:`Client`.

    It runs on asyncio and on trio, as httpx does.
    """

    _trace = AsyncTrace

    async def send(
        self,
        request: httpx.Request,
        *,
        stream: bool = False,
        auth: Any = httpx.USE_CLIENT_DEFAULT,
        follow_redirects: Any = httpx.USE_CLIENT_DEFAULT,
    ) -> httpx.Response:
        """Return the response to a request; see :meth:`Client.send`."""
        if not self._doi_requests.is_for_doi(request):
            with self._doi_requests.sending(request) as trace:
                return trace.removed(
                    await super().send(request, stream=stream, auth=auth, follow_redirects=follow_redirects)
                )
        redirects = self._doi_requests.redirects(self, request, auth, follow_redirects)
        while True:
            with redirects.sending() as trace:
                response = trace.removed(
                    await super().send(
                        redirects.request, stream=True, auth=redirects.auth, follow_redirects=False
                    )
                )
            try:
                goes_on = redirects.follow(response)
                if goes_on or not stream:
                    await response.aread()
            except BaseException:
                await response.aclose()
                raise
            if not goes_on:
                return response
