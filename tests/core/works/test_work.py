"""Works: CSL-JSON as agencies send it, reduced to plain text and proper types; the notices about them."""

from __future__ import annotations

import copy
import json
import operator
import pickle
import re
import unicodedata
from itertools import product
from typing import Any

import pytest
from doiuri import DOI, BadRecord
from doiuri.works import Name, Work, same_title
from hypothesis import given
from hypothesis import strategies as st
from support.cases import DATA, table
from support.growth import is_fast

X = DOI("10.1000/x")
CASES = json.loads((DATA / "works.json").read_text("utf-8"))
KAHN: dict[str, Any] = {"family": "Kahn", "given": "Robert"}
WILENSKY = {"family": "Wilensky", "given": "Robert", "suffix": "Jr."}
CROSSREF: dict[str, Any] = {
    "type": "journal-article", "DOI": "10.1000/X", "title": ["A framework"], "subtitle": ["A sequel"],
    "author": [KAHN | {"sequence": "first", "affiliation": []}, WILENSKY, {"name": "CNRI"}],
    "container-title": ["Digital Libraries"], "event": {"name": "A conference", "location": "Reston"},
    "ISBN": ["http://id.crossref.org/isbn/9780000000000"], "volume": 6, "issue": "2",
    "issued": {"date-parts": [[2006, 4, 13]]}, "reference-count": 7, "abstract": "<jats:p>No</jats:p>",
}  # fmt: skip


def each(group: str) -> pytest.MarkDecorator:
    """Run a test for each case of a group of works.json."""
    return pytest.mark.parametrize(
        "case", CASES[group], ids=lambda case: ascii([*case.values()])[:100]
    )


def work(**csl: Any) -> Work:
    return Work(X, csl)


def test_an_answer_of_crossref() -> None:
    found = Work(X, CROSSREF)
    title = "A framework: A sequel"
    assert (found.title, found.container, found.publisher) == (title, "Digital Libraries", "")
    assert (found.year, found.editors) == (2006, ())
    assert found.authors == (
        Name("Kahn", "Robert"),
        Name("Wilensky", "Robert", "Jr."),
        Name("CNRI"),
    )
    assert [str(name) for name in found.authors] == ["Robert Kahn", "Robert Wilensky Jr.", "CNRI"]
    assert found.csl == {
        "type": "article-journal", "title": title, "author": [KAHN, WILENSKY, {"literal": "CNRI"}],
        "issued": CROSSREF["issued"], "container-title": "Digital Libraries", "event-title": "A conference",
        "volume": "6", "issue": "2", "ISBN": "9780000000000",
    }  # fmt: skip
    assert work(**found.csl, event="Another").csl == found.csl, (
        "the member of CSL goes before Crossref's"
    )


def test_it_is_a_value() -> None:
    found = Work(X, CROSSREF)
    again = Work.from_json(found.to_json())
    assert again == found
    assert hash(again) == hash(found) == hash(Work(DOI("10.1000/X"), {}))
    assert found != Work(X, {})
    assert found != Work(DOI("10.1000/y"), CROSSREF)
    assert found != CROSSREF
    assert pickle.loads(pickle.dumps(found)) == copy.deepcopy(found) == found
    found.csl["title"] = "another"
    assert found == again
    assert eval(repr(found), {"Work": Work, "DOI": DOI}) == found


def test_a_work_without_a_doi_has_an_id_and_keeps_its_url() -> None:
    found = Work("kahn 2006", CROSSREF | {"URL": "https://a.example/"})
    assert (found.key, found.doi, found.csl["URL"]) == ("kahn 2006", None, "https://a.example/")
    assert json.loads(found.to_json()) == {"id": "kahn 2006", **found.csl}
    assert found != Work("another", CROSSREF | {"URL": "https://a.example/"})
    assert pickle.loads(pickle.dumps(found)) == found
    assert "URL" not in Work(X, {"URL": "https://a.example/"}).csl, "the DOI is the link"


