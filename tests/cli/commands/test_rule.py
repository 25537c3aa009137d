"""``doiuri rule``."""

from __future__ import annotations

import json

import pytest
from doiuri_cli.rules import RULES
from support.cli.command import doiuri


def test_a_code_is_explained() -> None:
    run = doiuri("rule", "field-form")
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == (
        "field-form (warning)\n\n"
        "A field for a DOI holds a link or a label. Programs that read the field put\n"
        "`https://doi.org/` in front of it, and the link is then broken. The field should\n"
        "hold only the name.\n\n"
        "Example:\n    doi = {https://doi.org/10.1000/182}\n"
        "Write:\n    doi = {10.1000/182}\n\n"
        "Fix: doiuri fix, which keeps the DOI\n"
    )


def test_all_codes() -> None:
    run = doiuri("rule", "--all")
    assert run.returncode == 0
    assert [code for code in RULES if f"{code} ({RULES[code].severity.label})\n" not in run.stdout] == []


def test_json() -> None:
    value = json.loads(doiuri("rule", "not-found", "--output-format", "json").stdout)
    assert value == {
        "code": "not-found",
        "severity": "error",
        "summary": RULES["not-found"].summary,
        "reason": RULES["not-found"].reason,
        "example": RULES["not-found"].example,
        "instead": "",
        "fix": None,
    }
    values = json.loads(doiuri("rule", "--all", "-o", "json").stdout)
    assert [value["code"] for value in values] == [*RULES]


@pytest.mark.parametrize(
    ("code", "meant"),
    [("notfound", "not-found"), ("NOT_HTTPS", "not-https"), ("lookalike", "look-alike"), ("", None)],
)
def test_an_unknown_code_names_the_nearest(code: str, meant: str | None) -> None:
    run = doiuri("rule", code)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith(f"doiuri: {code!r} is not a code; did you mean {meant or ''}")


@pytest.mark.parametrize("arguments", [[], ["--all", "not-found"]])
def test_one_code_or_all(arguments: list[str]) -> None:
    run = doiuri("rule", *arguments)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == "doiuri: expected a code, or --all; doiuri rule --all lists every code\n"
