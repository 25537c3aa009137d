"""Each clause of the specifications has a test that says it proves it; README.md explains the ids."""

import ast
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent.parent
AREAS = tomllib.loads(Path(__file__).with_name("clauses.toml").read_text(encoding="utf-8"))
CLAUSES = " ".join(AREAS.values()).split()
_ID = re.compile(r"\b([UNPSLGC]-)(\d{2,3})\b(?: to [UNPSLGC]-(\d{2,3})\b)?")


def cited(text: str) -> Iterator[str]:
    """The ids in a text; "U-01 to U-03" stands for three."""
    for letter, first, last in _ID.findall(text):
        for number in range(int(first), int(last or first) + 1):
            yield f"{letter}{number:0{len(first)}}"


def proofs() -> dict[str, list[str]]:
    """By clause: the tests whose docstrings cite it, and the cases of doi.json that do."""
    found: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if _ID.search(text) else ():
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith(
                "test_"
            ):
                for clause in cited(ast.get_docstring(node) or ""):
                    found.setdefault(clause, []).append(f"{path.relative_to(TESTS)}::{node.name}")
    for case in json.loads((TESTS / "cases" / "doi.json").read_text(encoding="utf-8"))["cases"]:
        for clause in case.get("clauses", ()):
            found.setdefault(clause, []).append(f"doi.json: {case['door']} {case['input']!r}")
    return found


def test_each_clause_is_proved_and_nothing_else_is_cited() -> None:
    table = proofs()
    unproved = [clause for clause in CLAUSES if clause not in table]
    unknown = {clause: tests for clause, tests in table.items() if clause not in CLAUSES}
    assert not unproved, f"no test proves {', '.join(unproved)}"
    assert not unknown, f"not in clauses.toml: {unknown}"


def test_each_clause_is_in_one_area() -> None:
    twice = [clause for clause, times in Counter(CLAUSES).items() if times > 1]
    assert not twice, f"more than once in clauses.toml: {', '.join(twice)}"


def test_few_cases_cite_a_clause() -> None:
    """A clause that dozens of cases cite is cited by cases that have nothing to do with it."""
    table = proofs()
    many = {clause: len(tests) for clause, tests in table.items() if len(tests) > 12}
    assert not many, f"cited by more than 12: {many}"