@pytest.mark.parametrize(
    ("doi", "url", "is_kept"),
    [
        ("10.1000/a", "https://dx.doi.org/10.1000/A", False),
        ("10.1000/a", "https://doi.org/10.1000/b", True),
        (
            "10.1000/é",
            "https://doi.org/10.1000/É",
            True,
        ),  # only ASCII letters are the same in both cases
        ("10.1000/a", "https://example.org/10.1000/a", True),
    ],
)
def test_an_authors_url_is_kept_unless_it_links_to_the_doi(
    doi: str, url: str, is_kept: bool
) -> None:
    work = Work.from_item(DOI(doi), {"URL": url})

    assert ("URL" in work.csl) == is_kept


@pytest.mark.parametrize("mark", ["", ",", ")", ":", "?", "!", ".", "…"])
def test_a_subtitle_follows_a_colon_unless_the_title_ends_in_a_mark(mark: str) -> None:
    has_mark = mark in {":", "?", "!", ".", "…"}

    title = work(title=f"Help{mark}", subtitle="Bees").title

    assert title == f"Help{mark}{'' if has_mark else ':'} Bees"


@each("titles")
def test_titles_are_plain_text_with_their_subtitle(case: dict[str, Any]) -> None:
    assert work(title=case["title"], subtitle=case.get("subtitle")).title == case["text"]


@each("rich titles")
def test_formatting_of_titles_stays_in_csl(case: dict[str, str]) -> None:
    found = work(title=case["title"])
    assert found.csl["title"] == case["rich"]
    assert work(title=case["rich"]) == found


@pytest.mark.parametrize("prefix", ["", "mml:"])
@each("formulas")
def test_formulas_of_titles_stay_what_they_are(case: dict[str, str], prefix: str) -> None:
    formula = re.sub(r"(?<=<)(/?)(?=\w)", rf"\1{prefix}", f"<math>{case['formula']}</math>")

    found = work(title=f"On {formula}, {formula}")

    assert found.csl["title"] == f"On {case['rich']}, {case['rich']}"
    assert found.title == f"On {case['text']}, {case['text']}"
    assert work(title=found.csl["title"]) == found


LEAVES = st.sampled_from(["<mn>2</mn>", "<mi>x</mi>", "<mi>sin</mi>", "<mtext>at</mtext>"])
FORMULAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        inner.map(lambda base: f"<msqrt>{base}</msqrt>"),
        st.tuples(inner, inner).map(lambda pair: f"<mrow>{'<mo>+</mo>'.join(pair)}</mrow>"),
        st.tuples(st.sampled_from(["msup", "msub", "mfrac"]), inner, inner).map(
            lambda triple: f"<{triple[0]}>{triple[1]}{triple[2]}</{triple[0]}>"
        ),
    ),
    max_leaves=6,
)


@given(FORMULAS)
def test_the_parts_of_a_formula_stay_in_order_and_apart(formula: str) -> None:
    parts = re.findall(r"[a-z0-9]+(?=</)", formula)

    found = work(title=f"<math>{formula}</math>")

    without_tags = re.sub("</?su[bp]>", " ", found.csl["title"])
    assert re.findall("[a-z0-9]+", without_tags) == parts
    letters = unicodedata.normalize("NFKC", found.title)
    assert "".join(re.findall("[a-z0-9]+", letters)) == "".join(parts)


@each("names")
def test_names_are_divided_as_the_agency_divides_them(case: dict[str, Any]) -> None:
    person = case["person"]
    expected = [case["name"]] if case["name"] else None
    assert work(author=[person]).csl.get("author") == expected
    if not isinstance(person, list):
        assert work(author=person).csl.get("author") == expected
    found = work(editor=[person])
    assert [name.to_json() for name in found.editors] == (expected or [])


@each("dates")
def test_dates_are_read_as_far_as_they_are_dates(case: dict[str, Any]) -> None:
    date = case["date"]
    parts = case["parts"]
    found = work(issued=date, submitted=date)
    assert (
        found.csl.get("issued") == found.csl.get("submitted") == (parts and {"date-parts": [parts]})
    )
    assert found.year == (parts and parts[0])


def test_other_dates_of_crossref_count_if_issued_has_no_year() -> None:
    dates = {"issued": {"date-parts": [[None]]}, "created": {"date-parts": [[2001]]}}
    assert work(**dates).year is None, "the DOI was registered in 2001"
    printed = {"published-print": {"date-parts": [[1999]]}}
    assert work(**dates, **printed).year == 1999
    assert work(issued=2006, **printed, published=2005).year == 2006
    assert work(issued=float("nan")).year is None


