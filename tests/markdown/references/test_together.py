"""Citations together with other extensions, and metadata that tries to be markup."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from support.references import HOSTILE, RECORDS, hostile_records

from ..conftest import Render
from ..page import Page
from .conftest import Serve

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
