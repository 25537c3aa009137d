"""Whether an entry and the registry's metadata mean one work: pairs of titles, authors and years as data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from doiuri_cli.rules._same import same_author, same_title, same_year
from hypothesis import given
from hypothesis import strategies as st

PAIRS = json.loads(Path(__file__).with_name("same.json").read_text("utf-8"))


@pytest.mark.parametrize(("expected", "one", "other"), PAIRS["titles"])
def test_titles(expected: str, one: str, other: str) -> None:
    assert same_title(one, other) is same_title(other, one) is (expected == "same")


@pytest.mark.parametrize(("expected", "written", "family", "whole"), PAIRS["authors"])
def test_authors(expected: str, written: str, family: str, whole: str) -> None:
    assert same_author(written, family, whole) is (expected == "same")


@pytest.mark.parametrize(("expected", "one", "other"), PAIRS["years"])
def test_years(expected: str, one: int, other: int) -> None:
    assert same_year(one, other) is (expected == "same")


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_is_itself_whatever_its_case(one: str, other: str) -> None:
    assert same_title(one, one)
    assert same_author(one, one, one)
    assert same_title(one, other) is same_title(other, one)


@given(st.text("abcdefghij klmnopqrstuvwxyz", min_size=1, max_size=60))
def test_case_does_not_matter(text: str) -> None:
    assert same_title(text, text.upper())
    assert same_author(text, text.title(), text.title())
