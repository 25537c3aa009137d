"""The DOIs of works that have none: searched for at Crossref and DataCite (``pip install "doiuri[resolver]"``)."""

from doiuri.search._rule import Candidate
from doiuri.search._search import OPTIONS, Found, Search

__all__ = ["OPTIONS", "Candidate", "Found", "Search"]
