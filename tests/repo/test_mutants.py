"""``nox -s mutants``: faults in what a change touches, and which of them no test notices."""

from __future__ import annotations

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
