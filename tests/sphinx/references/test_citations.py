"""The roles and the list: what citations say and lead to, in reStructuredText and MyST."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest
from doiuri import DOI
from sphinx_doiuri._citations import split_dois
from support.references import CASES, CitationCase, ReferenceCase
from support.servers.web import Site
from support.sphinx_build import Build, build, write


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


def rst(citation: CitationCase) -> str:
    role = "t" if citation.form == "textual" else "p"
    return f":doi:{role}:`{'; '.join(citation.dois)}`"


def myst(citation: CitationCase) -> str:
    role = "t" if citation.form == "textual" else "p"
    return f"{{doi:{role}}}`{', '.join(citation.dois)}`"


@pytest.mark.parametrize("syntax", ["rst", "md"])
@pytest.mark.parametrize("case", [case for case in CASES if case.has_authors], ids=str)
def test_shared_cases(case: ReferenceCase, syntax: str, tmp_path: Path, server: Site) -> None:
    if syntax == "rst":
        cited = "\n\n".join(map(rst, case.citations))
        text = f"T\n=\n\n{cited}\n\n.. doi:bibliography::\n"
    else:
        cited = "\n\n".join(map(myst, case.citations))
        text = f"# T\n\n{cited}\n\n```{{doi:bibliography}}\n```\n"
    german = case.words is not None
    conf = 'extensions = ["sphinx_doiuri", "myst_parser"]\n' + f"doi_citation = {case.style!r}\n"
    conf += 'language = "de"\n' if german else ""
    source = write(tmp_path / "src", {"conf.py": conf, f"index.{syntax}": text})
    built = build(source, tmp_path)
    page = Page(built.text())
    citations = page.of_class("doi-citation")
    assert [element.text for element in citations] == [citation.text for citation in case.citations]
    expected = [entry.text for entry in case.entries]
    assert [(bool(e) and text) or "" for e, text in zip(expected, entries(page), strict=True)] == expected
    assert "<script>" not in built.text()[built.text().index("doi-citation") :].partition("</section>")[0]


def project(tmp_path: Path, files: dict[str, str]) -> Path:
    return write(tmp_path / "src", files)


def targets(built: Build, name: str = "index.html") -> list[str]:
    return [link.href for link in built.links(name)]


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
        ("https://doi.org/10.5555/kahn-2006", "Kahn and Wilensky, 2006")
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
    after = "After (Kahn and Wilensky, 2006; doi:10.5555/no-metadata)"
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
    ("text", "dois"),
    [
        ("10.1/a, 10.1/b;10.1/c", ["10.1/a", "10.1/b;10.1/c"]),
        (
            "10.1/a, b; doi:10.1/c,\nhttps://doi.org/10.1/d",
            ["10.1/a, b", "doi:10.1/c", "https://doi.org/10.1/d"],
        ),
        ("10.1/a;", ["10.1/a;"]),
        ("", [""]),
        ("10.1/á, 10.1/(b);c", ["10.1/á", "10.1/(b);c"]),
    ],
)
def test_separators(text: str, dois: list[str]) -> None:
    assert split_dois(text) == dois


def test_what_is_no_doi_is_reported_at_its_line(tmp_path: Path, server: Site) -> None:
    source = project(tmp_path, {"index.rst": "T\n=\n\nText\n:doi:p:`10.5555/kahn-a` and\n:doi:t:`hello`\n"})
    built = build(source, tmp_path)
    assert "index.rst:6: WARNING: 'hello' is not a DOI" in built.warnings
    assert built.warnings.count("WARNING") == 1
    assert ":doi:t:`hello`" in built.text()


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


def test_a_style_that_cannot_be_requested(tmp_path: Path, server: Site) -> None:
    source = project(tmp_path, {"index.rst": "T\n=\n\n.. doi:bibliography::\n   :style: a b\n"})
    assert "'a b' is not the name of a CSL style" in build(source, tmp_path).warnings
    built = build(source, tmp_path / "2", "html", "-D", "doi_citation=footnote")
    assert built.status == 2


def test_authors_in_link_texts(tmp_path: Path, server: Site) -> None:
    text = "T\n=\n\n:doi:`10.5555/kahn-b` :doi:`Title <10.5555/kahn-a>` :doi:`10.5555/no-metadata`\n"
    built = build(
        project(tmp_path, {"index.rst": text}), tmp_path, "html", "-D", "doi_text={authors} ({year})"
    )
    assert [link.text for link in built.links()] == ["Kahn (2001)", "Title", "doi:10.5555/no-metadata"]
