"""Every clause of the specifications is proved by a test that exists; README.md explains the ids."""

import ast
import json
import re
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent.parent
CODEC = {"name": 56, "encode": 27, "decode": 20, "equality": 13, "link": 107, "urn": 6}
PROXY = {"proxy-redirect": 16, "proxy-page": 4, "proxy-rest": 14}
RESOLUTION = {"rest": 27, "record": 45, "loc": 4, "alias": 2, "agency": 9}
TABLE: dict[str, dict[str, list[str]]] = {
    path.stem: tomllib.loads(path.read_text(encoding="utf-8"))
    for path in Path(__file__).parent.glob("clauses/*.toml")
}
ROWS = [(clause, proofs) for rows in TABLE.values() for clause, proofs in rows.items()]


@cache
def provided(file: str) -> set[str]:
    """The test functions of a file, or the clauses that a data file's cases cite; none without the file."""
    if not (TESTS / file).is_file():
        return set()
    text = (TESTS / file).read_text(encoding="utf-8")
    if file.endswith(".json"):
        return {clause for case in json.loads(text)["cases"] for clause in case.get("clauses", ())}
    return {
        node.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_no_clause_is_missing() -> None:
    assert {area: len(rows) for area, rows in TABLE.items()} == CODEC | RESOLUTION | PROXY


def test_every_clause_has_a_test() -> None:
    assert [c for c, proofs in ROWS if not proofs or not re.fullmatch(r"[UNPSLGC]-\d{2,3}", c)] == []


def test_every_proof_exists_and_cites_its_clause() -> None:
    proofs = [(clause, *proof.partition("::")) for clause, proofs in ROWS for proof in proofs]
    lost = [
        (clause, file, name) for clause, file, _, name in proofs if (name or clause) not in provided(file)
    ]
    assert lost == []


def test_no_clause_is_in_two_areas() -> None:
    assert [clause for clause, times in Counter(clause for clause, _ in ROWS).items() if times > 1] == []
