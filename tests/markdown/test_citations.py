"""Citations: their syntax, their labels, and the list of references."""

import json
import re
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from support.checks import assert_same, exactly, repeated
from support.references import ANTS, LOOKS, NOTES, RECORDS

from .conftest import Page, Render, Rendered, Serve

KAHN = '<a href="#ref-10.5555_2fkahn-2006" id="cite-10.5555_2fkahn-2006" role="doc-biblioref">'
LISTED = '<div class="doi-references" role="doc-bibliography">'


@pytest.fixture
def cite(render: Render, serve: Serve) -> Render:
    """Convert with the works of the shared cases."""
    serve(RECORDS)

    def convert(source: str, /, *extensions: Any, **options: Any) -> Rendered:
        return render(source, *extensions, **{"resolve": True, **options})

    return convert


def texts(html: str) -> list[str]:
    """The texts of the citations in a page, in order."""
    spans = re.findall(r'<span class="doi-citation">(?:(?!</span>).)*</span>', html, re.DOTALL)
    return [Page(span).text for span in spans]


HOSTILE = "(<x onclick=alert(1)>M. & O’Neil & <Sons>, 2020)"
DOCUMENTS = {
    "one work twice is one entry": (
        ["[@doi:10.5555/kahn-2006]", "@doi:10.5555/KAHN-2006"],
        ["(Kahn & Wilensky, 2006)", "Kahn and Wilensky (2006)"],
        [
            (
                "Kahn, R., & Wilensky, R. (2006). A framework for distributed digital object services. "
                "International Journal on Digital Libraries, 6(2), 115–123. https://doi.org/10.5555/kahn-2006"
            )
        ],
    ),
    "works in brackets have the order of the list, those in a sentence that of the author": (
        [
            "[@doi:10.5555/berg-1999; @doi:10.5555/humboldt-1845]",
            "@doi:10.5555/berg-1999; @doi:10.5555/humboldt-1845",
        ],
        ["(Humboldt, 1845; van der Berg, 1999)", "van der Berg (1999)", "Humboldt (1845)"],
        [
            "Humboldt, A. von (1845). Kosmos. https://doi.org/10.5555/humboldt-1845",
            "van der Berg, A. (1999). On dikes. https://doi.org/10.5555/berg-1999",
        ],
    ),
    "letters have the order of the list": (
        ["[@doi:10.5555/kahn-b]", "[@doi:10.5555/kahn-a, pp. 3-5]", "[-@doi:10.5555/kahn-a]"],
        ["(Kahn, 2001b)", "(Kahn, 2001a, pp. 3–5)", "(2001a)"],
        [
            "Kahn, R. (2001a). Alpha. https://doi.org/10.5555/kahn-a",
            "Kahn, R. (2001b). Beta. https://doi.org/10.5555/kahn-b",
        ],
    ),
    "a DOI without metadata is a link, and not in the list": (
        [
            "[@doi:10.5555/no-metadata]",
            "@doi:10.5555/no-metadata",
            "[see @doi:10.5555/no-metadata, p. 2]",
        ],
        [
            "(doi:10.5555/no-metadata)",
            "doi:10.5555/no-metadata",
            "(see doi:10.5555/no-metadata, p. 2)",
        ],
        [],
    ),
    "markup in metadata is text": (
        ["[@{doi:10.5555/a<b>#c;d,(e)}]"],
        [HOSTILE],
        [
            (
                "<x onclick=alert(1)>M., & O’Neil & <Sons> (2020). alert(1) <iframe src=javascript:alert(1)> "
                "& evil Homo CO2. https://doi.org/10.5555/a%3Cb%3E%23c;d,(e)"
            )
        ],
    ),
    "a locator follows a citation in a sentence": (
        [
            "@doi:10.5555/kahn-b [ch. 3, and later]",
            "@{doi:10.5555/kahn-b} [p. 3]",
            "@doi:10.5555/kahn-b [x]",
        ],
        ["Kahn (2001, chap. 3, and later)", "Kahn (2001, p. 3)", "Kahn (2001)"],
        ["Kahn, R. (2001). Beta. https://doi.org/10.5555/kahn-b"],
    ),
}


