"""Get ``doi:`` URIs with httpx.

>>> import httpx_doiuri
>>> client = httpx_doiuri.Client(resolver="https://doi.org")
>>> client.get("doi:10.1000/182").json()  # doctest: +SKIP
{'responseCode': 1, 'handle': '10.1000/182', 'values': [...]}
>>> client.build_request("GET", "doi:10.1000/182").url
URL('https://doi.org/api/handles/10.1000/182')
"""

from httpx_doiuri._clients import AsyncClient, Client

__all__ = ["AsyncClient", "Client"]
