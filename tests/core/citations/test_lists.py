"""Lists of references as hosts show them."""

from __future__ import annotations

from pathlib import Path

import pytest
from doiuri import DOI
from doiuri.citations import Bibliography, CitationItem, Citing, EntryCache, ReferenceStyle, text_of
from doiuri.plugins.display import Words
from doiuri.plugins.options import Options
from doiuri.works import Work
from doiuri_csl import Locale

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


def list_of(*keys: DOI, **options: object) -> Bibliography:
    return Citing(Options.read(options)).bibliography(keys, WORKS)


def test_an_entry_has_its_number_and_its_text() -> None:
    listed = list_of(KAHN, ABEL)

    entries = listed.entries(words=Words(retracted="zurückgezogen"))

    assert [(entry.key, entry.number) for entry in entries] == [(ABEL, 1), (KAHN, 2)]
    assert [text_of(entry.spans) for entry in entries] == [
        "Abel (n.d.). Next. https://doi.org/10.5555/abel [zurückgezogen 2020-06-05]",
        "Kahn (n.d.). First. https://doi.org/10.5555/kahn",
    ]
    assert entries[0].spans[-1].target == DOI("10.5555/notice")


def test_a_link_stands_for_a_work_only_while_it_is_not_known_whether_there_is_one() -> None:
    listed = list_of(WAITING, BARE, KAHN)

    (by_url,) = listed.waiting()
    (by_name,) = listed.waiting(lambda doi: doi.name)

    assert (by_url.key, by_url.number) == (WAITING, 2)
    assert [span.target for span in by_url.spans] == [WAITING]
    assert text_of(by_url.spans) == WAITING.url
    assert text_of(by_name.spans) == WAITING.name
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
    assert [entry.key for entry in listed.entries()] == [KAHN, ABEL]
    assert not list_of(KAHN).is_numbered


def test_what_cannot_be_read_of_a_work_is_a_problem_of_each_list(tmp_path: Path) -> None:
    (tmp_path / "works.json").write_text('[{"id": "k", "title": "T", "issued": {"year": "soon"}}]')
    citing = Citing(Options.read({"works": ["works.json"]}, folder=tmp_path))
    cache = EntryCache()

    for _ in range(2):
        listed = citing.bibliography(["k"], {})
        for _ in range(2):
            assert [text_of(entry.spans) for entry in listed.entries(cache=cache)] == ["T (n.d.)."]

        assert listed.problems == ["k: issued: cannot be read: {'year': 'soon'}"]


LOCALE = """<locale xmlns="http://purl.org/net/xbiblio/csl" version="1.0" xml:lang="eo">
<terms><term name="and">kaj</term></terms></locale>"""


def test_a_locale_file_is_for_languages_that_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "locales-eo.xml").write_text(LOCALE)
    without = Citing(Options.read({}), language="eo")
    given = Options.read({"reference_locale": "locales-eo.xml"}, folder=tmp_path)
    citing = Citing(given, language="eo")

    listed = citing.bibliography([PAIR], {PAIR: Work(PAIR, {"author": ["Abel", "Kahn"]})})

    assert without.no_language.startswith("there is no locale 'eo', only ar, cs-CZ")
    assert citing.no_language == ""
    assert text_of(listed.citation([CitationItem(PAIR)], "author")) == "Abel kaj Kahn"


@pytest.mark.parametrize("language", Locale.available())
def test_lists_have_a_heading_in_each_language(language: str) -> None:
    """And not the term for a single reference, such as "Referenzen"."""
    heading = Citing(Options.read({"reference_locale": language})).heading
    is_english = language.startswith("en")
    assert (heading == "References") == is_english, heading
    assert (
        heading
        == Bibliography([], {}, ReferenceStyle.load(), "en-US", entry_locale=language).heading
    )
    assert heading != "Referenzen"
