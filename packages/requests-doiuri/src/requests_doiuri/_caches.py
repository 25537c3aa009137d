"""Cache keys for requests-cache that keep DOIs apart."""

from __future__ import annotations

import hashlib
import sys
import unicodedata
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote, urlsplit

from doiuri.plugins import wants_record

from requests_doiuri._adapter import DOIAdapter

if TYPE_CHECKING:
    from requests import PreparedRequest, Session


class KeyFunction(Protocol):
    """A function that returns requests-cache's key for the response to a request."""

    def __call__(self, *, request: PreparedRequest, **options: object) -> str: ...


def distinguish_dois(session: Session) -> None:
    """Extend the cache keys of a requests-cache session; do nothing to any other session."""
    requests_cache = sys.modules.get(
        "requests_cache"
    )  # optional; its sessions exist only once it is imported
    if requests_cache is None or not isinstance(session, requests_cache.CacheMixin):
        return
    if not isinstance(session.settings.key_fn, _DOIKeyFunction):
        key_function = session.settings.key_fn or requests_cache.create_key
        session.settings.key_fn = _DOIKeyFunction(session, key_function)


class _DOIKeyFunction:
    """Appends to the session's own key what that ignores, if requests for two DOIs may differ in it."""

    def __init__(self, session: Session, key_function: KeyFunction) -> None:
        self.session = session
        self.key_function = key_function

    def __call__(self, *, request: PreparedRequest, **options: object) -> str:
        key = self.key_function(request=request, **options)
        ignored = " ".join(self._ignored_parts(request))
        if not ignored:
            return key
        # A hash, since the filesystem backend uses the key as a file name.
        return f"{key}-{hashlib.blake2b(ignored.encode(), digest_size=16).hexdigest()}"

    def _ignored_parts(self, request: PreparedRequest) -> list[str]:
        url = request.url or ""
        is_doi = url[:4].lower() == "doi:"
        accept = request.headers.get("Accept")
        parts = [] if wants_record(accept) else [str(accept)]
        if is_doi:
            adapter = self.session.get_adapter(url)
            if isinstance(adapter, DOIAdapter):
                parts += [adapter.options.settings.base, adapter.options.follow]
        if is_doi or _is_normalized(urlsplit(url).path):
            parts.append(url)
        return parts


def _is_normalized(path: str) -> bool:
    """Return whether requests-cache changes this path: it merges slashes and composes letters (NFC)."""
    name = unquote(path)
    return "//" in path or unicodedata.normalize("NFC", name) != name
