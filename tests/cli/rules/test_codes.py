"""The codes: each is explained, and those of advice are the core's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from doiuri import advise
from doiuri_cli.rules import RULES, Rule
from doiuri_cli.rules._advice_rules import ADVICE_RULES

CORE = Path(__file__).parents[3] / "packages" / "doiuri" / "src" / "doiuri"
OTHERS = {
    "syntax",
    "not-found",
    "not-https",
    "field-form",
    "doubled",
    "raw-link",
    "text-differs",
    "duplicate",
    "unused-ignore",
    "lock-missing",
    "lock-unused",
    "title-differs",
    "year-differs",
    "author-differs",
    "retracted",
}


def advice_codes() -> set[str]:
    """The codes in the sources of ``advise``."""
    text = "".join((CORE / name).read_text("utf-8") for name in ("_advice.py", "_remains.py"))
    return set(re.findall(r'(?:Advice|Remains)\(\s*"([a-z-]+)"', text))


def test_every_code_of_advise_is_explained() -> None:
    assert len(advice_codes()) > 15
    assert {rule.code for rule in ADVICE_RULES} == advice_codes()


def test_the_other_codes() -> None:
    assert set(RULES) - advice_codes() == OTHERS
    assert {code for code, rule in RULES.items() if rule.severity.label == "error"} == {"syntax", "not-found"}


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.code)
def test_a_rule_is_complete(rule: Rule) -> None:
    assert rule.fix in {"safe", "unsafe", ""}
    assert rule.example
    assert rule.example != rule.instead
    assert not rule.fix or rule.instead
    for text in (rule.summary, rule.reason):
        assert re.fullmatch(r"[A-Z`].*\.", text)
        assert text.count("`") % 2 == 0
    assert len(rule.summary) < 80


@pytest.mark.parametrize("rule", ADVICE_RULES, ids=lambda rule: rule.code)
def test_advise_says_the_code_of_the_example_and_none_of_what_to_write_instead(rule: Rule) -> None:
    assert rule.code in {advice.code for advice in advise(rule.example)}
    assert not rule.instead or advise(rule.instead) == ()
