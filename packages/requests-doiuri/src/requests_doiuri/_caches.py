"""Cache keys for requests-cache that keep DOIs apart."""

from __future__ import annotations

import hashlib
import sys
from typing import TYPE_CHECKING

from requests_doiuri._adapter import DOIAdapter
from requests_doiuri._redirects import Redirects

if TYPE_CHECKING:
    from collections.abc import Callable

    from requests import PreparedRequest, Session


def distinguish_dois(session: Session) -> None:
    """Extend the cache keys of a requests-cache session; do nothing to any other session."""
    requests_cache = sys.modules.get("requests_cache")  # its sessions exist only once it is imported
    if requests_cache is None or not isinstance(session, requests_cache.CacheMixin):
        return
    if not isinstance(session.settings.key_fn, _DOIKeys):
        session.settings.key_fn = _DOIKeys(session, session.settings.key_fn or requests_cache.create_key)


class _DOIKeys:
    """Appends to the session's own key of a request for a DOI what that ignores or normalizes."""

    def __init__(self, session: Session, key_function: Callable[..., str]) -> None:
        self.session = session
        self.key_function = key_function

    def __call__(self, *, request: PreparedRequest, **options: object) -> str:
        key = self.key_function(request=request, **options)
        redirects = Redirects.of(request)
        adapter = self.session.get_adapter("doi:")
        if redirects is None or not isinstance(adapter, DOIAdapter):
            return key
        settings, accept = adapter.options.settings, request.headers.get("Accept")
        parts = f"{request.url} {redirects.query} {settings.base} {adapter.options.follow} {accept!r}"
        # A hash, since the filesystem backend uses the key as a file name.
        return f"{key}-{hashlib.blake2b(parts.encode(), digest_size=16).hexdigest()}"
