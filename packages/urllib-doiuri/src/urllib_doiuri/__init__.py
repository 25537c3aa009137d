"""Open ``doi:`` URIs with urllib.

>>> import json
>>> from urllib.request import urlopen
>>> import urllib_doiuri
>>> handler = urllib_doiuri.install()
>>> with urlopen("doi:10.1000/182") as response:  # doctest: +SKIP
...     record = json.load(response)
>>> urllib_doiuri.uninstall()
"""

from urllib_doiuri._handler import DOIHandler
from urllib_doiuri._install import install, record_request, uninstall, urlopen

__all__ = ["DOIHandler", "install", "record_request", "uninstall", "urlopen"]

DOIHandler.__module__ = __name__  # for tracebacks and pickles
