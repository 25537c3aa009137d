"""The URL of a prepared ``doi:`` request: the URI, and the request's parameters, which a URI cannot hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri import DOI
from doiuri.plugins import encode_params

if TYPE_CHECKING:
    from doiuri.plugins import Params
    from requests import PreparedRequest

_QUERY = "_doi_query"  # an attribute of prepared requests: pickled, a DOIURL is an ordinary string


class DOIURL(str):
    """The strict ``doi:`` URI of ``doi``, then "?" and the encoded parameters in ``query``, if there are any.

    A query that the caller wrote into the URI is an error. The type tells it from the parameters.
    """

    __slots__ = ("doi", "query")
    doi: DOI
    query: str

    @classmethod
    def prepare(cls, uri: str, params: Params = None) -> DOIURL:
        """Return the URL for what the caller wrote.

        :param uri: a strict ``doi:`` URI; a DOIURL is returned as it is.
        :param params: as for ``requests.Request``.
        :raises DOISyntaxError: if ``uri`` is not a strict ``doi:`` URI.
        """
        return uri if isinstance(uri, cls) else cls._join(DOI.from_uri(uri), encode_params(params))

    @classmethod
    def of(cls, request: PreparedRequest) -> DOIURL:
        """Return the URL of a request that :meth:`set_on` or anybody else prepared.

        :raises DOISyntaxError: if it is not a strict ``doi:`` URI.
        """
        url, query = request.url or "", vars(request).get(_QUERY)
        if query and not isinstance(url, cls) and url.endswith(f"?{query}"):  # unpickled
            return cls._join(DOI.from_uri(url.removesuffix(f"?{query}")), query)
        return cls.prepare(url)

    def set_on(self, request: PreparedRequest) -> None:
        """Make this the URL of ``request``, also after that is pickled."""
        request.url = self
        vars(request)[_QUERY] = self.query

    @classmethod
    def _join(cls, doi: DOI, query: str) -> DOIURL:
        url = cls(f"{doi.uri}?{query}" if query else doi.uri)
        url.doi = doi
        url.query = query
        return url

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Pickle as ``str``: a cache may be read where this package is not installed."""
        return str, (str(self),)
