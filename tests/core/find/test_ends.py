"""Characters that decide where a mention starts and ends: on either side of each bound, several of a kind."""

from __future__ import annotations

import pytest
from doiuri import find


def names(text: str, syntax: str = "text") -> list[str]:
    return [match.doi.name for match in find(text, syntax)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x10.1000/1", []),
        ("é10.1000/1", []),
        ("日10.1000/1", ["10.1000/1"]),
        ("1.10.1000/1", []),
        ("a.10.1000/1", ["10.1000/1"]),
        ("1-10.1000/1", []),
        ("a_10.1000/1", []),
        ("a@10.1000/1", []),
        ("$10.1000/1", []),
        ("€10.1000/1", []),
        ("%2F10.1000/1", ["10.1000/1"]),
        ("x%2f10.1000/1", ["10.1000/1"]),
        ("%2G10.1000/1", []),
        ("a\\n10.1000/1", ["10.1000/1"]),
        ("a\\u00a010.1000/1", ["10.1000/1"]),
        ("$$U10.1000/1$$E", ["10.1000/1"]),
        ("HTTPS://DX.DOI.ORG/10.1/a", ["10.1/a"]),
        ("xdoi.org/10.1/a", []),
        ("a//doi.org/10.1/a", []),
        ("doi     :10.1/a", ["10.1/a"]),
        ("xdoi:10.1/a", []),
        ("a?x=10.1000/a&b=1", ["10.1000/a"]),
        ("https://h/?doi=10.1000/a&b=1", ["10.1000/a"]),
        ("x =10.1000/a&b=1", ["10.1000/a"]),
        ("https://h/art:10.1000/a/MediaObjects/x.gif", ["10.1000/a"]),
        ("https://link.h/chp:10.1000/a/pdf", ["10.1000/a"]),
    ],
)
def test_what_stands_before_a_name(text: str, found: list[str]) -> None:
    assert names(text) == found


