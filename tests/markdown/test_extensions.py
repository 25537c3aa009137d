"""Together with widely used extensions, loaded in either order, and metadata that tries to be markup."""

import io
import re
from typing import Any

import markdown
import markdown_doiuri
import pytest
from markdown.preprocessors import Preprocessor
from support.checks import assert_in_order, assert_same, assert_times, exactly
from support.references import HOSTILE, RECORDS, hostile_records

from .conftest import Page, Render, Serve


def test_headings_that_are_links_contain_no_others(render: Render) -> None:
    source = "# doi:10.1000/1 in [@doi:10.1000/2]\n\ndoi:10.1000/3"
    html = render(source, "toc", configs={"toc": {"anchorlink": True}}).html
    assert [doi.suffix for doi in Page(html).dois] == ["3", "2"]  # the latter in the list
    assert ">doi:10.1000/1</span> in <" in html
    assert "(<span>doi:10.1000/2</span>)</span></a></h1>" in html


def test_a_text_inside_a_page_is_reported_with_it_and_has_no_list() -> None:
    problems: list[markdown_doiuri.Problem] = []
    options = {"resolve": False, "warn": problems.append}
    ours: dict[str, Any] = {"extensions": ["doiuri"], "extension_configs": {"doiuri": options}}

    class Docstrings(Preprocessor):
        """Converts the line ``:::`` by itself, as mkdocstrings does in Zensical."""

        def run(self, lines: list[str]) -> list[str]:
            return [
                self.md.htmlStash.store(self.docstring()) if line == ":::" else line
                for line in lines
            ]

        def docstring(self) -> str:
            inner = markdown.Markdown(**ours)
            inner.convertFile(
                io.BytesIO(b"[x](doi:10.3000)"), io.BytesIO()
            )  # a document of its own
            return inner.convert("<i>[@doi:10.1000/1]</i> [x](doi:10.1000) [x](doi:10.2000)")

    md = markdown.Markdown(**ours)
    md.preprocessors.register(Docstrings(md), "docstrings", 26)
    for _ in range(2):  # a page says what one before it has said
        html = md.reset().convert("[@doi:10.1000/2]\n\n:::\n\n[x](doi:10.2000)")
        assert_times(1, "doi-references", html)
        assert (
            '<i><span class="doi-citation">(<a class="doi" href="https://doi.org/10.1000/1">'
            in html
        )
    assert [(problem.line, problem.doi) for problem in problems] == [
        *((1, "doi:10.3000"), (5, "doi:10.2000"), (None, "doi:10.1000"))
    ] * 2


THREE = "10.5555/three"
SOURCE = f"""\
[TOC]

# On [@doi:{THREE}] {{: .big }}

Text[^1] by @doi:{THREE}{{: .mark }}.

a | b
--|--
[@doi:{THREE}; @doi:10.5555/kahn-2006] | `[@doi:10.5555/kahn-b]`

!!! note
    [@doi:{THREE}]

- [ ] "@doi:{THREE}" -- *[@doi:{THREE}]* ==[@doi:{THREE}]==

Term
:   [@doi:{THREE}]

<div markdown="1">
[@doi:{THREE}]
</div>

```python
[@doi:10.5555/kahn-b]
```

## References

///References Go Here///

[^1]: By [@doi:{THREE}].
*[Kahn]: x
"""
PYMDOWN = [
    "pymdownx.extra",
    "pymdownx.magiclink",
    "pymdownx.tasklist",
    "pymdownx.mark",
    "pymdownx.betterem",
]
SETS = [
    ["extra", "toc", "smarty", "admonition"],
    [*PYMDOWN, "toc", "smarty", "admonition", "pymdownx.tilde"],
]


@pytest.mark.parametrize("anchors", [False, True], ids=["", "headings are links"])
@pytest.mark.parametrize("extensions", SETS, ids=["standard", "pymdownx"])
def test_all_of_them_together(
    extensions: list[str], anchors: bool, serve: Serve, render: Render
) -> None:
    serve(RECORDS)
    html = render(SOURCE, *extensions, resolve=True, configs={"toc": {"anchorlink": anchors}}).html
    assert "kahn-b</a>" not in html
    assert '<h1 class="big" id="on-doi105555three">' in html
    assert '<a href="#on-doi105555three">On (Kahn et al., 2001)</a>' in html
    assert_times(9 if anchors else 10, 'href="#ref-10.5555_2fthree"', html)
    assert_times(11, 'class="doi-backref"', html)
    assert_in_order(html, 'id="references"', "doi-references", 'class="footnote"')
    assert ">Kahn, R., " in html  # no abbreviation in a reference


def test_footnotes_come_before_a_list_at_the_end(serve: Serve, render: Render) -> None:
    serve(RECORDS)
    html = render(f"x[^1]\n\n[^1]: [@doi:{THREE}]", "footnotes", resolve=True).html
    assert_in_order(html, 'class="footnote"', "doi-references")