@table("works", "types", "sent, kind")
def test_types_are_those_of_csl(sent: object, kind: str) -> None:
    assert work(type=sent).type == work(type=sent).csl["type"] == kind


def test_numbers_of_any_size_are_read() -> None:
    assert work(title=10**5000, volume=10**5000, issued=10**5000).is_empty
    assert work(title="a&#" + "9" * 5000 + ";b").title == "a&#" + "9" * 996 + "…"


def test_sizes_are_bounded() -> None:
    people = [{"family": f"F{number}", "given": "x" * 1000} for number in range(3000)]
    sent = {"title": "<i>x</i> " * 1250, "author": [*people, {}], "publisher": "y" * 10_000}
    assert is_fast(lambda: work(**sent), 1)
    found = work(**sent)
    assert (len(found.authors), found.authors[-1].family) == (100, "F2999"), (
        "the last that is not empty"
    )
    assert len(found.authors[0].given) == 200
    assert (len(found.title), len(found.publisher)) == (1000, 300)
    assert found.title.endswith("…")
    assert work(title="<i>" + "a" * 1000 + "</i>").csl["title"] == "a" * 1000
    assert len(found.to_json()) < 30_000


@pytest.mark.parametrize(
    "text",
    [
        *(
            part * 10_000
            for part in ("<", "<i>", "<i ", "&amp;", "<<i>i>", "<math>", "<!--", "&#", "&#38;")
        ),
        "&" + "amp;" * 9000,
        "<" * 9000 + "i>" * 9000,
        "<" * 100 + "i>" * 100,
    ],
    ids=lambda text: f"{text[:6]}{len(text)}",
)
def test_hostile_titles_are_read_quickly(text: str) -> None:
    assert is_fast(lambda: work(title=text), 1)
    title = work(title=text).title
    assert work(title=title).title == title


_texts = st.text(
    st.sampled_from("<>&;/i amp#x3clgt\u202e\u200b\x00(:)'\"") | st.characters(), max_size=40
)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=6,
)
_parts = "family given literal name suffix dropping-particle non-dropping-particle".split()  # noqa: SIM905
_person = st.dictionaries(st.sampled_from(_parts), _json)
_csl = st.fixed_dictionaries(
    {},
    optional={
        "author": _json | st.lists(_person | _texts, max_size=3),
        "issued": _json | st.fixed_dictionaries({"date-parts": _json}),
        **dict.fromkeys(
            ("title", "subtitle", "editor", "published", "type", "volume", "ISBN", "event"), _json
        ),
    },
)


@given(_csl)
def test_whatever_is_sent_is_read_and_reading_it_again_changes_nothing(csl: dict[str, Any]) -> None:
    """What is stored is the reduced form, so reading it must give the same work."""
    found = Work(X, csl)
    again = Work.from_json(found.to_json(), doi=X)
    assert again == found
    names = operator.attrgetter("title", "authors", "editors", "year")
    assert names(again) == names(found)
    for text in (found.title, *map(str, found.authors)):
        assert text == " ".join(text.split())
        assert not set(text) & set("\x00\x1b\u202a\u202b\u202d\u202e\u2066\u2067\u200e\u200f")
    found.to_json().encode()
    found._repr_html_().encode()


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        *(
            ("7", "expected an object"),
            ('"text"', "expected an object"),
            ("[{},{}]", "expected an object"),
        ),
        *(
            ("<html>", "not JSON"),
            (b"\xff", "not UTF-8"),
            (b"", "not JSON"),
            (b"[" * 100_000, "nested"),
        ),
        *(("{}", "names no DOI"), ('{"DOI": 7}', "names no DOI"), ('{"DOI": "x"}', "not a DOI")),
    ],
    ids=lambda text: str(text)[:20],
)
def test_an_invalid_work_raises_bad_record(source: str | bytes, complaint: str) -> None:
    with pytest.raises(BadRecord, match=complaint):
        Work.from_json(source)


def test_from_json_reads_lists_of_one_and_parsed_json_and_links() -> None:
    csl = {"DOI": "https://doi.org/10.1000/x", "title": "A"}
    sources: list[Any] = [
        csl,
        json.dumps([csl]),
        json.dumps(csl).encode(),
        f"\ufeff{json.dumps(csl)}",
    ]
    assert [*map(Work.from_json, sources)] == [Work(X, {"title": "A"})] * 4
    assert Work.from_json({"DOI": "10.1000/primary", "title": "A"}, doi=X) == Work(X, csl), (
        "an alias"
    )


