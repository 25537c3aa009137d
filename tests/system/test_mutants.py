"""``nox -s mutants`` on a repository of one small module; it needs coverage, which the other tests do not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = """
import pytest
from tiny import half, is_small, unused

@pytest.fixture(scope="module")
def shared():
    return is_small(5)

def test_half():
    assert half(4) == 2

def test_small(shared):
    assert shared
    assert not is_small(20)
"""
OLD = "def half(n):\n    return n // 3\n\n\ndef unused(n):\n    return n\n"
NEW = """def half(n):
    return n // 2


def is_small(n):
    return n < 10


def unused(n):
    return -n
"""


def test_survivors_are_shown_with_their_place_and_the_tests_that_were_run(tmp_path: Path) -> None:
    code = tmp_path / "packages" / "tiny" / "src" / "tiny.py"
    test = tmp_path / "tests" / "tiny" / "test_tiny.py"
    for path, text in {code: OLD, test: TESTS}.items():
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    (tmp_path / ".gitignore").write_text("build\n", encoding="utf-8")
    for words in (
        "init -q -b main",
        "add .",
        "-c user.name=A -c user.email=a@b.example commit -qm x",
    ):
        subprocess.run(["git", *words.split()], cwd=tmp_path, check=True)
    code.write_text(NEW, encoding="utf-8")

    run = subprocess.run(
        [sys.executable, "-m", "support.mutants.run"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "tests")},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )

    _, *lines = run.stdout.splitlines()
    assert lines == [
        "packages/tiny/src/tiny.py:6: 'n < 10' → '(n <= 10)'",
        "    tests/tiny/test_tiny.py",
        "packages/tiny/src/tiny.py:6: '10' → '(11)'",
        "    tests/tiny/test_tiny.py",
        "packages/tiny/src/tiny.py:10: 'return -n' → 'return None'",
        "    no test reaches it",
        "4 of 7 faults were noticed",
    ]