@pytest.mark.parametrize("style", ["author-year", "number"])
def test_metadata_is_text(style: str, serve: Serve, render: Render) -> None:
    serve(hostile_records())
    cited = "; ".join(f"@doi:{name}" for name in HOSTILE)
    empty = " ".join(f"[](doi:{name})" for name in HOSTILE)
    source = (
        f"[TOC]\n\n# [{cited}]\n\n{cited}\n\n[{cited}]{{: .x }}\n\n{empty}\n\n<i>raw</i> `code`"
    )
    options = {"resolve": True, "text": "{authors} ({year}): {title}", "citation": style}
    html = render(source, "extra", "toc", "smarty", **options).html
    assert Page(html).names <= {
        "h1", "h2", "p", "span", "a", "div", "ul", "ol", "li", "i", "code", "em", "strong", "sub", "sup",
        "id", "class", "href", "role", "aria-label", "title", "wbr", "style",
    }  # fmt: skip
    assert not set(html) & set("\x02\x03\u202e\u2066\u200b\ud800")
    assert html.count("<i>raw</i>") == html.count("<code>code</code>") == 1
    assert "javascript:" not in " ".join(href for href, _, _ in Page(html).links)
    assert_times(1, "doi-references", html)


@pytest.mark.parametrize(
    "name", ["10.5555/ä<b>#c;d]e[,(f)_g*", "10.5555/" + "x" * 1500, "10.5555/\"&'%41"], ids=ascii
)
def test_names_of_any_form_in_ids_and_links(name: str, serve: Serve, render: Render) -> None:
    csl = {"title": "T", "author": [{"family": "F"}], "issued": {"date-parts": [[2000]]}}
    metadata = {"application/vnd.citationstyles.csl+json": csl}
    serve([{"handle": name, "values": [], "metadata": metadata}])
    written = name.replace("%", "%25").replace("*", r"\*").replace("&", "&amp;")
    html = render(f"@{{doi:{written}}} and [@{{doi:{written}}}]", resolve=True).html
    ids = re.findall(r'\sid="([^"]*)"', html)
    exactly(3, "ids", ids)
    assert all(re.fullmatch(r"(?:ref|cite)-[\w.-]{1,110}", one, re.ASCII) for one in ids)
    assert [doi.name for doi in Page(html).dois] == [name]


HEADINGS = [
    (f"# On [@doi:{THREE}] & `code` <i>it</i>[^1]", "on~doi105555three~code~it"),
    (f"# @doi:{THREE} and [@doi:10.5555/kahn-2006]", "doi105555three~and~doi105555kahn-2006"),
    (f"# On [](doi:{THREE})", "on~doi105555three"),
    (f"# On [@doi:{THREE}] {{: #own }}", "own"),
    (
        f"# On doi{THREE.replace('.', '').replace('/', '')}\n\n# On @doi:{THREE}",
        "on~doi105555three_1",
    ),
]


@pytest.mark.parametrize("separator", ["-", "~"])
@pytest.mark.parametrize(("source", "expected"), HEADINGS, ids=ascii)
def test_ids_of_headings_do_not_depend_on_metadata(
    source: str, expected: str, separator: str, serve: Serve, render: Render
) -> None:
    serve(RECORDS)
    options: dict[str, Any] = {
        "text": "{authors} ({year})",
        "configs": {"toc": {"separator": separator}},
    }
    expected = expected.replace("~", separator)
    source = f"{source}\n\n[^1]: x"
    known = render(source, "extra", "toc", resolve=True, **options).html
    unknown = render(source, "extra", "toc", **options).html
    assert "Kahn et al." in known
    assert "Kahn" not in unknown
    ids = [re.findall(r'<h1 id="([^"]*)"', html) for html in (known, unknown)]
    assert ids[0] == ids[1]
    assert expected in ids[0]


@pytest.mark.parametrize("written", ["{.a}", "{: .a}", "{ .a }", "{:.a}", "{#a}", "{: #a .b }"])
@pytest.mark.parametrize("name", ["10.1000/182", "10.1000/a(b)"])
def test_a_list_of_attributes_is_no_part_of_a_name(name: str, written: str, render: Render) -> None:
    plain = Page(render(f"See doi:{name}, 10.1000/x", "attr_list", bare_names=True).html)

    marked = Page(
        render(f"See doi:{name}{written}, 10.1000/x{written}", "attr_list", bare_names=True).html
    )

    assert_same(f"the DOIs before {written}", marked.dois, plain.dois)
    assert_same(f"the text around {written}", marked.text, plain.text)
    assert marked.names - plain.names <= {"id"}


@pytest.mark.parametrize("tag", ["code", "kbd", "pre", "samp", "a href=x"])
def test_raw_tags_are_the_same_in_upper_case(tag: str, render: Render) -> None:
    end = tag.partition(" ")[0]
    text = "x <{}>doi:10.1000/1 <doi:10.1000/2></{}> doi:10.1000/3"

    expected = Page(render(text.format(tag, end)).html).dois

    for start, finish in ((tag.upper(), end), (tag, end.upper()), (tag.upper(), end.upper())):
        source = text.format(start, finish)
        assert_same(f"the DOIs of {source!r}", Page(render(source).html).dois, expected)
    exactly(1, f"DOIs after <{tag}>", expected)
