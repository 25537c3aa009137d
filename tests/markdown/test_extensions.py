"""Together with widely used extensions, loaded in either order, and metadata that tries to be markup."""

import io
import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import markdown
import markdown_doiuri
import pytest
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor
from support.references import HOSTILE, RECORDS, hostile_records

from .conftest import Page, Render, Serve


def test_headings_that_are_links_contain_no_others(render: Render) -> None:
    source = "# doi:10.1000/1 in [@doi:10.1000/2]\n\ndoi:10.1000/3"
    html = render(source, "toc", configs={"toc": {"anchorlink": True}}).html
    assert [doi.suffix for doi in Page(html).dois] == ["3", "2"]  # the latter in the list
    assert ">doi:10.1000/1</span> in <" in html
    assert "(<span>doi:10.1000/2</span>)</span></a></h1>" in html


class Docstrings(Extension):
    """Converts the line ``:::`` by itself, as mkdocstrings does in Zensical."""

    def __init__(self, convert: Callable[[], str]) -> None:
        self.convert = convert

    def extendMarkdown(self, md: markdown.Markdown) -> None:  # noqa: N802
        md.preprocessors.register(self.Lines(md, self.convert), "docstrings", 26)

    class Lines(Preprocessor):
        def __init__(self, md: markdown.Markdown, convert: Callable[[], str]) -> None:
            super().__init__(md)
            self.convert = convert

        def run(self, lines: list[str]) -> list[str]:
            return [self.md.htmlStash.store(self.convert()) if line == ":::" else line for line in lines]


def test_a_text_inside_a_page_is_reported_with_it_and_has_no_list(render: Render) -> None:
    problems: list[markdown_doiuri.Problem] = []

    def convert() -> str:
        text = "<i>[@doi:10.1000/1]</i> [x](doi:10.1000) [x](doi:10.2000)"
        options = {"resolve": False, "warn": problems.append}
        inner = markdown.Markdown(extensions=["doiuri"], extension_configs={"doiuri": options})
        inner.convertFile(io.BytesIO(b"[x](doi:10.3000)"), io.BytesIO())  # a document of its own
        return inner.convert(text)

    for _ in range(2):  # a page says what one before it has said
        html = render(
            "[@doi:10.1000/2]\n\n:::\n\n[x](doi:10.2000)", Docstrings(convert), warn=problems.append
        ).html
        assert html.count("doi-references") == 1
        assert '<i><span class="doi-citation">(<a class="doi" href="https://doi.org/10.1000/1">' in html
    assert [(problem.line, problem.doi) for problem in problems] == [
        (1, "doi:10.3000"),
        (5, "doi:10.2000"),
        (None, "doi:10.1000"),
    ] * 2


def test_two_instances_do_not_meet() -> None:
    one = markdown.Markdown(extensions=[markdown_doiuri.makeExtension(resolve=False, css_class="one")])
    two = markdown.Markdown(extensions=[markdown_doiuri.makeExtension(resolve=False, css_class="two")])
    for _ in range(2):
        assert 'class="one"' in one.convert("<doi:10.1000/182> doi:10.1000/182")
        assert 'class="two"' in two.convert("<doi:10.1000/182> doi:10.1000/182")


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
PYMDOWN = ["pymdownx.extra", "pymdownx.magiclink", "pymdownx.tasklist", "pymdownx.mark", "pymdownx.betterem"]
SETS = [["extra", "toc", "smarty", "admonition"], [*PYMDOWN, "toc", "smarty", "admonition", "pymdownx.tilde"]]


@pytest.mark.parametrize("extensions", SETS, ids=["standard", "pymdownx"])
def test_all_of_them_together(extensions: list[str], serve: Serve, render: Render) -> None:
    serve(RECORDS)
    html = render(SOURCE, *extensions, resolve=True).html
    ids = re.findall(r'\sid="([^"]*)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]*)"', html)) <= set(ids)
    assert "kahn-b</a>" not in html
    assert '<h1 class="big" id="on-doi105555three">' in html
    assert '<a href="#on-doi105555three">On (Kahn et al., 2001)</a>' in html
    assert html.count('href="#ref-10.5555_2fthree"') == 10
    assert html.count('class="doi-backref"') == 11
    assert html.index('id="references"') < html.index("doi-references") < html.index('class="footnote"')
    assert ">Kahn, R., " in html  # no abbreviation in a reference


def test_footnotes_come_before_a_list_at_the_end(serve: Serve, render: Render) -> None:
    serve(RECORDS)
    html = render(f"x[^1]\n\n[^1]: [@doi:{THREE}]", "footnotes", resolve=True).html
    assert html.index('class="footnote"') < html.index("doi-references")


class Tags(HTMLParser):
    """The names of a page's elements and attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names |= {tag, *(name for name, _ in attrs)}


def page_of_attacks(render: Render, **options: Any) -> str:
    cited = "; ".join(f"@doi:{name}" for name in HOSTILE)
    empty = " ".join(f"[](doi:{name})" for name in HOSTILE)
    source = f"[TOC]\n\n# [{cited}]\n\n{cited}\n\n[{cited}]{{: .x }}\n\n{empty}\n\n<i>raw</i> `code`"
    options = {"resolve": True, "text": "{authors} ({year}): {title}", **options}
    return render(source, "extra", "toc", "smarty", **options).html


@pytest.mark.parametrize("style", ["author-year", "number"])
def test_metadata_is_text(style: str, serve: Serve, render: Render) -> None:
    serve(hostile_records())
    html = page_of_attacks(render, citation=style)
    assert Tags(html).names <= {
        "h1", "h2", "p", "span", "a", "div", "ul", "ol", "li", "i", "code", "em", "strong", "sub", "sup",
        "id", "class", "href", "role", "title", "wbr", "style",
    }  # fmt: skip
    assert not set(html) & set("\x02\x03\u202e\u2066\u200b\ud800")
    assert html.count("<i>raw</i>") == html.count("<code>code</code>") == 1
    assert "javascript:" not in " ".join(href for href, _, _ in Page(html).links)
    assert html.count("doi-references") == 1


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
    assert len(ids) == len(set(ids)) == 3
    assert all(re.fullmatch(r"(?:ref|cite)-[\w.-]{1,110}", one, re.ASCII) for one in ids)
    assert [doi.name for doi in Page(html).dois] == [name]


HEADINGS = [
    (f"# On [@doi:{THREE}] & `code` <i>it</i>[^1]", "on-doi105555three-code-it"),
    (f"# @doi:{THREE} and [-@doi:10.5555/kahn-2006]", "doi105555three-and-doi105555kahn-2006"),
    (f"# On [](doi:{THREE})", "on-doi105555three"),
    (f"# On [@doi:{THREE}] {{: #own }}", "own"),
    (f"# On doi{THREE.replace('.', '').replace('/', '')}\n\n# On @doi:{THREE}", "on-doi105555three_1"),
]


@pytest.mark.parametrize(("source", "expected"), HEADINGS, ids=ascii)
def test_ids_of_headings_do_not_depend_on_metadata(
    source: str, expected: str, serve: Serve, render: Render
) -> None:
    serve(RECORDS)
    options = {"text": "{authors} ({year})"}
    source = f"{source}\n\n[^1]: x"
    known = render(source, "extra", "toc", resolve=True, **options).html
    unknown = render(source, "extra", "toc", **options).html
    assert "Kahn et al." in known
    assert "Kahn" not in unknown
    ids = [re.findall(r'<h1 id="([^"]*)"', html) for html in (known, unknown)]
    assert ids[0] == ids[1]
    assert expected in ids[0]
