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
        Rule("doubled", Severity.WARNING, "A label or a link before another one.", fix="safe"),
        Rule("field-form", Severity.WARNING, "A field for a DOI holds more than the name.", fix="safe"),
        Rule("raw-link", Severity.WARNING, "A link that browsers take for another.", fix="safe"),
        Rule("text-differs", Severity.WARNING, "A link's text is a DOI, and its target is another."),
        Rule("duplicate", Severity.WARNING, "Two entries have the same DOI."),
        Rule("tex-escape", Severity.WARNING, "A TeX escape in a DOI.", fix="safe"),
        Rule("entity", Severity.WARNING, "An HTML entity in the name.", fix="safe"),
        Rule("look-alike", Severity.WARNING, "A character that looks like another.", fix="unsafe"),
        Rule("composition", Severity.WARNING, "Letters with combining marks.", fix="unsafe"),
        Rule("space", Severity.WARNING, "White space in the name.", fix="unsafe"),
        Rule("trailing-punctuation", Severity.WARNING, "Punctuation at the end.", fix="unsafe"),
        Rule("trailing-slash", Severity.WARNING, "A slash at the end.", fix="unsafe"),
        Rule("literal-escape", Severity.WARNING, "What looks like an escape.", fix="unsafe"),
        Rule("decoded-escape", Severity.WARNING, "An escape that was decoded.", fix="unsafe"),
        Rule("stray-percent", Severity.WARNING, "A percent sign that starts no escape.", fix="safe"),
        Rule("page-address", Severity.WARNING, "The end of a page's address.", fix="unsafe"),
        Rule("run-on", Severity.WARNING, "Two DOIs in one."),
        Rule("placeholder", Severity.WARNING, "A placeholder of a template."),
        Rule("lost-character", Severity.WARNING, "A replacement character."),
        Rule("reserved-suffix", Severity.WARNING, "A suffix that is reserved."),
        Rule("unknown-character", Severity.WARNING, "A character that Unicode does not have."),
    )
}
