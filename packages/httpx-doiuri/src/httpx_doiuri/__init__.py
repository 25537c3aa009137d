"""Get ``doi:`` URIs with httpx; with httpx2, import the clients from :mod:`httpx_doiuri.httpx2`.

>>> import httpx_doiuri
>>> client = httpx_doiuri.Client(resolver="https://doi.org")
>>> client.get("doi:10.1000/182").json()  # doctest: +SKIP
{'responseCode': 1, 'handle': '10.1000/182', 'values': [...]}
>>> client.build_request("GET", "doi:10.1000/182").url
URL('https://doi.org/api/handles/10.1000/182')
"""

import httpx

from httpx_doiuri._clients import AsyncDOIClient, SyncDOIClient

__all__ = ["AsyncClient", "Client"]


class Client(SyncDOIClient[httpx.Request, httpx.Response], httpx.Client):
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

    _httpx = httpx


class AsyncClient(AsyncDOIClient[httpx.Request, httpx.Response], httpx.AsyncClient):
    """An ``httpx.AsyncClient`` that gets ``doi:`` URIs; for the arguments and options see :class:`Client`.

    It runs on asyncio and on trio, as httpx does.
    """

    _httpx = httpx
