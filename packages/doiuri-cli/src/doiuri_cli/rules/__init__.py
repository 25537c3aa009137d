"""The rules: what a finding is, exactly where, by which rule, and what would put it right.

``rules.json`` has what ``doiuri rule``, SARIF and the manual say about the rules.
"""

from __future__ import annotations

import json
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from doiuri_cli.readers._keys import is_key
from doiuri_cli.readers._part import location_of
from doiuri_cli.rules._keep import is_fixed_text, keeps_host, keeps_name

if TYPE_CHECKING:
    from doiuri_cli._mentions import Mention
    from doiuri_cli.files import Location
    from doiuri_cli.readers import Part


class Severity(IntEnum):
    """How bad a finding is."""

    INFO = 0
    WARNING = 1
    ERROR = 2

    @property
    def label(self) -> str:
        """The word in messages and in ``--fail-on``."""
        return self.name.lower()


class Rule(NamedTuple):
    """One rule. Its texts are plain text; backticks enclose literals, as in Markdown."""

    code: str
    severity: Severity  # how bad its findings are
    summary: str  # what it reports, in one line
    reason: str  # why that is wrong
    example: str  # a text with such a finding; for advice, the DOI
    instead: str = ""  # what to write in its place; empty if that depends
    fix: str = ""  # "safe", "unsafe" or "" for none
    needs: str = ""  # "lock" file, the registry's "works", or a "search"; "" for none of them


RULES = {
    rule["code"]: Rule(**rule | {"severity": Severity[rule["severity"].upper()]})
    for rule in json.loads(Path(__file__).with_name("rules.json").read_text("ascii"))
}
"""The rules by code, in the order of the manual."""

LOCK_CODES = frozenset(code for code, rule in RULES.items() if rule.needs == "lock")
"""The codes that are checked only if there is a lock file and nobody else is asked."""

WORK_CODES = frozenset(code for code, rule in RULES.items() if rule.needs == "works")
"""The codes that are checked only against the registry's metadata."""


SEARCH_CODES = frozenset(code for code, rule in RULES.items() if rule.needs == "search")
"""The codes that are checked only by a search for works without a DOI."""


class Fix(NamedTuple):
    """A replacement in a file."""

    start: int  # offset in the file's text of the first character that is replaced
    end: int  # offset after the last one
    replacement: str  # the text in its place, as the file writes it
    # whether it is applied by default: the DOI stays the same, what reads the file reads all else as before,
    # and the file is neither test data nor generated
    safe: bool
    name: str | None = None  # the name that it changes the DOI to; None if the DOI stays the same


def fix_at(part: Part, span: tuple[int, int], text: str, name: str | None = None) -> Fix | None:
    """Return the fix that replaces a piece of a part; None if it would lose or break something.

    It is safe if the DOI stays the same, and then only labels, links and escapes may change, and these only
    where they mean nothing else.
    """
    if is_key(part.text, span[0], part.syntax) or is_fixed_text(part, *span):
        return None
    if name is None and not keeps_name(part.text[slice(*span)], text, part.syntax):
        return None
    try:
        written = part.encode(text)
    except ValueError:
        return None
    is_kept = keeps_host(part, span, text)
    if name is not None and not is_kept:  # a corrected name is not worth a broken file
        return None
    return Fix(*part.span(*span), written, is_kept and name is None, name)


class Finding(NamedTuple):
    """What a rule finds."""

    location: Location  # where it is
    code: str  # the code of its rule
    message: str  # what is wrong, in words
    doi: str | None = None  # the name of the DOI; None if there is none
    fix: Fix | None = None  # what would put it right; None if nothing is known to
    in_test_data: bool = False  # whether it is in test data: it does not change the exit code

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return RULES[self.code].severity


def finding_about(
    mention: Mention,
    code: str,
    message: str,
    fix: Fix | None = None,
    span: tuple[int, int] | None = None,
) -> Finding:
    """Return what is wrong with a mention; ``span`` is for a piece other than the mention."""
    location = location_of(mention.part, *(span or mention.span))
    name = mention.doi.name if mention.doi else None
    return Finding(location, code, message, name, fix)
