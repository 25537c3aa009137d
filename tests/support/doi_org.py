"""A local server that answers as https://doi.org, whose answers a lock file keeps without exception."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from doiuri.resolver import Reply, Request

# Private: a lock file keeps only what the built-in transport got from https://doi.org
from doiuri.resolver.http._transport import HTTPTransport

DOI_ORG = "https://doi.org"


@contextmanager
def doi_org(url: str) -> Iterator[None]:
    """Send the requests to https://doi.org to a local server, and without a rate limit."""
    get = HTTPTransport.get

    def get_locally(self: HTTPTransport, request: Request) -> Reply:
        if request.url.startswith(f"{DOI_ORG}/"):
            request.url = request._sending.url = url + request.url.removeprefix(DOI_ORG)
        return get(self, request)

    with (
        mock.patch.object(HTTPTransport, "get", get_locally),
        mock.patch("doiuri.resolver._settings.DEFAULT_RATE", 1e6),
        mock.patch.dict(os.environ, DOIURI_RESOLVER=DOI_ORG),
    ):
        yield
