"""Every clause of the specifications is proved by a test that exists; README.md explains the ids."""

import ast
import json
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

TESTS = Path(__file__).parent.parent
CODEC = {"name": 56, "encode": 27, "decode": 20, "equality": 13, "link": 107, "urn": 6}
PROXY = {"proxy-redirect": 16, "proxy-page": 4, "proxy-rest": 14}
RESOLUTION = {"rest": 27, "record": 45, "loc": 4, "alias": 2, "agency": 9}
TABLE = {
    path.stem: tomllib.loads(path.read_text(encoding="utf-8"))
    for path in Path(__file__).parent.glob("clauses/*.toml")
}
PROOFS = [
    (area, clause, proof)
    for area, rows in TABLE.items()
    for clause, proofs in rows.items()
    for proof in proofs
]


@cache
def provided(file: str) -> set[str]:
    """The test functions of a file, or the clauses that a data file's cases cite."""
    text = (TESTS / file).read_text(encoding="utf-8")
    if file.endswith(".json"):
        return {clause for case in json.loads(text)["cases"] for clause in case.get("clauses", ())}
    return {
        node.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


@pytest.mark.parametrize(("area", "number"), (CODEC | RESOLUTION | PROXY).items())
def test_no_clause_is_missing(area: str, number: int) -> None:
    assert len(TABLE[area]) == number


@pytest.mark.parametrize(
    ("area", "clause"), [(area, clause) for area, rows in TABLE.items() for clause in rows]
)
def test_every_clause_has_a_test(area: str, clause: str) -> None:
    assert re.fullmatch(r"[UNPSLGC]-\d{2,3}", clause)
    assert TABLE[area][clause], f"no test proves {clause}"


@pytest.mark.parametrize(("area", "clause", "proof"), PROOFS)
def test_every_proof_exists(area: str, clause: str, proof: str) -> None:
    file, _, function = proof.partition("::")
    assert (function or clause) in provided(file), (
        f"{clause} ({area}): {proof} does not exist or does not cite it"
    )


def test_no_clause_is_in_two_areas() -> None:
    clauses = [clause for rows in TABLE.values() for clause in rows]
    assert len(clauses) == len(set(clauses))
