"""The cases of tests/cases/references: citations and lists, which the core and its hosts all run.

``RECORDS`` is a file of records with metadata, for ``resolver_for`` and the local proxy. A case is one
document: its citations in order, and the list of references that belongs to it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal

from doiuri.records import CitationStyle, CitationWords
from support.cases import DATA

RECORDS = DATA / "references" / "records.json"


@dataclass(frozen=True)
class CitationCase:
    """A citation and its text; ``form`` is "parenthetical" or "textual".

    Of the DOIs in ``without_author`` only the years are shown.
    """

    form: Literal["parenthetical", "textual"]
    dois: list[str]
    text: str
    without_author: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class EntryCase:
    """An entry of the list: its label or number, and its whole text with the link ("": not fixed)."""

    doi: str
    label: str
    text: str = ""


@dataclass(frozen=True)
class ReferenceCase:
    """One document."""

    note: str
    style: CitationStyle
    words: CitationWords | None
    citations: list[CitationCase]
    entries: list[EntryCase]

    def __str__(self) -> str:
        return self.note

    @property
    def has_authors(self) -> bool:
        """Whether all citations name their authors: reStructuredText has no syntax for others."""
        return not any(citation.without_author for citation in self.citations)


def _case(case: dict[str, Any]) -> ReferenceCase:
    return ReferenceCase(
        case["note"],
        case["style"],
        CitationWords(**case["words"]) if "words" in case else None,
        [CitationCase(**citation) for citation in case["citations"]],
        [EntryCase(**entry) for entry in case["list"]],
    )


CASES = [_case(case) for case in json.loads((DATA / "references" / "citations.json").read_text("utf-8"))]
