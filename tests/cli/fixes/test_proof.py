"""Proofs: what a fix must not do is refused."""

import pytest
from doiuri_cli._config import Config
from doiuri_cli._examine import examine, judge
from doiuri_cli._fixes import Draft, FixPolicy, ProofError, _proved, compatible, mend, prove
from doiuri_cli.files import Source
from doiuri_cli.registry._check import Answers
from doiuri_cli.rules import Fix

TEXT = "10.1000/182 and http://doi.org/10.1000/183."
LINK = TEXT.index("http")


def draft(source: Source) -> Draft:
    return Draft(source, examine(source, Config()))


def proved(text: str, *fixes: Fix, path: str = "a.md", encoding: str = "utf-8") -> Source:
    return prove(draft(Source(path, text, encoding)), fixes, Config()).source


def test_same_dois() -> None:
    fixed = proved(TEXT, Fix(LINK, LINK + 4, "https", safe=True))
    assert fixed.text == TEXT.replace("http:", "https:")


@pytest.mark.parametrize(
    ("fix", "reason"),
    [
        (Fix(0, 11, "10.1000/184", safe=True), "other DOIs: 10.1000/184 instead of 10.1000/182"),
        (Fix(0, 11, "10.1000/184", safe=False, name="10.1000/185"), "10.1000/184 instead of 10.1000/185"),
        (Fix(0, 11, "nothing", safe=True), "other DOIs"),
        (Fix(11, 12, " 10.1000/1 ", safe=True), "other DOIs"),
        (Fix(8, 11, "182–", safe=False, name="10.1000/182–"), "encoding ascii cannot represent"),
    ],
)
def test_refused(fix: Fix, reason: str) -> None:
    with pytest.raises(ProofError, match=reason):
        proved(TEXT, fix, encoding="ascii" if "encoding" in reason else "utf-8")


@pytest.mark.parametrize("new", ["10.1000/1 #", "10.1000/1\nc: d", "10.1000/1, c: d", "10.1000/1\n  b: c"])
def test_other_values_in_yaml_stay(new: str) -> None:
    text = "a: {doi: 'x', b: http://doi.org/10.1000/1}\nb: http://doi.org/10.1000/1\n"
    start = text.rindex("http")
    with pytest.raises(ProofError):
        proved(text, Fix(start, len(text) - 1, new, safe=True), path="a.yaml")
    proved(text, Fix(start, len(text) - 1, "10.1000/1", safe=True), path="a.yaml")


def test_fixes_that_are_right_apart_and_wrong_together() -> None:
    """Each mark of a comment alone hides nothing, but both hide the DOI between them: the first stays."""
    text = "http://doi.org/10.1000/182 and 10.1000/183 are good"
    fixes = [Fix(26, 26, " <!--", safe=True), Fix(len(text), len(text), " -->", safe=True)]
    for fix in fixes:
        proved(text, fix)
    with pytest.raises(ProofError, match="other DOIs"):
        proved(text, *fixes)
    assert _proved(draft(Source("a.md", text)), fixes, Config(), {})[0] == fixes[:1]


@pytest.mark.parametrize("names", [(None, None), ("10.1000/183", None), (None, "10.1000/182")])
def test_fixes_that_exchange_two_dois(names: tuple[str | None, str | None]) -> None:
    """Both DOIs are in the file before and after, but not in this order."""
    spans = (0, 11, "10.1000/183"), (16, 27, "10.1000/182")
    fixes = [Fix(*span, safe=name is None, name=name) for span, name in zip(spans, names, strict=True)]
    with pytest.raises(ProofError, match=r"10\.1000/18[23] instead of 10\.1000/18[23]"):
        proved("10.1000/182 and 10.1000/183", *fixes)


@pytest.mark.parametrize("old", ["found", "not-found", "unknown", None])
@pytest.mark.parametrize("new", ["found", "not-found", "unknown", None])
def test_a_name_is_changed_only_for_two_definite_answers(old: str | None, new: str | None) -> None:
    answers = {key: status for key, status in (("10.1000/OLD", old), ("10.1000/NEW", new)) if status}
    (finding,) = judge(
        examine(Source("a.txt", "10.1000/old"), Config()), Config(), Answers(1, {"10.1000/OLD": "not-found"})
    ).findings
    change = finding._replace(fix=Fix(0, 11, "10.1000/new", safe=False, name="10.1000/new"))
    policy = FixPolicy(lambda _: answers)
    policy.look_up([change])
    assert policy.allows(change) == ((old, new) == ("not-found", "found"))
    assert not FixPolicy().allows(change)


def test_another_encoding() -> None:
    """A file that is not UTF-8 must not become UTF-8 by chance."""
    text = "\xe9 10.1000/182"
    with pytest.raises(ProofError, match="another encoding"):
        proved(text, Fix(0, 1, "e", safe=True), encoding="latin-1")


def test_other_parts() -> None:
    text = "@misc{k, doi = {10.1000/182}, note = {10.1000/183}}"
    place = text.index("note")
    with pytest.raises(ProofError, match="other parts"):
        proved(text, Fix(place, place + 4, "doi", safe=True), path="a.bib")


def test_file_that_cannot_be_read_any_more() -> None:
    with pytest.raises(ProofError, match="could not be read"):
        proved('{"cells": [], "nbformat": 4}', Fix(0, 1, "", safe=True), path="a.ipynb")


def test_first_of_two_overlapping_fixes() -> None:
    first, second = Fix(3, 8, "a", safe=True), Fix(5, 9, "b", safe=True)
    touching, after = Fix(8, 9, "c", safe=True), Fix(10, 11, "d", safe=True)
    assert compatible([after, second, first, touching]) == [first, after]


def test_fix_that_cannot_be_proved_is_left_out() -> None:
    """In running text the doubled link ends before the full stop, as a whole value it has it."""
    text = (
        "@misc{k,\n  url = {https://doi.org/https://doi.org/10.1000/182.},\n"
        "  note = {http://doi.org/10.1000/183}\n}\n"
    )
    mended = mend(Source("a.bib", text), Config(), None, FixPolicy())
    assert mended.after is not None
    assert mended.after.text == text.replace("http://doi.org/10.1000/183", "https://doi.org/10.1000/183")
    assert mended.applied == 1
    assert mended.refused is not None
    assert [(one.code, one.fix) for one in mended.report.findings] == [("doubled", None)]
