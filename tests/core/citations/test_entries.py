"""Entries of lists of references as citeproc-py formats them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from doiuri import DOI
from doiuri.citations import Bibliography, Cite, EntryKey, Part, Reference, Style, format_entries
from doiuri.records import Work

ODD = DOI("10.1000/456#<7>")
AUTHOR = [{"family": "Kahn", "given": "Robert E."}]


def entry(
    csl: dict[str, object], style: str | Style = "author-date", locale: str = "en-US"
) -> tuple[Part, ...]:
    chosen = Style.load(style) if isinstance(style, str) else style
    work = Work(ODD if csl.get("DOI") else "id", csl)
    [parts] = format_entries([Reference(work, 1)], chosen, locale)
    return parts


def text(parts: tuple[Part, ...]) -> str:
    return "".join(part.text for part in parts)


@pytest.mark.parametrize(
    ("csl", "style", "expected"),
    [
        ({"title": "<script>f(1)</script> &lt;b onclick=x&gt;<T>"}, "author-date", "f(1) <T> (n.d.)."),
        ({"title": '<span class="nocase">İ</span> <i>open', "issued": 2001}, "numeric", "İ open, 2001."),
        ({"title": "What?", "author": AUTHOR}, "author-date", "Kahn, R. E. (n.d.). What?"),
        ({"title": "What?", "container-title": "J", "issued": 1}, "numeric", "“What?,” J, 1."),
        ({"title": 'A "b" c', "container-title": "J"}, "numeric", "“A ‘b’ c,” J."),
        ({"title": "T", "author": [{"family": "Li", "given": "shuang"}]}, "author-date", "Li, S. (n.d.). T."),
        (
            {"title": "T", "author": [{"family": "Angel", "given": "Ana de los Rios von"}]},
            "numeric",
            "A. de los R. von Angel, T.",
        ),
        ({"title": "T", "author": [*AUTHOR, "others"]}, "author-date", "Kahn, R. E. et al. (n.d.). T."),
        ({"title": "T", "author": ["NASA"], "page": "123-9, 140"}, "numeric", "NASA, T, pp. 123–129, 140."),
        ({"title": "T", "publisher": "bioRxiv", "container-title": "BioRxiv"}, "numeric", "“T,” BioRxiv."),
        ({"title": "T", "URL": "https://e.example/a?b"}, "numeric", "T. https://e.example/a?b"),
        ({"title": "T", "DOI": ODD.name}, "author-date", "T (n.d.). https://doi.org/10.1000/456%23%3C7%3E"),
        ({"title": "T", "DOI": ODD.name}, "numeric", "T, doi: 10.1000/456#<7>."),
        # What citeproc-py itself does not read
        (
            {"title": None, "author": "Kahn, Robert", "issued": "c. 1998", "type": None, "language": None},
            "author-date",
            "Kahn, R. (1998).",
        ),
        (
            {"title": ["T"], "author": [None, "A"], "issued": {"date-parts": [[]]}, "volume": 3, "x": {}},
            "author-date",
            "A (n.d.). T (Vol. 3).",
        ),
    ],
)
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


def test_letters_are_in_the_entries_in_the_language() -> None:
    works = {key: Work(key, {"author": AUTHOR, "title": key}) for key in "BA"}
    bibliography = Bibliography(works, works, Style.load(), "de")
    references = bibliography.references
    assert text(bibliography.citation([Cite("B")])) == "(Kahn, o.\u00a0J.-b)"
    found = [text(parts) for parts in format_entries(references, Style.load(), "de")]
    assert found == [f"Kahn, R. E. (o.\u00a0J.-{letter.lower()}). {letter}." for letter in "AB"]


def test_entries_are_kept_unless_the_style_the_language_or_the_letter_changes(tmp_path: Path) -> None:
    (tmp_path / "author-date.csl").write_text(OWN.format("page"))
    own = Style("author-date", (tmp_path / "author-date.csl").read_bytes())
    one = Reference(Work("w", {"title": "T", "author": AUTHOR, "page": "3"}), 1)
    ways = [
        (Style.load(), "en-US", ""),
        (Style.load(), "en-US", "a"),
        (Style.load(), "de-DE", ""),
        (own, "en-US", ""),
    ]
    known: dict[EntryKey, tuple[Part, ...]] = {}
    first, second = (
        [
            format_entries([one._replace(letter=letter)], style, locale, known)[0]
            for style, locale, letter in ways
        ]
        for _ in range(2)
    )
    assert len(set(map(text, first))) == len(ways)
    assert all(before is after for before, after in zip(first, second, strict=True))


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


@pytest.mark.parametrize("variable", ["event", "event-title"])
def test_the_title_of_a_conference(variable: str, tmp_path: Path) -> None:
    (tmp_path / "own.csl").write_text(OWN.format(variable))
    assert text(entry({"title": "T", "event-title": "A & B"}, Style.load("own.csl", tmp_path))) == "T, A & B"


def test_citeproc_is_imported_for_a_list_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "citeproc", raising=False)
    bibliography = Bibliography(["a"], {"a": Work("a", {"title": "T"})}, Style.load())
    assert not format_entries([], Style.load())
    assert "citeproc" not in sys.modules
    monkeypatch.setitem(sys.modules, "citeproc", None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "doiuri\[citations\]"'):
        format_entries(bibliography.references, Style.load())


NAMES = """<names variable="author"><name name-as-sort-order="all" {}/><substitute>
<names variable="editor"/><text macro="title"/></substitute></names>"""
TITLE = '<macro name="title"><text variable="title" {}/></macro>'
TITLED = '<text macro="title"/>'
PAGE = '<text variable="page"/>'
DATE = '<date variable="issued" form="text"/>'
LOCALE = """<locale xml:lang="en"><date form="text" delimiter=" "><date-part name="month"/>
<date-part name="year"/></date></locale>"""
ORDWAY = {"author": [{"family": "Ordway", "given": "Denise Q"}]}
MARCH = {"issued": {"date-parts": [[2020, 3]]}}


@pytest.mark.parametrize(
    ("layout", "before", "options", "csl", "expected"),
    [
        (NAMES.format("") + TITLED, TITLE.format(""), "", {"title": "T"}, "T"),
        (
            NAMES.format('initialize="false"'),
            TITLE.format(""),
            'initialize-with=". "',
            ORDWAY,
            "Ordway, Denise Q.",
        ),
        (NAMES.format('initialize-with=". "'), TITLE.format(""), "", ORDWAY, "Ordway, D. Q."),
        (
            TITLED,
            TITLE.format('text-case="title"'),
            "",
            {"title": "the self-made man, beneath the sky"},
            "The Self-Made Man, beneath the Sky",
        ),
        ('<text variable="title" text-case="capitalize-first"/>', "", "", {"title": "arXiv"}, "arXiv"),
        (PAGE, "", 'page-range-format="minimal"', {"page": "5-19"}, "5–19"),
        (PAGE, "", 'page-range-format="minimal"', {"page": "321-328"}, "321–8"),
        (PAGE, "", "", {"page": "221-3"}, "221–3"),
        (DATE, LOCALE, "", MARCH, "March 2020"),
        (
            f"<choose><if disambiguate='true'>{TITLED}</if></choose>{DATE}",
            LOCALE + TITLE.format(""),
            "",
            {"title": "T", **MARCH},
            "March 2020",
        ),
        (
            '<group delimiter=" "><label variable="page" form="short"/><text variable="title"/></group>',
            "",
            "",
            {"title": "T"},
            "T",
        ),
        (
            '<text macro="m"/>' + DATE,
            LOCALE + '<macro name="m"><text variable="genre"/><text value="[WWW]"/></macro>',
            "",
            MARCH,
            "March 2020",
        ),
        (NAMES.format("") + '<text variable="genre"/>', TITLE.format(""), "", {"title": "<i></i>"}, ""),
        (
            '<names variable="author"><name><name-part name="given" text-case="uppercase"/></name></names>',
            "",
            "",
            {"author": [{"literal": "Health Office"}, *ORDWAY["author"]]},
            "Health Office, DENISE Q Ordway",
        ),
        (
            '<number variable="edition" text-case="capitalize-first"/>',
            "",
            "",
            {"edition": "revised"},
            "Revised",
        ),
    ],
    ids=[
        "what substitutes names is not repeated",
        "given names where initials are inherited",
        "initials",
        "title case with hyphens and long stop words",
        "a first word with capitals keeps its first letter",
        "pages of unequal length",
        "shortened pages",
        "pages of a style without a format",
        "the delimiter of a localized date",
        "no branch for ambiguous works",
        "no label of a missing variable",
        "no macro whose variables are missing",
        "nothing",
        "a part of a name that is missing",
        "an edition in words",
    ],
)
def test_entries_are_true_to_the_style(
    layout: str, before: str, options: str, csl: dict[str, object], expected: str, tmp_path: Path
) -> None:
    (tmp_path / "own.csl").write_text(
        f"""<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0" {options}><info>
        <title>T</title><id>i</id><updated>2026-01-01T00:00:00Z</updated></info>{before}
        <citation><layout><text variable="title"/></layout></citation>
        <bibliography><layout>{layout}</layout></bibliography></style>"""
    )
    style = Style.load("own.csl", tmp_path)
    for _ in range(2):  # what an entry suppresses, the next one shows
        [parts] = format_entries([Reference(Work("w", csl), 1)], style)
        assert text(parts) == expected


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
