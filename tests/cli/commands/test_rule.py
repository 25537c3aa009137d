"""``doiuri rule``."""

from __future__ import annotations

import re

import pytest
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


def test_wrong_use_names_the_nearest_code_or_command() -> None:
    for code, meant in {"notfound": "not-found", "NOT_HTTPS": "not-https", "lookalike": "look-alike"}.items():
        run = doiuri("rule", code)
        assert (run.returncode, run.stdout) == (2, "")
        assert run.stderr == f"doiuri: {code!r} is not a code; did you mean {meant}?\n"
    assert "'nosuch' is not a code; known are author-differs, " in doiuri("rule", "nosuch").stderr
    known = "known are cache, check, find, fix, lock, resolve, rule"
    for typed, hint in {"chek": "did you mean check?", "xyz": known}.items():
        run = doiuri(typed)
        told = f"doiuri: {typed!r} is not a command; {hint}\n"
        assert (run.returncode, run.stdout, run.stderr) == (2, "", told)


CODES = doiuri("rule", "nosuch").stderr.partition("known are ")[2].rstrip("\n").split(", ")


@pytest.mark.parametrize("code", CODES)
def test_each_code_is_explained_in_whole_sentences_with_an_example(code: str) -> None:
    title, text, example, *rest = doiuri("rule", code).stdout.split("\n\n")
    severity = {"syntax": "error", "not-found": "error", "preprint-published": "info"}.get(code, "warning")
    assert title == f"{code} ({severity})"
    assert re.fullmatch(r"[A-Z`].*\.", text, re.DOTALL)
    assert text.count("`") % 2 == 0
    shown, _, instead = "\n\n".join([example, *rest[:-1]]).removeprefix("Example:").partition("\nWrite:")
    assert shown.strip()
    assert shown.strip() != instead.strip()
    assert instead or rest[-1] == "Fix: none\n"
