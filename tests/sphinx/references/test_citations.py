"""The roles and the list: what citations say and lead to, in reStructuredText and MyST."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest
from doiuri import DOI
from support.servers.web import Site
from support.sphinx_build import build, write


class Element:
    def __init__(self, tag: str, attributes: dict[str, str]) -> None:
        self.tag, self.attributes, self.text = tag, attributes, ""


class Page(HTMLParser):
    """All elements of a page with their text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self._open: list[Element] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.elements.append(element)
        if tag not in {"meta", "link", "br", "img", "input", "hr"}:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if any(element.tag == tag for element in self._open):
            while self._open.pop().tag != tag:
                pass

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data

    def of_class(self, name: str) -> list[Element]:
        return [e for e in self.elements if name in e.attributes.get("class", "").split()]

    @property
    def ids(self) -> list[str]:
        return [e.attributes["id"] for e in self.elements if "id" in e.attributes]


def entries(page: Page) -> list[str]:
    """The texts of the list, without the links back."""
    inside = [e for e in page.elements if e.tag == "li" and e.attributes.get("id", "").startswith("doi-")]
    return [e.text.partition("\N{NO-BREAK SPACE}↑")[0] for e in inside]


WORKS = """\
[
  {"id": "knuth", "type": "book", "title": "The TeXbook", "URL": "https://example.org/tex",
   "author": [{"family": "Knuth", "given": "Donald"}], "issued": {"date-parts": [[1984]]}},
  {"id": "notes", "type": "report", "title": "Notes"},
  {"id": "beta", "DOI": "10.5555/kahn-b", "author": [{"family": "Curie", "given": "Marie"}]}
]
"""
CITED = [
    ("p", "10.5555/kahn-2006", "(Kahn & Wilensky, 2006)", "[1]", "(Kahn & Wilensky, 2006)"),
    ("t", "10.5555/KAHN-2006, p. 12", "Kahn and Wilensky (2006, p. 12)", "Kahn and Wilensky [1, p. 12]",
     "Kahn und Wilensky (2006, S. 12)"),
    ("p", "see 10.5555/three, ch. 3; 10.5555/berg-1999, and on",
     "(see Kahn et al., 2001, chap. 3; van der Berg, 1999, and on)", "[see 2, chap. 3; 3, and on]",
     "(see Kahn u. a., 2001, Kap. 3; van der Berg, 1999, and on)"),
    ("year", "10.5555/literal", "n.d.", "n.d.", "o. J."),
    ("author", "10.5555/berg-1999", "van der Berg", "van der Berg", "van der Berg"),
    ("p", "-@knuth, pp. 3-4; 10.5555/kahn-b", "(Curie, 2001; 1984, pp. 3–4)", "[5, pp. 3–4; 6]",
     "(Curie, 2001; 1984, S. 3–4)"),
    ("t", "@beta, 10.5555/no-metadata", "Curie (2001); doi:10.5555/no-metadata",
     "Curie [6]; doi:10.5555/no-metadata", "Curie (2001); doi:10.5555/no-metadata"),
    ("p", "10.5555/no-metadata, p. 1", "(doi:10.5555/no-metadata, p. 1)", "[doi:10.5555/no-metadata, p. 1]",
     "(doi:10.5555/no-metadata, S. 1)"),
]  # fmt: skip
ENTRIES = (
    "Curie, M. (2001). Beta. https://doi.org/10.5555/kahn-b",
    "Kahn, R., Abel, & Zorn (2001). Three authors. https://doi.org/10.5555/three",
    (
        "Kahn, R., & Wilensky, R. (2006). A framework for distributed digital object services. "
        "International Journal on Digital Libraries, 6(2), 115–123. https://doi.org/10.5555/kahn-2006"
    ),
    "Knuth, D. (1984). The TeXbook. https://example.org/tex",
    "Notes (n.d.).",
)


