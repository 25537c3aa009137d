"""The clients of :mod:`httpx_doiuri` for httpx2, the successor of httpx.

>>> from httpx_doiuri.httpx2 import Client
>>> Client(resolver="https://doi.org").build_request("GET", "doi:10.1000/182").url
URL('https://doi.org/api/handles/10.1000/182')
"""

from httpx_doiuri._clients import AsyncDOIClient, SyncDOIClient

try:
    import httpx2
except ImportError as error:
    raise ImportError('httpx_doiuri.httpx2 needs httpx2: pip install "doiuri[httpx2]"') from error

__all__ = ["AsyncClient", "Client"]


class Client(SyncDOIClient[httpx2.Request, httpx2.Response], httpx2.Client):
    """An ``httpx2.Client`` that gets ``doi:`` URIs; for the options see :class:`httpx_doiuri.Client`."""

    _httpx = httpx2


class AsyncClient(AsyncDOIClient[httpx2.Request, httpx2.Response], httpx2.AsyncClient):
    """An ``httpx2.AsyncClient`` that gets ``doi:`` URIs; for the options see :class:`httpx_doiuri.Client`."""

    _httpx = httpx2
