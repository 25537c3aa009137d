"""``requests`` for ``doi:`` URIs.

>>> import requests, requests_doiuri
>>> session = requests_doiuri.mount(requests.Session())
>>> session.get("doi:10.1000/182").json()  # doctest: +SKIP
{'responseCode': 1, 'handle': '10.1000/182', 'values': [...]}
"""

from requests_doiuri._adapter import DOIAdapter
from requests_doiuri._mount import mount

__all__ = ["DOIAdapter", "mount"]
