"""Together with widely used extensions, loaded in either order."""

import io
from collections.abc import Callable

import markdown
import markdown_doiuri
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

from .conftest import Render
from .page import Page


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
