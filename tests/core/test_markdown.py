"""Code in Markdown, told from text as Python-Markdown and MyST do themselves."""

from __future__ import annotations

import json
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
from doiuri.plugins.markdown import without_code
from markdown_doiuri import DOIExtension
from myst_parser.parsers.docutils_ import Parser
from support.cases import DATA

# Each "%" is a name of its own.
PAGES: dict[str, str] = json.loads((DATA / "code.json").read_text("utf-8"))
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
        if tag in {"code", "pre", "script"}:
            self.code.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.code:
            self.code.remove(tag)

    def handle_data(self, data: str) -> None:
        self.shown += "" if self.code or self.links_only else data


def python_markdown(source: str) -> str:
    extension = DOIExtension(resolve=False, bare_links=True)
    return Shown(
        markdown.markdown(source, extensions=[*EXTENSIONS, extension]), links_only=True
    ).shown


def myst(source: str) -> str:
    docutils_doiuri.register()
    document = publish_doctree(source, parser=Parser(), settings_overrides=SETTINGS)
    for node in list(document.findall(lambda node: isinstance(node, CODE))):
        node.parent.remove(node)
    return Shown("\n".join(map(as_html, document.findall(nodes.Text)))).shown


def as_html(text: nodes.Text) -> str:
    return text if isinstance(text.parent, nodes.raw) else escape(text)


def respelled(page: str) -> str:
    """Return a page with elements in capitals, tabs for blanks, and the line ends of Windows."""
    page = re.sub("<[a-z/][^!%>]*>", lambda tag: tag[0].upper(), page)
    return page.replace("    ", "\t").replace("\n", "\r\n")


@pytest.mark.parametrize("spell", [str, respelled])
@pytest.mark.parametrize("parse", [python_markdown, myst])
@pytest.mark.parametrize("page", PAGES)
def test_text_is_what_the_parser_shows_as_text(
    page: str, parse: Callable[[str], str], spell: Callable[[str], str]
) -> None:
    number = count(1)
    source = re.sub("%", lambda _: f"10.5555/{next(number)}", spell(PAGES[page]))
    text = without_code(source, myst=parse is myst)
    assert names(text) == names(parse(source))
    assert [len(line) for line in text.splitlines()] == [len(line) for line in source.splitlines()]
