"""The rules: all codes. ``rules.json`` has what ``doiuri rule``, SARIF and the manual say about them."""

from __future__ import annotations

import json
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple


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
    """One rule. Its texts are plain text; backticks enclose literals, as in Markdown.

    :ivar code: its code.
    :ivar severity: how bad its findings are.
    :ivar summary: what it reports, in one line.
    :ivar reason: why that is wrong.
    :ivar example: a text with such a finding; for advice, the DOI.
    :ivar instead: what to write in its place; empty if that depends.
    :ivar fix: "safe", "unsafe" or "" for none.
    :ivar needs: "lock" if it needs the lock file, "records" if it needs the registry's metadata, else "".
    """

    code: str
    severity: Severity
    summary: str
    reason: str
    example: str
    instead: str = ""
    fix: str = ""
    needs: str = ""


RULES = {
    rule["code"]: Rule(**rule | {"severity": Severity[rule["severity"].upper()]})
    for rule in json.loads(Path(__file__).with_name("rules.json").read_text("ascii"))
}
"""The rules by code, in the order of the manual."""

LOCK_CODES = frozenset(code for code, rule in RULES.items() if rule.needs == "lock")
"""The codes that are checked only if there is a lock file and nobody else is asked."""

RECORD_CODES = frozenset(code for code, rule in RULES.items() if rule.needs == "records")
"""The codes that are checked only against the registry's metadata."""
