"""``nox -s mutants``: faults in what a change touches, and which of them no test notices."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.mutants.faults import changed_functions, faults_of, functions

ROOT = Path(__file__).parents[2]


def faults(code: str) -> list[str]:
    """Return the faults of the functions in a file, each as ``LINE: BEFORE -> AFTER``."""
    source = code.encode()
    return [
        f"{fault.line}: {fault.before} -> {fault.after}"
        for function in functions(code)
        for fault in faults_of(function, "a.py", source)
    ]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("return a < b", ["return a < b -> return None", "a < b -> (a <= b)"]),
        ("x = a < b < c", ["a < b < c -> (a <= b < c)", "a < b < c -> (a < b <= c)"]),
        ("x = a and b", ["a and b -> (b)", "a and b -> (a)"]),
        ("x = a or b or c", ["a or b or c -> (b or c)", "a or b or c -> (a or c)", "a or b or c -> (a or b)"]),
        ("x = not a", ["not a -> (a)"]),
        ("x = f(a, key=b)", ["f(a, key=b) -> (f(a))"]),
        ("x = a[1:]", ["a[1:] -> (a[:])", "1 -> (2)"]),
        ("x = b'a'[:1]", ["b'a'[:1] -> (b'a'[:])", "b'a' -> (b'')", "1 -> (2)"]),
        ("x = 'é', True", ["'é' -> ('')", "True -> (False)"]),
        ("x = a + b", ["a + b -> (a)"]),
        ("x = a if b else c", ["a if b else c -> (a)", "a if b else c -> (c)"]),
        ("raise E", ["raise E -> pass"]),
        ("f(a)", ["f(a) -> pass"]),
        ("x: 'T' = cast('T', f'{a}')", []),
    ],
)  # fmt: skip
def test_each_kind_of_place_has_its_faults(statement: str, expected: list[str]) -> None:
    code = f'def f(a: "A") -> "B":\n    """Text."""\n    {statement}\n'

    assert faults(code) == [f"3: {fault}" for fault in expected]


def test_a_condition_is_also_turned_round() -> None:
    code = "def f(a):\n    if a:\n        g(a)\n"

    assert faults(code) == ["2: a -> (not a)", "3: g(a) -> pass"]


def test_a_fault_changes_its_place_only() -> None:
    code = "def f(a):\n    x = 'é'; y = a < 1  # é\n    return x\n"
    source = code.encode()
    (function,) = functions(code)

    texts = [fault.applied(source).decode() for fault in faults_of(function, "a.py", source)]

    assert code.replace("a < 1", "(a <= 1)") in texts


def test_comments_layout_and_moves_are_no_change_of_a_function() -> None:
    old = [
        "def same(a):\n    return a\n\n\ndef other(a):\n    return a\n",
        "class C:\n    def moved(self): ...\n",
    ]
    new = (
        "def moved(self):\n    ...\n\n\n"
        "def same(a):  # remark\n    return (a)\n\n\n"
        "def other(a):\n    return -a\n"
    )

    assert [function.name for function in changed_functions(new, old)] == ["other"]


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
    pytest.importorskip("coverage", reason="nox -s coverage runs this test, too")
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