@pytest.mark.parametrize(("sources", "citations", "entries"), DOCUMENTS.values(), ids=DOCUMENTS)
def test_citations_and_lists(
    sources: list[str], citations: list[str], entries: list[str], cite: Render
) -> None:
    html = cite("\n\n".join(f"x {source} y" for source in sources)).html
    assert texts(html) == citations
    items = [
        Page(item).text
        for item in re.findall(r'<li class="csl-entry" id=.*?</li>', html, re.DOTALL)
    ]
    assert [re.sub(r" ↩(?:\xa01(?: \d)+)?$", "", item) for item in items] == entries


@pytest.mark.parametrize("options", [{"citation": "number"}, {"reference_style": "numeric"}])
def test_numbers_have_the_order_of_the_first_citations(
    options: dict[str, str], cite: Render
) -> None:
    keys = ["kahn-b", "kahn-2006", "three", "berg-1999"]
    source = "[@doi:10.5555/{0}] [@doi:10.5555/{1}, p. 2; -@doi:10.5555/{0}] @doi:10.5555/{2} [@doi:10.5555/{3}]"
    html = cite(
        f"{source.format(*keys)} [@doi:10.5555/{'; @doi:10.5555/'.join(keys)}]", **options
    ).html
    assert texts(html) == ["[1]", "[1; 2, p. 2]", "Kahn et al. [3]", "[4]", "[1–4]"]
    assert re.findall(r'<li class="csl-entry" id="ref-10.5555_2f([^"]*)">(\w\. \w+)', html) == [
        ("kahn-b", "R. Kahn"), ("kahn-2006", "R. Kahn"), ("three", "R. Kahn"), ("berg-1999", "A. van"),
    ]  # fmt: skip


def test_bytes(cite: Render) -> None:
    assert cite("See [@doi:10.5555/kahn-2006] and @doi:10.5555/KAHN-2006.").html == (
        f'<p>See <span class="doi-citation">({KAHN}Kahn &amp; Wilensky, 2006</a>)</span> and '
        '<span class="doi-citation"><a href="#ref-10.5555_2fkahn-2006" id="cite-10.5555_2fkahn-2006-2" '
        'role="doc-biblioref">Kahn and Wilensky (2006)</a></span>.</p>\n'
        f"{LISTED}\n<h2>References</h2>\n"
        '<ul class="csl-bib-body" style="list-style: none; padding-left: 2em; text-indent: -2em">\n'
        '<li class="csl-entry" id="ref-10.5555_2fkahn-2006">Kahn, R., &amp; Wilensky, R. (2006). A framework for '
        "distributed digital object services. <em>International Journal on Digital Libraries</em>, "
        "<em>6</em>(2), 115–123. "
        '<a class="doi" href="https://doi.org/10.5555/kahn-2006">https://doi.org/10.5555/kahn-2006</a> '
        '<a aria-label="Back to citation 1 in the text" class="doi-backref" '
        'href="#cite-10.5555_2fkahn-2006" role="doc-backlink" '
        'style="display: inline-block; min-height: 24px; min-width: 24px; text-align: center; text-indent: 0" '
        'title="Back to citation 1 in the text">↩\xa01</a> '
        '<a aria-label="Back to citation 2 in the text" class="doi-backref" '
        'href="#cite-10.5555_2fkahn-2006-2" role="doc-backlink" '
        'style="display: inline-block; min-height: 24px; min-width: 24px; text-align: center; text-indent: 0" '
        'title="Back to citation 2 in the text">2</a></li>\n</ul>\n</div>'
    )


