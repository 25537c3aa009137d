"""The ``params=`` of HTTP clients, as the DOI proxy reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import quote

from doiuri._urls import query_string

Params = Mapping[str, object] | Mapping[bytes, object] | Iterable[tuple[str, object]] | str | bytes | None
"""The parameters of a request, in any form that requests and httpx take."""


def encode_params(params: Params) -> str:
    """Return the query for the DOI proxy.

    Unlike HTTP clients, it encodes True as a name without a value, leaves out False as well as None, and
    writes a space as "%20", because the proxy reads "+" as a plus.

    >>> encode_params({"type": ["URL", "EMAIL"], "auth": True, "cert": False})
    'type=URL&type=EMAIL&auth'

    :param params: a mapping or pairs, where a sequence repeats its parameter; or an encoded query.
    """
    if not params:
        return ""
    if isinstance(params, str | bytes):
        text = params.decode() if isinstance(params, bytes) else params
        return quote(text.lstrip("?"), safe="%/:?@!$&'()*+,;=-._~")
    return query_string(params.items() if hasattr(params, "items") else params)
