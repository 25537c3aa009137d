"""Other extensions store nodes, copy them, and insert them elsewhere: citations go on working."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.checks import assert_times, exactly
from support.servers.web import Site
from support.sphinx_build import Build, build, project, text_in, write

CONF = """\
extensions = ["sphinx_doiuri", "sphinx.ext.todo", "support.keeping"]
todo_include_todos = True
project, version, copyright = "Book", "1", "us"
"""
CITED = ":doi:p:`10.5555/kahn-2006, p. 5` and :doi:`10.5555/kahn-a`"
BIBLIOGRAPHY = "\n.. doi:bibliography::\n"
FILES = {
    "conf.py": CONF,
    # The kept nodes are inserted in the documents that are read and written before it and after it
    "index.rst": "T\n=\n\n.. toctree::\n\n   a/early\n   b/page\n   c/late\n\n.. todolist::\n",
    "a/early.rst": "A\n=\n\n.. insert:: early\n\n.. insert:: late\n",
    "b/page.rst": f"B\n=\n\n.. keep::\n\n   {CITED}\n\n.. insert:: now\n\n.. insert:: late\n\n"
    f".. todo::\n\n   {CITED}\n\n.. todolist::\n{BIBLIOGRAPHY}",
    "c/late.rst": "C\n=\n\n.. insert:: early\n\n.. todolist::\n",
}
CITATION = "(Kahn & Wilensky, 2006, p. 5)"
# On each page, how often the citation stands there
SHOWN = {"index": 1, "a/early": 2, "b/page": 5, "c/late": 2}


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the project, whose documents are read once for all builders."""
    return tmp_path_factory.mktemp("book")


def built(folder: Path, builder: str, *options: str) -> Build:
    """The project, built without a warning; in HTML, ``build`` follows each link to a citation or entry."""
    result = build(write(folder / "src", FILES), folder, builder, "-W", *options)
    assert result.status == 0, result.warnings
    return result


@pytest.mark.parametrize("builder", ["html", "dirhtml", "epub"])
def test_copies_on_pages(book: Path, server: Site, builder: str) -> None:
    result = built(book, builder)

    suffix = {"html": ".html", "dirhtml": "/index.html", "epub": ".xhtml"}[builder]
    for name, count in SHOWN.items():
        path = f"{name}{suffix}".replace("index/index", "index")
        page = result.text(path)
        assert text_in(page).count(CITATION) == count, path
        to_entry = re.findall(r'href="([^"]*)#doi-kahn-2006-[^"]*"', page)
        exactly(count, "links to entries", to_entry)


def test_copies_on_one_page(book: Path, server: Site) -> None:
    page = built(book, "singlehtml").text()

    assert_times(sum(SHOWN.values()), CITATION, text_in(page))
    to_entry = re.findall(r'href="([^"]*)#doi-kahn-2006-[^"]*"', page)
    assert to_entry == [""] * sum(SHOWN.values())


def test_copies_in_latex_lead_to_labels(book: Path, server: Site) -> None:
    text = built(book, "latex").text("book.tex")

    linked = re.findall(r"\\hyperref\[\\detokenize\{([^}]*doi-kahn-2006[^}]*)\}\]", text)
    labels = re.findall(r"\\label\{\\detokenize\{([^}]+)\}\}", text)
    exactly(sum(SHOWN.values()), "links to entries", linked)
    assert set(linked) <= set(labels)
    ours = [label for label in labels if "doi-" in label]
    assert sorted(ours) == sorted(set(ours)), "a label stands twice"


@pytest.mark.parametrize(
    ("builder", "name", "count"),
    [
        ("text", "b/page.txt", SHOWN["b/page"]),
        ("xml", "b/page.xml", SHOWN["b/page"]),
        ("man", "book.1", sum(SHOWN.values())),
        ("texinfo", "book.texi", sum(SHOWN.values())),
    ],
)
def test_copies_in_other_formats(
    book: Path, server: Site, builder: str, name: str, count: int
) -> None:
    text = " ".join(built(book, builder).text(name).split()).replace("@comma{}", ",")
    # The end of a link: none in text, then that of XML, of a manual page (now, and with the oldest
    # docutils and Sphinx), and of Texinfo
    end_of_link = r"(?:</reference>| \\%<[^>]*>|\\fP|\})?"
    exactly(count, "links to the page", re.findall(f"Wilensky, 2006{end_of_link}, p. 5", text))


