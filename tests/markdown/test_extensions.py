"""Together with widely used extensions, loaded in either order."""

import io
from collections.abc import Callable
from typing import Any

import markdown
import markdown_doiuri
import pytest
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

from .conftest import Render
from .page import Page

OURS = '<a class="doi" href="https://doi.org/10.1000/{0}">doi:10.1000/{0}</a>'
LINK = OURS.format(182)
SOURCE = """\
# On doi:10.1000/1 and <doi:10.1000/2>

!!! note
    doi:10.1000/3--and "quoted" doi:10.1000/4--x

Term[^1]
:   doi:10.1000/5

a | b
--|--
doi:10.1000/6 | `doi:10.1000/7`

<div markdown="1">
doi:10.1000/8 \\(doi:10.1000/9\\) HTML
</div>

```python
doi:10.1000/10
```

*[HTML]: doi:10.1000/11
[^1]: <doi:10.1000/12>
"""

MATH = """\
$doi:10.1000/1$ \\(doi:10.1000/2\\) doi:10.1000/182

$$
doi:10.1000/3 <doi:10.1000/3>
$$

\\[doi:10.1000/4\\]

\\begin{a}doi:10.1000/5\\end{a}
"""


def both_orders(source: str, extension: str, **config: Any) -> str:
    """Convert with the other extension loaded first and last; the order must not matter."""
    ours = {"doiuri": {"resolve": False}}
    orders = ([extension, "doiuri"], ["doiuri", extension])
    pages = {
        markdown.markdown(source, extensions=order, extension_configs={extension: config, **ours})
        for order in orders
    }
    assert len(pages) == 1
    return pages.pop()


LINKED = [
    ("extra", SOURCE, "1 2 3--and 4--x 5 6 8 9 12"),
    ("codehilite", "    #!python\n    x = 'doi:10.1000/1'\n\ndoi:10.1000/182", "182"),
    ("admonition", '!!! note "See doi:10.1000/1"\n    <doi:10.1000/2>', "1 2"),
    ("md_in_html", "<div markdown>\n\ndoi:10.1000/182\n\n<p>doi:10.1000/1</p>\n</div>", "182"),
    ("md_in_html", '<a href="x" markdown="1">\n\nsee <doi:10.1000/1>, doi:10.1000/2\n\n</a>', ""),
    (
        "pymdownx.superfences",
        "- a\n\n    ```text\n    doi:10.1000/1 <doi:10.1000/1>\n    ```\n\n    doi:10.1000/2",
        "2",
    ),
    # a click on a label or a summary shows the text below
    ("pymdownx.tabbed", '=== "<doi:10.1000/1> doi:10.1000/1"\n\n    doi:10.1000/2', "2"),
    ("pymdownx.details", '??? note "A doi:10.1000/1"\n    - <doi:10.1000/3>', "3"),
    ("pymdownx.details", '??? note "[A](doi:10.1000/1)"\n    - <doi:10.1000/3>', "1 3"),
    (
        "md_in_html",
        '<details markdown><summary markdown="span">doi:10.1000/1</summary>\n\ndoi:10.1000/2\n</details>',
        "2",
    ),
    ("pymdownx.tasklist", "- [ ] <doi:10.1000/3>", "3"),
    ("pymdownx.keys", "++ctrl+a++ doi:10.1000/3", "3"),
]


@pytest.mark.parametrize(("extension", "source", "names"), LINKED)
def test_dois_are_linked_in_text_and_not_in_code(extension: str, source: str, names: str) -> None:
    dois = Page(both_orders(source, extension)).dois
    assert [doi.suffix for doi in dois] == names.split()


@pytest.mark.parametrize("generic", [True, False])
def test_dois_in_math_are_not_linked(generic: bool) -> None:
    page = Page(both_orders(MATH, "pymdownx.arithmatex", generic=generic))
    assert [doi.suffix for doi in page.dois] == ["182"]