@pytest.mark.parametrize(
    ("text", "mention", "name"),
    [
        ("https://doi.org:1234/api/handles/10.1/a", "https://doi.org:1234/api/handles/10.1/a", "10.1/a"),
        ("https://doi.org./10.1/a", "https://doi.org./10.1/a", "10.1/a"),
        ("//doi.org/10.1/a", "//doi.org/10.1/a", "10.1/a"),
        ("doi    :    10.1/a", "doi    :    10.1/a", "10.1/a"),
    ],
)
def test_labels_and_links_are_part_of_the_mention(text: str, mention: str, name: str) -> None:
    assert [(match.text, match.doi.name) for match in find(text)] == [(mention, name)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("10.1000/a 10.1000/b,10.1000/c;10.1000/d", ["10.1000/a", "10.1000/b", "10.1000/c", "10.1000/d"]),
        ("10.1000/a–10.1000/b", ["10.1000/a", "10.1000/b"]),
        ("10.1000/a(10.1000/b)", ["10.1000/a", "10.1000/b"]),
        ("10.1000/a(b)c)", ["10.1000/a(b)c"]),
        ("10.1000/a[b", ["10.1000/a"]),
        ("10.1000/a[^1]", ["10.1000/a"]),
        ("'10.1000/a's", ["10.1000/a"]),
        ("10.1000/a's b", ["10.1000/a"]),
        ("10.1000/a'sb", ["10.1000/a'sb"]),
        ('"10.1000/a"b"', ["10.1000/a"]),
        ('10.1000/a"b', ['10.1000/a"b']),
        ('10.1000/a" b', ["10.1000/a"]),
        ("*10.1000/a*b*", ["10.1000/a"]),
        ("[10.1000/a*b]", ["10.1000/a*b"]),
        ("10.1000/a*b", ["10.1000/a*b"]),
        ("10.1000/a&quot;b", ["10.1000/a"]),
        ("10.1000/a&amp;b", ["10.1000/a&amp;b"]),
        ("10.1000/a&lt;b", ["10.1000/a&lt;b"]),
        ("10.1000/a&lt;/b", ["10.1000/a"]),
        ("10.1000/a&gt;", ["10.1000/a"]),
        ("10.1000/a&gt;b", ["10.1000/a&gt;b"]),
        ("10.1000/a&#34;b", ["10.1000/a"]),
        ("10.1000/a<br/>", ["10.1000/a"]),
        ("10.1000/a</b>", ["10.1000/a"]),
        ("10.1000/a<!--", ["10.1000/a"]),
        ("10.1000/<1::2>3", ["10.1000/<1::2>3"]),
        ("10.1000/< 1", []),
        ("_10.1000/a_", ["10.1000/a"]),
        ("~10.1000/a~", ["10.1000/a"]),
        ("10.1000/a->b", ["10.1000/a"]),
        ("10.1000/a%20", ["10.1000/a"]),
        ("10.1000/a%C2%A0%20", ["10.1000/a"]),
        ("10.1000/a%E2%80%8B.", ["10.1000/a"]),
        ("10.1000/a%21", ["10.1000/a!"]),
        ("10.1000/ahttp://x", ["10.1000/a"]),
        ("10.1000/ahttps://x", ["10.1000/a"]),
        ("10.1000/a://x", ["10.1000/a"]),
        ("10.1000/a日本", ["10.1000/a"]),
        ("10.1000/日本", ["10.1000/日本"]),
        ("https://x.org/10.1101/2020.01.01.1v2", ["10.1101/2020.01.01.1"]),
        ("https://x.org/10.1101/2020.01.01.1v10", ["10.1101/2020.01.01.1"]),
        ("https://x.org/10.1101/2020.01.01.1v100", ["10.1101/2020.01.01.1v100"]),
        ("https://academic.oup.com/10.1093/a/b12/12345", ["10.1093/a/b12"]),
        ("https://academic.oup.com/10.1093/a/b12/1234", ["10.1093/a/b12/1234"]),
        ("https://o.org/10.1000/a/pdf", ["10.1000/a"]),
        ("https://o.org/10.1000/a.full-text.pdf+html", ["10.1000/a"]),
        ("https://o.org/10.1000/a;jsessionid=1", ["10.1000/a"]),
        ("https://o.org/10.1000/pdf", ["10.1000/pdf"]),
        ("10.4912/7.05e-08", []),
        ("10.4912/7e", ["10.4912/7e"]),
        ("10.1000/{number}", []),
        ("10.1000/{}", []),
        ("10.1000/{AB}", ["10.1000/{AB}"]),
        ("10.1000/%s", []),
        ("10.1000/<id>", []),
        (
            "https://img.shields.io/badge/DOI-10.1038%2Fs41592--019--0686--2-blue.svg",
            ["10.1038/s41592-019-0686-2"],
        ),
        ("https://img.shields.io/badge/DOI-10.1000%2Fa__b-blue", ["10.1000/a_b"]),
        ('"https:\\/\\/doi.org\\/10.1000\\/a\\u0028b\\u0029"', ["10.1000/a(b)"]),
        ("h?q=%2210.1000/a%22%2C%2210.1000/b%22", ["10.1000/a", "10.1000/b"]),
        ("https://h/?q=10.1000/a+OR+10.1000/b", ["10.1000/a", "10.1000/b"]),
        ("https://h/?dois=10.1000/a%2C10.1000/b", ["10.1000/a", "10.1000/b"]),
        ("https://h/?x=https%3A%2F%2Fdoi.org%2F10.1000/a%26b", ["10.1000/a"]),
        ("urn:doi:10.1000:a:b", ["10.1000/a:b"]),
        ("urn:doi:10.1000/a", ["10.1000/a"]),
        ("10.1000:a", []),
        ("10.12/a", []),
        ("10.123/a", []),
        ("10.1234/a", ["10.1234/a"]),
        ('"doi": "10.12/a"', ["10.12/a"]),
        ('<doi x="y">10.12/a', ["10.12/a"]),
        ("doi of the 10.12/a", []),
        ("doi:10.1000/a?b", ["10.1000/a?b"]),
        ("doi:10.1000/a#b", ["10.1000/a#b"]),
        ("https://doi.org/10.1000/a?b", ["10.1000/a"]),
        ("10.1000/a?b", ["10.1000/a?b"]),
        ("10.1000/a...", ["10.1000/a"]),
        ("10.1000/a²", ["10.1000/a"]),
        ("10.1000/a™", ["10.1000/a"]),
        ("10.1000/.", []),
        ("10.1000/a;2-b", ["10.1000/a;2-b"]),
        ("10.1000/a;b", ["10.1000/a;b"]),
        ("10.1000/a,b", ["10.1000/a,b"]),
        (",10.1000/a,b", ["10.1000/a"]),
        ("\n10.1000/a,b\nx,y", ["10.1000/a"]),
        ("x,y\n10.1000/a,b", ["10.1000/a"]),
        ("x;y\n10.1000/a,b", ["10.1000/a,b"]),
    ],
)
def test_what_ends_a_name(text: str, found: list[str]) -> None:
    assert names(text) == found


