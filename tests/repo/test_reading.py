"""The places that have to be read twice may only become fewer."""

from __future__ import annotations

from pathlib import Path

import pytest
from repo.reading import places

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "cli" / "cases"  # what the command reads: examples of all kinds of files

# The most there may be. More? "python tests/repo/reading.py FILE..." names the places; spell them out.
PLACES = {"packages": 0, "tests": 23, "benchmarks": 4, "noxfile.py": 0}


@pytest.mark.parametrize(
    "source",
    [
        "print(1 if x else 2)",
        "f'{1 if x else 2}'",
        "y = 1 if x else (2 if z else 3)",
        "[1 if x else 2 for x in y]",
        "a, b = 1, 2",
        "a, b = c if d else e",
        f"re.compile('{'a' * 61}')",
        "sorted(x, key=lambda y: y or z)",
        "a + (b == c)",
        "a += b == c",
        "{1: 2}.get(x, 0)",
        "[x for y in z for x in y]",
        "[[x for x in y] for y in z]",
    ],
)
def test_two_ideas_in_a_statement_are_found(source: str) -> None:
    assert len(places(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "y = 1 if x else 2",
        "return_ = [x for x in y if x]",
        f"re.compile('{'a' * 60}')",
        f"re.compile('{'a' * 40}'\n'{'b' * 40}')",
        "a, b = c()",
        "sorted(x, key=lambda y: y.name)",
    ],
)
def test_one_idea_in_a_statement_is_not_told(source: str) -> None:
    assert places(source) == []


@pytest.mark.parametrize("name", PLACES)
def test_the_places_to_read_twice_become_fewer(name: str) -> None:
    path = ROOT / name
    files = sorted(path.glob("**/*.py")) if path.is_dir() else [path]
    files = [file for file in files if CASES not in file.parents]
    found = {str(file.relative_to(ROOT)): len(places(file.read_text("utf-8"))) for file in files}
    assert sum(found.values()) <= PLACES[name], "see the comment at PLACES"