def test_toc_names_headings_as_before() -> None:
    source = "[TOC]\n\n# On doi:10.1000/182"
    html = both_orders(source, "toc", permalink=True)
    plain = markdown.markdown(source, extensions=["toc"], extension_configs={"toc": {"permalink": True}})
    assert html == plain.replace("On doi:10.1000/182<", f"On {LINK}<", 2).replace(
        f'<a href="#on-doi101000182">On {LINK}</a>', '<a href="#on-doi101000182">On doi:10.1000/182</a>'
    )


def test_headings_that_are_links_contain_no_others(render: Render) -> None:
    source = "# doi:10.1000/1 in [@doi:10.1000/2]\n\ndoi:10.1000/3"
    html = render(source, "toc", configs={"toc": {"anchorlink": True}}).html
    assert [doi.suffix for doi in Page(html).dois] == ["3", "2"]  # the latter in the list
    assert ">doi:10.1000/1</span> in <" in html
    assert "(<span>doi:10.1000/2</span>)</span></a></h1>" in html


def test_smarty_leaves_names_alone() -> None:
    html = both_orders('"doi:10.1000/a--b...c\'d" <doi:10.1000/e--f> -- "x"', "smarty")
    assert [text for _, _, text in Page(html).links] == ["doi:10.1000/a--b...c'd", "doi:10.1000/e--f"]
    assert html.startswith("<p>&ldquo;<a")
    assert html.endswith("&ndash; &ldquo;x&rdquo;</p>")


def test_attr_list() -> None:
    html = both_orders("doi:10.1000/182{ .paper } [x](doi:10.1000/182){: target=_blank}", "attr_list")
    assert 'class="doi paper"' in html
    assert 'target="_blank"' in html
    assert Page(both_orders("doi:10.1000/a{.b}", "toc")).links[0][2] == "doi:10.1000/a{.b}"


def test_abbr_leaves_names_alone() -> None:
    html = both_orders("doi:10.1000/HTML HTML\n\n*[HTML]: x", "abbr")
    assert html == f'<p>{OURS.format("HTML")} <abbr title="x">HTML</abbr></p>'


class TestPymdownx:
    def test_magiclink(self) -> None:
        source = (
            "doi:10.1000/182 <doi:10.1000/182> https://doi.org/10.1000/182 "
            "https://example.org/doi:10.1000/182 https://example.org/?id=doi:10.1000/182 "
            "<https://example.org/doi:10.1000/182> doi:10.1000/x@y.org"
        )
        html = both_orders(source, "pymdownx.magiclink", repo_url_shorthand=True, social_url_shorthand=True,
                           user="a", repo="b")  # fmt: skip
        assert [(href, css_class) for href, css_class, _ in Page(html).links] == [
            ("https://doi.org/10.1000/182", "doi"),
            ("https://doi.org/10.1000/182", "doi"),
            ("https://doi.org/10.1000/182", ""),
            ("https://example.org/doi:10.1000/182", ""),
            ("https://example.org/?id=doi:10.1000/182", ""),
            ("https://example.org/doi:10.1000/182", ""),
            ("https://doi.org/10.1000/x@y.org", "doi"),
        ]

    def test_emphasis_of_all_kinds(self) -> None:
        source = (
            "~~doi:10.1000/1~~ ==doi:10.1000/2== ^^doi:10.1000/3^^ ^doi:10.1000/4^ ~doi:10.1000/5~ "
            "**_doi:10.1000/6_**"
        )
        ours = {"doiuri": {"resolve": False}}
        html = markdown.markdown(
            source,
            extensions=["pymdownx.betterem", "pymdownx.mark", "pymdownx.caret", "pymdownx.tilde", "doiuri"],
            extension_configs=ours,
        )
        links = [OURS.format(n) for n in range(1, 7)]
        assert html == (
            f"<p><del>{links[0]}</del> <mark>{links[1]}</mark> <ins>{links[2]}</ins> <sup>{links[3]}</sup> "
            f"<sub>{links[4]}</sub> <strong><em>{links[5]}</em></strong></p>"
        )


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
