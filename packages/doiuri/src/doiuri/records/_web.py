"""Which URLs of a record may be linked, and where a redirect may lead."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

_WEB = re.compile(r"https?://[^\s/?#\\]", re.IGNORECASE | re.ASCII)
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # not allowed in HTML or in headers


def is_web(url: str) -> bool:
    """Return whether a URL may be linked: http or https, a host, a valid port, no control characters."""
    if not _WEB.match(url) or _UNSAFE.search(url):
        return False
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0 and not re.search(r"\s", parts.netloc)
    except ValueError:
        return False
