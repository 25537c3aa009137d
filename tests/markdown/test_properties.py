"""Properties of every name and every text; a text without DOIs stays as plain Markdown makes it."""

import html
import re
from itertools import product
from pathlib import Path

import markdown
import markdown_doiuri
import pytest
from doiuri import DOI, find
from doiuri.testing.strategies import dois, spelled_uris
from hypothesis import given
from hypothesis import strategies as st
from support.checks import assert_times, only

from .conftest import Page, convert

WORDS = [
    "word",
    "*emphasis*",
    "**strong**",
    "`code`",
    "[link](https://example.org/)",
    "a_b",
    "<b>raw</b>",
]
WORDS += [
    "&amp;",
    "![image](x.png)",
    "\\*",
    "1 < 2",
    "(aside)",
    '"quoted"',
    "$x$",
    "10.5",
    "doi",
    "DOI:",
]
WORDS += ["\n", "\n\n"]
MENTIONS = [
    f"{label}10.1000/a-b.1" for label in ("", "doi:", "DOI:", "DOI: ", "doi: ", "mydoi:", " doi:")
]
MENTIONS += [
    " ",
    "DOI: 10.1000",
    "10.1000/x$",
    "$",
    "doi:10.1/x",
    "/a_b",
    ". ",
    ";",
    "{: title=",
    "}",
    "<a>",
]
PROSE = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
MARKUP = st.text(st.sampled_from("doi:10./<>[]()*_`\\&;#\"' \n$!{}-ab1"), max_size=60)


@given(PROSE, spelled_uris(), PROSE)
def test_a_planted_uri_comes_back_once(before: str, planted: tuple[str, DOI], after: str) -> None:
    uri, doi = planted
    if (
        html.unescape(uri) != uri
    ):  # Markdown would read "&lt;" as a character, so write its "&" as an entity
        uri = html.escape(uri)
    page = Page(convert(f"{before} <{uri}> {after}").html)
    assert [found.name for found in page.dois] == [doi.name]


@given(PROSE, dois(), PROSE)
def test_a_bare_uri_comes_back_once(before: str, doi: DOI, after: str) -> None:
    """If the end of a name is unambiguous, its URI is found in running text."""
    doi = DOI(doi.name + "x")
    page = Page(convert(f"{before} {doi.uri} {after}").html)
    assert [found.name for found in page.dois] == [doi.name]


# Their ends are known, though they have separators and brackets (ANSI/NISO Z39.56)
ENDED = [
    "10.1206/0003(2000)286[1:t]2.0.CO;2",
    "10.1175/1520(1999)012:1.2.0.co;2-x",
    "10.1000/a(b,c)d",
]
ROWS = [
    "{}\n{}",
    "{};{}",
    "{}, {}",
    ";{};{};",
    "- {}\n- {}",
    "{}\t{}",
    "{},\n{}",
    "({}; {})",
    "⟨{}⟩ ⟨{}⟩",
]


@pytest.mark.parametrize("label", ["", "doi:", "https://doi.org/"])
@pytest.mark.parametrize("row", ROWS)
def test_a_name_beside_another_is_the_name_alone(row: str, label: str) -> None:
    for names in product(ENDED, repeat=2):
        text = row.format(*(label + name for name in names))
        page = Page(convert(text, bare_names=True, bare_links=True).html)
        assert [doi.name for doi in page.dois] == [*names]


@given(dois())
def test_a_link_shows_the_name_and_leads_to_it(doi: DOI) -> None:
    """The visible text is ``doi:{name}``: the characters of the name, escaped once."""
    shown = convert(f"[]({doi.uri})").html
    assert Page(shown).links == [(doi.url, "doi", f"doi:{doi.name}")]
    assert_times(0, "<", re.sub(r"<[^<>]*>", "", shown))


@given(MARKUP)
def test_any_text_is_converted_and_shown(text: str) -> None:
    """No text makes the extension fail, leak a marker, or lose characters that plain Markdown shows."""
    shown = convert(text, bare_names=True, tidy_links=True).html
    assert not re.search("[\x02\x03]|klzzwxh|wzxhzdk", shown)
    if "<" not in text and "[" not in text:
        assert Page(shown).text.split() == Page(markdown.markdown(text)).text.split()


@given(MARKUP)
def test_every_link_is_http(text: str) -> None:
    """Every link that the extension makes is http or https."""
    plain = {link[:2] for link in Page(markdown.markdown(text)).links}
    links = {link[:2] for link in Page(convert(text).html).links}
    made = {
        link for link in links if link[0].startswith("https://doi.org/10.") and link[1] == "doi"
    }
    assert links - made <= {link for link in plain if not link[0].lower().startswith("doi:")}


EXTENSIONS = [[], ["extra", "codehilite", "toc", "smarty", "admonition", "sane_lists"]]
OWN = Path(__file__).with_name("syntax.md").read_text(encoding="utf-8")


BLANKS = "", " ", "\u00a0", "\u202f"
LABELS = [
    *("doi:", "hdl:", "info:doi/", "info:hdl/", "urn:doi:"),
    *(f"doi{before}:{after}" for before, after in product(BLANKS, BLANKS)),
    *(f"doi{blank}" for blank in BLANKS if blank),
]
CASES = str.lower, str.upper, str.capitalize
MENTIONED = [f"{change(label)}10.1000/182" for label, change in product(LABELS, CASES)]


@pytest.mark.parametrize("text", MENTIONED)
def test_every_label_that_find_takes_is_linked(text: str) -> None:
    """Alone in its paragraph: nothing else tells the extension to search."""
    match = only("DOI", find(text, "markdown"))

    href, _, shown = only("link", Page(convert(text).html).links)

    assert match.text == text
    assert (href, shown) == (match.doi.url, match.text)


def same(text: str, extensions: list[str]) -> bool:
    ours = markdown_doiuri.makeExtension(resolve=False, bare_names=True, tidy_links=True)
    return markdown.markdown(text, extensions=[*extensions, ours]) == markdown.markdown(
        text, extensions=extensions
    )


@pytest.mark.parametrize("extensions", EXTENSIONS, ids=["plain", "extended"])
def test_every_construct_of_markdown(extensions: list[str]) -> None:
    assert same(OWN, extensions)
    assert same(OWN.replace("\n", "\r\n"), extensions)


@pytest.mark.parametrize(
    "attribute",
    ['title="<doi:10.1000/182>"', "title='doi:10.1000/182'", 'alt="[x](doi:10.1000/1)"'],
)
def test_attributes_are_none_of_ours(attribute: str) -> None:
    assert same(f"a <span {attribute}>b</span> c", [])
