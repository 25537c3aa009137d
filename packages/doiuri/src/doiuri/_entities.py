"""HTML's character references, of any length."""

from __future__ import annotations

import html
import re

# No character has a number of eight digits
_DECIMAL = re.compile("&#0*([0-9]{1,8})[0-9]*")


def unescape_html(text: str) -> str:
    """Return ``text`` with HTML's character references decoded, as ``html.unescape`` does.

    ``html.unescape`` raises ValueError for a number of more than 4,300 digits;
    here it is U+FFFD, as is any number that is too large.

    >>> unescape_html("a&lt;b&#" + "9" * 5000 + ";")
    'a<b�'
    """
    return html.unescape(_DECIMAL.sub(r"&#\1", text)) if "&" in text else text
