"""Keys of a requests-cache session under which no DOI is taken for another."""

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
    """What requests-cache calls to learn under which key an answer is kept."""

    def __call__(self, *, request: PreparedRequest, **options: object) -> str: ...


def distinguish(session: Session) -> None:
    """Give a requests-cache session keys that tell DOIs apart; leave any other session as it is."""
    cache = sys.modules.get("requests_cache")  # where nobody has imported it, this is no such session
    if cache is None or not isinstance(session, cache.CacheMixin):
        return
    if not isinstance(session.settings.key_fn, _Key):
        session.settings.key_fn = _Key(session, session.settings.key_fn or cache.create_key)


class _Key:
    """The session's own key, and what it leaves out although two DOIs may differ in it."""

    def __init__(self, session: Session, key: KeyFunction) -> None:
        self.session = session
        self.key = key

    def __call__(self, *, request: PreparedRequest, **options: object) -> str:
        key, left_out = self.key(request=request, **options), " ".join(self._left_out(request))
        if not left_out:
            return key
        # hashed, for a key may become the name of a file
        return f"{key}-{hashlib.blake2b(left_out.encode(), digest_size=16).hexdigest()}"

    def _left_out(self, request: PreparedRequest) -> list[str]:
        url = request.url or ""
        accept = request.headers.get("Accept")
        parts = [] if wants_record(accept) else [str(accept)]
        if url[:4].lower() == "doi:":
            adapter = self.session.get_adapter(url)
            if isinstance(adapter, DOIAdapter):
                parts += [adapter.settings.base, adapter.follow]
        if url[:4].lower() == "doi:" or _changes(urlsplit(url).path):
            parts.append(url)
        return parts


def _changes(path: str) -> bool:
    """Whether requests-cache normalizes this path away: slashes run together, or letters composed."""
    name = unquote(path)
    return "//" in path or unicodedata.normalize("NFC", name) != name
