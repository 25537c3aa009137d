"""A ``doi:`` URI with the parameters of a request, which the URI itself cannot hold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from doiuri import DOI

if TYPE_CHECKING:
    from collections.abc import Mapping

    Params = Mapping[str, object] | Mapping[bytes, object] | Iterable[tuple[str, object]] | str | bytes | None


class Address(str):
    """The URL of a prepared request: the strict ``doi:`` URI and, after ``?``, the ``params`` of the request.

    A query that the caller writes into a ``doi:`` URI is refused; this class tells it from the parameters.
    """

    __slots__ = ("doi", "query")
    doi: DOI
    query: str

    @classmethod
    def of(cls, uri: str, params: Params = None) -> Address:
        """Return the address for what the caller wrote; raises DOISyntaxError."""
        if isinstance(uri, cls):
            return uri
        doi = DOI.from_uri(uri)
        query = _query(params)
        self = cls(f"{doi.uri}?{query}" if query else doi.uri)
        self.doi = doi
        self.query = query
        return self

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Pickle as plain text: caches are read where this package is not."""
        return str, (str(self),)


def _query(params: Params) -> str:
    """Encode as the proxy reads it: True is a flag; False and None are left out; a blank is never ``+``."""
    if not params:
        return ""
    if isinstance(params, str | bytes):
        text = params.decode() if isinstance(params, bytes) else params
        return quote(text.lstrip("?"), safe="%/:?@!$&'()*+,;=-._~")
    pairs = params.items() if hasattr(params, "items") else params
    fields = []
    for name, value in pairs:
        several = value if isinstance(value, Iterable) and not isinstance(value, str | bytes) else [value]
        for one in several:
            if one is True:
                fields.append(quote(name if isinstance(name, bytes) else str(name), safe=""))
            elif one is not None and one is not False:
                fields.append(urlencode({name: one}, quote_via=quote))
    return "&".join(fields)
