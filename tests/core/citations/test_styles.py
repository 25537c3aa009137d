"""Entries and citations beside what citeproc-js shows in the same styles."""

from __future__ import annotations

import json
import pickle
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path

import pytest
from doiuri import Handle
from doiuri.citations import (
    Bibliography,
    CitationItem,
    EntryCache,
    Form,
    ReferenceStyle,
    read_works,
    text_of,
)
from doiuri.works import Work
from support.references import RECORDED, Recorded


@pytest.mark.parametrize(("number", "recorded"), [*enumerate(RECORDED)], ids=map(str, RECORDED))
def test_a_style_shows_what_citeproc_js_shows(
    number: int, recorded: Recorded, tmp_path: Path
) -> None:
    """Names, dates, numbers, terms, letters, groups, collapsing and order; if not, ``ours`` says what."""
    (tmp_path / "works.json").write_text(json.dumps(recorded.works), "utf-8")
    (tmp_path / "own.csl").write_text(recorded.style, "utf-8")
    works = read_works(["works.json"], tmp_path).merge({})
    style = ReferenceStyle.load(recorded.case.get("own", "own.csl"), tmp_path)
    bibliography = Bibliography(works, works, style, recorded.locale)
    shown = [f"{entry.key}: {text_of(entry.spans)}" for entry in bibliography.entries()]
    shown += [text_of(bibliography.citation(cites)) for cites in recorded.cites]
    wrong = [
        f"{ours} is not {theirs}"
        for ours, theirs in zip(shown, recorded.lines, strict=True)
        if ours != recorded.case.get("ours", {}).get(theirs, theirs)
    ]
    # A quarter of them, others in the next style: a sentence needs four citations
    cites = list(dict.fromkeys(chain(*recorded.cites)))
    for cite in cites[number % 4 :: 4]:
        wrong += (f"{cite}: {found}" for found in in_sentence(bibliography, cite, style))
    assert not wrong, "\n".join(wrong)


@cache
def citation_layout(style: str) -> ET.Element:
    layout = ET.fromstring(style).find("{*}citation/{*}layout")
    assert layout is not None
    return layout


def in_sentence(
    bibliography: Bibliography, cite: CitationItem, style: ReferenceStyle
) -> Iterator[str]:
    """Yield what is wrong with a citation in a sentence: its author precedes what else is in brackets."""

    def shown(form: Form, cite: CitationItem) -> str:
        return text_of(bibliography.citation([cite], form))

    before = f"{cite.prefix} " if cite.prefix else ""
    layout = citation_layout(style.xml)
    prefix = layout.get("prefix", "")
    suffix = layout.get("suffix", "")
    author = shown("author", CitationItem(cite.key))
    whole = shown("t", cite)
    year = shown("year", cite)
    others = shown("p", replace(cite, no_author=True)).removeprefix(prefix).removesuffix(suffix)
    own = prefix or style.numbered
    opening = prefix if own else "("
    closing = suffix if own else ")"
    named = "" if cite.no_author else f"{author} "
    expected = f"{before}{named}{opening}{others.removeprefix(before)}{closing}"
    if whole not in {expected, author if others == "n.d." else expected}:  # a style without years
        yield f"{whole} is not {expected}"
    if "&" in author or (year != others and not style.numbered):
        yield f"{author}, {year}"


def test_entries_that_are_kept_are_those_that_are_formatted_anew(tmp_path: Path) -> None:
    """Whatever differs: the style, the language, the letters, and which names repeat those before them."""
    cache = EntryCache()
    wrong = []
    for recorded in RECORDED:
        if "author-substitute" not in recorded.style and "own" not in recorded.case:
            continue
        (tmp_path / "own.csl").write_text(recorded.style, "utf-8")
        style = ReferenceStyle.load(recorded.case.get("own", "own.csl"), tmp_path)
        works: dict[Handle | str, Work] = {
            item["id"]: Work(item["id"], item) for item in recorded.works
        }
        cited = (works, list(works)[1::2], works)
        for keys in cited:
            bibliography = Bibliography(keys, works, style, recorded.locale)
            kept = bibliography.entries(cache=cache)
            if kept != bibliography.entries():
                wrong.append(f"{recorded}: {[entry.key for entry in kept]}")
            again = bibliography.entries(cache=pickle.loads(pickle.dumps(EntryCache(cache))))
            assert again == kept
    assert not wrong, "\n".join(wrong)


