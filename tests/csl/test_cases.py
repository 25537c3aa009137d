"""The rules of CSL 1.0.2, one by one, from cases that are data."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from doiuri_csl import Cite, Processor, Style, to_html

FILE = Path(__file__).with_name("cases.toml")


@dataclass
class Case:
    """A style, its items, and what is expected of the citations or the list."""

    section: str
    rule: str
    citation: str
    items: list[dict[str, Any]]
    style: str = ""
    options: str = ""
    citation_options: str = ""
    bibliography: str = ""
    bibliography_options: str = ""
    cites: list[list[dict[str, Any]]] = field(default_factory=list)
    notes: list[int] | None = None
    expected: str | list[str] = ""
    entries: list[str] = field(default_factory=list)

    @property
    def xml(self) -> str:
        """The whole style."""
        bibliography = ""
        if self.bibliography:
            bibliography = (
                f"<bibliography {self.bibliography_options}>{self.bibliography}</bibliography>"
            )
        return (
            f'<style xmlns="http://purl.org/net/xbiblio/csl" version="1.0" {self.options}>'
            f"{self.style}<citation {self.citation_options}>{self.citation}</citation>"
            f"{bibliography}</style>"
        )


CASES = [Case(**case) for case in tomllib.loads(FILE.read_text("utf-8"))["case"]]


def _processor(case: Case) -> Processor:
    items = [{"id": str(number), **item} for number, item in enumerate(case.items, 1)]
    processor = Processor(Style.parse(case.xml), items)
    every_item = [{"id": item["id"]} for item in items]
    citations = []
    for cites in case.cites or [every_item]:
        citations.append([Cite(**cite) for cite in cites])
    processor.set_citations(citations, notes=case.notes)
    return processor


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.section}: {case.rule}")
def test_a_rule_of_the_specification(case: Case) -> None:
    processor = _processor(case)

    expected = [case.expected] if isinstance(case.expected, str) else case.expected
    if case.entries:
        entries = []
        for reference in processor.bibliography():
            parts = [to_html(part).strip() for part in (reference.label, reference.runs) if part]
            entries.append(" | ".join(parts))
        assert entries == case.entries
    else:
        numbers = range(len(case.cites) or 1)
        assert [to_html(processor.citation(number)) for number in numbers] == expected


def test_each_rule_has_a_name_of_its_own() -> None:
    names = [(case.section, case.rule) for case in CASES]

    assert len({*names}) == len(names) > 80
