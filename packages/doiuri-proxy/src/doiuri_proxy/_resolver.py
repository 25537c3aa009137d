"""A Resolver that answers from records, in process and without sockets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from doiuri.resolver import Reply, Resolver

from doiuri_proxy.http._answer import answer
from doiuri_proxy.records._source import Records

if TYPE_CHECKING:
    from doiuri.resolver import Request

    from doiuri_proxy.records._files import PathOrData


def resolver_for(records: PathOrData, **options: Any) -> Resolver:
    """Return a Resolver that knows only the given records: other names are not found.

    It answers as a ``doiuri-proxy`` does, also with registration agencies and the metadata in the records'
    member ``metadata``: texts or JSON by media type.

    :param records: a list of records, each as the REST API writes it or a ``Record``; a mapping
        ``{"records": […], "agencies": {prefix: name}}``; or the path of a file of records, or of a folder
    :param options: options of the Resolver. By default nothing is stored, the rate is not limited, and
        ``DOIURI_OFFLINE`` does not count, since there are no requests to a server
    :raises ValueError: if something is not a record

    >>> from doiuri_proxy import resolver_for
    >>> url = {"index": 1, "type": "URL", "data": {"format": "string", "value": "https://example.org/"}}
    >>> resolver = resolver_for([{"handle": "10.1000/182", "values": [url]}])
    >>> resolver.resolve("10.1000/182").url
    'https://example.org/'
    >>> bibtex = {"application/x-bibtex": "@misc{doi:10.1000/182}"}
    >>> resolver_for([{"handle": "10.1000/182", "values": [url], "metadata": bibtex}]).bibtex("10.1000/182")
    '@misc{doi:10.1000/182}'
    """
    transport = _RecordsTransport(Records(records))
    defaults = {"store": None, "rate": None, "offline": False, "transport": transport}
    resolver = Resolver(**(defaults | options))
    transport.base = resolver.settings.base
    return resolver


class _RecordsTransport:
    """A transport that answers as a proxy with these records does, without a server."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self.base = ""

    def get(self, request: Request) -> Reply:
        """Answer a request; follow a redirect to this proxy, such as that of an alias."""
        request.remaining()  # raises an error if no time is left
        target = request.url.removeprefix(self.base)
        for _ in range(2):  # an alias leads to the end of its chain
            response = answer(self._records, "GET", target, {"Accept": request.accept})
            headers = {"Content-Type": response.content_type, **dict(response.headers)}
            redirect_target = headers.get("Location", "")
            if not redirect_target.startswith("/"):
                break
            target = redirect_target
        # Nothing is requested from the site of a web page: a redirect to it means that there is no metadata.
        status = 406 if redirect_target else response.status
        return Reply(status, headers, response.body, self.base + target)
