"""All codes, with what ``doiuri rule`` and the manual say about them."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class Severity(IntEnum):
    """How bad a finding is."""

    WARNING = 1
    ERROR = 2

    @property
    def label(self) -> str:
        """The word in messages and in ``--fail-on``."""
        return self.name.lower()


class Rule(NamedTuple):
    """One rule.

    :ivar code: its code.
    :ivar severity: how bad its findings are.
    :ivar summary: what it reports, in one line.
    :ivar reason: why that is wrong.
    :ivar example: a text with such a finding.
    :ivar instead: what to write in its place; empty if that depends.
    :ivar fix: "safe", "unsafe" or "" for none.
    """

    code: str
    severity: Severity
    summary: str
    reason: str = ""
    example: str = ""
    instead: str = ""
    fix: str = ""


RULES = {
    rule.code: rule
    for rule in (
        Rule("syntax", Severity.ERROR, "What stands in the place of a DOI is none."),
        Rule("not-found", Severity.ERROR, "The DOI is not registered."),
        Rule("not-https", Severity.WARNING, "A link by http or to an old host.", fix="safe"),
    )
}
