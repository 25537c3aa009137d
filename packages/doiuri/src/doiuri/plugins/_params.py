"""The ``params=`` of HTTP clients, as the DOI proxy reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import quote, urlencode

Params = Mapping[str, object] | Mapping[bytes, object] | Iterable[tuple[str, object]] | str | bytes | None
"""The parameters of a request, in any form that requests and httpx take."""


def encode_params(params: Params) -> str:
    """Return the query for the DOI proxy.

    Unlike HTTP clients, encode True as a name without a value, leave out False as well as None, and write a
    space as "%20": the proxy takes "+" for a plus.

    >>> encode_params({"type": ["URL", "EMAIL"], "auth": True, "cert": False})
    'type=URL&type=EMAIL&auth'

    :param params: a mapping or pairs, where a sequence repeats its parameter; or an encoded query.
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
