"""The rules: what a finding is, exactly where, by which rule, and what would put it right.

``rules.json`` has what ``doiuri rule``, SARIF and the manual say about the rules.
"""

from __future__ import annotations

import json
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from doiuri_cli.files import SourceLocation


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


class Finding(NamedTuple):
    """What a rule finds."""

    location: SourceLocation  # where it is
    code: str  # the code of its rule
    message: str  # what is wrong, in words
    doi: str | None = None  # the name of the DOI; None if there is none
    fix: Fix | None = None  # what would put it right; None if nothing is known to
    in_test_data: bool = False  # whether it is in test data: it does not change the exit code

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return RULES[self.code].severity
