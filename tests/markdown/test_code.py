"""Code in the source of a page, told apart from text as Python-Markdown does."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

import pytest
from doiuri_proxy import running
from hypothesis import given
from hypothesis import strategies as st

from .conftest import convert
from .page import Page

EXTENSIONS = "admonition", "def_list", "footnotes", "tables", "pymdownx.superfences"

# Each "%" is a DOI of its own.
BLOCKS = [
    "Prose with doi:% in it,\nand [a link](doi:%) in its second line.",
    "Prose with `doi:%` and ``doi:% ` x``, then <doi:%>.",
    "A span `over\ntwo lines doi:%` ends; doi:% does not.",
    "A ` that is never closed, doi:%",
    r"An escaped \` and doi:% and \` too",
    "    doi:%\n    [x](doi:%)",
    "\tdoi:%",
    "Text\n    is continued by doi:%",
    "# On doi:%\n    [x](doi:%)",
    "```python\ndoi:%\n\n# doi:%\n```",
    "~~~\ndoi:%\n```\n~~~\n\ndoi:% is no code",
    "``` never closed\n\ndoi:%",
    "- item doi:%\n\n    more of it: doi:%\n\n        doi:%\n\n    and doi:%",
    "- item\n    - nested doi:%\n\n        more: doi:%\n\n            doi:%",
    "1. item\n\n    ```\n    doi:%\n    ```\n\n2. item doi:%",
    "- item\n\n```\ndoi:%\n```\n\n    doi:%",
    "- a ` in an item doi:%\n- another ` doi:%",
    "!!! note\n    Text doi:%\n\n        doi:%\n\n    More doi:%",
    "Term\n:   definition doi:%\n\n    more doi:%",
    "> quoted doi:%\n>\n>     doi:%\n>\n> and `doi:%`",
    "> ```\n> doi:%\n> ```\n>\n> doi:%",
    "<!-- doi:% -->\n\nText <!-- doi:% --> and doi:%",
    "<!--\n\ndoi:%\n\n-->",
    "<pre>\ndoi:%\n\n<b>doi:%</b> [x](doi:%)\n</pre>",
    "Raw <code>doi:%</code> and <kbd>doi:%</kbd>, doi:%",
    '<a href="https://doi.org/%">doi:%</a> and `<code>` doi:% `</code>`',
    "Math $doi:%$ and $$doi:%$$, then doi:%; US$ 5 or 6$ doi:%",
    "a | b\n--|--\n`doi:%` | doi:%",
    "[ref]: doi:%\n\nA [link][ref]",
]  # fmt: skip


def numbered(template: str) -> str:
    """A document in which every name has the number of its line, and a letter."""
    lines = []
    for number, line in enumerate(template.split("\n"), 1):
        first, *parts = line.split("%")
        names = (f"10.5555/{number}{letter}" for letter in "abcdefgh")
        lines.append(first + "".join(name + part for name, part in zip(names, parts, strict=False)))
    return "\n".join(lines)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Several blocks, some in list items; their link references have names of their own."""
    blocks = draw(st.lists(st.tuples(st.sampled_from(BLOCKS), st.booleans()), min_size=1, max_size=6))
    texts = []
    for number, (block, nested) in enumerate(blocks):
        text = block.replace("ref]", f"ref{number}]")
        # In items Python-Markdown ends definitions after their first lines, and makes links in <pre>.
        nests = nested and not text.startswith(("Term", "<pre>"))
        texts.append("- item\n\n" + textwrap.indent(text, "    ") if nests else text)
    return "\n\n".join(texts)


def linked(source: str) -> set[str]:
    html = convert(source, *EXTENSIONS).html
    return {href.rpartition("/")[2] for href, _, _ in Page(html).links if "doi.org" in href}


@pytest.fixture(scope="module")
def resolver() -> Iterator[str]:
    with running([]) as proxy:
        yield proxy.url


@given(template=documents())
def test_every_line_with_a_link_is_reported_and_no_other(template: str, resolver: str) -> None:
    """Problems are reported once for each line that has them, in the order of lines."""
    expected = sorted({int(name[:-1]) for name in linked(numbered(template))})
    source = template.replace("%", "10.5555/dead")
    problems = convert(source, *EXTENSIONS, resolve=True, resolver=resolver).problems
    assert [problem.line for problem in problems] == expected