@pytest.mark.parametrize("syntax", ["rst", "md"])
@pytest.mark.parametrize(
    ("conf", "column"),
    [("", 2), ("doi_citation = 'number'", 3), ("doi_reference_style = 'numeric'", 3), ("language = 'de'", 4)],
)
def test_what_citations_and_lists_show(
    conf: str, column: int, syntax: str, tmp_path: Path, server: Site
) -> None:
    role = ":doi:%s:`%s`\n" if syntax == "rst" else "{doi:%s}`%s`\n"
    cited = "\n".join(role % row[:2] for row in CITED)
    options = "   :nocite: @notes; 10.5555/no-metadata\n      10.5555/three\n"
    if syntax == "md":
        options = ":nocite: '@notes; 10.5555/three'\n"
    heading, opening, end = (
        ("T\n=", ".. doi:bibliography::", "") if syntax == "rst" else ("# T", "```{doi:bibliography}", "```")
    )
    files = {
        "conf.py": f"extensions = ['sphinx_doiuri', 'myst_parser']\ndoi_works = ['works.json']\n{conf}\n",
        "works.json": WORKS,
        f"index.{syntax}": f"{heading}\n\n{cited}\n{opening}\n{options}{end}\n",
    }
    built = build(write(tmp_path / "src", files), tmp_path)
    page = Page(built.text())
    shown = [element.text.replace("\xa0", " ") for element in page.of_class("doi-citation")]
    assert shown == [row[column] for row in CITED]
    if column == 2:
        assert [entry for entry in entries(page) if entry in ENTRIES] == [*ENTRIES]
    assert built.warnings.count("WARNING") == built.warnings.count("has no metadata") == 1
    assert len(set(page.ids)) == len(page.ids)


def project(tmp_path: Path, files: dict[str, str]) -> Path:
    return write(tmp_path / "src", files)


def test_citations_lead_to_entries_and_back(tmp_path: Path, server: Site) -> None:
    text = "T\n=\n\n:doi:p:`10.5555/kahn-2006` :doi:p:`10.5555/a<b>#c;d,(e)` :doi:t:`10.5555/kahn-2006`\n"
    source = project(tmp_path, {"index.rst": f"{text}\n.. doi:bibliography::\n"})
    built = build(source, tmp_path)
    page = Page(built.text())
    hrefs = [e.attributes["href"] for e in page.elements if e.tag == "a" and "href" in e.attributes]
    inside = [href[1:] for href in hrefs if href.startswith("#doi-")]
    assert len(inside) == 6
    assert set(inside) <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert all(id_.replace("-", "").isalnum() and id_.isascii() for id_ in inside)
    outside = [DOI.from_url(href).name for href in hrefs if href.startswith("https://doi.org/")]
    assert outside == ["10.5555/kahn-2006", "10.5555/a<b>#c;d,(e)"]
    assert built.warnings == ""


def test_without_a_list_citations_lead_to_the_doi(tmp_path: Path, server: Site) -> None:
    source = project(tmp_path, {"index.rst": "T\n=\n\n:doi:p:`10.5555/kahn-2006`\n"})
    built = build(source, tmp_path)
    assert [(link.href, link.text) for link in built.links()] == [
        ("https://doi.org/10.5555/kahn-2006", "Kahn & Wilensky, 2006")
    ]


def test_a_list_of_the_project(tmp_path: Path, server: Site) -> None:
    files = {
        "index.rst": "T\n=\n\n:doi:p:`10.5555/kahn-a`\n\n.. toctree::\n\n   a/b\n   refs\n",
        "a/b.rst": "B\n=\n\n:doi:p:`10.5555/kahn-b`\n",
        "refs.rst": "R\n=\n\n.. doi:bibliography::\n   :scope: project\n",
    }
    built = build(project(tmp_path, files), tmp_path)
    assert [link.text for link in built.links()] == ["KAHN, 2001a"]
    [link] = built.links("a/b.html")
    assert link.text == "Kahn, 2001b"
    address = link.href.removeprefix("../refs.html#")
    refs = Page(built.text("refs.html"))
    assert address in refs.ids
    [back] = [e for e in refs.elements if e.attributes.get("href", "").startswith("a/b.html#doi-cite")]
    assert back.attributes["href"].partition("#")[2] in Page(built.text("a/b.html")).ids
    assert back.attributes["title"] == "Cited in B"


def test_citations_in_titles(tmp_path: Path, server: Site) -> None:
    """Toctrees, ``contents`` and references show the label; only the title itself has the id."""
    subtitle = "After :doi:p:`10.5555/kahn-2006, 10.5555/no-metadata`"
    files = {
        "index.rst": "T\n=\n\n:doc:`a`\n\n.. toctree::\n\n   a\n",
        "a.rst": f"On :doi:t:`10.5555/kahn-a`\n{'=' * 30}\n\n.. contents::\n\n{subtitle}\n{'-' * 60}\n\n"
        "T\n\n.. doi:bibliography::\n",
    }
    built = build(project(tmp_path, files), tmp_path)
    after = "After (Kahn & Wilensky, 2006; doi:10.5555/no-metadata)"
    index, page = ([e.text for e in Page(built.text(f"{name}.html")).elements] for name in ("index", "a"))
    assert index.count("On KAHN (2001)") >= 2
    assert after in index
    assert page.count(after) >= 2  # in the table of contents and in the sidebar
    assert "doi-cite-" not in built.text()
    ids = [id_ for id_ in Page(built.text("a.html")).ids if id_.startswith("doi-cite-")]
    assert len(ids) == len(set(ids)) == 2
    assert 'title="Cited in On KAHN (2001)"' in built.text("a.html")
    assert "<title>On KAHN (2001)" in built.text("a.html")


