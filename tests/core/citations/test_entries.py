"""Entries of lists of references as citeproc-py formats them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from doiuri import DOI
from doiuri.citations import Bibliography, Cite, Part, Reference, Style, format_entries
from doiuri.records import Work
from support.cases import table

ODD = DOI("10.1000/456#<7>")


def entry(
    csl: dict[str, object], style: str | Style = "author-date", locale: str = "en-US"
) -> tuple[Part, ...]:
    chosen = Style.load(style) if isinstance(style, str) else style
    work = Work(ODD if csl.get("DOI") else "id", csl)
    [parts] = format_entries([Reference(work, 1)], chosen, locale)
    return parts


def text(parts: tuple[Part, ...]) -> str:
    return "".join(part.text for part in parts)


@table("citations", "entries", "csl, style, expected")
def test_an_entry(csl: dict[str, object], style: str, expected: str) -> None:
    assert text(entry(csl, style)) == expected


def test_formatting_is_data() -> None:
    title = "<i>A <em>b</em></i> H<sub>2</sub> <sup>1</sup> <b>c</b> <jats:sc>d</jats:sc>"
    parts = entry({"title": title, "container-title": "J", "DOI": ODD.name, "issued": 2001}, "author-date")
    assert {(part.text, *sorted(part.formats)) for part in parts if part.formats} == {
        ("A ", "emphasis"), ("2", "subscript"), ("1", "superscript"), ("c", "strong"), ("d", "small-caps"),
        ("J", "emphasis"),
    }  # fmt: skip
    assert [part for part in parts if part.link] == [Part(ODD.url, link=ODD)]


OWN = (
    "<style xmlns='http://purl.org/net/xbiblio/csl' class='in-text' version='1.0'>"
    "<info><title>T</title><id>i</id><updated>2026-01-01T00:00:00Z</updated></info>"
    "<citation><layout><text variable='title'/></layout></citation><bibliography><layout>"
    "<text variable='citation-number' suffix='. '/><text variable='title'/>"
    "<text variable='{}' prefix=', '/></layout></bibliography></style>"
)


def test_a_style_without_dois_links_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "own.csl").write_text(OWN.format("page"))
    style = Style.load("own.csl", tmp_path)
    assert text(entry({"title": "T", "DOI": ODD.name}, style)) == f"T {ODD.url}"
    assert text(entry({"title": "T"}, style)) == "T"


def test_citeproc_is_imported_for_a_list_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "citeproc", raising=False)
    bibliography = Bibliography(["a"], {"a": Work("a", {"title": "T"})}, Style.load())
    assert not format_entries([], Style.load())
    assert "citeproc" not in sys.modules
    monkeypatch.setitem(sys.modules, "citeproc", None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "doiuri\[citations\]"'):
        format_entries(bibliography.references, Style.load())


def test_a_citation_may_show_the_doi_and_tests_the_position(tmp_path: Path) -> None:
    """Layouts of notes have both; a position is that of a first citation."""
    (tmp_path / "note.csl").write_text(
        """<style xmlns="http://purl.org/net/xbiblio/csl" class="note" version="1.0"><info>
        <title>T</title><id>i</id><updated>2026-01-01T00:00:00Z</updated></info>
        <citation><layout><choose><if position="ibid"><text value="ibid."/></if><else><group delimiter=" ">
        <text variable="title"/><text variable="DOI" prefix="DOI "/><text variable="URL"/></group>
        </else></choose></layout></citation><bibliography><layout><text variable="title"/></layout>
        </bibliography></style>"""
    )
    style = Style.load("note.csl", tmp_path)
    works: dict[DOI | str, Work] = {
        ODD: Work(ODD, {"title": "T"}),
        "w": Work("w", {"title": "U", "URL": "https://example.org/w"}),
    }
    bibliography = Bibliography(works, works, style)
    shown = [text(bibliography.citation([Cite(key)])) for key in works]
    assert shown == [f"T DOI {ODD.name}", "U https://example.org/w"]
