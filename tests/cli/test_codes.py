"""The codes: each is explained, and those of advice are the core's."""

from __future__ import annotations

import re
from pathlib import Path

from doiuri import advise
from doiuri_cli.rules import LOCK_CODES, RECORD_CODES, RULES

CORE = Path(__file__).parents[2] / "packages" / "doiuri" / "src" / "doiuri"
OTHERS = {
    *("syntax", "not-found", "not-https", "field-form", "doubled", "raw-link", "text-differs", "duplicate"),
    *("short-doi", "unreadable", "unused-ignore", *LOCK_CODES, *RECORD_CODES),
}


def advice_codes() -> set[str]:
    """The codes in the sources of ``advise``."""
    return set(re.findall(r'Advice\(\s*"([a-z-]+)"', (CORE / "_advice.py").read_text("utf-8")))


def test_the_codes_are_those_of_advise_and_ours() -> None:
    assert len(advice_codes()) > 15
    assert set(RULES) == advice_codes() | OTHERS
    assert {"lock-missing", "lock-unused"} == LOCK_CODES
    differences = {"title-differs", "year-differs", "author-differs"}
    assert differences | {"retracted", "concern", "preprint-published"} == RECORD_CODES
    assert {code for code, rule in RULES.items() if rule.severity.label == "error"} == {"syntax", "not-found"}
    assert [code for code, rule in RULES.items() if rule.severity.label == "info"] == ["preprint-published"]


def test_each_rule_is_explained_in_whole_sentences_with_an_example() -> None:
    for code, rule in RULES.items():
        assert rule.code == code
        assert rule.fix in {"safe", "unsafe", ""}, code
        assert rule.example, code
        assert rule.example != rule.instead, code
        assert not rule.fix or rule.instead, code
        assert len(rule.summary) < 80, code
        for text in (rule.summary, rule.reason):
            assert re.fullmatch(r"[A-Z`].*\.", text), code
            assert text.count("`") % 2 == 0, code


def test_advise_gives_the_advice_on_the_example_and_none_on_what_to_write_instead() -> None:
    for code in advice_codes():
        rule = RULES[code]
        assert code in {advice.code for advice in advise(rule.example)}, code
        assert not rule.instead or advise(rule.instead) == (), code
