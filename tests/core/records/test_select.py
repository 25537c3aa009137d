"""Values selected by type and index, and names compared without regard to ASCII case."""

from __future__ import annotations

import pytest
from doiuri.records import Data, Value, ascii_upper, select
from hypothesis import given
from hypothesis import strategies as st

VALUES = [
    Value(index, kind, Data("string", kind))
    for index, kind in enumerate(("URL", "url.pdf", "EMAIL", "URLS"), start=1)
]
TEXTS = st.text() | st.text(st.characters(categories=("Cs", "L", "P")))


@pytest.mark.parametrize(
    ("types", "indexes", "selected"),
    [
        ((), (), [1, 2, 3, 4]),
        (["url"], (), [1]),
        (["URL."], (), [1, 2]),
        ((), [4, 9, 3], [3, 4]),
        (["email"], [1], [1, 3]),
        (["URL.", "email"], [2], [1, 2, 3]),
        (["X"], [0], []),
        ([""], (), []),
        (["."], (), []),
    ],
)
def test_types_and_indexes_select_their_union_in_record_order(
    types: list[str], indexes: list[int], selected: list[int]
) -> None:
    """N-025, N-032, P-115 to P-117: any one of them, not all."""
    assert [value.index for value in select(VALUES, types, indexes)] == selected


@given(TEXTS)
def test_only_ascii_letters_are_upper_cased(text: str) -> None:
    """Z39.84 §4."""
    upper = "".join(letter.upper() if letter.isascii() else letter for letter in text)
    assert ascii_upper(text) == upper
