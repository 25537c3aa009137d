"""Which works are not searched for: those that are said to be unpublished."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doiuri._patterns import lazy
from doiuri._text import plain_text

if TYPE_CHECKING:
    from doiuri.works._work import Work

_LONGEST = 2000  # characters that are read
_TYPES = frozenset({"manuscript", "personal_communication"})
_WORDS = lazy(
    r"""
    \b (?: in\ ?prep(?:aration|\.)? | submitted | under\ (?:review|revision) | unpublished | not\ published
        | (?: pers(?:onal|\.) | priv(?:ate|\.) )\ comm(?:unication|\.) ) (?!\w)
    """,
    re.IGNORECASE | re.VERBOSE,
)


def says_unpublished(work: Work) -> bool:
    """Return whether a work is said to be unpublished: by its type, its status, its note or its container."""
    if work.type in _TYPES:
        return True
    csl = work.csl
    texts = [plain_text(csl.get(member), _LONGEST) for member in ("status", "note")]
    return any(map(_WORDS.search, [*texts, work.container]))
