"""What stands where a DOI is still to be filled in, and where there is none."""

from __future__ import annotations

import re

PLACEHOLDER = re.compile(
    r"[{}<>\[\]$*…|]|%(?:[(sdr]|\Z)|#[0-9]|\.\.\.|(?i:x{3}|n{4}|y{4}|10\.x|10\.n|todo|tbd|tba|\byour\b|\bfixme\b)|_{3}|-{3}|\?\?|@[A-Z_]+@"
    r"|\A(?i:doi|name|number|prefix|suffix|prefix/suffix|none|null|nil|id|identifier)\Z"
)
"""Matches what a person or a program is to fill in."""

_NONE = re.compile(
    r"[-–—.?/\s]*|n\.?/?\s?a\.?|(?:no|without)\s+doi(?:\s+\w+)?|(?:not|un)\s?(?:yet\s+)?(?:available|assigned|known|published)",
    re.IGNORECASE,
)


def says_none(text: str) -> bool:
    """Return whether a field says that there is no DOI. Styles of BibTeX would make a link of it."""
    return _NONE.fullmatch(text) is not None
