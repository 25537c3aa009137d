"""Whether an entry and the registry's metadata mean one work: pairs of titles, authors and years as data."""

from __future__ import annotations

import json
from pathlib import Path

from doiuri_cli.rules._records import same_author, same_title, same_year
from hypothesis import given
from hypothesis import strategies as st

PAIRS = json.loads(Path(__file__).with_name("same.json").read_text("utf-8"))


def test_titles_authors_and_years_of_one_work() -> None:
    for expected, one, other in PAIRS["titles"]:
        assert same_title(one, other) is same_title(other, one) is (expected == "same"), (one, other)
    for expected, *names in PAIRS["authors"]:
        assert same_author(*names) is (expected == "same"), names
    for expected, *years in PAIRS["years"]:
        assert same_year(*years) is (expected == "same"), years


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_is_itself_whatever_its_case(one: str, other: str) -> None:
    assert same_title(one, one)
    assert same_author(one, one, one)
    assert same_title(one, other) is same_title(other, one)


@given(st.text("abcdefghij klmnopqrstuvwxyz", min_size=1, max_size=60))
def test_case_does_not_matter(text: str) -> None:
    assert same_title(text, text.upper())
    assert same_author(text, text.title(), text.title())
