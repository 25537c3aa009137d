"""``find_one``: the DOI of a cell, whatever surrounds it."""

from __future__ import annotations

import pytest
from doiuri import DOI, DOISyntaxError, Handle, ShortDOI, find_one
from hypothesis import given
from hypothesis import strategies as st
from support.cases import Case, odd_cases

NAMES = (
    "10.1000/182",
    "10.1000/ABC-é",
    "10.1002/(SICI)1097-4571(199806)49:8<693::AID-ASI4>3.0.CO;2-O",
    "10.5281/zenodo.4924875",
    "10.3319/TAO.2009.05.25.02(IWNOP)",
)
LABELS = ("", "doi:", "DOI ", "https://doi.org/", "http://dx.doi.org/", "doi:https://doi.org/")
AROUND = (
    ("", ""), ("(", ")"), ('"', '"'), ("[", "]."), ("see ", ", p. 3"), ("", " (PDF)"), ("", "."),
    ("Kahn (2006), ", "; accessed 2020"), ("\n", "\t"), ("\xa0", "\xa0"), ("<", ">"), ("“", "”"), ("{", "},"),
)  # fmt: skip
INVISIBLE = ("", "\u200b", "\ufeff", "\u00ad", "\u200e", "\u2060")


@given(
    name=st.sampled_from(NAMES),
    label=st.sampled_from(LABELS),
    around=st.sampled_from(AROUND),
    invisible=st.sampled_from(INVISIBLE),
    place=st.floats(0, 1),
)
def test_what_surrounds_a_doi_does_not_matter(
    name: str, label: str, around: tuple[str, str], invisible: str, place: float
) -> None:
    cell = f"{around[0]}{label}{name}{around[1]}"
    offset = round(place * len(cell))
    cell = cell[:offset] + invisible + cell[offset:]
    assert find_one(cell) == DOI(name), repr(cell)


@pytest.mark.parametrize("case", odd_cases("parse"), ids=repr)
def test_a_name_alone_is_read_as_by_parse(case: Case) -> None:
    """But for white space and the marks at the end of a sentence, with which no name in a cell ends."""
    doi = DOI.parse(str(case.input))
    has_no_ends = doi.name.split() == [doi.name] and doi.name[-1].isalnum()
    is_once = doi.name.count("10.") == 1 and "&" not in doi.name
    if has_no_ends and is_once:
        assert find_one(doi.url) == doi


CELLS: dict[str, Handle] = {
    "10/abcd": ShortDOI("10/abcd"),
    "10.1000/182; doi:10.1000/182": DOI("10.1000/182"),
    '<a href="https://doi.org/10.1000/182">10.1000/182</a>': DOI("10.1000/182"),
    "[10.1000/182](https://doi.org/10.1000/182)": DOI("10.1000/182"),
    '=HYPERLINK("https://doi.org/10.1000/182","10.1000/182")': DOI("10.1000/182"),
    "10.1000/a&lt;b&gt;c&nbsp;": DOI("10.1000/a<b>c"),
    "https://doi.org/10.1000/182?utm_source=x": DOI("10.1000/182"),
    "https://link.springer.com/article/10.1007/s00799-005": DOI("10.1007/s00799-005"),
    "10.1000/a\u200b.b": DOI("10.1000/a.b"),
    "doi:10.1000/182.": DOI("10.1000/182"),
}


@pytest.mark.parametrize("cell", CELLS)
def test_cells_as_people_paste_them(cell: str) -> None:
    assert find_one(cell) == CELLS[cell]


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("", "the text is empty"),
        ("n/a", 'expected "10.", a label such as "doi:", or a link to doi.org'),
        ("10.1000", 'no "/" after the prefix'),
        ("10.1000/1, 10.1000/2", "expected one DOI, not 2: 10.1000/1, 10.1000/2"),
        ("10.1000/1;10.1000/2", "expected one DOI, not 2: 10.1000/1, 10.1000/2"),
    ],
)
def test_a_cell_without_one_doi_says_why(cell: str, reason: str) -> None:
    with pytest.raises(DOISyntaxError) as raised:
        find_one(cell)
    assert (raised.value.reason, raised.value.text) == (reason, cell)


def test_a_reference_with_thousands_of_digits_ends_a_name() -> None:
    """Python refuses to read a number of more than 4,300 digits."""
    cell = "10.1000/182&#" + "9" * 5_000 + ";"

    assert find_one(cell) == DOI("10.1000/182"), cell[:20]
