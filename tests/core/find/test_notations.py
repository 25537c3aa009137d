"""The notations of markup on either side of each rule: escapes, literals, links, fields, roles."""

from __future__ import annotations

import pytest
from doiuri import find


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("           [1]: https://doi.org/10.1/a_(b", ["10.1/a_(b"]),
        ("x [1]: https://doi.org/10.1/a(b c", ["10.1/a"]),
        ("[x](<https://doi.org/10.1/a b> 't')", ["10.1/a b"]),
        ("[x](https://doi.org/10.1/a(b)c) d)", ["10.1/a(b)c"]),
        ("[x](https://doi.org/10.1/a\\)b)", ["10.1/a)b"]),
        ("[x]( https://doi.org/10.1/a 't')", ["10.1/a"]),
        ("`10.1000/a` b`", ["10.1000/a"]),
        ("``10.1000/a`b``", ["10.1000/a`b"]),
        ("```\n10.1000/a`b\n```\n`10.1000/c`", ["10.1000/a`b", "10.1000/c"]),
        ("~~~\n10.1000/a*\n~~~\n10.1000/c", ["10.1000/a*", "10.1000/c"]),
        ("```x`10.1000/a```", ["10.1000/a"]),
        ("``` \n10.1000/a\n````\n*10.1000/c*", ["10.1000/a", "10.1000/c"]),
        ("10.1000/a&amp;b", ["10.1000/a&b"]),
        ("10.1000/a\u200bb", ["10.1000/ab"]),
        ("10.1000/a<wbr>b", ["10.1000/ab"]),
        ("<doi:10.1/a>", ["10.1/a"]),
        ("<a href='10.1000/a b'>", ["10.1000/a b"]),
        ("10.1000/a\\<b\\>", ["10.1000/a<b>"]),
        ("```a`\n10.1000/a\\_b", ["10.1000/a_b"]),
        ("`10.1000/a#b`", ["10.1000/a#b"]),
    ],
)
def test_markdown(text: str, found: list[str]) -> None:
    assert [match.doi.name for match in find(text, "markdown")] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("10.1000/a&amp;b&lt;c&gt;", ["10.1000/a&b<c>"]),
        ("10.1000/a&#38;b", ["10.1000/a&b"]),
        ("10.1000/a<wbr/>b", ["10.1000/ab"]),
        ("10.1000/a\xadb", ["10.1000/ab"]),
        ("10.1000/a<b>c", ["10.1000/a"]),
        ("<a href=10.1000/a>x", ["10.1000/a"]),
        ("<a href='x' data-x=\"10.1000/a\" y>", ["10.1000/a"]),
        ("<a href='https://doi.org/10.1/a\n b'>", ["10.1/a b"]),
        ("<a title='10.1000/a b'>", ["10.1000/a"]),
        ("<style>x 10.1000/a</style><b>", ["10.1000/a"]),
        ("<!-- 10.1000/a -->", ["10.1000/a"]),
        ("<SCRIPT >10.1000/a&b;</SCRIPT>", ["10.1000/a&b"]),
    ],
)
def test_html(text: str, found: list[str]) -> None:
    assert [match.doi.name for match in find(text, "html")] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('<pub-id pub-id-type="doi">10.1000/a b</pub-id>', ["10.1000/ab"]),
        ("<article-id pub-id-type='doi'> 10.1000/ab c </article-id>", ["10.1000/abc"]),
        ("<pub-id pub-id-type='pmid'>10.1000/a b</pub-id>", ["10.1000/a"]),
    ],
)
def test_xml(text: str, found: list[str]) -> None:
    assert [match.doi.name for match in find(text, "xml")] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("doi = {10.12/a}, x", ["10.12/a"]),
        ("Doi={{10.12/a}}", ["10.12/a"]),
        ("url = {https://doi.org/10.1/a\\%20b}", ["10.1/a b"]),
        ("note = {see 10.1000/a}", ["10.1000/a"]),
        ('doi = "10.12/a{_}b"', ["10.12/a_b"]),
        ("doi = {10.1000/a{\\_}b}", ["10.1000/a_b"]),
        ("doi = {10.1000/a$_4$b}", ["10.1000/a_4b"]),
        ("10.1000/{a}{b}c", ["10.1000/abc"]),
        ("{10.1000/a}", ["10.1000/a"]),
        ("x {10.1000/a{b}} y", ["10.1000/ab"]),
        ("doi = {10.1000/a\\&b\\#c\\$}", ["10.1000/a&b#c$"]),
        ("doi = {10.1000/\\'{e}}", ["10.1000/é"]),
    ],
)
def test_bibtex(text: str, found: list[str]) -> None:
    assert [match.doi.name for match in find(text, "bibtex")] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("\\doi{10.12/a\\_b}", ["10.12/a_b"]),
        ("\\href{https://doi.org/10.1/a}{10.1000/b}", ["10.1/a", "10.1000/b"]),
    ],
)
def test_tex(text: str, found: list[str]) -> None:
    assert [match.doi.name for match in find(text, "tex")] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (":doi:`10.12/a`", ["10.12/a"]),
        (":x-doi:`10.12/a`", ["10.12/a"]),
        (":xdoi:`10.12/a`", []),
        (":ref:`10.12/a`", []),
        (":doi:`t 10.1000/b <10.12/a>`", ["10.1000/b", "10.12/a"]),
        (":doi:`10.1000/a<10.1000/a>`", ["10.1000/a", "10.1000/a"]),
        (":doi:`10.1000/a<b>`", ["10.1000/a<b>"]),
        (".. _x: https://doi.org/10.1/\n   a\n\n10.1000/b", ["10.1/a", "10.1000/b"]),
        (".. _x:\n\n   10.1000/a", ["10.1000/a"]),
        ("__ https://doi.org/10.1/a", ["10.1/a"]),
        ("  .. _x: https://doi.org/10.1/a\n  10.1000/b", ["10.1/a", "10.1000/b"]),
        ("10.1000/a_ b", ["10.1000/a"]),
        ("``10.1000/a_``", ["10.1000/a_"]),
        ("``10.1000/a", ["10.1000/a"]),
        ("10.1000/a\\ b", ["10.1000/a"]),
        ("10.1000/a\\_b", ["10.1000/a_b"]),
        ("`10.1000/a`", ["10.1000/a"]),
        ("`10.1000/a", ["10.1000/a"]),
        ("`a \\` 10.1000/b`", ["10.1000/b"]),
        ("  .. _x: https://doi.org/10.1/\n     a\n  b", ["10.1/a"]),
        ("  .. _x:\n  10.1000/a b", ["10.1000/a"]),
    ],
)
def test_restructuredtext(text: str, found: list[str]) -> None:
    assert [match.doi.name for match in find(text, "rst")] == found
