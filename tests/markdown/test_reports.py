"""Where problems are: every line in order, and the file; code in the source is told apart from text."""

from __future__ import annotations

import io
import json
import pickle
import textwrap
from collections.abc import Iterator
from pathlib import Path

import markdown
import markdown_doiuri
import pytest
from doiuri_proxy import running
from hypothesis import given
from hypothesis import strategies as st
from support.checks import only
from support.references import RECORDS, RETRACTED

from .conftest import Page, Render, Serve, convert

DEAD = "10.5555/dead"
GONE = "10.5555/gone"
THREE = "10.5555/three"
SOURCE = f"""\
See doi:{GONE} and

```text
doi:{DEAD}
```

<!-- doi:{DEAD} -->
`doi:{DEAD}` then [@doi:{DEAD}],
https://doi.org/{GONE} and <https://doi.org/{DEAD.upper()}>
[](doi:{GONE}) <doi:{GONE}> doi:{DEAD}2
"""
LINES: dict[str, list[int | tuple[int, str]]] = {
    "<doi:foo>": [1],
    "\n\n<doi:foo>": [3],
    "a\r\nb <doi:foo>": [2],
    "<doi:foobar>\n<doi:foo>": [1, 2],
    "- a\n- b\n\n    <doi:foo>": [4],
    "[x]\n\n[x]: doi:foo": [3],
    "a\n<doi:f\\_oo>": [2],
    "a\n\n\n<doi:f\\_oo>": [4],
    "a\n<doi:f&amp;oo>": [2],
    "a\n<doi:f\noo>": [2],
    "<doi:foo> [x](doi:foo) <doi:foo>": [1],
    "///References Go Here///\n\n///References Go Here///": [3],
    "///References Go Here///": [],
    "doi:foo": [],
    "10.5 or 10.1000, but doi:10.1000": [1],
    "[doi:10.1000](https://example.org/) x\n\n[y](doi:10.1000)": [3],
    "<doi:10.1000>\n\n`doi:10.1000`\n\n[x](doi:10.1000)\n\ndoi:10.5555/dead`code` <doi:10.1000/>\n\n"
    "- <doi:10.1000> <doi:10.1000>": [1, 5, (7, f"doi:{DEAD}"), (7, "doi:10.1000/"), 9],
    SOURCE: [
        *((1, f"doi:{GONE}"), (8, f"doi:{DEAD}"), (9, f"doi:{GONE}"), (9, f"doi:{DEAD}")),
        *((10, f"doi:{GONE}"), (10, f"doi:{DEAD}2")),
    ],
    # of a retraction or missing metadata, the first line outside code
    "```\n@doi:10.5555/retracted\n```\n`@doi:10.5555/retracted`\n\n"
    "See doi:10.5555/Retracted, @doi:10.5555/retracted\n\n[@doi:10.5555/retracted]": [6],
    "    @doi:10.5555/no-metadata\n\nx\n[@doi:10.5555/no-metadata]\n@doi:10.5555/NO-metadata": [4],
}  # fmt: skip


def test_each_problem_of_each_document_is_told_once_with_its_line(serve: Serve) -> None:
    """One instance of Markdown converts all of them, with a reset between them and without."""
    name = "10.5555/retracted"
    work = {**RETRACTED, "handle": name}
    serve([*json.loads(RECORDS.read_text("utf-8")), work])
    problems: list[markdown_doiuri.Problem] = []
    ours = markdown_doiuri.makeExtension(bare_links=True, warn=problems.append)
    md = markdown.Markdown(extensions=["fenced_code", ours])
    for source, lines in [*LINES.items(), *LINES.items()]:
        for instance in (md, md.reset()):
            problems.clear()
            instance.convert(source)
            told = [problem.line for problem in problems]
            assert told == [line if isinstance(line, int) else line[0] for line in lines], source
            names = [(problem.line, problem.doi) for problem in problems]
            assert {line for line in lines if isinstance(line, tuple)} <= {*names}, source


def test_a_problem_is_its_message_and_its_parts(render: Render) -> None:
    problem = only("problem", render("one\n\ntwo <doi:10.1000/a#b> three").problems)
    assert (problem.doi, problem.line) == ("doi:10.1000/a#b", 3)
    assert problem.suggestion == "doi:10.1000/a%23b"
    assert str(problem) == f"line 3: doi:10.1000/a#b: {problem.reason}; write doi:10.1000/a%23b"
    copy = pickle.loads(pickle.dumps(problem))
    assert (copy, copy.doi, copy.line, copy.suggestion) == (
        problem,
        problem.doi,
        3,
        problem.suggestion,
    )


def test_a_file_is_told(tmp_path: Path, serve: Serve) -> None:
    serve(RECORDS)
    page = tmp_path / "page.md"
    page.write_text(f"doi:{GONE}")
    problems: list[markdown_doiuri.Problem] = []
    md = markdown.Markdown(extensions=[markdown_doiuri.makeExtension(warn=problems.append)])
    named = markdown_doiuri.makeExtension(warn=problems.append, file="a.md")
    other = markdown.Markdown(extensions=[named])
    other.convert("x\n\ndoi:10.5555/ä.")  # as written, not percent-encoded
    for instance in (md, other):
        instance.convertFile(str(page), str(tmp_path / "page.html"))
        instance.convertFile(io.BytesIO(f"doi:{GONE}".encode()), io.BytesIO())
        instance.reset().convert(f"doi:{GONE}")
    line = f"doi:{GONE}: not found"
    assert [str(problem) for problem in problems] == [
        "a.md:3: doi:10.5555/ä: not found",
        *(f"{page}:1: {line}", f"line 1: {line}", f"line 1: {line}"),
        *(f"{page}:1: {line}", f"a.md:1: {line}", f"a.md:1: {line}"),
    ]


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
    blocks = draw(
        st.lists(st.tuples(st.sampled_from(BLOCKS), st.booleans()), min_size=1, max_size=6)
    )
    texts = []
    for number, (block, nested) in enumerate(blocks):
        text = block.replace("ref]", f"ref{number}]")
        # In items Python-Markdown ends definitions after their first lines, and makes links in <pre>.
        nests = nested and not text.startswith(("Term", "<pre>"))
        if nests:
            text = "- item\n\n" + textwrap.indent(text, "    ")
        texts.append(text)
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
