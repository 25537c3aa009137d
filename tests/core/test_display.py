"""The visible text of a DOI."""

from typing import Any

import pytest
from doiuri import DOI
from doiuri.plugins.display import (
    Words,
    breakable,
    by_direction,
    check_display,
    details_of,
    display,
    needs_work,
    retraction_mark,
)
from doiuri.works import Work
from support.cases import table
from support.checks import assert_same

SICI = DOI("10.1002/(SICI)1<1::AID>2")


@table("display", "texts", "text, shown")
def test_display(text: str, shown: str) -> None:
    assert display(SICI, text) == shown
    assert check_display(text) == text


def test_name_is_the_default_and_links_follow_their_base() -> None:
    assert display(SICI) == "doi:10.1002/(SICI)1<1::AID>2"
    shown = [
        display(DOI("10.1000/182"), text, base="http://localhost/") for text in ("link", "{url}")
    ]
    assert shown == ["http://localhost/10.1000/182"] * 2


@pytest.mark.parametrize("name", ["10.1000/{uri}", "10.1000/{", "10.1000/{0}"])
def test_braces_in_a_name_are_not_template_fields(name: str) -> None:
    assert display(DOI(name), "{name}") == name
    assert display(DOI(name)) == f"doi:{name}"


@table("display", "no templates", "text")
def test_bad_templates_are_refused_clearly(text: str) -> None:
    with pytest.raises(ValueError, match="template"):
        check_display(text)
    with pytest.raises(ValueError, match="template"):
        display(SICI, text)


KAHN = Work(
    SICI, {"author": ["Kahn", "Wilensky"], "title": "A {name} <b>framework</b>", "issued": 2006}
)


@table("display", "of works", "text, shown")
def test_templates_may_name_the_work(text: str, shown: str) -> None:
    assert display(SICI, check_display(text), work=KAHN) == shown


@table("display", "people", "csl, shown, byline")
def test_one_or_two_people_or_the_first_are_shown(
    csl: dict[str, Any], shown: str, byline: str
) -> None:
    work = Work(SICI, {"title": "T", **csl})
    assert display(SICI, "{authors} ({year})", work=work) == shown
    details = details_of(work)
    assert details is not None
    assert details.byline == byline


def test_without_a_work_the_name_is_shown() -> None:
    of_works = ("{authors}", "{url}: {year}", "{title}")
    assert [*map(needs_work, (*of_works, "name", "link", "{name} authors"))] == [True] * 3 + [
        False
    ] * 3
    assert {display(SICI, text) for text in of_works} == {f"doi:{SICI.name}"}
    empty = Work(SICI, {})
    words = Words(conjunction="und", no_date="o. J.")
    shown = display(SICI, "{authors}: {title} ({year})", work=empty, words=words)
    assert shown == f"{SICI.name}: {SICI.name} (o. J.)"
    assert display(SICI, "{authors}", work=KAHN, words=words) == "Kahn und Wilensky"
    with pytest.raises(ValueError, match="not a template"):
        needs_work("{author}")


@table("display", "marks", "kind, date, mark")
def test_the_mark_of_a_retracted_work(kind: str, date: list[int], mark: str) -> None:
    update = {"type": kind, "DOI": "10.5555/notice", "updated": {"date-parts": [date]}}
    work = Work(SICI, {"updated-by": [update]})
    assert retraction_mark(work, Words(retracted="zurückgezogen")) == mark


def test_the_sentences_of_a_card_end_with_one_full_stop() -> None:
    """Whether the title ends with one or not."""
    for title in ("A report", "A report."):
        work = Work(SICI, {"title": title, "author": [{"family": "Li"}], "issued": {"raw": "2020"}})
        details = details_of(work)
        assert details is not None
        assert_same(f"the card of {title!r}", details.description, "A report. Li, 2020")


def test_text_without_words_has_no_breaks() -> None:
    texts = "", " ", " " * 50
    assert (
        [*map(breakable, texts)]
        == [breakable(text, 0) for text in texts]
        == [[text] for text in texts]
    )


@pytest.mark.parametrize(
    ("text", "isolated"),
    [
        ("Cohen (2003)", []),
        (
            "\u05db\u05d4\u05df, \u05d0. (2003). \u05e9\u05dd: \u05de\u05e9\u05e0\u05d4. Cohen",
            ["\u05db\u05d4\u05df, \u05d0", "\u05e9\u05dd: \u05de\u05e9\u05e0\u05d4"],
        ),
        ("\u0639\u0644\u064a, 1987", ["\u0639\u0644\u064a"]),
    ],
)
def test_names_and_titles_from_right_to_left_are_isolated(text: str, isolated: list[str]) -> None:
    parts = by_direction(text)
    assert "".join(part for part, _ in parts) == text
    assert [part for part, is_rtl in parts if is_rtl] == isolated
