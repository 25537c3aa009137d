"""A rule: what ``doiuri rule`` and the manual say about a code."""

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
    """One rule. Its texts are plain text; backticks enclose literals, as in Markdown.

    :ivar code: its code.
    :ivar severity: how bad its findings are.
    :ivar summary: what it reports, in one line.
    :ivar reason: why that is wrong.
    :ivar example: a text with such a finding; for advice, the DOI.
    :ivar instead: what to write in its place; empty if that depends.
    :ivar fix: "safe", "unsafe" or "" for none.
    """

    code: str
    severity: Severity
    summary: str
    reason: str
    example: str
    instead: str = ""
    fix: str = ""
