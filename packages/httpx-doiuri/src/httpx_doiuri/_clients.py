"""httpx' clients, extended for ``doi:`` URIs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
from doiuri import DOI, DOISyntaxError
from doiuri.plugins import user_agent
from doiuri.plugins.clients import ClientOptions

from httpx_doiuri._redirects import Chain, Redirects

if TYPE_CHECKING:
    from typing import Literal

    from httpx._client import BaseClient
else:
    BaseClient = object

_DEFAULT_AGENT = f"python-httpx/{httpx.__version__}"


class _DOIClient(BaseClient):
    """What both clients add to httpx' own."""

    def __init__(
        self,
        *,
        resolver: str | None = None,
        offline: bool | str | None = None,
        mailto: str | None = None,
        follow: Literal["record", "target"] = "record",
        private: bool | None = None,
        **options: Any,  # httpx does not export the types of its own
    ) -> None:
        self.doi_options = ClientOptions.read(resolver, offline, mailto, follow, private)
        """The options for DOIs in use, those from the environment included."""
        self._doi_params = options.get("params")
        super().__init__(**options)

    @property
    def params(self) -> httpx.QueryParams:
        """The parameters of all requests. For DOIs they are encoded as those of a single request."""
        return super().params

    @params.setter
    def params(self, params: Any) -> None:
        self._doi_params = params  # as the caller gave them: httpx turns True into "true"
        httpx.Client.params.fset(self, params)  # type: ignore[attr-defined]

    def build_request(self, method: str, url: httpx.URL | str, **options: Any) -> httpx.Request:
        """Return a request as httpx' client does; for a ``doi:`` URI, one to the resolver.

        :param url: any URL, or a strict ``doi:`` URI, as a string.
        :raises httpx.InvalidURL: if a ``doi:`` URI is not strict, with the position and the repaired form.
        :raises httpx.UnsupportedProtocol: if a DOI is requested by another method than GET or HEAD, or with a
            body.
        """
        if isinstance(url, httpx.URL) or str(url)[:4].lower() != "doi:":
            _refuse_doi(url)
            return super().build_request(method, url, **options)
        try:
            doi = DOI.from_uri(str(url))
        except DOISyntaxError as error:
            raise httpx.InvalidURL(str(error)) from error
        headers = httpx.Headers(self.headers)
        headers.update(options.get("headers"))
        query = self._query(options.pop("params", None))
        location = self.doi_options.request_url(doi, headers.get("Accept"), query)
        request = super().build_request(method, location, **options)
        has_body = options.get("content") is not None or options.get("json") is not None
        if request.method not in {"GET", "HEAD"} or has_body or options.get("data") or options.get("files"):
            message = f"{doi.name}: a DOI is read-only; use GET or HEAD without a body, not {request.method}"
            raise httpx.UnsupportedProtocol(message, request=request)
        request.url = httpx.URL(location)  # without the client's params, as httpx encodes them
        if request.headers.get("User-Agent") in {None, _DEFAULT_AGENT}:
            request.headers["User-Agent"] = user_agent("httpx-doiuri", self.doi_options.settings.mailto)
        Chain(doi).set_on(request)
        return request

    def _query(self, given: Any) -> str:
        """Return the query for the client's parameters, those ``given`` replacing them by name."""
        query, own = (
            ClientOptions.query(params.multi_items() if isinstance(params, httpx.QueryParams) else params)
            for params in (given, self._doi_params)
        )
        replaced = httpx.QueryParams(query).keys()
        kept = [part for part in own.split("&") if not httpx.QueryParams(part).keys() & replaced]
        return "&".join(part for part in (*kept, query) if part)


def _refuse_doi(url: httpx.URL | str) -> None:
    if isinstance(url, httpx.URL) and url.scheme == "doi":
        advice = "pass the doi: URI to the client as a string: httpx.URL changes names such as 10.1000/../x"
        raise httpx.InvalidURL(f"{str(url)!r:.200}: {advice}")


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
    :param private: whether redirects may lead to this machine or into a private network; default false.
    :raises ValueError: if an option or a variable is invalid. The environment is read here, not later.
    """

    def send(
        self,
        request: httpx.Request,
        *,
        stream: bool = False,
        auth: Any = httpx.USE_CLIENT_DEFAULT,
        follow_redirects: Any = httpx.USE_CLIENT_DEFAULT,
    ) -> httpx.Response:
        """Return the response to a request; for a DOI, credentials are sent to the resolver only.

        :raises httpx.ConnectError: for a DOI, if ``offline`` is set, or if a redirect must not be followed.
        """
        chain = Chain.of(request)
        if chain is None:
            _refuse_doi(request.url)
            return super().send(request, stream=stream, auth=auth, follow_redirects=follow_redirects)
        redirects = Redirects(self, self.doi_options, request, chain, auth, follow_redirects)
        while True:
            with redirects.sending():
                response = super().send(
                    redirects.request, stream=True, auth=redirects.auth, follow_redirects=False
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

    async def send(
        self,
        request: httpx.Request,
        *,
        stream: bool = False,
        auth: Any = httpx.USE_CLIENT_DEFAULT,
        follow_redirects: Any = httpx.USE_CLIENT_DEFAULT,
    ) -> httpx.Response:
        """Return the response to a request; see :meth:`Client.send`."""
        chain = Chain.of(request)
        if chain is None:
            _refuse_doi(request.url)
            return await super().send(request, stream=stream, auth=auth, follow_redirects=follow_redirects)
        redirects = Redirects(self, self.doi_options, request, chain, auth, follow_redirects)
        while True:
            with redirects.sending():
                response = await super().send(
                    redirects.request, stream=True, auth=redirects.auth, follow_redirects=False
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
