"""Get ``doi:`` URIs with requests.

>>> import requests, requests_doiuri
>>> session = requests_doiuri.mount(requests.Session(), resolver="https://doi.org")
>>> session.get("doi:10.1000/182").json()  # doctest: +SKIP
{'responseCode': 1, 'handle': '10.1000/182', 'values': [...]}
>>> session.get("doi:10.1000/182", allow_redirects=False).next.url
'https://doi.org/api/handles/10.1000/182'
"""

from requests_doiuri._adapter import mount

__all__ = ["mount"]
