"""Code in Markdown, told from text as Python-Markdown and MyST do themselves."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from html.parser import HTMLParser
from itertools import count

import docutils_doiuri
import markdown
import pytest
from docutils import nodes
from docutils.core import publish_doctree
from doiuri.markdown import without_code
from markdown_doiuri import DOIExtension
from myst_parser.parsers.docutils_ import Parser

# Each "%" is a name of its own.
PAGES = {
    "fence": "```python\ndoi:%\n\n# doi:%\n```\n\ndoi:%",
    "unclosed fence": "doi:%\n\n```python\ndoi:%\n\ndoi:%",
    "longer closing fence": "```\ndoi:%\n`````\n\ndoi:%",
    "tildes": "~~~\ndoi:%\n```\n~~~\n\ndoi:%",
    "words after a fence": "``` python one two\ndoi:%\n```\n\ndoi:%",
    "fence after text": "Text\n```\ndoi:%\n```\ndoi:%",
    "fences in lines": "``` doi:% ``` doi:%",
    "fence in quotation": "> ```\n> doi:%\n> ```\n>\n> doi:%",
    "unclosed fence in quotation": "> ```\n> doi:%\n\ndoi:%",
    "fence in item": "- ```\n  doi:%\n  ```\n\n1. item\n\n    ```\n    doi:%\n    ```\n\n2. doi:%",
    "fence after items": "- item\n\n```\ndoi:%\n```\n\n    doi:%",
    "attributes": "```{.python #id}\ndoi:%\n```\n\n```{r setup, echo=FALSE}\ndoi:%\n```\n\ndoi:%",
    "directive": "```{note}\ndoi:%\n```\n```{note} doi:%\ndoi:%\n```\n\n`doi:%` doi:%",
    "fence in directive": "````{note}\ndoi:%\n\n```\ndoi:%\n```\n\ndoi:%\n````\n\ndoi:%",
    "directive of code": "```{code} python\ndoi:%\n```\n\n```{math}\ndoi:%\n```\n\n```{code} x\n\ndoi:%",
    "roles": "A {doi}`%` and {literal}`doi:%`, {code}`doi:%`, doi:%",
    "indented": "    doi:%\n\nText doi:%\n    doi:%\n\n    doi:%\n\n\tdoi:%\n\n# doi:%\n    doi:%",
    "indented in items": "- doi:%\n\n    doi:%\n\n        doi:%\n    - x\n\n        doi:%\n\n            %",
    "indented after items": "- item\n\nText\n\n    doi:%",
    "nested by two": "- a\n  - b\n    - c\n\n      doi:%",
    "indented in quotation": "> doi:%\n>\n>     doi:%\n>\n> `doi:%` doi:%",
    "admonition": "!!! note\n    Text doi:%\n\n        doi:%",
    "colons": ":::{note}\ndoi:%\n\n    doi:%\n:::",
    "definition, footnote": "Term\n:   doi:%\n\n    doi:%\n\n[^1]: doi:%\n\n    doi:%\n\nText[^1]",
    "spans": "A `doi:%` and ``doi:% ` x``, `over\nlines doi:%`, doi:%",
    "no spans": "A `one\n\ntwo doi:%` doi:%\n\n- a ` doi:%\n- b ` doi:%",
    "escaped": r"An \` doi:% \` doi:%",
    "comments": "<!-- doi:% -->\n\nText <!-- doi:% --> doi:%\n\n<!--\n\ndoi:%\n\n-->",
    "comment in fence": "```\n<!--\n```\n\ndoi:%\n\n-->",
    "raw HTML": "<pre>\ndoi:%\n\n<b>doi:%</b>\n</pre>\n\ndoi:%\n\n<script>\ndoi:%\n\ndoi:%\n</script>",
    "tag in span": "And `<code>` doi:% `</code>` doi:%",
    "link in code": "<code>doi:% <a href='https://doi.org/%'>x</a></code> doi:%",
    "elements": "Raw <var>doi:%</var> <title>doi:%</title> <option>doi:%</option> doi:%",
    "math": "Math $doi:%$; US$ 5 or 6$ doi:%",
    "Windows": "Text\r\n\r\n```\r\ndoi:%\r\n```\r\n\r\n    doi:%\r\n\r\ndoi:% `doi:%`\r\n\r\n    doi:%\r\n",
}
EXTENSIONS = "admonition", "def_list", "footnotes", "pymdownx.superfences"
SETTINGS = {"myst_enable_extensions": ["colon_fence", "deflist", "dollarmath"], "report_level": 5}
CODE = nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.comment


def names(text: str) -> list[str]:
    return sorted(set(re.findall(r"10\.5555/\d+", text)))


class Shown(HTMLParser):
    """What HTML shows as text, and links to."""

    def __init__(self, html: str, *, links_only: bool = False) -> None:
        super().__init__()
        self.links_only = links_only
        self.shown = ""
        self.code: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.shown += f" {dict(attrs).get('href')}"
        self.code += [tag] * (tag in {"code", "pre", "script"})

    def handle_endtag(self, tag: str) -> None:
        if tag in self.code:
            self.code.remove(tag)

    def handle_data(self, data: str) -> None:
        self.shown += "" if self.code or self.links_only else data


def python_markdown(source: str) -> str:
    extension = DOIExtension(resolve=False, bare_links=True)
    return Shown(markdown.markdown(source, extensions=[*EXTENSIONS, extension]), links_only=True).shown


def myst(source: str) -> str:
    docutils_doiuri.register()
    document = publish_doctree(source, parser=Parser(), settings_overrides=SETTINGS)
    for node in list(document.findall(lambda node: isinstance(node, CODE))):
        node.parent.remove(node)
    texts = document.findall(nodes.Text)
    return Shown("\n".join(t if isinstance(t.parent, nodes.raw) else escape(t) for t in texts)).shown


@pytest.mark.parametrize("parse", [python_markdown, myst])
@pytest.mark.parametrize("page", PAGES)
def test_text_is_what_the_parser_shows_as_text(page: str, parse: Callable[[str], str]) -> None:
    number = count(1)
    source = re.sub("%", lambda _: f"10.5555/{next(number)}", PAGES[page])
    text = without_code(source, myst=parse is myst)
    assert names(text) == names(parse(source))
    assert [len(line) for line in text.splitlines()] == [len(line) for line in source.splitlines()]
