"""What is found is written as it is found, and not kept."""

from __future__ import annotations

import io
import json
import sys
import time
from typing import TYPE_CHECKING

import pytest
from doiuri_cli.commands import show_progress

# Private: when a list is written shows in no finished output
from doiuri_cli.output._report import indented, to_json, write_json_list
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

    write_json_list(map(indented, values), stream)

    assert stream.getvalue() == f"{to_json(values, indent=2)}\n"
    assert json.loads(stream.getvalue()) == values


def test_each_object_is_written_before_the_next_is_found() -> None:
    stream = io.StringIO()
    written: list[int] = []

    def found() -> Iterator[str]:
        for number in range(3):
            written.append(stream.getvalue().count("{"))
            yield f'{{"line": {number}}}'

    write_json_list(found(), stream)

    assert written == [0, 1, 2]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_message_takes_the_place_of_the_progress_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    message = "doi.org: HTTP status 503; waiting 20 s, as it asks"

    with show_progress() as show:
        begun = time.monotonic()
        monkeypatch.setattr(time, "monotonic", lambda: begun + 60)
        show("Checking DOIs", 1, 3)
        print(message, file=sys.stderr)

    line, _, _ = terminal.getvalue().partition("\n")
    assert "Checking DOIs: 1 of 3" in line
    assert line.rpartition("\r")[2] == message
