"""Letters, groups, collapsing and order beside what citeproc-js shows in the same styles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from doiuri.citations import Bibliography, Cite, Style, format_entries, read_works
from support.references import STYLES, cite, csl_of

CASES: list[dict[str, Any]] = STYLES["styles"]


@pytest.mark.parametrize("case", CASES, ids=[str(number) for number in range(len(CASES))])
def test_a_style_shows_what_citeproc_js_shows(case: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "own.csl").write_text(csl_of(case), "utf-8")
    (tmp_path / "works.json").write_text(STYLES["list"], "utf-8")
    works = read_works(["works.json"], tmp_path).complete({})
    style = Style.load("own.csl", tmp_path)
    bibliography = Bibliography(works, works, style)
    entries = format_entries(bibliography.references, style)
    listed = [
        f"{one.key}: {''.join(part.text for part in parts)}"
        for one, parts in zip(bibliography.references, entries, strict=True)
    ]
    shown = [
        "".join(part.text for part in bibliography.citation(Cite(*cite(text)) for text in cites))
        for cites in STYLES["citations"]
    ]
    wrong = [
        f"{case['citation']} {case['sort']}: {ours} is not {theirs}"
        for ours, theirs in zip([*listed, *shown], [*case["list"], *case["shown"]], strict=True)
        if ours != theirs
    ]
    assert not wrong, "\n".join(wrong)