KAHN_P = "(Kahn & Wilensky, 2006)"
KAHN_T = "Kahn and Wilensky (2006)"
BOTH = "(Kahn & Wilensky, 2006; van der Berg, 1999)"
FORMS = {
    "[{k};@doi:10.5555/berg-1999]": BOTH,
    "[{k};\n@doi:10.5555/berg-1999]": BOTH,
    "[@{{doi:10.5555/kahn-2006}}; @doi:10.5555/berg-1999]": BOTH,
    "[-@{{doi:10.5555/kahn-2006}};-@doi:10.5555/berg-1999]": "(2006; 1999)",
    "[see {k}, p. 3; -@doi:10.5555/three]": "(2001; see Kahn & Wilensky, 2006, p. 3)",
    "[{k}; @doi:10.5555/KAHN-2006]": KAHN_P,
    "[@DOI:10.5555/kahn-2006.]": KAHN_P,
    "[{k}!]": KAHN_P,
    "**[{k}]**": KAHN_P,
    "[{k}][]": KAHN_P,
    "[x][{k}]": KAHN_P,
    "({k}, p. 3)": KAHN_T,
    "*{k}*": KAHN_T,
    "__{k}__": KAHN_T,
    "(_@{{doi:10.5555/kahn-2006}}_)": KAHN_T,
    "按{k}": KAHN_T,
    "@{{doi:10.5555/kahn-2006}}s": KAHN_T,
    "[*see* {k}]": KAHN_T,
    "[{k}, *p. 3*]": KAHN_T,
    "{k} [3]": KAHN_T,
    "{k} [p. 3 and *x*]": KAHN_T,
    r"[@doi:10.5555/a<b\>#c;d,\(e\)]": HOSTILE,
    "[@doi:10.5555/a&lt;b&gt;#c;d,(e)]": HOSTILE,
    "[@doi:10.5555/a<b>#c;d,(e)]": HOSTILE,
    "[@doi:10.5555/a%3Cb%3E%23c;d,(e)]": HOSTILE,
}


@pytest.mark.parametrize(("source", "expected"), FORMS.items(), ids=ascii)
def test_a_citation_is_read_in_every_form(source: str, expected: str, cite: Render) -> None:
    rendered = cite(source.format(k="@doi:10.5555/kahn-2006"))
    assert texts(rendered.html) == [expected]
    assert rendered.problems == []


NOT_CITED = [
    *("x__{0}", "[--{0}]"),
    *(
        "`[{0}]`",
        "    [{0}]",
        "<code>{0}</code>",
        "<code>[{0}; {0}]</code>",
        '<span title="{0}">x</span>',
        '<span title="[{0}]">x</span>',
    ),
    *("x <!-- [{0}] --> y", "x <!-- see\n{0} -- > -->", "x <?php [{0}] ?>", "x <![CDATA[ {0} ]]>"),
    *("[{0}](https://example.org/)", "[x {0}](https://example.org/)", "![{0}](x.png)"),
    *('<a href="https://example.org/">[{0}]</a>', "[{0}]: https://example.org/\n\n[{0}]"),
    *("@ doi:10.5555/kahn-2006", "@doi: 10.5555/kahn-2006", "@10.5555/kahn-2006"),
    *("doi:10.5555/kahn-2006", "https://doi.org/10.5555/kahn-2006"),
]


@pytest.mark.parametrize("source", NOT_CITED, ids=ascii)
def test_what_is_no_citation(source: str, cite: Render) -> None:
    source = source.format("@doi:10.5555/kahn-2006")
    html = cite(source).html
    assert html == cite(source, citations=False).html
    assert "doi-citation" not in html
    assert LISTED not in html


def test_without_the_option_everything_is_as_before(cite: Render) -> None:
    html = cite(
        "[@doi:10.5555/kahn-2006]\n\nBy @doi:10.5555/three.\n\n///References Go Here///",
        citations=False,
    ).html
    expected = (
        '<p>[@<a class="doi" href="https://doi.org/10.5555/kahn-2006">doi:10.5555/kahn-2006</a>]</p>\n'
        '<p>By @<a class="doi" href="https://doi.org/10.5555/three">doi:10.5555/three</a>.</p>\n'
        "<p>///References Go Here///</p>"
    )
    assert_same("the page without citations", html, expected)


def test_citations_need_no_mentions(cite: Render) -> None:
    html = cite("[@doi:10.5555/kahn-2006] @doi:10.5555/three doi:10.5555/kahn-b", bare=False).html
    assert texts(html) == ["(Kahn & Wilensky, 2006)", "Kahn et al. (2001)"]
    assert "doi:10.5555/kahn-b</p>" in html