LAYOUT = '<layout><text variable="title"/></layout>'
INDEPENDENT = (
    '<style xmlns="http://purl.org/net/xbiblio/csl" version="1.0"><info><title>{}</title></info>'
    f"<citation>{LAYOUT}</citation>"
    f'<bibliography subsequent-author-substitute="--">{LAYOUT}</bibliography></style>'
)
DEPENDENT = (
    '<style xmlns="http://purl.org/net/xbiblio/csl" version="1.0"><info><title>{}</title>'
    '<link rel="independent-parent" href="https://s.example/nature"/></info></style>'
)


def write(folder: Path, files: dict[str, str]) -> str:
    """Write styles into a folder; return its path."""
    for name, content in files.items():
        file = folder / f"{name}.csl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content.format(name), "utf-8")
    return str(folder)


def test_a_style_is_found_by_its_name_in_the_first_folder_that_has_it(tmp_path: Path) -> None:
    """Also as the CSL project and Zotero keep dependent styles and their parents."""
    first = write(
        tmp_path / "first",
        {"nature": INDEPENDENT, "dependent/physics": DEPENDENT, "numeric": INDEPENDENT},
    )
    second = write(
        tmp_path / "second",
        {"nature": INDEPENDENT, "chemistry": DEPENDENT, "hidden/cell": INDEPENDENT},
    )
    folders = (str(tmp_path / "none"), first, second)

    def title(name: str) -> str:
        return ReferenceStyle.load(name, csl_path=folders).parsed.title

    assert [title(name) for name in ("physics", "chemistry", "cell")] == [
        "dependent/physics",
        "chemistry",
        "hidden/cell",
    ]
    assert ReferenceStyle.load("nature", csl_path=folders).files == (Path(first, "nature.csl"),)
    assert ReferenceStyle.load("numeric", csl_path=folders).is_shipped


def test_a_style_that_no_folder_has_is_reported_with_those_that_are_like_it(tmp_path: Path) -> None:
    folder = write(tmp_path, {"nature": INDEPENDENT, "dependent/nature-physics": DEPENDENT})
    absent = str(tmp_path / "absent")

    def said(name: str) -> str:
        with pytest.raises(ValueError, match="unknown style") as caught:
            ReferenceStyle.load(name, csl_path=[folder, absent])
        return str(caught.value)

    advice = "write 'numeric', the closest of ours, or the path of a .csl file"
    looked = f"it is not in {folder}, {absent} (no folder)"
    assert said("Nature") == f"unknown style 'Nature': {looked} (did you mean nature?); {advice}"
    assert "(did you mean nature-physics?)" in said("nature-physic")
    assert said("ieee") == f"unknown style 'ieee': {looked}; {advice}"
    for outside in ("../nature", "dependent/nature-physics", "..", ".nature", "", "a\0"):
        assert looked in said(outside)


def test_a_style_differs_if_its_parent_does(tmp_path: Path) -> None:
    folder = write(tmp_path, {"physics": DEPENDENT, "nature": INDEPENDENT})
    before = ReferenceStyle.load("physics", csl_path=[folder])
    same = ReferenceStyle.load("physics.csl", folder)

    write(tmp_path, {"nature": INDEPENDENT.replace("--", "==")})
    after = ReferenceStyle.load("physics", csl_path=[folder])

    assert same == before != after
    assert same.digest == before.digest != after.digest
    assert before.replaces_names
    assert before.files == (tmp_path / "physics.csl", tmp_path / "nature.csl")
