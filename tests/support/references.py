"""The cases of tests/cases/references: citations and lists, which the core and its hosts all run.

``RECORDS`` is a file of records with metadata, for ``resolver_for`` and the local proxy. A case is one
document: its citations in order, and the list of references that belongs to it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

from doiuri.records import CitationStyle, CitationWords
from support.cases import DATA

RECORDS = DATA / "references" / "records.json"


@dataclass(frozen=True)
class CitationCase:
    """A citation and its text; ``form`` is "parenthetical" or "textual"."""

    form: Literal["parenthetical", "textual"]
    dois: list[str]
    text: str


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


def _case(case: dict[str, Any]) -> ReferenceCase:
    return ReferenceCase(
        case["note"],
        case["style"],
        CitationWords(**case["words"]) if "words" in case else None,
        [CitationCase(**citation) for citation in case["citations"]],
        [EntryCase(**entry) for entry in case["list"]],
    )


CASES = [_case(case) for case in json.loads((DATA / "references" / "citations.json").read_text("utf-8"))]
