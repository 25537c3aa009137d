"""The URL of a prepared ``doi:`` request: the URI, and the request's parameters, which a URI cannot hold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from doiuri import DOI

if TYPE_CHECKING:
    from collections.abc import Mapping

    from requests import PreparedRequest

    Params = Mapping[str, object] | Mapping[bytes, object] | Iterable[tuple[str, object]] | str | bytes | None

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


def encode_params(params: Params) -> str:
    """Return the query for the DOI proxy.

    Unlike requests, encode True as a name without a value, leave out False as well as None, and write a space
    as "%20", never as "+".
    """
    if not params:
        return ""
    if isinstance(params, str | bytes):
        text = params.decode() if isinstance(params, bytes) else params
        return quote(text.lstrip("?"), safe="%/:?@!$&'()*+,;=-._~")
    fields = []
    for name, value in params.items() if hasattr(params, "items") else params:
        items = value if isinstance(value, Iterable) and not isinstance(value, str | bytes) else [value]
        for item in items:
            if item is True:
                fields.append(quote(name if isinstance(name, bytes) else str(name), safe=""))
            elif item is not None and item is not False:
                fields.append(urlencode({name: item}, quote_via=quote))
    return "&".join(fields)
