"""Labels of works, the order of lists, and the parts of citations and entries."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from doiuri import DOI, Handle
from doiuri.records import (
    Bibliography,
    CitationPart,
    CitationWords,
    Reference,
    Work,
    plain_reference,
    reference_parts,
    with_year_label,
)
from doiuri.records._bibliography import letters
from hypothesis import given
from hypothesis import strategies as st

A, B, C = (DOI(f"10.1000/{letter}") for letter in "abc")

ARTICLE = {
    "author": [{"family": "Kahn", "given": "R.", "suffix": "Jr."}, "CNRI"],
    "title": "Why?",
    "issued": 2006,
    "container-title": "IJDL",
    "volume": 6,
    "issue": "2",
    "page": "115-123",
    "publisher": "Springer",
}


def work(doi: DOI, *families: str, year: int | None = 2001, **csl: Any) -> Work:
    issued = {} if year is None else {"issued": {"date-parts": [[year]]}}
    return Work(doi, {"author": [{"family": family} for family in families], **issued, **csl})


def labels(*works: Work, **options: Any) -> list[str]:
    """The labels of a list, cited in the order given."""
    by_doi = {item.doi: item for item in works}
    return [reference.label for reference in Bibliography(by_doi, by_doi, **options).references]


def test_the_order_of_a_list() -> None:
    """Author label, year, title, DOI; none of case, accents and punctuation counts."""
    expected = [
        work(A, "Aa", year=None),
        work(B, "\u00c1a", year=1999),
        work(C, "a-a", year=2000, title="B"),
        work(DOI("10.1000/d"), "Aa", year=2000, title="C"),
        work(DOI("10.1000/e"), "Aa", year=2000, title="C"),
        work(DOI("10.1000/f"), "Aa", "Aa", year=1990),
        work(DOI("10.1000/g"), "Aa", "Zz", year=1990),
        work(DOI("10.1000/h"), "Aa", "Bb", "Cc", year=1980),
        work(DOI("10.1000/i"), "O'Neil", year=1),
        work(DOI("10.1000/j"), "Oneill", year=1),
        work(DOI("10.1000/k"), title="The title"),
        work(DOI("10.1000/l"), "van der Berg"),
        work(DOI("10.1000/m"), "李"),
    ]
    for order in (expected, expected[::-1]):
        by_doi = {item.doi: item for item in order}
        assert [reference.work for reference in Bibliography(by_doi, by_doi).references] == expected


def test_letters_follow_the_order_of_the_list_whatever_is_cited_first() -> None:
    works = [work(A, "Kahn", title="Alpha"), work(B, "KAHN", title="Beta"), work(C, "Kahn", year=2002)]
    for order in permutations(works):
        assert labels(*order) == ["Kahn, 2001a", "KAHN, 2001b", "Kahn, 2002"]
    assert labels(work(A, "Kahn", year=None), work(B, "Kahn", year=None)) == ["Kahn, n.d.-a", "Kahn, n.d.-b"]
    assert labels(work(A, "Kahn", "B", "C"), work(B, "Kahn", "D", "E")) == [
        "Kahn et al., 2001a",
        "Kahn et al., 2001b",
    ]
    assert labels(work(A, "Jose\u0301"), work(B, "Jos\u00e9")) == ["Jose\u0301, 2001a", "Jos\u00e9, 2001b"]
    assert labels(*works, style="number") == ["Kahn, 2001", "KAHN, 2001", "Kahn, 2002"]


def test_more_than_26_works_of_one_label() -> None:
    assert [letters(number) for number in (0, 1, 25, 26, 27, 51, 52, 701, 702)] == [
        "a", "b", "z", "aa", "ab", "az", "ba", "zz", "aaa",
    ]  # fmt: skip
    works = [work(DOI(f"10.1000/{number:03}"), "Kahn") for number in range(30)]
    assert labels(*works)[25:28] == ["Kahn, 2001z", "Kahn, 2001aa", "Kahn, 2001ab"]


def test_what_stands_for_missing_authors() -> None:
    assert labels(work(A, editor=["Ed"])) == ["Ed, 2001"]
    assert labels(work(A, title="T", publisher="P")) == ["T, 2001"]
    journal: dict[str, Any] = {"container-title": "J"}
    assert labels(work(A, publisher="P", **journal)) == ["P, 2001"]
    assert labels(work(A, **journal)) == ["J, 2001"]
    assert labels(work(A)) == ["10.1000/a, 2001"]
    assert labels(work(A, title="x" * 50)) == [f"{'x' * 39}…, 2001"]
    assert labels(work(A, title=f"{'x' * 30} {'y' * 30}")) == [f"{'x' * 30}…, 2001"]
    assert labels(work(A, title="x" * 40)) == [f"{'x' * 40}, 2001"]


def test_parts_say_what_to_link() -> None:
    known = {A: work(A, "Kahn"), B: work(B, "Wilensky", year=None)}
    bibliography = Bibliography([B, A, B], known)
    assert bibliography.parenthetical([B, A]) == (
        CitationPart("("),
        CitationPart("Wilensky, n.d.", B),
        CitationPart("; "),
        CitationPart("Kahn, 2001", A),
        CitationPart(")"),
    )
    assert bibliography.textual([A]) == (CitationPart("Kahn (2001)", A),)
    shown = bibliography.parenthetical([C], display=lambda doi: doi.url)
    assert shown == (CitationPart("https://doi.org/10.1000/c", C),)
    assert bibliography.textual([C], display=lambda doi: doi.url) == shown
    assert bibliography.parenthetical([]) == ()
    assert bibliography.get(DOI("10.1000/A")) == bibliography.references[0]
    assert bibliography.get(C) is None
    assert [reference.number for reference in bibliography.references] == [1, 2]


def test_numbers_are_those_of_the_first_citation() -> None:
    known = {A: work(A, "Kahn"), B: work(B, "Abel")}
    bibliography = Bibliography([A, C, B, A], known, "number", CitationWords())
    assert [(reference.number, reference.doi) for reference in bibliography.references] == [(1, A), (2, B)]
    assert "".join(part.text for part in bibliography.parenthetical([B, A, C])) == "[2, 1, doi:10.1000/c]"
    assert "".join(part.text for part in bibliography.textual([B, A])) == "Abel [2]; Kahn [1]"


def test_a_work_is_found_in_any_spelling_of_its_doi() -> None:
    upper = DOI("10.1000/A")
    bibliography = Bibliography([upper], {A: work(A, "Kahn")})
    assert bibliography.references == (Reference(work(A, "Kahn"), 1, "Kahn", "2001"),)
    assert bibliography.textual([upper]) == (CitationPart("Kahn (2001)", upper),)


def test_styles_are_checked() -> None:
    with pytest.raises(ValueError, match='style must be "author-year" or "number", not \'apa\''):
        Bibliography([], {}, "apa")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("A. doi:10.1000/a", ["A. ", "doi:10.1000/a"]),
        ("A. https://doi.org/10.1000/A.", ["A. ", "https://doi.org/10.1000/A", "."]),
        ("http://dx.doi.org/10.1000/a", ["http://dx.doi.org/10.1000/a"]),
        ("See doi:10.1000/b", ["See doi:10.1000/b ", "https://doi.org/10.1000/a"]),
        ("", ["https://doi.org/10.1000/a"]),
    ],
)
def test_the_link_in_an_entry(text: str, parts: list[str]) -> None:
    found = reference_parts(A, text)
    assert [part.text for part in found if part.text] == parts
    assert [part.doi for part in found if part.doi] == [A]


def test_the_link_in_an_entry_may_have_raw_characters() -> None:
    doi = DOI("10.1000/C#1?x")
    parts = reference_parts(doi, "A. https://doi.org/10.1000/c#1?x.")
    assert [part.text for part in parts] == ["A. ", "https://doi.org/10.1000/c#1?x", "."]
    longer = reference_parts(doi, "A. https://doi.org/10.1000/c#1?xy")
    assert [part.text for part in longer] == ["A. https://doi.org/10.1000/c#1?xy ", doi.url]


@pytest.mark.parametrize(
    ("csl", "text"),
    [
        (ARTICLE, "Kahn, R., Jr.; CNRI (2006). Why? IJDL, 6(2), 115-123. Springer."),
        ({"title": "T", "volume": "6"}, "T (n.d.). 6."),
        ({}, "10.1000/a (n.d.)."),
        ({"author": ["A"]}, "A (n.d.)."),
        ({"author": [f"N{number}" for number in range(21)], "issued": 1999, "title": "T"},
         "; ".join(f"N{number}" for number in range(20)) + " et al. (1999). T."),
    ],
)  # fmt: skip
def test_a_plain_reference(csl: dict[str, Any], text: str) -> None:
    assert plain_reference(Work(A, csl)) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Kahn. (2001). In 2001. doi:10.1000/b", "Kahn. (2001b). In 2001. doi:10.1000/b"),
        ("Kahn. 1998 to 2001. (2001, May 6).", "Kahn. 1998 to 2001. (2001b, May 6)."),
        ("Kahn, \u201cThe 2001 census,\u201d IJDL, vol. 12, 2001, pp. 2-5.",
         "Kahn, \u201cThe 2001 census,\u201d IJDL, vol. 12, 2001b, pp. 2-5."),
        ("Kahn. 2001. T. IJDL.2001;5", "Kahn. 2001b. T. IJDL.2001;5"),
        ("Kahn. IJDL 2001 May 6", "Kahn. IJDL 2001b May 6"),
        ("Kahn, 5-2001, 2001\u20132005, 12001, 2001.5", None),
        ("Kahn, 2002. https://doi.org/10.1000/b(2001)", None),
        ("", None),
    ],
)  # fmt: skip
def test_the_letter_in_an_entry(text: str, expected: str | None) -> None:
    doi = DOI("10.1000/b(2001)") if "(2001)" in text[-6:] else B
    works = {item.doi: item for item in (work(A, "Kahn", title="A"), work(doi, "Kahn", title="B"))}
    _, entry = Bibliography(works, works).references
    assert entry.letter == "b"
    assert with_year_label(entry, text) == (text if expected is None else expected)
    [alone] = Bibliography([doi], works).references
    assert with_year_label(alone, text) == text


def test_the_letter_in_a_plain_entry() -> None:
    works = {doi: work(doi, "Kahn", year=None, title="T") for doi in (A, B)}
    entries = [
        with_year_label(entry, plain_reference(entry.work)) for entry in Bibliography(works, works).references
    ]
    assert entries == ["Kahn (n.d.-a). T.", "Kahn (n.d.-b). T."]


_names = st.lists(st.text("aABé'<& ", min_size=1, max_size=3), max_size=4)
_works = st.builds(
    lambda number, names, year: work(DOI(f"10.1000/{number}"), *names, year=year),
    st.integers(0, 30), _names, st.sampled_from([None, 1999, 2000]),
)  # fmt: skip


@given(st.lists(_works, max_size=12), st.randoms())
def test_labels_are_unique_and_do_not_depend_on_the_order_of_citations(
    works: list[Work], random: Any
) -> None:
    by_doi: dict[Handle, Work] = {item.doi: item for item in works}
    cited = list(by_doi)
    bibliography = Bibliography(cited, by_doi)
    found = [reference.label.casefold() for reference in bibliography.references]
    assert len(set(found)) == len(found)
    random.shuffle(cited)
    assert Bibliography(cited, by_doi).references == bibliography.references
