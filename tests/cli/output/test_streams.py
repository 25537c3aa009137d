"""What is found is written as it is found, and not kept."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

from doiuri_cli.output._report import to_json, write_json_list
from hypothesis import given
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Iterator

LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
NAMES = st.text(max_size=3)
INNER = st.dictionaries(NAMES, LEAVES, min_size=1, max_size=3)
OBJECTS = st.dictionaries(NAMES, LEAVES | INNER, min_size=1, max_size=3)


@given(st.lists(OBJECTS, max_size=3))
def test_a_list_is_written_as_one_piece_of_json(values: list[dict[str, object]]) -> None:
    stream = io.StringIO()

    write_json_list(values, stream)

    assert stream.getvalue() == f"{to_json(values, indent=2)}\n"
    assert json.loads(stream.getvalue()) == values


def test_each_object_is_written_before_the_next_is_found() -> None:
    stream = io.StringIO()
    written: list[int] = []

    def found() -> Iterator[dict[str, object]]:
        for number in range(3):
            written.append(stream.getvalue().count("{"))
            yield {"line": number}

    write_json_list(found(), stream)

    assert written == [0, 1, 2]