@pytest.mark.parametrize(
    ("source", "locale", "heading"),
    [
        ("[@doi:10.5555/three]", "fr", '<h2 id="references">Références</h2>'),
        ("[@doi:10.5555/three]\n\n# Literature", "fr", ""),
        (
            "# Literature\n\n[@doi:10.5555/three]",
            "de-AT",
            '<h2 id="literaturverzeichnis">Literaturverzeichnis</h2>',
        ),
        (
            "# Literature\n\n- # [@doi:10.5555/three]",
            "en-GB",
            '<h2 id="references">References</h2>',
        ),
        ("[@doi:10.5555/three]\n\n///References Go Here///", "fr", ""),
    ],
)
def test_a_list_at_the_end_has_a_heading(
    source: str, locale: str, heading: str, cite: Render
) -> None:
    html = cite(source, "toc", reference_locale=locale).html
    assert html.partition(LISTED)[2].partition("<ul")[0].strip() == heading


def test_documents_on_one_page_have_their_own_ids(cite: Render) -> None:
    """A theme of Pelican may show whole articles on its index page."""
    names = "notes/a", "notes/b", "notes-a", "日本", "中国", "x" * 90, "x" * 91
    source = "[@doi:10.5555/three] doi:10.5555/three"
    pages = [cite(source, file=f"{name}.md", details=True).html for name in names]
    ids = [re.findall(r'\sid="([^"]*)"', page) for page in pages]
    assert ids[0] == [
        "cite-notes_2fa-10.5555_2fthree", "doi-card-notes_2fa-1", "doi-card-notes_2fa-0",
        "ref-notes_2fa-10.5555_2fthree",
    ]  # fmt: skip
    exactly(4 * len(names), "ids", set(chain.from_iterable(ids)))
    assert ' href="#ref-notes_2fb-10.5555_2fthree"' in pages[1]


def test_ids_are_unique_in_a_page(cite: Render) -> None:
    source = (
        '<P ID = "ref-10.5555_2fthree">x</p>\n\n# y {: #cite-10.5555_2fthree }\n\n'
        "@doi:10.5555/three [@doi:10.5555/three]{: #own .x } [@doi:10.5555/a<b>#c;d,(e)]"
    )
    html = cite(source, "attr_list", "toc").html
    ids = re.findall(r'\sid="([^"]*)"', html)
    assert repeated(ids) == []
    assert {"own", "ref-10.5555_2fthree_1", "cite-10.5555_2fthree-2"} <= set(ids)
    assert all(re.fullmatch(r"[A-Za-z][\w.-]*", name, re.ASCII) for name in ids)
    assert '<span class="doi-citation x" id="own">' in html


PLACES = [
    ("before\n{0}\nafter", "<p>before</p>\n<list>\n<p>after</p>{1}"),
    ("before *x*\n   {0}", "<p>before <em>x</em></p>\n<list>{1}"),
    ("{0}\n\nbetween\n\n{0}\n\n> {0}", "<list>\n<p>between</p>\n<blockquote>\n</blockquote>{1}"),
    ("{0}\n{0}\nafter", "<list>\n<p>after</p>{1}"),
    (
        "`{0}`\n\n    {0}\n\n{0}",
        "<p><code>{0}</code></p>\n<pre><code>{0}\n</code></pre>\n<list>{1}",
    ),
    ("in {0} a line", "<p>in {0} a line</p>{1}\n<list>"),
    ("## References\n\n{0}\n\n## After", "<h2>References</h2>\n<list>\n<h2>After</h2>{1}"),
]


@pytest.mark.parametrize("end", ["", "\n<ul>\n<li>last</li>\n</ul>"], ids=["", "and more"])
@pytest.mark.parametrize(("source", "expected"), PLACES, ids=ascii)
def test_places_of_the_list(source: str, expected: str, end: str, cite: Render) -> None:
    marker = "///References Go Here///"
    source += "\n\n- last" if end else ""
    rendered = cite(f"[@doi:10.5555/three]\n\n{source.format(marker)}")
    html = re.sub(f"{re.escape(LISTED)}.*?</div>", "<list>", rendered.html, flags=re.DOTALL)
    assert cite(source.format(marker)).html.count(marker) == expected.count(
        "{0}"
    )  # without citations, too
    assert html.partition("\n")[2] == expected.format(marker, end)
    warned = source.count("{0}") > 1 and "`" not in source
    exactly(warned, "problems", rendered.problems)


