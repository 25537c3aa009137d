"""What is legal but probably wrong: reported, never changed."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from doiuri import DOI, Advice, DOISyntaxError, advise, suggest
from doiuri.testing.strategies import spelled_texts
from hypothesis import example, given
from hypothesis import strategies as st
from support.cases import DATA, table
from support.growth import is_linear

CASES = json.loads((DATA / "advice.json").read_text(encoding="utf-8"))["cases"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: ascii(case["text"][:60]))
def test_what_is_probably_wrong_is_said_with_what_was_meant(case: dict[str, Any]) -> None:
    """Accidental blanks, look-alikes and trailing slashes are reported (S-14 U-34 P-20)."""
    text = case["text"]
    found = advise(text)
    assert {advice.code: advice.suggestion for advice in found} == case["advice"]
    assert len(found) == len(case["advice"])
    for advice in found:
        assert advice.message
        assert advice.message.isprintable()
        if advice.suggestion is not None:
            same = DOI.parse(advice.suggestion) == DOI.parse(text)
            assert same == (advice.code == "stray-percent")  # a clearer spelling of the name


SICI = "10.1002/(SICI)1097-4571(199806)49:8<693::AID-ASI4>3.0.CO;2-O"
NAMES = [
    "10.1000/182",
    "10.1016/S0140-673X(05)67778-3",
    "10.1007/978-3-319-12345-6_7",
    SICI,
    "10.1000/a'b~c/d",
    "10.1000/µ-ŀ'é~日/d",
]
APPENDED = {
    "page-address": (
        "/abstract¦/full¦/fulltext¦/html¦/pdf¦/epdf¦/epub¦/meta¦/summary¦/issuetoc¦/PDF¦/Full¦.pdf¦.htm¦.html¦?seq=1"
        "¦?ref=pdf&x¦.svg¦/status.svg¦.svg?style=flat¦.SVG"
    ),
    "trailing-punctuation": ".¦,¦;¦:¦!¦?¦'¦\"¦…¦。¦、¦．¦)¦]¦}¦>¦»¦】¦」¦』¦》¦).,¦\u203a¦\u232a¦\u27e9¦\u3009",
    "trailing-slash": "/¦//",
    "space": "\u3000¦\u00a0(a)¦, and¦; 10.1000/b¦ accessed 2020¦ PMID",
    "run-on": ';10.1000/b¦,10.1000/b¦|10.1000/b¦https://doi.org/10.1000/b¦doi:10.1000/b¦","a¦":"a',
    "lost-character": "\ufffd¦\ufffd\ufffd",
}
# Each with the marks of a name, and what was written for them
REPLACED = {
    "look-alike": (
        "-\u02d7\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u207b\u2212\u2e3a\u2e3b\ufe58\ufe63\uff0d¦'\u2018\u2019\u201b"
        "\u2032\u02bc¦/\u2044\u2215\u29f8"
        "¦<\u2039\u02c2\u2329\u27e8\u3008¦>\u203a\u02c3\u232a\u27e9\u3009¦:\u2236¦~\u02dc\u223c"
        "¦S\u0405\uff33¦O\u039f\u041e¦I\u0406\u0399¦a\u0430¦c\u0441¦1\uff11¦(\uff08¦)\uff09"
    ),
    "entity": "< &lt; &#60; &#x3C; &LT;¦> &gt;¦' &#39;¦- &#45;¦_ &#95; &lowbar;",
    "tex-escape": (
        r"_ \_ {\_} \textunderscore{} {\textunderscore}¦_7 $_7$ {$_7$}¦< $<$ {\textless}¦> \textgreater{}"
        r"¦~ \~"
    ),
    "space": "- -\u00a0¦/ /\u2009",
    "literal-escape": "- %2D %2d¦_ %5F¦: %3a¦< %3C¦1 %31",
}


def damaged(code: str, name: str) -> Iterator[str]:
    yield from (f"{name}{end}" for end in APPENDED.get(code, "").split("¦") if end)
    for marks in filter(None, REPLACED.get(code, "").split("¦")):
        separate = marks.split(" ") if " " in marks else [*marks]
        mark, *others = separate
        before, _, after = name.rpartition(mark)
        yield from (f"{before}{other}{after}" for other in others if "/" in before)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("code", sorted(APPENDED | REPLACED))
def test_what_happened_to_a_name_is_told_and_undone(code: str, name: str) -> None:
    """Accidental blanks, look-alikes and trailing slashes are reported (S-14 U-34 P-20)."""
    wrong = [f"{name}: {found}" for found in advise(name)]
    for written in damaged(code, name):
        found = {advice.code: advice.suggestion for advice in advise(DOI(written))}
        is_told = found == {code: name}
        if not is_told or suggest(DOI(written)) != name:
            wrong.append(f"{written!r}: {found}")
    assert not wrong, "\n".join(wrong)


_PLAIN_PIECES = [
    "10",
    "1000",
    "x",
    "1",
    "(",
    ")",
    "/",
    ".",
    "-",
    ":",
    ";",
    "_",
    "%41",
    "&amp;",
    "<",
    "doi:",
    "é",
    "×",
    "(SICI)",
    ":8<693::AID-1>3.0.CO;2-X",
]
_PAGES = ["/full", ".PDF", "/issuetoc", ".htm", "/fulltext", ".epdf", "meta"]


@given(
    st.lists(st.sampled_from(_PLAIN_PIECES + _PAGES), min_size=1, max_size=8).map(
        lambda parts: "".join(["10.1000/", *parts])
    )
    | spelled_texts().map(lambda pair: pair[0])
)
@example("10.1000/a)")
@example("10.1000/1/")
@example("10.1000/1/2")
@example("DOI:10.1000/a(1)b_")
@example("10.1000.5/a\n")
def test_white_space_around_a_text_changes_no_advice(text: str) -> None:
    """Plain names are known to be harmless at once; with white space around them, all is looked at."""
    try:
        doi = DOI.parse(text)
    except DOISyntaxError:
        with pytest.raises(DOISyntaxError):
            advise(text)
        return
    assert advise(text) == advise(f" {text}\n")
    assert advise(doi) == advise(f" {doi.uri}")


def test_of_a_doi_only_the_name_is_judged() -> None:
    assert advise(DOI.parse("https://doi.org/10.1000/182?x")) == ()
    assert "en dash (U+2013)" in advise("10.1000/a\u2013b")[0].message
    assert advise(DOI("10.1000/%41%41")) == (
        Advice(
            "literal-escape",
            "%41 in the name looks like an escape that was not decoded",
            "10.1000/AA",
        ),
    )


def test_advice_is_for_dois_only() -> None:
    for function in (advise, suggest):
        with pytest.raises(DOISyntaxError):
            function("10.1000")
        with pytest.raises(TypeError):
            function(b"10.1000/182")  # type: ignore[arg-type]


@table("values", "repairs", "text, repaired")
def test_the_best_suggestion_repairs_all_of_the_name(text: str, repaired: str | None) -> None:
    assert suggest(text) == suggest(DOI.parse(text)) == repaired


@given(spelled_texts().map(lambda pair: pair[0]))
def test_of_a_repaired_name_nothing_is_left_to_repair(text: str) -> None:
    """Names are reported on, never changed: a suggestion is a text that can be parsed (G-06, N-126)."""
    repaired = suggest(text)
    doi = DOI.parse(text)
    suggested = [advice.suggestion for advice in advise(doi) if advice.suggestion]
    assert doi not in map(DOI.parse, suggested)
    assert bool(suggested) is (repaired is not None)
    assert repaired is None or suggest(repaired) is None


@pytest.mark.parametrize(
    "piece", ["\u0301\u0323", ")", "ﬁ", "&lt;", "\u0378", "%", "{", "$<", " ", "日"], ids=ascii
)
def test_time_grows_with_the_length_only(piece: str) -> None:
    """Advice on odd characters takes linear time, and is short."""

    def advice(count: int) -> list[Advice]:
        return [*advise(DOI("10.1000/x" + piece * count))]

    assert is_linear(advice, 1_000, 16_000)
    assert all(len(one.message) < 500 for one in advice(16_000))


@pytest.mark.parametrize(
    "digits", ["9" * 5000, "0" * 5000 + "38", "0" * 5000], ids=["nines", "38", "zeros"]
)
@pytest.mark.parametrize("rest", ["", "&amp;"], ids=["alone", "beside another"])
def test_an_entity_of_thousands_of_digits_gets_advice(digits: str, rest: str) -> None:
    (advice, *_) = advise(DOI(f"10.1000/x&#{digits};{rest}y"))
    assert advice.code == "entity"
    if digits.endswith("38"):
        assert advice.suggestion == f"10.1000/x&{rest and '&'}y"
    assert suggest(f"10.1000/x&amp;&#{digits}y") is not None  # without its semicolon
