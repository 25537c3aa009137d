"""Works: CSL-JSON as agencies send it, reduced to plain text and proper types."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest
from doiuri import DOI, BadRecord
from doiuri.records import Name, Work
from hypothesis import given
from hypothesis import strategies as st
from support.growth import is_fast

X = DOI("10.1000/x")
CROSSREF: dict[str, Any] = {
    "type": "journal-article",
    "DOI": "10.1000/X",
    "title": ["A framework for distributed digital object services"],
    "subtitle": ["A sequel"],
    "author": [
        {"given": "Robert", "family": "Kahn", "sequence": "first", "affiliation": []},
        {"given": "Robert", "family": "Wilensky", "suffix": "Jr.", "sequence": "additional"},
        {"name": "CNRI", "sequence": "additional", "affiliation": []},
    ],
    "container-title": ["International Journal on Digital Libraries"],
    "event": {"name": "A conference", "location": "Reston"},
    "ISBN": ["http://id.crossref.org/isbn/9780000000000"],
    "volume": 6,
    "issue": "2",
    "issued": {"date-parts": [[2006, 4, 13]]},
    "reference-count": 7,
    "abstract": "<jats:p>Not needed</jats:p>",
}


SOLITONS = """Optical Solitons in<mml:math xmlns:mml="http://www.w3.org/1998/Math/MathML" display="inline">
    <mml:mi mathvariant="italic">N</mml:mi></mml:math>-Coupled Equations"""
TRANSITION = """0 <mml:math>
    <mml:msup>
        <mml:mn>0</mml:mn>
        <mml:mo>+</mml:mo>
    </mml:msup>
    <mml:annotation encoding="application/x-tex">0^+</mml:annotation></mml:math> x"""


def work(**csl: Any) -> Work:
    return Work(X, csl)


def test_an_answer_of_crossref() -> None:
    found = Work(X, CROSSREF)
    assert found.title == "A framework for distributed digital object services: A sequel"
    assert found.authors == (Name("Kahn", "Robert"), Name("Wilensky", "Robert", "Jr."), Name("CNRI"))
    assert [str(name) for name in found.authors] == ["Robert Kahn", "Robert Wilensky Jr.", "CNRI"]
    assert (found.year, found.container, found.publisher, found.editors) == (
        2006,
        CROSSREF["container-title"][0],
        "",
        (),
    )
    assert found.csl == {
        "type": "article-journal",
        "title": found.title,
        "author": [
            {"family": "Kahn", "given": "Robert"},
            {"family": "Wilensky", "given": "Robert", "suffix": "Jr."},
            {"literal": "CNRI"},
        ],
        "issued": {"date-parts": [[2006, 4, 13]]},
        "container-title": "International Journal on Digital Libraries",
        "event-title": "A conference",
        "volume": "6",
        "issue": "2",
        "ISBN": "9780000000000",
    }


def test_it_is_a_value() -> None:
    found = Work(X, CROSSREF)
    again = Work.from_json(found.to_json())
    assert again == found
    assert hash(again) == hash(found) == hash(Work(DOI("10.1000/X"), {}))
    assert found != Work(X, {})
    assert found != Work(DOI("10.1000/y"), CROSSREF)
    assert found != CROSSREF
    assert pickle.loads(pickle.dumps(found)) == copy.deepcopy(found) == found
    with pytest.raises(AttributeError, match="immutable"):
        found.title = "another"
    found.csl["title"] = "another"
    assert found == again
    assert eval(repr(found), {"Work": Work, "DOI": DOI}) == found


@pytest.mark.parametrize(
    ("title", "text"),
    [
        (SOLITONS, "Optical Solitons in N-Coupled Equations"),
        (TRANSITION, "0 0+ x"),
        ("A<math><mi>x</mi></math>b, 3<math><mi>y</mi></math>.", "A x b, 3y."),
        ("CO<sub>2</sub> in <jats:italic>Homo sapiens</jats:italic>", "CO2 in Homo sapiens"),
        ("Food &amp;amp; Function &lt;i&gt;in vivo&lt;/i&gt; &#8211; R&D", "Food & Function in vivo – R&D"),
        ("p < 0.05 and Vec<T> & List<String>", "p < 0.05 and Vec<T> & List<String>"),
        ("<!-- x --><![CDATA[a]]> b", "a b"),
        ("a\n  b\tc\u2028d\u00a0e", "a b c d e"),
        ("a\x00\x1b[2J\u202eb\u202c\u200e\u00ad\ufeffc\ud800", "a[2Jbc"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("<scr<i>ipt>alert(1)</scr</i>ipt>", "alert(1)"),
        (["", None, "Second"], "Second"),
        (["One", "Two"], "One"),
        ("a&#" + "9" * 5000 + ";b", "a&#" + "9" * 996 + "…"),
        ([], ""),
        (None, ""),
        ({"name": "An object"}, "An object"),
        (1984, "1984"),
        (True, ""),
        ("(:unav)", ""),
        ("None", "None"),
    ],
)
def test_titles(title: object, text: str) -> None:
    assert work(title=title).title == text


@pytest.mark.parametrize(
    ("title", "rich"),
    [
        ("<em>a</em> <jats:sub>2</jats:sub> <bold>b</bold> &lt;sup&gt;c&lt;/sup&gt;",
         "<i>a</i> <sub>2</sub> <b>b</b> <sup>c</sup>"),
        ("<sc>a</sc> <span style='font-variant: small-caps'>b <span>c</span></span>",
         '<span style="font-variant:small-caps;">a</span> <span style="font-variant:small-caps;">b c</span>'),
        ("<i>open <b>x</i></b> </sub> <sup/>", "open <b>x</b>"),
        ("<script>x</script> <T> 1 < 2", "x <T> 1 < 2"),
        ("<<i>b>a", "a"),
        ("<i>" + "a" * 1000 + "</i>", "a" * 1000),
    ],
)  # fmt: skip
def test_formatting_of_titles_stays_in_csl(title: str, rich: str) -> None:
    found = work(title=title)
    assert found.csl["title"] == rich
    assert work(title=rich) == found


@pytest.mark.parametrize(
    ("title", "subtitle", "text"),
    [
        ("Why?", "Because", "Why? Because"),
        ("A: b", ["B"], "A: b"),
        ("", "Only", "Only"),
        ("A", [], "A"),
        ("A: B", "b", "A: B"),
    ],
)
def test_subtitles(title: object, subtitle: object, text: str) -> None:
    assert work(title=title, subtitle=subtitle).title == text


@pytest.mark.parametrize(
    ("person", "name"),
    [
        ({"family": "Berg", "given": "A.", "non-dropping-particle": "van der"}, Name("van der Berg", "A.")),
        ({"family": "Humboldt", "given": "A.", "dropping-particle": "von"}, Name("Humboldt", "A. von")),
        ({"family": "von Neumann", "given": "J.", "non-dropping-particle": "von"}, Name("von Neumann", "J.")),
        ({"family": "Alembert", "given": "J.", "non-dropping-particle": "d'"}, Name("d'Alembert", "J.")),
        ({"family": "Plato"}, Name("Plato")),
        ({"given": "Plato"}, Name("Plato")),
        ({"family": "", "given": None, "literal": "A group"}, Name("A group")),
        ({"literal": "The <b>Group</b>"}, Name("The Group")),
        ({"literal": "Office, A"}, Name("Office, A")),
        ({"name": "University of X, Dept"}, Name("University of X, Dept")),
        ({"family": "KAHN,,", "given": "Robert ;"}, Name("KAHN", "Robert")),
        ({"family": "Berg", "non-dropping-particle": "van der,"}, Name("van der Berg")),
        ({"family": "Kahn", "given": "R.,", "suffix": "Jr.,"}, Name("Kahn", "R.", "Jr.")),
        ({"family": "King", "suffix": "Jr."}, Name("King", "", "Jr.")),
        ({"family": ",", "given": ";"}, None),
        ("KAHN,,", Name("KAHN")),
        ("Kahn, Robert", Name("Kahn", "Robert")),
        ("Smith, Jones, & Co", Name("Smith, Jones, & Co")),
        ("A group", Name("A group")),
        ({"family": "<i>Kahn</i>\u202e", "given": "&Eacute;."}, Name("Kahn", "É.")),
        ({"family": "(:unav)"}, None),
        ({"family": ["Kahn"]}, None),
        ({"family": 7}, Name("7")),
        ({}, None),
        (None, None),
        (7, None),
        ([["Kahn"]], None),
    ],
)  # fmt: skip
def test_names(person: object, name: Name | None) -> None:
    expected = () if name is None else (name,)
    assert work(author=[person]).authors == expected
    if not isinstance(person, list):
        assert work(author=person).authors == expected
    assert work(editor=[person]).editors == expected


@pytest.mark.parametrize(
    ("date", "parts"),
    [
        ({"date-parts": [[2006, 4, 13]]}, [2006, 4, 13]),
        ({"date-parts": [["2006", "04"]]}, [2006, 4]),
        ({"date-parts": [[2001, 1], [2002]]}, [2001, 1]),
        ({"date-parts": [2006, 4]}, [2006, 4]),
        ({"date-parts": [[2006.0, 13]]}, [2006]),
        ({"date-parts": [[2006, None, 13]]}, [2006]),
        ({"date-parts": [["2006-04-13"]]}, [2006]),
        ([{"year": 2006, "month": "4"}], [2006, 4]),
        ({"date-parts": [[None]]}, None),
        ({"date-parts": [[]]}, None),
        ({"date-parts": [[0]]}, None),
        ({"date-parts": [[-44, 3]]}, None),
        ({"date-parts": [[True]]}, None),
        ({"date-parts": [[868]]}, [868]),
        ({"date-parts": [[None]], "raw": "13 April 2006"}, [2006]),
        ({"raw": "2006-04-13T00:00:00Z"}, [2006, 4, 13]),
        ({"literal": "in press"}, None),
        ({"literal": "pp. 1200-1300"}, None),
        ({"literal": "10.5555/2006"}, None),
        ({"literal": "June 2006" + " " * 300}, None),
        ({"literal": "Thu, 13th of Sept. 2006"}, [2006]),
        ({"literal": "c. 1998"}, [1998]),
        ({"literal": "©1998-2001"}, [1998]),
        ({"literal": "[2006?]"}, [2006]),
        ({"literal": "Spring/Summer 2006"}, [2006]),
        ({"literal": "2006-05"}, [2006, 5]),
        ({"literal": "2006/07"}, [2006]),
        ({"raw": "2006-04-13T10:20:30.123+02:00"}, [2006, 4, 13]),
        ({"raw": "2006-05~/.."}, [2006]),
        ({"literal": 7}, [7]),
        ({"season": 2, "date-parts": [[1999]], "circa": True}, [1999]),
        ({"date-parts": {"date-parts": [[2006]]}}, None),
        ("Zotero-12345", None),
        (2006, [2006]),
        ([2006, "4"], [2006, 4]),
        (float("nan"), None),
        (None, None),
    ],
)
def test_dates(date: object, parts: list[int] | None) -> None:
    found = work(issued=date)
    assert found.csl.get("issued") == (None if parts is None else {"date-parts": [parts]})
    assert found.year == (None if parts is None else parts[0])


def test_other_dates_of_crossref_count_if_issued_has_no_year() -> None:
    dates = {"issued": {"date-parts": [[None]]}, "created": {"date-parts": [[2001]]}}
    assert work(**dates).year is None, "the DOI was registered in 2001"
    assert work(**dates, **{"published-print": {"date-parts": [[1999]]}}).year == 1999


@pytest.mark.parametrize(
    ("sent", "kind"),
    [
        ("dissertation", "thesis"),
        ("book", "book"),
        (None, "document"),
        ("other", "document"),
        (["book"], "document"),
    ],
)
def test_types(sent: object, kind: str) -> None:
    assert work(type=sent).type == work(type=sent).csl["type"] == kind


def test_numbers_of_any_size_are_read() -> None:
    assert work(title=10**5000, volume=10**5000, issued=10**5000).is_empty


def test_sizes_are_bounded() -> None:
    people = [{"family": f"F{number}", "given": "x" * 1000} for number in range(3000)]
    sent = {"title": "<i>x</i> " * 1250, "author": [*people, {}], "publisher": "y" * 10_000}
    assert is_fast(lambda: work(**sent), 1)
    found = work(**sent)
    assert (len(found.authors), found.authors[-1].family) == (100, "F2999"), "the last that is not empty"
    assert len(found.authors[0].given) == 200
    assert (len(found.title), len(found.publisher)) == (1000, 300)
    assert found.title.endswith("…")
    assert len(found.to_json()) < 30_000


@pytest.mark.parametrize(
    "text",
    [
        *(part * 10_000 for part in ("<", "<i>", "<i ", "&amp;", "<<i>i>", "<math>", "<!--", "&#", "&#38;")),
        "&" + "amp;" * 9000,
        "<" * 9000 + "i>" * 9000,
    ],
    ids=lambda text: text[:6],
)
def test_hostile_titles_are_read_quickly(text: str) -> None:
    assert is_fast(lambda: work(title=text), 1)
    title = work(title=text).title
    assert work(title=title).title == title


_texts = st.text(st.sampled_from("<>&;/i amp#x3clgt\u202e\u200b\x00(:)'\"") | st.characters(), max_size=40)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=6,
)
_person = st.dictionaries(
    st.sampled_from(
        ["family", "given", "literal", "name", "suffix", "dropping-particle", "non-dropping-particle"]
    ),
    _json,
)
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
    assert (again.title, again.authors, again.editors, again.year) == (
        found.title, found.authors, found.editors, found.year,
    )  # fmt: skip
    for text in (found.title, *map(str, found.authors)):
        assert text == " ".join(text.split())
        assert not set(text) & set("\x00\x1b\u202a\u202b\u202d\u202e\u2066\u2067\u200e\u200f")
    found.to_json().encode()
    found._repr_html_().encode()


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("7", "expected an object"),
        ('"text"', "expected an object"),
        ("<html>", "not JSON"),
        (b"\xff", "not UTF-8"),
        (b"", "not JSON"),
        (b"[" * 100_000, "nested"),
        ("{}", "names no DOI"),
        ('{"DOI": 7}', "names no DOI"),
        ('{"DOI": "x"}', "not a DOI"),
    ],
)
def test_an_invalid_work_raises_bad_record(source: str | bytes, complaint: str) -> None:
    with pytest.raises(BadRecord, match=complaint):
        Work.from_json(source)


def test_from_json_reads_lists_of_one_and_parsed_json_and_links() -> None:
    csl = {"DOI": "https://doi.org/10.1000/x", "title": "A"}
    expected = Work(X, {"title": "A"})
    assert (
        Work.from_json(csl)
        == Work.from_json(json.dumps([csl]))
        == Work.from_json(json.dumps(csl).encode())
        == expected
    )
    assert Work.from_json({"DOI": "10.1000/primary", "title": "A"}, doi=X) == expected, "an alias"


def test_html_is_escaped() -> None:
    html = work(title="<x onclick=alert(1)> & <y>", author=[{"family": "<z>"}], publisher='"')._repr_html_()
    assert "&lt;x onclick=alert(1)&gt; &amp; &lt;y&gt;" in html
    assert "&lt;z&gt;" in html
    assert "<td>&quot;</td>" in html
    assert 'href="https://doi.org/10.1000/x"' in html
    assert "<x" not in html
    many = work(author=[{"family": f"F{number}"} for number in range(9)])._repr_html_()
    assert "F0, et al." in many


def test_is_empty() -> None:
    assert work().is_empty
    assert work(title="(:unav)", issued=2006, volume="1").is_empty
    assert not work(publisher="A").is_empty
    assert not work(editor=["A"]).is_empty