@pytest.mark.parametrize("level", range(2, 5))
def test_the_heading_of_a_list_that_is_empty_goes_unless_its_section_has_more(
    level: int, cite: Render
) -> None:
    for following in range(1, 7):
        source = (
            f"# T\n\n{'#' * level} List\n\n///References Go Here///\n\n{'#' * following} More\n"
        )
        kept = "List</h" in cite(source).html
        assert kept == (following > level), f"the heading of the list, before <h{following}>"


def test_text_from_right_to_left_is_isolated_wherever_it_is_shown(
    render: Render, tmp_path: Path
) -> None:
    works = tmp_path / "works.json"
    work = {"id": "a", "title": "דבר Word بحث", "author": [{"family": "כהן"}]}
    works.write_text(json.dumps([work]), "utf-8")

    html = render("@a [@a]", works=str(works)).html

    isolated = "".join(re.findall("<bdi>(.*?)</bdi>", html))
    expected = re.findall("[֐-ۿ]", html)
    assert re.findall("[֐-ۿ]", isolated) == expected, f"some is not isolated: {html}"


def test_a_second_place_is_reported_once_with_its_line(cite: Render) -> None:
    marker = "///References Go Here///"
    rendered = cite(
        f"```\n{marker}\n```\n\n{marker}\n\n    {marker}\n\n{marker}\n\n{marker}", "fenced_code"
    )
    assert [str(problem) for problem in rendered.problems] == [
        f"line 9: {marker}: the list of references is at the first of these lines",
    ]
    assert "<p>" not in rendered.html


def test_a_style_of_notes_has_ibid(tmp_path: Path, cite: Render) -> None:
    style = tmp_path / "notes.csl"
    style.write_text(NOTES)
    source = """
[@doi:10.5555/kahn-a]

# Then @doi:10.5555/kahn-a [p. 3]

[@doi:10.5555/berg-1999], [@doi:10.5555/kahn-a]; @doi:10.5555/KAHN-a
"""

    rendered = cite(source, reference_style=str(style))

    assert texts(rendered.html) == [
        "Kahn Alpha",
        "Kahn (Ibid. 3)",
        "van der Berg On dikes",
        "Kahn",
        "Kahn (Ibid)",
    ]


def test_formats_of_a_style_are_shown(tmp_path: Path, cite: Render) -> None:
    (tmp_path / "looks.csl").write_text(LOOKS)
    (tmp_path / "w.json").write_text(json.dumps([ANTS]))
    options = {"reference_style": str(tmp_path / "looks.csl"), "works": [str(tmp_path / "w.json")]}

    html = cite("[@ants, p. 12]", resolve=False, **options).html

    caps, light = (
        f'<span style="{look}">' for look in ("font-variant: small-caps", "font-weight: lighter")
    )
    assert f"{caps}Doe</span> <u>2001</u> {light}12</span></a>" in html
    assert f"<em>Ants</em> {light}<u>6</u></span> <sup>2</sup> <a " in html
    assert "><u>10.1000/ants</u></a>" in html


def test_each_document_has_its_own_first_citation(tmp_path: Path, cite: Render) -> None:
    style = tmp_path / "notes.csl"
    style.write_text(NOTES)
    source = "[@doi:10.5555/kahn-a]"

    rendered = [cite(source, reference_style=str(style)) for _ in range(2)]

    assert [texts(one.html) for one in rendered] == [["Kahn Alpha"], ["Kahn Alpha"]]


def test_the_metadata_of_a_document_list_works_that_nothing_cites(cite: Render) -> None:
    source = "nocite: 10.5555/kahn-b; 10.5555/three\n\nText"
    assert texts(cite(source, "meta").html) == []
    html = cite(source, "meta").html
    exactly(2, "entries", re.findall("<li", html))
    assert "<li" not in cite("Text", "meta").html
