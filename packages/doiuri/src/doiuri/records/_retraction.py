"""Whether metadata says that a work is retracted.

Crossref lists the notices about a work in ``updated-by``, and in the metadata of a notice the works that it
is about in ``update-to``; publishers put a word before the title. CSL 1.0.2 has the variable ``status``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

RETRACTED = "retracted"
"""The value of ``status``."""

_TYPES = ("retraction", "removal", "withdrawal")  # not a set: the type of a notice may be of any kind
# "RETRACTED: …", "RETRACTED ARTICLE: …", "[Retracted] …"; not "Retraction: …", which is the notice
_BEFORE_TITLE = re.compile(
    r"\[(?:retracted|withdrawn|removed)\]\s*:?\s*"
    r"|(?:retracted|withdrawn|removed)(?:\s+(?:article|paper|chapter|manuscript))?\s*:\s*",
    re.IGNORECASE,
)
_MOST = 1000  # notices that are read


def is_retracted(csl: Mapping[str, object], title: str) -> bool:
    """Return whether a work is retracted, withdrawn or removed.

    :param csl: its metadata, with members of any type.
    :param title: its title.
    """
    if csl.get("status") == RETRACTED or _BEFORE_TITLE.match(title):
        return True
    if any(notice.get("type") in _TYPES for notice in _notices(csl.get("updated-by"))):
        return True
    own = csl.get("DOI")
    return isinstance(own, str) and any(
        notice.get("type") in _TYPES and _same(notice.get("DOI"), own)
        for notice in _notices(csl.get("update-to"))
    )


def _notices(value: object) -> Iterator[Mapping[str, object]]:
    for notice in value[:_MOST] if isinstance(value, list) else ():
        if isinstance(notice, dict):
            yield notice


def _same(name: object, other: str) -> bool:
    return isinstance(name, str) and name.lower() == other.lower()
