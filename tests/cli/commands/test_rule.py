"""``doiuri rule``."""

from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import dedent

import pytest
from doiuri import advise
from support.cli.command import codes, doiuri, remember


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


COMMANDS = "cache, check, find, fix, lock, resolve, rule"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("rule", "notfound"), "'notfound' is not a code; did you mean not-found?\n"),
        (("rule", "NOT_HTTPS"), "'NOT_HTTPS' is not a code; did you mean not-https?\n"),
        (("rule", "lookalike"), "'lookalike' is not a code; did you mean look-alike?\n"),
        (("rule", "nosuch"), "'nosuch' is not a code; known are author-differs, "),
        (("chek",), "'chek' is not a command; did you mean check?\n"),
        (("xyz",), f"'xyz' is not a command; known are {COMMANDS}\n"),
    ],
    ids=" ".join,
)
def test_wrong_use_names_the_nearest_code_or_command(words: tuple[str, ...], told: str) -> None:
    run = doiuri(*words)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith(f"doiuri: {told}")


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


def example(code: str) -> str:
    text = doiuri("rule", code).stdout.partition("Example:\n")[2]
    return dedent(re.split(r"\n\n(?=Fix: )|\nWrite:\n", text)[0])


FIELD, VALUE = ("a.bib", "@misc{{k, {}}}"), ("a.ris", "TY  - A\nDO  - {}\nER  - \n")
PLACES = {
    **dict.fromkeys(["syntax", "field-form"], FIELD),
    **dict.fromkeys(["trailing-punctuation", "trailing-slash", "placeholder"], VALUE),
    **dict.fromkeys(["text-differs", "unused-ignore"], ("a.md", "{}")),
    "duplicate": ("a.bib", "{}"),
    "unreadable": ("a.ipynb", "{}"),
    "space": ("a.html", '<a href="{}">x</a>'),
    "run-on": ("a.md", "[x]({})"),
}
ELSEWHERE = {"dropped-query", "dropped-fragment"}  # raw-link in a file
ANSWERED = {"lock-missing", "lock-unused", "title-differs", "year-differs", "author-differs"}
ANSWERED |= {"retracted", "concern", "preprint-published"}


@pytest.mark.parametrize("code", [code for code in CODES if code not in ELSEWHERE | ANSWERED])
def test_the_example_of_a_code_gets_it(code: str, tmp_path: Path) -> None:
    path, around = PLACES.get(code, ("a.txt", "{}"))
    remember(tmp_path / "cache", {"10.1000/182": True, "10.5555/no-such-name": False})
    assert code in codes(path, around.format(example(code)), "--cache", tmp_path / "cache")


OURS = {"syntax", "not-found", "not-https", "field-form", "doubled", "raw-link", "text-differs", "duplicate"}
OURS |= {"short-doi", "unreadable", "unused-ignore", *ANSWERED}


def test_the_other_codes_are_those_of_advise() -> None:
    cases = json.loads((Path(__file__).parents[2] / "cases" / "advice.json").read_text("utf-8"))["cases"]
    assert {*CODES} == {code for case in cases for code in case["advice"]} | OURS
    for code in {*CODES} - OURS:
        assert code in {advice.code for advice in advise(example(code))}, code
