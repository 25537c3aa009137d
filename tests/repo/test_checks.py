"""A comparison of ``support.checks`` that fails says in one line what is there, and what should be."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pytest
from support.checks import (
    assert_in_order,
    assert_same,
    assert_times,
    differing_fields,
    exactly,
    only,
    repeated,
)


@pytest.mark.parametrize(
    ("actual", "expected", "message"),
    [
        (2, 3, "2, expected 3"),
        ("a\nbc", "a\nbd", "line 2 has 'a\\nbc', expected 'a\\nbd'"),
        (b"ab", b"a", "line 1 has b'ab', expected b'a'"),
        ([1, 2], [1, 3], "[1]: 2, expected 3"),
        ((1,), (1, 2), "too much [], missing [2]"),
        ({"a": 1}, {"b": 1}, "too much ['a'], missing ['b']"),
        ({"a": ["x"]}, {"a": ["y"]}, "a: [0]: line 1 has 'x', expected 'y'"),
        (Counter("ab"), Counter("bb"), "too much {'a': 1}, missing {'b': 1}"),
    ],
)
def test_the_first_difference_is_shown(actual: object, expected: object, message: str) -> None:
    with pytest.raises(AssertionError) as raised:
        assert_same("both", actual, expected)
    assert str(raised.value) == f"both: {message}"


def test_a_long_text_is_shown_around_its_difference() -> None:
    with pytest.raises(AssertionError) as raised:
        assert_same("both", "x" * 999 + "a" + "x" * 999, "x" * 999 + "b" + "x" * 999)
    assert len(str(raised.value)) < 300


def test_values_are_shown_if_they_are_too_many_or_too_few() -> None:
    assert only("link", iter("a")) == "a"
    with pytest.raises(AssertionError, match=r"link: expected 1, got 2: \['a', 'b'\]"):
        only("link", "ab")
    with pytest.raises(AssertionError, match=r"links: expected 2, got 0: \[\]"):
        exactly(2, "links", [])


def test_pieces_of_a_text_are_shown_with_what_is_around() -> None:
    assert_times(2, "a", "a a")
    assert_in_order("a b a", "a", "b")
    with pytest.raises(AssertionError, match=r"'a': expected 2 times, got 1: \['b a b'\]"):
        assert_times(2, "a", "b a b")
    with pytest.raises(AssertionError, match="'c' is not in 'a b'"):
        assert_in_order("a b", "a", "c")
    with pytest.raises(AssertionError, match="not in this order"):
        assert_in_order("b a", "a", "b")


def test_only_what_is_repeated_and_what_differs_from_a_default_is_named() -> None:
    @dataclass
    class Step:
        texts: dict[str, str] = field(default_factory=dict)
        moves: bool = False

    assert repeated("abca") == ["a"]
    assert differing_fields(Step(moves=True)) == "moves=True"
    assert differing_fields(Step()) == "no change"