def test_the_plain_role_and_a_default_domain(tmp_path: Path, server: Site) -> None:
    text = (
        "T\n=\n\n.. default-domain:: doi\n\n:p:`10.5555/kahn-b` :doi:`10.5555/kahn-a`\n\n.. bibliography::\n"
    )
    built = build(project(tmp_path, {"index.rst": text}), tmp_path)
    assert [link.text for link in built.links()][:2] == ["Kahn, 2001", "doi:10.5555/kahn-a"]
    assert len(entries(Page(built.text()))) == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Text\n:doi:p:`10.5555/kahn-a` and\n:doi:t:`hello`", "index.rst:6: WARNING: 'hello' is not a DOI"),
        (
            "x\n\n:doi:p:`see @knth`",
            "index.rst:6: WARNING: no file of works has the id 'knth'; did you mean 'knuth'?",
        ),
        (
            ".. doi:bibliography::\n   :style: ieee",
            "write 'numeric', the closest of ours, or the path of a .csl file",
        ),
        (".. doi:bibliography::\n   :style: no.csl", "src/no.csl: cannot be read"),
        (
            ".. doi:bibliography::\n   :nocite: @nots",
            "no file of works has the id 'nots'; did you mean 'notes'?",
        ),
        (".. doi:bibliography::\n   :filter: book", "write type= and types of CSL"),
        (".. doi:bibliography::\n   :filter: type=books", "'books' is not a type of CSL"),
    ],
)
def test_what_is_wrong_is_reported_at_its_line(text: str, told: str, tmp_path: Path, server: Site) -> None:
    conf = "extensions = ['sphinx_doiuri']\ndoi_works = 'works.json'\n"
    files = {"conf.py": conf, "works.json": WORKS, "index.rst": f"T\n=\n\n{text}\n"}
    built = build(project(tmp_path, files), tmp_path)
    assert told in built.warnings
    assert "index.rst:" in built.warnings
    assert built.warnings.count("WARNING") + built.warnings.count("ERROR") == 1


def test_what_is_missing_is_reported_at_its_line(tmp_path: Path, server: Site) -> None:
    text = "T\n=\n\nText\n:doi:p:`10.5555/kahn-a,\n10.5555/lost` and\n:doi:t:`10.5555/no-metadata`\n"
    text += "and again\n:doi:t:`10.5555/no-metadata`\n"
    built = build(project(tmp_path, {"index.rst": text}), tmp_path)
    told = [line.partition("index.rst:")[2] for line in built.warnings.splitlines()]
    assert sorted(told) == [
        "5: WARNING: DOI not found: 10.5555/lost [doi.not-found]",
        "7: WARNING: 10.5555/no-metadata has no metadata, so its citation is a plain link [doi.no-metadata]",
    ]
    assert ["doi-not-found" in link.classes for link in built.links()] == [False, True, False, False]


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("doi_reference_style=apa", "doi_reference_style: unknown style 'apa': write 'author-date'"),
        ("doi_reference_style=bad.csl", "bad.csl:1: not XML"),
        ("doi_reference_locale=xx", "doi_reference_locale: CSL has no locale 'xx'"),
        ("doi_works=none.json", "none.json: cannot be read"),
        ("doi_works=bad.json", "bad.json:3: "),
    ],
)
def test_a_wrong_option_stops_the_build_and_names_the_file(
    option: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {
        "bad.csl": "<style",
        "bad.json": '[{"id": "a"},\n\n{"id": "a", "title": "T"}]',
        "index.rst": "T\n=\n",
    }
    built = build(project(tmp_path, files), tmp_path, "html", "-D", option)
    assert built.status == 2
    assert told in built.warnings + built.said


def test_authors_in_link_texts(tmp_path: Path, server: Site) -> None:
    text = "T\n=\n\n:doi:`10.5555/kahn-b` :doi:`Title <10.5555/kahn-a>` :doi:`10.5555/no-metadata`\n"
    built = build(
        project(tmp_path, {"index.rst": text}), tmp_path, "html", "-D", "doi_text={authors} ({year})"
    )
    assert [link.text for link in built.links()] == ["Kahn (2001)", "Title", "doi:10.5555/no-metadata"]