COPYING = {
    "conf.py": """\
extensions = ["sphinx_doiuri", "myst_parser"]
numfig, suppress_warnings = True, ["image.not_readable"]
myst_heading_anchors, myst_enable_extensions = 2, ["deflist"]
doi_works, doi_resolve, doi_lock = "works.json", False, None
project, version, copyright = "Book", "1", "us"
""",
    "index.md": "# T\n\n```{toctree}\npage\nother\nlist\n```\n\nRoot[^r]\n\n[^r]: {doi:p}`@abel`\n",
    "list.rst": "L\n=\n\n.. doi:bibliography::\n   :scope: project\n",
    "page.md": """\
# On {doi:p}`@abel`

[](#on-abel) [](#l-part) [](#l-rubric) [](#l-terms) [](#part-s-abel) [](#parts-)
[an own text](#l-part) {ref}`l-part`

(l-part)=
## Part's {doi:t}`@abel`

(l-rubric)=
~~~{rubric} Rubric {doi:p}`@abel`
~~~

(l-terms)=
Term {doi:p}`@abel`
: What it means

```{glossary}
Gloss's {doi:p}`@abel`
  What it means
```

~~~{figure} x.png
:name: l-figure

Figure {doi:p}`@abel`
~~~

Note[^1]

[^1]: Text {doi:p}`@abel`

```{index} an own entry
```

## Last {doi:p}`@abel`
""",
    "other.md": "# O\n\n[](page.md) [](page.md#l-part) [](#l-rubric) [](#l-terms)\n"
    "[](page.md#part-s-abel) [](page.md#parts-)\n"
    "{numref}`{name} in {number} <l-figure>` {term}`Gloss's @abel`\n",
}


def own_work(author: str) -> str:
    return (
        f'[{{"id": "abel", "title": "A", "author": [{{"family": "{author}"}}], "issued": "2001"}}]'
    )


@pytest.mark.parametrize(
    ("builder", "suffix", "authors"),
    [
        ("html", "html", ["Abel", "Bor"]),  # the second build follows a change of the work
        ("singlehtml", "html", ["Abel"]),
        ("latex", "tex", ["Abel", "Bor"]),
        ("epub", "xhtml", ["Abel"]),
        ("text", "txt", ["Abel"]),
    ],
)
def test_texts_that_were_copied_before_works_are_known_show_citations(
    tmp_path: Path, builder: str, suffix: str, authors: list[str]
) -> None:
    for author in authors:
        source = write(tmp_path / "src", {**COPYING, "works.json": own_work(author)})
        built = build(source, tmp_path, builder, "-W")
        assert built.status == 0, built.warnings

        texts = [text_in(path.read_text("utf-8")) for path in built.out.rglob(f"*.{suffix}")]
        shown = " ".join(" ".join(texts).split())
        assert "@abel" not in shown
        assert shown.count(f"Rubric ({author}, 2001)") >= 2
        assert_times(1, "an own text", shown)


REFERENCES = [
    *("[](title.md)", "{doc}`title`", "[](page.md#l-part)", "[](#l-rubric)", "[](#l-terms)"),
    *("[](page.md#part-s-abel)", "[](page.md#parts-)", "{term}`Gloss's @abel`"),
    *("{ref}`l-part`", "{any}`l-part`"),
    "{numref}`{name} in {number} <l-figure>`",
]


def test_a_page_with_nothing_but_a_reference_to_a_title_shows_it_as_it_is_now(
    tmp_path: Path,
) -> None:
    title = "# On {doi:p}`@abel`\n"
    page = COPYING["page.md"].replace(title, "# Page\n").replace("[](#on-abel) ", "")
    orphan = "---\norphan: true\n---\n"
    pages = {"page.md": page, "title.md": f"{orphan}{title}"}
    for number, reference in enumerate(REFERENCES):
        pages[f"r{number}.md"] = f"{orphan}# R\n\n{reference}\n"

    for author in ("Abel", "Bor"):
        files = {**COPYING, **pages, "works.json": own_work(author)}
        built = build(write(tmp_path / "src", files), tmp_path)

        for number, reference in enumerate(REFERENCES):
            body = built.text(f"r{number}.html").partition('<div class="body"')[2]
            shown = text_in(body.partition("</section>")[0])
            assert author in shown, f"{reference} to a title with {author} is shown as {shown!r}"


def test_a_reference_shows_the_title_that_it_leads_to_though_pages_have_the_same_headings(
    tmp_path: Path,
) -> None:
    """The number of the work is another one on each page, and the ids of the titles are the same."""
    names = ["a", "b", "c"]
    refers = " ".join(f"{{ref}}`l-{name}`" for name in names)
    works = [{"id": name, "title": name} for name in (*names, "d")]
    files = {"works.json": json.dumps(works)}
    for number, name in enumerate(names):
        before = "".join(f"{{doi:p}}`@{cited}` " for cited in names[:number])
        files[f"{name}.md"] = (
            f"---\norphan: true\n---\n# T\n\nFirst {before}\n\n(l-{name})=\n## On {{doi:p}}`@d`\n\n"
            f"{refers} [](#on-d)\n\n```{{doi:bibliography}}\n```\n"
        )
    conf = "doi_works, doi_resolve, doi_citation = 'works.json', False, 'number'\n"
    conf += "extensions += ['myst_parser']\nmyst_heading_anchors = 2\n"

    built = build(project(tmp_path, "", conf, **files), tmp_path, "text")

    for number, name in enumerate(names, 1):
        shown = re.findall(r"On \[\d\] On .*", built.text(f"{name}.txt").replace("*", ""))
        expected = f"On [1] On [2] On [3] On [{number}]"
        assert shown == [expected], f"page {name} shows the titles as {shown}"


