"""Readers of markup: places are in the file and in order, whatever the text; time is linear."""

from __future__ import annotations

from functools import partial

import pytest
from doiuri import DOI, find
from doiuri.testing.strategies import dois
from doiuri_cli._mentions import mentions_in
from doiuri_cli.files import Source
from doiuri_cli.readers import ReadError, reader_for
from doiuri_cli.readers._blank import may_mention
from doiuri_cli.readers._escape import escape
from doiuri_cli.readers._markdown import html_without_code as html
from doiuri_cli.readers._markdown import without_code as markdown
from doiuri_cli.readers._rst import without_code as rst
from doiuri_cli.readers._tex import without_code as tex
from hypothesis import given
from hypothesis import strategies as st
from support.adversary import PATTERNS
from support.growth import is_linear

NAMES = ("a.md", "a.rst", "a.html", "a.xml", "a.bib", "a.tex", "a.txt")
PIECES = (
    *PATTERNS,
    *("10.1000/182", "doi:10.12/x", "https://doi.org/10.1000/a", "https://doi.org/10.1O00/a", "doi:bad"),
    *(
        "\n",
        "\r\n",
        "\n\n",
        "    ",
        "\t",
        "`",
        "``",
        "```",
        "~~~",
        "```{note}\n",
        "<!--",
        "-->",
        "<code>",
        "</code>",
    ),
    *(
        "---\n",
        "+++\n",
        "doi: ",
        "::\n\n",
        ".. ",
        ".. code::\n",
        ">>> ",
        "- ",
        ":doi:`",
        "{doi}`",
        "](",
        "](doi:",
    ),
    *(
        "@article{a,",
        "@string{s = ",
        "@comment{",
        "doi = {",
        'doi = "',
        "}",
        '"',
        " # ",
        "s",
        ",",
        "%",
        "\\%",
        "{",
        "(",
    ),
    *(
        "\\doi{",
        "\\url{",
        "\\verb|",
        "\\begin{verbatim}",
        "\\end{verbatim}",
        "\\iffalse",
        "\\fi",
        "\\end{document}",
    ),
    *("<script>", "</script>", "<pre>", "</pre>", 'content="', 'citation_doi" ', "\\", "\x00", "é"),
)
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=14).map("".join)


@given(texts, st.sampled_from(NAMES))
def test_mentions_are_in_the_file_and_in_order(text: str, name: str) -> None:
    source = Source(name, text)
    read = reader_for(name)
    assert read is not None
    last = 0
    try:
        parts = list(read(source))
    except ReadError:
        return
    for part in parts:
        assert part.places is None or len(part.places) == len(part.text) + 1
        for mention in mentions_in(part):
            assert part.text[mention.start : mention.end] == mention.text
            assert (mention.doi is None) == (mention.error is not None)
            first, end = part.span(mention.start, mention.end)
            assert last <= first < end <= len(text)
            last = end


@given(texts, st.sampled_from(["a.md", "a.rst", "a.html", "a.tex", "a.txt"]))
def test_only_blanks_are_put_in(text: str, name: str) -> None:
    read = reader_for(name)
    assert read is not None
    for part in read(Source(name, text)):
        original = text[part.start : part.start + len(part.text)]
        assert len(original) == len(part.text)
        assert all(
            new == old or (new == " " and old not in "\r\n")
            for new, old in zip(part.text, original, strict=True)
        )


@given(
    st.lists(st.sampled_from(["10.1000/182", "doi:10.12/x", "word", "3.14", "(", "\n", " "]), max_size=9).map(
        "".join
    )
)
def test_a_text_that_is_passed_over_mentions_nothing(text: str) -> None:
    assert may_mention(text) or not list(find(text))


@given(dois())
def test_an_escaped_link_is_read_as_its_doi(doi: DOI) -> None:
    for syntax, before, after in (
        ("html", '<a href="', '">x</a>'),
        ("xml", "<a href='", "'/>"),
        ("markdown", "[x](", ")"),
        ("rst", "`x <", ">`_"),
        ("tex", "\\href{", "}{x}"),
        ("bibtex", "url = {", "}"),
    ):
        written = f"{before}{escape(doi.url, syntax, 'link')}{after}"
        assert [match.doi.name for match in find(written, syntax)] == [doi.name]


@pytest.mark.parametrize("syntax", ["html", "markdown", "rst", "tex", "bibtex"])
@pytest.mark.parametrize(
    "name",
    [
        "10.1000/a_b",
        "10.1000/a&amp;b",
        "10.1000/a*b*c",
        "10.1002/(SICI)1096-8644(199601)99:1<1::AID-AJPA1>3.0.CO;2-1",
    ],
)
def test_an_escaped_name_is_read_as_it_is(name: str, syntax: str) -> None:
    assert [match.doi.name for match in find(f"x {escape(name, syntax)} y", syntax)] == [name]


def test_escapes_of_each_syntax() -> None:
    assert escape('a&<>"', "html", "link") == "a&amp;&lt;&gt;&quot;"
    assert escape('a&<>"', "xml") == 'a&amp;&lt;&gt;"'
    assert escape("_a_b_ *c* [d]", "markdown") == r"\_a_b\_ \*c\* \[d\]"
    assert escape("https://doi.org/10.1000/a(b", "markdown", "link") == r"https://doi.org/10.1000/a\(b"
    assert escape("a_ `b`", "rst") == r"a\_ \`b\`"
    assert escape("50%_#&", "tex") == r"50\%\_\#\&"
    assert escape("50%_#&", "bibtex", "field") == "50%_#&"
    assert escape("a%3Cb_c", "tex", "link") == r"a\%3Cb_c"
    assert escape("a&<_", "text") == "a&<_"


@pytest.mark.parametrize("without_code", [html, markdown, rst, tex])
def test_text_without_code_stays_the_same_object(without_code: object) -> None:
    text = "No code, but 10.1000/182 and doi:10.12/x.\n\nMore.\n"
    assert callable(without_code)
    assert without_code(text) is text


@pytest.mark.parametrize("name", NAMES[:-1])  # plain text is for find alone
def test_time_is_linear(name: str) -> None:
    read = reader_for(name)
    assert read is not None

    def mentions(unit: str, size: int) -> list[object]:
        parts = read(Source(name, unit * (size // len(unit))))
        return [mention for part in parts for mention in mentions_in(part)]

    for pattern in PIECES:
        assert is_linear(partial(mentions, f"{pattern}10.1000/182 doi"), 1_500, 15_000), pattern