def test_html_is_escaped() -> None:
    html = work(
        title="<x onclick=alert(1)> & <y>", author=[{"family": "<z>"}], publisher='"'
    )._repr_html_()
    assert "&lt;x onclick=alert(1)&gt; &amp; &lt;y&gt;" in html
    assert "&lt;z&gt;" in html
    assert "<td>&quot;</td>" in html
    assert 'href="https://doi.org/10.1000/x"' in html
    assert "<x" not in html
    many = work(author=[{"family": f"F{number}"} for number in range(9)])._repr_html_()
    assert "F0, et al." in many


@pytest.mark.parametrize(
    ("csl", "empty"),
    [({}, True), ({"title": "(:unav)", "issued": 2006, "volume": "1"}, True)]
    + [
        ({member: "A"}, False)
        for member in ("title", "author", "editor", "container-title", "publisher")
    ],
)
def test_a_work_is_empty_if_there_is_nothing_to_cite(csl: dict[str, Any], empty: bool) -> None:
    assert work(**csl).is_empty is empty


# Notices, and the published version of a preprint

NAME = "10.1016/S0140-6736(20)31180-6"


def read(**metadata: Any) -> Work:
    defaults = {"type": "article-journal", "title": "On cold fusion", "DOI": NAME}
    work = Work(DOI(NAME), defaults | metadata)
    again = Work(DOI(NAME), work.csl)
    assert (again.notices, again.published_version) == (work.notices, work.published_version)
    assert again == work
    return work


@each("notices")
def test_a_work_has_its_notices_the_gravest_first(case: dict[str, Any]) -> None:
    """Some publishers also list notices in the wrong direction, and damaged metadata retract nothing."""
    work = read(**case["metadata"])
    assert [*map(str, work.notices)] == case["notices"]
    assert work.retraction == (work.notices[0] if case["retracted"] else None)


def test_only_a_thousand_notices_are_read() -> None:
    notices = [{"type": "correction", "DOI": "10.5555/a"}] * 1000 + [{"type": "retraction"}]
    assert read(**{"updated-by": notices}).retraction is None
    assert read(**{"updated-by": notices[1:]}).retraction is not None


def test_notices_are_in_order_whatever_order_they_are_sent_in() -> None:
    """By gravity, then Retraction Watch's, then by date."""
    kinds = "retraction removal withdrawal partial_retraction expression_of_concern correction"
    sources = ("retraction-watch", "publisher")
    dates = ("2019", "2020-05", "2020-05-22")
    sent = [
        {"type": kind, "source": source, "updated": date, "DOI": f"10.5555/{number}"}
        for number, (kind, source, date) in enumerate(product(kinds.split(), sources, dates))
    ]
    found = read(**{"updated-by": sent}).notices
    assert (
        found
        == read(**{"updated-by": sent[::-1]}).notices
        == read(**{"updated-by": sorted(sent, key=str)}).notices
    )
    types = [kind.replace("_", " ") for kind in kinds.split()]
    order = product(types, ("Retraction Watch", "publisher"), dates)
    assert [(notice.type, notice.source, notice.date) for notice in found] == [*order]


@each("preprints")
def test_a_preprint_names_its_published_version(case: dict[str, Any]) -> None:
    found = read(relation=case["relation"]).published_version
    assert (found and found.name) == case["published"]


NUMBERS = ["2", "II", "iii", "10", "part 2", "part II", "Part iv", "vol. 3", "volume III", "Teil 2"]
LINKS = ["{} {}", "{}, {}"]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_title_and_the_same_title_with_a_number_are_those_of_two_works(number: str) -> None:
    """Other words at the end may be a subtitle that one of them lacks."""
    title = "Observation of excitons in cuprous oxide"
    for link in LINKS:
        numbered = link.format(title, number)
        with_words = link.format(title, "at low temperatures")

        assert not same_title(title, numbered), f"{numbered!r} is taken for {title!r}"
        assert not same_title(numbered, title), f"{title!r} is taken for {numbered!r}"
        assert same_title(title, with_words), f"{with_words!r} is taken for another work"
        assert same_title(numbered, numbered.upper())
