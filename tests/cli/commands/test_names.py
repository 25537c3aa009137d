"""The names of the commands, and what to type in place of a name that is none of them."""

from __future__ import annotations

import pytest
from support.cli.command import doiuri


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("chek", "did you mean check?"),
        ("xyz", "known are cache, check, find, fix, lock, resolve, rule"),
    ],
)
def test_a_misspelt_command(typed: str, hint: str) -> None:
    run = doiuri(typed)
    told = f"doiuri: {typed!r} is not a command; {hint}\n"
    assert (run.returncode, run.stdout, run.stderr) == (2, "", told)