def test_the_index_and_the_search_show_citations_in_terms(tmp_path: Path) -> None:
    source = write(tmp_path / "src", {**COPYING, "works.json": own_work("Abel")})
    build(source, tmp_path, search=True)
    built = build(write(source, {"works.json": own_work("Bor")}), tmp_path, search=True)

    index = text_in(built.text("genindex.html"))
    assert "Gloss’s (Bor, 2001)" in index
    assert "an own entry" in index
    assert r"gloss\u2019s (bor, 2001)" in built.text("searchindex.js")


def test_copies_are_numbered_as_where_they_were_written(book: Path, server: Site) -> None:
    result = built(book, "html", "-D", "doi_reference_style=numeric")
    for name, count in SHOWN.items():
        assert text_in(result.text(f"{name}.html")).count("[1, p. 5]") == count, name


KEEPING = {
    "conf.py": """\
extensions = ["sphinx_doiuri", "support.keeping"]
doi_works, doi_resolve, doi_lock = "works.json", False, None
project, version, copyright = "Book", "1", "us"
""",
    "index.rst": "T\n=\n\n.. toctree::\n   :glob:\n\n   s/*\n   t/*\n",
    "t/other.rst": "T\n=\n\n.. insert:: last\n\n.. insert:: resolved\n",
}
# With so many documents Sphinx reads in two processes
MANY = {f"s/p{number}.rst": f"{number}\n=\n\nText\n" for number in range(4)}
KEPT_PAGE = """\
P
=

.. keep::

   Box :doi:p:`@abel, p. 5`

.. keep::
   :hidden:

   Hidden :doi:t:`@hid`

.. admonition:: Read

   Read :doi:year:`@abel`
"""


@pytest.mark.parametrize(
    ("builder", "suffix", "processes", "listed"),
    [
        ("html", "html", "2", BIBLIOGRAPHY),
        ("html", "html", "1", ""),
        ("singlehtml", "html", "1", BIBLIOGRAPHY),
        ("epub", "xhtml", "1", BIBLIOGRAPHY),
        ("text", "txt", "1", BIBLIOGRAPHY),
        ("xml", "xml", "1", BIBLIOGRAPHY),
    ],
)
def test_what_is_inserted_after_all_transforms_is_shown(
    tmp_path: Path, builder: str, suffix: str, processes: str, listed: str
) -> None:
    hidden: dict[str, object] = {
        "id": "hid",
        "title": "H",
        "author": [{"family": "Hid"}],
        "issued": "2002",
    }
    hidden["URL"] = url = "https://h.example/"
    files = {**KEEPING, "s/page.rst": KEPT_PAGE + listed}
    if processes == "2":
        files |= MANY
    source = write(tmp_path / "src", files)
    for author in ("Abel", "Bor"):  # the second build follows a change of the work
        works = [*json.loads(own_work(author)), hidden]
        write(source, {"works.json": json.dumps(works)})
        built = build(source, tmp_path, builder, "-W", "-j", processes)
        assert built.status == 0, built.warnings

        is_one_page = builder == "singlehtml"
        name = "index" if is_one_page else "t/other"
        page = built.text(f"{name}.{suffix}")
        shown = " ".join(text_in(page).split())
        for text in (f"Box ({author}, 2001, p. 5)", "Hidden Hid (2002)", "Read 2001"):
            assert shown.count(text) >= 2, (text, author, shown)
        # On a page of another folder; build() checks that the links to entries lead somewhere
        if builder == "html":
            to_entry, to_url = re.findall('"../s/page.html#doi-hid', page), page.count(url)
            assert (len(to_entry), to_url) == ((2, 0) if listed else (0, 2)), page


def test_cards_and_marks_are_those_of_the_page_when_they_arrive_late(
    tmp_path: Path, server: Site
) -> None:
    page = "P\n=\n\n.. keep::\n\n   :doi:`10.5555/kahn-a` :doi:`10.5555/dead`\n\n.. doi:bibliography::\n"
    files = {**KEEPING, "s/page.rst": page, "works.json": "[]"}
    files["conf.py"] = 'extensions = ["sphinx_doiuri", "support.keeping"]\ndoi_details = True\n'
    built = build(write(tmp_path / "src", files), tmp_path)

    page = built.text("t/other.html")
    exactly(2, "cards", re.findall('id="doi-card-', page))
    assert page.count("<s>") == page.count("doi-not-found") == 2, page
