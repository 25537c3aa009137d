"""For your own tests: a check of DOIs, and a Resolver with given records, in process and without sockets.

It needs ``doiuri[testing]``.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from doiuri.resolver import Reply, Resolver
from doiuri.testing._registered import assert_registered

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping

    from doiuri.records import Record
    from doiuri.resolver import Request
    from doiuri.testing._fixture import registered_dois

    Records = str | os.PathLike[str] | Mapping[str, Any] | Iterable[Mapping[str, Any] | Record]

__all__ = ["assert_registered", "registered_dois", "resolver_for"]


def __getattr__(name: str) -> object:
    if name != "registered_dois":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from doiuri.testing._fixture import registered_dois  # imports pytest

    return registered_dois


def resolver_for(records: Records, **options: Any) -> Resolver:
    """Return a Resolver that knows only the given records: other names are not found.

    It answers as a ``doiuri-proxy`` does, also with registration agencies and the metadata in the records'
    member ``metadata``: texts or JSON by media type.

    :param records: a list of records, each as the REST API writes it or a ``Record``; a mapping
        ``{"records": […], "agencies": {prefix: name}}``; or the path of a file of records, or of a folder
    :param options: options of the Resolver. By default nothing is stored, the rate is not limited, and
        ``DOIURI_OFFLINE`` does not count, since there are no requests to a server
    :raises ValueError: if something is not a record

    >>> url = {"index": 1, "type": "URL", "data": {"format": "string", "value": "https://example.org/"}}
    >>> resolver = resolver_for([{"handle": "10.1000/182", "values": [url]}])
    >>> resolver.resolve("10.1000/182").url
    'https://example.org/'
    >>> bibtex = {"application/x-bibtex": "@misc{doi:10.1000/182}"}
    >>> resolver_for([{"handle": "10.1000/182", "values": [url], "metadata": bibtex}]).bibtex("10.1000/182")
    '@misc{doi:10.1000/182}'
    """
    try:
        import doiuri_proxy  # the only function that needs it
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{error}: pip install 'doiuri[testing]'", name=error.name) from None

    transport = _RecordsTransport(partial(doiuri_proxy.answer, doiuri_proxy.Records(records)))
    defaults = {"store": None, "rate": None, "offline": False, "transport": transport}
    resolver = Resolver(**(defaults | options))
    transport.base = resolver.settings.base
    return resolver


class _RecordsTransport:
    """A transport that calls a function with the method, the target and the headers."""

    def __init__(self, answer: Callable[..., Any]) -> None:
        self._answer = answer
        self.base = ""

    def get(self, request: Request) -> Reply:
        """Answer a request; follow redirects to the same server."""
        request.remaining()
        target = request.url.removeprefix(self.base)
        for _ in range(2):  # an alias leads to the end of its chain
            answer = self._answer("GET", target, {"Accept": request.accept})
            headers = {"Content-Type": answer.content_type, **dict(answer.headers)}
            location = headers.get("Location", "")
            if not location.startswith("/"):
                break
            target = location
        # without a network, the redirect to a page is the answer that there is no metadata
        return Reply(406 if location else answer.status, headers, answer.body, self.base + target)
