"""Entries and citations beside what citeproc-js shows in the same styles."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from doiuri import Handle
from doiuri.citations import Bibliography, EntryKey, Part, Style, format_entries, read_works
from doiuri.records import Work
from support.references import RECORDED, Recorded


@pytest.mark.parametrize("recorded", RECORDED, ids=str)
def test_a_style_shows_what_citeproc_js_shows(recorded: Recorded, tmp_path: Path) -> None:
    """Names, dates, numbers, terms, letters, groups, collapsing and order; if not, ``ours`` says what."""
    (tmp_path / "works.json").write_text(json.dumps(recorded.works), "utf-8")
    (tmp_path / "own.csl").write_text(recorded.style, "utf-8")
    works = read_works(["works.json"], tmp_path).complete({})
    style = Style.load(recorded.case.get("own", "own.csl"), tmp_path)
    bibliography = Bibliography(works, works, style, recorded.locale)
    entries = format_entries(bibliography.references, style, recorded.locale)
    shown = [
        f"{one.key}: {''.join(part.text for part in parts)}"
        for one, parts in zip(bibliography.references, entries, strict=True)
    ]
    shown += ["".join(part.text for part in bibliography.citation(cites)) for cites in recorded.cites]
    wrong = [
        f"{ours} is not {theirs}"
        for ours, theirs in zip(shown, recorded.lines, strict=True)
        if ours != recorded.case.get("ours", {}).get(theirs, theirs)
    ]
    assert not wrong, "\n".join(wrong)


REPEATED = [recorded for recorded in RECORDED if "author-substitute" in recorded.style]


@pytest.mark.parametrize("recorded", REPEATED[::4], ids=str)
def test_entries_that_are_kept_are_those_that_are_formatted_anew(recorded: Recorded, tmp_path: Path) -> None:
    """Which names repeat those before them depends on the list."""
    (tmp_path / "own.csl").write_text(recorded.style, "utf-8")
    style, known = Style.load("own.csl", tmp_path), dict[EntryKey, tuple[Part, ...]]()
    works: dict[Handle | str, Work] = {item["id"]: Work(item["id"], item) for item in recorded.works}
    references = Bibliography(works, works, style).references
    for part in (references, references[1:], references[::2], references[::-1], references):
        assert format_entries(part, style, known=known) == format_entries(part, style)
