"""The DOIs of works that have none: searched for at Crossref and DataCite (``pip install "doiuri[resolver]"``)."""

from doiuri.search._rule import Candidate
from doiuri.search._search import OPTIONS, Found, Search

__all__ = ["OPTIONS", "Candidate", "Found", "Search"]

for _public in (Candidate, Found, Search):
    _public.__module__ = __name__  # for tracebacks and pickles
