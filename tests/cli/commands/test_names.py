"""The names of the commands, and what to type in place of a name that is none of them."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("chek", "did you mean check?"),
        ("xyz", "known are cache, check, find, fix, lock, resolve, rule"),
    ],
)
def test_a_misspelt_command(typed: str, hint: str) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "doiuri_cli", typed], capture_output=True, text=True, check=False
    )
    told = f"doiuri: {typed!r} is not a command; {hint}\n"
    assert (run.returncode, run.stdout, run.stderr) == (2, "", told)
