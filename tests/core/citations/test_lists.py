"""Lists of references as hosts show them."""

from __future__ import annotations

from pathlib import Path

import pytest
from doiuri import DOI, Handle
from doiuri.citations import Cite, EntryKey, Part
from doiuri.plugins import Options
from doiuri.plugins.citing import Backlink, Citing, ListEntry, ReferenceList
from doiuri.plugins.display import Words
from doiuri.works import Work

KAHN = DOI("10.5555/kahn")
ABEL = DOI("10.5555/abel")
PAIR = DOI("10.5555/pair")
BARE = DOI("10.5555/bare")
WAITING = DOI("10.5555/waiting")
UPDATE = {"type": "retraction", "DOI": "10.5555/notice", "updated": {"date-parts": [[2020, 6, 5]]}}
WORKS = {
    KAHN: Work(KAHN, {"author": [{"family": "Kahn"}], "title": "First"}),
    ABEL: Work(ABEL, {"author": [{"family": "Abel"}], "title": "Next", "updated-by": [UPDATE]}),
    BARE: None,
}


def list_of(*keys: DOI, **options: object) -> ReferenceList:
    citing = Citing(Options.read(options))
    cited: dict[Handle | str, list[Backlink]] = {
        key: [Backlink("index", f"cite-{key.suffix}")] for key in keys
    }
    return ReferenceList(citing, cited, WORKS)


def text_of(entry: ListEntry) -> str:
    return "".join(part.text for part in entry.parts)


def test_an_entry_has_its_number_its_text_and_the_places_that_cite_it() -> None:
    listed = list_of(KAHN, ABEL)

    entries = listed.entries(listed.references, words=Words(retracted="zurückgezogen"))

    assert [(entry.key, entry.number) for entry in entries] == [(ABEL, 1), (KAHN, 2)]
    assert [text_of(entry) for entry in entries] == [
        "Abel (n.d.). Next. https://doi.org/10.5555/abel [zurückgezogen 2020-06-05]",
        "Kahn (n.d.). First. https://doi.org/10.5555/kahn",
    ]
    assert [entry.backlinks for entry in entries] == [
        [Backlink("index", "cite-abel")],
        [Backlink("index", "cite-kahn")],
    ]


def test_places_may_be_added_until_the_entries_are_written() -> None:
    listed = list_of(KAHN)
    listed.cited[KAHN].append(Backlink("next", "again"))

    (entry,) = listed.entries(listed.references)

    assert [backlink.page for backlink in entry.backlinks] == ["index", "next"]


def test_a_link_stands_for_a_work_only_while_it_is_not_known_whether_there_is_one() -> None:
    listed = list_of(WAITING, BARE, KAHN)

    (by_url,) = listed.waiting()
    (by_name,) = listed.waiting(lambda doi: doi.name)

    assert (by_url.key, by_url.number) == (WAITING, 2)
    assert [(part.text, part.link) for part in by_url.parts] == [(WAITING.url, WAITING)]
    assert by_name.parts[0].text == WAITING.name
    assert by_url.backlinks == [Backlink("index", "cite-waiting")]
    assert listed.get(BARE) is None


@pytest.mark.parametrize("text", ["*", "@*", " * "])
def test_a_star_lists_all_works_of_the_files(text: str, tmp_path: Path) -> None:
    (tmp_path / "works.json").write_text('[{"id": "b"}, {"id": "a", "DOI": "10.5555/abel"}]')
    citing = Citing(Options.read({"works": ["works.json"]}, folder=tmp_path))

    assert [cite.key for cite in citing.read_nocite(text, report=refuse)] == ["b", ABEL]
    assert [cite.key for cite in citing.read_nocite("10.5555/kahn; @a", report=refuse)] == [
        KAHN,
        ABEL,
    ]


def test_a_star_without_files_is_reported() -> None:
    citing = Citing(Options.read({}))
    problems: list[str] = []

    cites = citing.read_nocite("*", lambda part, error: problems.append(f"{part}: {error}"))

    assert cites == []
    assert problems == ["*: there are no files of works; name them in the option works"]


@pytest.mark.parametrize(
    "text",
    [
        "10.5555/kahn; 10.5555/abel",
        "10.5555/kahn\n10.5555/abel",
        " 10.5555/kahn \n  10.5555/abel\n",
        "10.5555/kahn;\n10.5555/abel;",
        "10.5555/kahn\n\n10.5555/abel",
    ],
)
def test_listed_works_are_separated_by_semicolons_or_lines(text: str) -> None:
    citing = Citing(Options.read({}))

    assert [cite.key for cite in citing.read_nocite(text, report=refuse)] == [KAHN, ABEL]


def test_what_is_not_a_work_is_reported_and_the_other_works_are_listed() -> None:
    citing = Citing(Options.read({}))
    problems: list[str] = []

    cites = citing.read_nocite(
        "10.5555/; 10.5555/kahn; @knuth; https://onlinelibrary.wiley.com/doi/10.1002/a.1/full",
        lambda part, error: problems.append(f"{part}: {error}"),
    )

    assert [cite.key for cite in cites] == [KAHN]
    assert [problem.partition(":")[0] for problem in problems] == ["10.5555/", "@knuth", "https"]
    assert "10.1002/a.1" in problems[2].rpartition(";")[2]


def refuse(part: str, error: ValueError) -> None:
    raise AssertionError(f"{part}: {error}")


def test_numbers_follow_the_citations() -> None:
    listed = list_of(KAHN, ABEL, citation="number")

    assert listed.is_numbered
    assert [entry.key for entry in listed.entries(listed.references)] == [KAHN, ABEL]
    assert not list_of(KAHN).is_numbered


def test_what_cannot_be_read_of_a_work_is_a_problem_each_time(tmp_path: Path) -> None:
    (tmp_path / "works.json").write_text('[{"id": "k", "title": "T", "issued": {"year": "soon"}}]')
    citing = Citing(Options.read({"works": ["works.json"]}, folder=tmp_path))
    listed = ReferenceList(citing, {"k": []}, {})
    known: dict[EntryKey, tuple[Part, ...]] = {}

    for entries in (listed.entries(listed.references, known) for _ in range(2)):
        assert [text_of(entry) for entry in entries] == ["T (n.d.)."]
        assert not known, entries

    assert citing.problems == ["k: issued: cannot be read: {'year': 'soon'}"]


LOCALE = """<locale xmlns="http://purl.org/net/xbiblio/csl" version="1.0" xml:lang="eo">
<terms><term name="and">kaj</term></terms></locale>"""


def test_a_locale_file_is_for_languages_that_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "locales-eo.xml").write_text(LOCALE)
    without = Citing(Options.read({}), language="eo")
    given = Options.read({"reference_locale": "locales-eo.xml"}, folder=tmp_path)
    citing = Citing(given, language="eo")

    listed = ReferenceList(citing, {PAIR: []}, {PAIR: Work(PAIR, {"author": ["Abel", "Kahn"]})})

    assert without.no_language.startswith("there is no locale 'eo', only cs-CZ")
    assert citing.no_language == ""
    parts = listed.citation([Cite(PAIR)], "author")
    assert "".join(part.text for part in parts) == "Abel kaj Kahn"
