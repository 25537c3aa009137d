"""Which URLs of a record may be linked, and where a redirect may lead."""

from __future__ import annotations

import re
from html import escape
from urllib.parse import urlsplit

_WEB = re.compile(r"https?://[^\s/?#\\]", re.IGNORECASE | re.ASCII)
_NOT_IN_HOSTS = re.compile(r"[\s\\]")  # a browser ends the host at a backslash, and urlsplit does not
_PLAIN = re.compile(r"https?://[A-Za-z0-9.-]+(?::[1-9][0-9]{0,3})?(?:[/?#][!-~]*)?")  # nearly all
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # not allowed in HTML or in headers


def is_web(url: str) -> bool:
    r"""Return whether a URL may be linked: http or https, a host, a valid port, no control characters.

    >>> is_web("http://example.org/a"), is_web("http://example.org\\@evil.example/")
    (True, False)
    """
    if _PLAIN.fullmatch(url):
        return True
    if not _WEB.match(url) or _UNSAFE.search(url):
        return False
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0 and not _NOT_IN_HOSTS.search(parts.netloc)
    except ValueError:
        return False


def html_link(url: str, text: str) -> str:
    """Return a link in HTML; URL and text are escaped."""
    return f'<a href="{html_text(url)}">{html_text(text)}</a>'


def html_text(text: str) -> str:
    """Return text escaped for HTML, which has no lone surrogates, though JSON may have them."""
    return escape(text.encode(errors="replace").decode())