@pytest.mark.parametrize(
    ("syntax", "text", "found"),
    [
        ("html", '<a xlink:href="10.1000/a b">', ["10.1000/a b"]),
        ("html", "<a href='https://doi.org/10.1/a&amp;b'>x</a>", ["10.1/a&b"]),
        ("bibtex", "ee = {https://doi.org/10.1/a_b}", ["10.1/a_b"]),
        ("bibtex", 'doi = "10.12/a"', ["10.12/a"]),
        ("bibtex", "doi = {10.1000/{ABC}}", ["10.1000/ABC"]),
        ("markdown", "[x](https://doi.org/10.1/a(b))", ["10.1/a(b)"]),
        ("markdown", "`10.1000/a`", ["10.1000/a"]),
        ("markdown", "<https://doi.org/10.1/a>", ["10.1/a"]),
        ("markdown", "10.1000/a\\_b", ["10.1000/a_b"]),
        ("markdown", "**10.1000/a**", ["10.1000/a"]),
        ("markdown", "> 10.1000/a", ["10.1000/a"]),
        ("rst", ":doi:`t <10.1/a>`", ["10.1/a"]),
        ("rst", "``10.1000/a``", ["10.1000/a"]),
        ("rst", "`t <https://doi.org/10.1/a>`_", ["10.1/a"]),
        ("rst", "10.1000/a\\*b", ["10.1000/a*b"]),
        ("rst", "*10.1000/a*", ["10.1000/a"]),
    ],
)
def test_notations(syntax: str, text: str, found: list[str]) -> None:
    assert names(text, syntax) == found


@pytest.mark.parametrize(("count", "found"), [(1, ["10.12/a"]), (8, ["10.12/a"]), (9, [])])
@pytest.mark.parametrize("markup", ["<b>", ":"])
def test_a_word_is_a_label_only_nearby(markup: str, count: int, found: list[str]) -> None:
    assert names(f"doi{markup * count}10.12/a") == found


@pytest.mark.parametrize(("length", "found"), [(85, ["10.12/a"]), (130, [])])
def test_an_attribute_that_says_doi_is_a_label_only_nearby(length: int, found: list[str]) -> None:
    assert names(f'<id type="doi" y="{"y" * length}">10.12/a') == found


@pytest.mark.parametrize(("length", "inside"), [(490, True), (505, False)])
def test_a_query_is_looked_for_so_far_back(length: int, inside: bool) -> None:
    text = f"https://h/?{'x' * length}=10.1000/a%2C10.1000/b"
    assert (names(text) == ["10.1000/a", "10.1000/b"]) is inside


@pytest.mark.parametrize(
    "name",
    [
        f"10.1000/{'a:' * 999}b",
        f"10.1000/{'(a)' * 999}b",
        f"10.1000/x(1999)1<1{':1' * 999}:a>2.0.CO;2-#",
        f"10.1000{'.1' * 999}/a",
    ],
    ids=["colons", "brackets", "SICI", "prefix"],
)
def test_a_name_may_have_any_number_of_parts(name: str) -> None:
    assert [match.doi.name for match in find(f"see doi:{name}, and")] == [name]


@pytest.mark.parametrize(
    ("syntax", "text"),
    [
        ("rst", "`{0}10.1000/a <https://doi.org/10.1000/b>`_"),
        ("rst", ".. _{0}: https://doi.org/10.1000/a?b"),
        ("markdown", "[x](<{0}https://doi.org/10.1000/a>)"),
        ("bibtex", 'doi = "10.1000/a{0}"'),
    ],
)
def test_any_number_of_escapes(syntax: str, text: str) -> None:
    few = [match.doi.name for match in find(text.format("\\_" * 2), syntax)]
    assert few
    assert len([match.doi.name for match in find(text.format("\\_" * 900), syntax)]) == len(few)


def test_matches_carry_their_own_places() -> None:
    text = "See doi:10.1/a, 10.1000/b; https://doi.org/10.1/c."
    matches = list(find(text))
    assert [(match.start, match.end) for match in matches] == [(4, 14), (16, 25), (27, 49)]
    assert [text[match.start : match.end] for match in matches] == [match.text for match in matches]


def test_an_unclosed_bracket_ends_each_name_in_turn() -> None:
    assert names("10.1000/a(10.1000/b(10.1000/c(d") == ["10.1000/a", "10.1000/b", "10.1000/c"]
    assert names("10.1000/a(b 10.1000/c(d)e") == ["10.1000/a", "10.1000/c(d)e"]
    assert names("10.1000/a((b)c 10.1000/d") == ["10.1000/a", "10.1000/d"]
