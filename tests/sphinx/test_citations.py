"""The roles and the list: what citations say and lead to, in reStructuredText and MyST."""

from __future__ import annotations

import json
import re
import sys
from itertools import chain
from pathlib import Path
from xml.etree import ElementTree

import pytest
from doiuri import DOI
from doiuri.citations import ReferenceStyle
from support.checks import assert_times, exactly, only, repeated
from support.references import ANTS, LOOKS, NOTES
from support.servers.web import Site
from support.sphinx_build import Build, build, project, text_in, write

LIST = ".. doi:bibliography::\n"


class Body:
    """The content of a page."""

    def __init__(self, page: str) -> None:
        start, end = page.index("<section"), page.rindex("</section>")
        self.elements = [*ElementTree.fromstring(page[start : end + len("</section>")]).iter()]
        self.ids = [one.attrib["id"] for one in self.elements if "id" in one.attrib]
        self.hrefs = [one.attrib["href"] for one in self.elements if "href" in one.attrib]

    def texts(self, of_class: str) -> list[str]:
        found = [one for one in self.elements if of_class in one.get("class", "").split()]
        return ["".join(one.itertext()).replace("\xa0", " ") for one in found]


def items(built: Build, name: str = "index.html") -> list[tuple[str, str]]:
    """The numbers with which lists begin, and the texts of their entries without links back."""
    pattern = r'<[ou]l class="[^"]*doi-bibliography[^"]*"(?: start="(\d+)")?>\n(.*?)</[ou]l>'
    entries = []
    for start, text in re.findall(pattern, built.text(name), re.DOTALL):
        for entry in re.findall(r"<li.*?</li>", text, re.DOTALL):
            without_links_back = entry.partition('<span class="doi-back">')[0]
            entries.append((start, text_in(without_links_back)))
    return entries


def shown(built: Build, *names: str) -> list[str]:
    """The texts of the links on pages."""
    links = chain.from_iterable(built.links(f"{name}.html") for name in names)
    return [link.text for link in links]


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


RST_PAGE = """\
T
=

%s
.. doi:bibliography::
   :nocite: @notes; 10.5555/no-metadata
      10.5555/three

"""
MYST_PAGE = """\
# T

%s
```{doi:bibliography}
:nocite: '@notes; 10.5555/three'
```
"""
# A role for a form and a text, and a page for citations
SYNTAXES = {
    "rst": (":doi:%s:`%s`\n", RST_PAGE),
    "md": ("{doi:%s}`%s`\n", MYST_PAGE),
}


@pytest.mark.parametrize(
    ("syntax", "conf", "column"),
    [
        ("rst", "", 2),
        ("md", "", 2),
        ("rst", "doi_citation = 'number'", 3),
        ("md", "doi_reference_style = 'numeric'", 3),
        ("rst", "language = 'de'", 4),
    ],
)
def test_what_citations_and_lists_show(
    syntax: str, conf: str, column: int, tmp_path: Path, server: Site
) -> None:
    role, page = SYNTAXES[syntax]
    cited = "\n".join(role % row[:2] for row in CITED)
    files = {
        "conf.py": f"extensions = ['sphinx_doiuri', 'myst_parser']\ndoi_works = ['works.json']\n{conf}\n",
        "works.json": WORKS,
        f"index.{syntax}": page % cited,
    }
    built = build(write(tmp_path / "src", files), tmp_path)
    assert Body(built.text()).texts("doi-citation") == [row[column] for row in CITED]
    if column == 2:
        assert [entry for _, entry in items(built) if entry in ENTRIES] == [*ENTRIES]
    assert built.warnings.count("WARNING") == built.warnings.count("has no metadata") == 1


def test_citations_lead_to_entries_and_back(tmp_path: Path, server: Site) -> None:
    text = ":doi:p:`10.5555/kahn-2006` :doi:p:`10.5555/a<b>#c;d,(e)` :doi:t:`10.5555/kahn-2006`\n"
    source = project(
        tmp_path, f"{text}\n{LIST}\nB\n-\n\n{LIST}   :scope: project\n\nC\n-\n\n{LIST}"
    )
    built = build(source, tmp_path)
    body = Body(built.text())
    inside = [href[1:] for href in body.hrefs if href.startswith("#doi-")]
    exactly(12, "links between citations and entries", inside)
    assert repeated(body.ids) == []
    assert all(id_.replace("-", "").isalnum() and id_.isascii() for id_ in inside)
    outside = [
        DOI.from_url(href).name for href in body.hrefs if href.startswith("https://doi.org/")
    ]
    assert outside == ["10.5555/kahn-2006", "10.5555/a<b>#c;d,(e)"] * 3
    assert body.texts("doi-back") == [" ↑1 ↑2", " ↑"] * 3
    assert_times(1, "doiuri.css", built.text())
    assert built.warnings == ""


def test_without_a_list_citations_lead_to_the_doi(
    tmp_path: Path, server: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "citeproc", None)  # only entries need it
    built = build(project(tmp_path, ":doi:p:`10.5555/kahn-2006`"), tmp_path, "html", "-W")
    assert [(link.href, link.text) for link in built.links()] == [
        ("https://doi.org/10.5555/kahn-2006", "Kahn & Wilensky, 2006")
    ]


def test_a_list_of_the_project(tmp_path: Path, server: Site) -> None:
    files = {
        "a/b.rst": "B\n=\n\n:doi:p:`10.5555/kahn-b`\n",
        "refs.rst": f"R\n=\n\n:doi:p:`10.5555/kahn-b`\n\n{LIST}\n{LIST}   :scope: project\n"
        "   :nocite: 10.5555/three\n",
        "sources.rst": f"S\n=\n\n{LIST}   :scope: project\n",
    }
    text = ":doi:p:`10.5555/kahn-a`\n\n.. toctree::\n\n   a/b\n   sources\n   refs\n"
    built = build(project(tmp_path, text, **files), tmp_path)
    assert [link.text for link in built.links()] == ["Kahn, 2001a"]
    link = only("link", built.links("a/b.html"))
    assert link.text == "Kahn, 2001b"
    assert link.href.startswith("../refs.html#")
    page = built.text("refs.html")
    _, _, own_list = page.rpartition('"doi-bibliography')
    assert f'id="{link.href.partition("#")[2]}' in own_list
    refs = Body(page)
    back = only(
        "link back", [e for e in refs.elements if e.get("href", "").startswith("a/b.html#doi-cite")]
    )
    assert back.attrib["title"] == "Cited in B"
    assert "Three authors" in "".join(entry for _, entry in items(built, "refs.html"))


def test_a_list_has_what_its_scope_links_to_too(tmp_path: Path, server: Site) -> None:
    files = {
        "a.rst": f"A\n=\n\n:doi:`10.5555/kahn-a` :doi:t:`10.5555/kahn-b`\n\n{LIST}   :links:\n",
        "refs.rst": f"R\n=\n\n{LIST}   :scope: project\n   :links:\n",
    }
    text = (
        "Text\n:doi:`10.5555/three`, https://doi.org/10.5555/kahn-2006,\n:doi:`10.5555/no-metadata`"
    )
    text += "\n\n.. only:: latex\n\n   :doi:`10.5555/kahn-b`\n\n.. toctree::\n\n   a\n   refs\n"
    conf = "doi_citation = 'number'"
    built = build(project(tmp_path, text, conf, **files), tmp_path)

    listed = [entry.rpartition("/")[2] for _, entry in items(built, "a.html")]
    assert listed == ["kahn-b.", "kahn-a."], "what is cited comes first"
    exactly(4, "entries", items(built, "refs.html"))
    assert shown(built, "index") == ["doi:10.5555/three", "doi:10.5555/no-metadata"]
    told = "6: 10.5555/no-metadata has no metadata, so it is not in the list of references"
    assert built.at == [f"{told} [doi.no-metadata]"]

    text = text.replace("10.5555/three", "10.5555/three-b")
    again = build(project(tmp_path, text, conf, **files), tmp_path)
    exactly(3, "entries", items(again, "refs.html"))


def test_a_list_of_all_works_of_the_files(tmp_path: Path, server: Site) -> None:
    source = project(
        tmp_path, f"{LIST}   :nocite: *\n", "doi_works = 'works.json'", **{"works.json": WORKS}
    )
    exactly(3, "entries", items(build(source, tmp_path, "html", "-W")))

    (source / "works.json").write_text(
        WORKS.replace('{"id": "notes"', '{"id": "x"},{"id": "notes"')
    )
    exactly(4, "entries", items(build(source, tmp_path, "html", "-W")))


def test_titles_with_citations_are_the_same_wherever_they_are_shown(
    tmp_path: Path, server: Site
) -> None:
    """Toctrees, ``contents`` and references show the label; only the title itself has the id."""
    after = "After (Kahn & Wilensky, 2006; doi:10.5555/no-metadata)"
    subtitle = "After :doi:p:`10.5555/kahn-2006, 10.5555/no-metadata`"
    a = f"On :doi:t:`10.5555/kahn-a`\n{'=' * 30}\n\n.. contents::\n\n.. _other:\n.. _two:\n\n{subtitle}\n"
    a += f"{'-' * 60}\n\n.. _rubric:\n\n.. rubric:: See :doi:p:`10.5555/kahn-a`\n\nSee :ref:`two`\n\n{LIST}"
    text = ":doc:`a` :ref:`two`, :ref:`rubric`, :ref:`own <two>` and :any:`two`\n\n.. toctree::\n\n   a\n"
    built = build(project(tmp_path, text, **{"a.rst": a}), tmp_path, "html", "-j", "2")
    page = built.text("a.html")
    index = built.text()
    references = r'<span class="(?:std std-ref|doc)">([^<]*)</span>'
    told = [text_in(one) for one in re.findall(references, index)]
    assert told == ["On Kahn (2001)", after, "See (Kahn, 2001)", "own", after]
    assert [text_in(one) for one in re.findall(references, page)] == [after]
    assert text_in(index).count("On Kahn (2001)") >= 2
    assert text_in(page).count(after) >= 3  # in the table of contents and in the sidebar, too
    assert "doi-cite-" not in index
    ids = [id_ for id_ in Body(page).ids if id_.startswith("doi-cite-")]
    assert repeated(ids) == []
    exactly(3, "ids", ids)
    assert 'title="Cited in On Kahn (2001)"' in page
    assert "<title>On Kahn (2001)" in page
    assert 'id="on-doi-10-5555-kahn-a"' in page


def test_the_plain_role_and_a_default_domain(tmp_path: Path, server: Site) -> None:
    text = ".. default-domain:: doi\n\n:p:`10.5555/kahn-b` :doi:`10.5555/kahn-a`\n\n.. bibliography::\n"
    built = build(project(tmp_path, text), tmp_path)
    assert shown(built, "index")[:2] == ["Kahn, 2001", "doi:10.5555/kahn-a"]
    exactly(1, "entries", items(built))


WRONG = {
    ":doi:p:`10.5555/kahn-a` and\n:doi:t:`hello`": "5: 'hello' is not a DOI",
    "x\n\n:doi:p:`see @knth`": "6: no file of works has the id 'knth'; did you mean 'knuth'?",
    f"{LIST}   :style: ieee": "write 'numeric', the closest of ours, or the path of a .csl file",
    f"{LIST}   :style: no.csl": "src/no.csl: cannot be read",
    f"{LIST}   :nocite: @nots": "4: no file of works has the id 'nots'; did you mean 'notes'?",
    f"{LIST}   :nocite: @notes\n      10.5555": "4: '10.5555' is not a DOI",
    f"{LIST}   :filter: book": "write type= and types of CSL",
    f"{LIST}   :filter: type=books": "'books' is not a type of CSL",
}


@pytest.mark.parametrize(("text", "told"), WRONG.items(), ids=WRONG.values())
def test_what_is_wrong_is_reported_at_its_line(text: str, told: str, tmp_path: Path) -> None:
    built = build(
        project(tmp_path, text, "doi_works = 'works.json'", **{"works.json": WORKS}), tmp_path
    )
    assert told in built.warnings.replace(" WARNING:", "")
    assert "/index.rst:" in built.warnings
    assert built.warnings.count("WARNING") + built.warnings.count("ERROR") == 1


def test_a_work_that_is_misspelt_does_not_cost_the_list(tmp_path: Path, server: Site) -> None:
    text = f":doi:t:`10.5555/three`\n\n{LIST}   :nocite: @nots; @notes\n"
    built = build(
        project(tmp_path, text, "doi_works = 'works.json'", **{"works.json": WORKS}), tmp_path
    )
    exactly(2, "entries", items(built))
    assert "[doi.syntax]" in built.warnings


def test_what_is_missing_is_reported_at_its_line(tmp_path: Path, server: Site) -> None:
    text = "Text\n:doi:p:`10.5555/kahn-a,\n10.5555/lost` and\n:doi:t:`10.5555/no-metadata`\n"
    text += "and again\n:doi:t:`10.5555/no-metadata`\n"
    built = build(project(tmp_path, text), tmp_path)
    assert sorted(built.at) == [
        "5: DOI not found: 10.5555/lost [doi.not-found]",
        "7: 10.5555/no-metadata has no metadata, so its citation is a plain link [doi.no-metadata]",
    ]
    assert ["doi-not-found" in link.classes for link in built.links()] == [
        False,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (
            "doi_reference_style=apa",
            "doi_reference_style: unknown style 'apa': write 'author-date'",
        ),
        ("doi_reference_style=bad.csl", "bad.csl:1: not XML"),
        ("doi_works=bad.json", "bad.json:3: "),
    ],
)
def test_a_wrong_option_stops_the_build_and_names_the_file(
    option: str, told: str, tmp_path: Path
) -> None:
    files = {
        "bad.csl": "<style",
        "bad.json": '[{"id": "a"},\n\n{]',
    }
    built = build(project(tmp_path, "", **files), tmp_path, "html", "-D", option)
    assert built.status == 2
    assert told in built.warnings + built.said


def test_authors_in_link_texts(tmp_path: Path, server: Site) -> None:
    text = ":doi:`10.5555/kahn-b` :doi:`Title <10.5555/kahn-a>` :doi:`10.5555/no-metadata`"
    text += " :doi:p:`10.5555/no-metadata, p. 1` :doi:p:`10.5555/three`"
    built = build(project(tmp_path, text), tmp_path, "html", "-D", "doi_text={authors} ({year})")
    assert shown(built, "index") == [
        "Kahn (2001)", "Title", "doi:10.5555/no-metadata", "doi:10.5555/no-metadata", "Kahn et al., 2001"
    ]  # fmt: skip


def test_filtered_lists_keep_their_numbers_and_citations_lead_to_them(
    tmp_path: Path, server: Site
) -> None:
    text = (
        ":doi:p:`@b1` :doi:p:`10.5555/kahn-2006` :doi:p:`@b2` :doi:p:`@report`\n\n"
        ".. doi:bibliography::\n   :filter: type=book\n\n"
        "B\n-\n\n.. doi:bibliography::\n   :filter: type=article-journal, thesis\n"
    )
    types = {"b1": "book", "b2": "book", "report": "report"}
    works = json.dumps([{"id": name, "type": types[name], "title": name.upper()} for name in types])
    conf = "doi_works = ['w.json']\ndoi_citation = 'number'"
    built = build(project(tmp_path, text, conf, **{"w.json": works}), tmp_path, "html", "-W")
    assert [(start, entry.partition(" ")[0]) for start, entry in items(built)] == [
        ("", "B1."), ("3", "B2."), ("2", "R."),
    ]  # fmt: skip
    page = built.text()
    addresses = re.findall(r'<a class="[^"]*reference internal" href="#(doi-[bk][^"]*)"', page)
    exactly(3, "links to entries", addresses)
    assert all(f'<li class="csl-entry" id="{address}"' in page for address in addresses)
    offline = "-D", "doi_offline=1", "-D", "doi_cache=:memory:"
    unknown = build(tmp_path / "src", tmp_path / "unknown", "html", *offline)
    assert items(unknown) == [("", "B1."), ("", "B2."), ("4", "https://doi.org/10.5555/kahn-2006")]


def test_a_change_of_a_file_of_works_rebuilds_what_it_touches(tmp_path: Path, server: Site) -> None:
    pages = {"a": f":doi:p:`@a`\n\n{LIST}", "b": f":doi:p:`10.5555/kahn-b`\n\n{LIST}",
             "c": f":doi:p:`10.5555/three`\n\n{LIST}", "d": ":doi:`10.5555/kahn-b`\n"}  # fmt: skip
    files = {f"{name}.rst": f"{name}\n=\n\n{text}" for name, text in pages.items()}
    conf = "doi_works = ['v.json', 'w.json']\ndoi_details = True\n"
    first = '[{"id": "a", "title": "First"}]'
    text = ".. toctree::\n   :glob:\n\n   *\n"
    source = project(tmp_path, text, conf, **{"v.json": "[]", "w.json": first, **files})
    build(source, tmp_path)
    changed = '[{"id": "a", "title": "Second"}, {"DOI": "10.5555/kahn-b", "title": "Gamma"}]'
    again = build(write(source, {"w.json": changed}), tmp_path)
    assert items(again, "a.html") == [("", "Second (n.d.).")]
    assert "Gamma" in again.text("b.html")
    assert '<span class="doi-card-title" data-doi="Gamma">' in again.text("d.html")
    assert again.written == {"a", "b", "d"}
    write(source, {"w.json": "[]"})
    assert "a.rst:4: WARNING: no file of works has the id 'a'" in build(source, tmp_path).warnings


BIBTEX = "@book{a, author = {Zorn, A.}, title = {A}, publisher = {P}, year = 2003}\n"


def test_all_works_with_problems_are_warned_of_and_the_others_are_shown(tmp_path: Path) -> None:
    bib = (
        f"{BIBTEX}@book{{c, doi = {{10/abc}}}}\n@book{{b, author={{Abel}}, doi = {{10.1000/b}}}}\n"
        "@book{d, title = {D}\n@book{e, author = {Other}, doi = {10.1000/b}}\n"
    )
    conf = "doi_works = 'a.bib'\ndoi_resolve = False"
    text = f":doi:p:`@a`, :doi:p:`@b`, :doi:p:`@e`\n\n{LIST}"
    source = project(tmp_path, text, conf, **{"a.bib": bib})

    built = build(source, tmp_path)
    strict = build(source, tmp_path / "strict", "html", "-W")

    assert re.fullmatch(
        ".*a.bib:2: c: '10/abc' is not a DOI.*the work is read without a DOI .*doi.works.\n"
        ".*a.bib:4: d: expected a field .* so it is left out.*doi.works.\n"
        ".*a.bib:5: 'b' and 'e' have the DOI 10.1000/b, so they are one work.*doi.works.\n",
        built.warnings,
    )
    assert "(Zorn, 2003), (Abel, n.d.), (Abel, n.d.)" in text_in(built.text())
    assert strict.status == 1


FORMULAS = r"""
@article{tex, journal = {J}, title = {$10^5$ and $\frac{1}{2}$ of \foo{a & b}{c_d}}, year = 2001}
@article{mathml, journal = {J},
 title = {<math><msup><mn>10</mn><mn>5</mn></msup><mo>·</mo><msqrt><mn>3</mn></msqrt></math>}}
"""


@pytest.mark.parametrize(
    ("builder", "file", "tex", "mathml"),
    [
        (
            "html",
            "index.html",
            r"10<sup>5</sup> and 1/2 of \foo{a &amp; b}{c_d}",
            "10<sup>5</sup>·√3",
        ),
        ("text", "index.txt", r"10⁵ and 1/2 of \foo{a & b}{c_d}", "10⁵·√3"),
        (
            "latex",
            "python.tex",
            r"10$^{\text{5}}$ and 1/2 of \textbackslash{}foo\{a \& b\}\{c\_d\}",
            r"10$^{\text{5}}$·√3",
        ),
    ],
)
def test_formulas_and_unknown_commands_are_shown_in_every_output(
    builder: str, file: str, tex: str, mathml: str, tmp_path: Path
) -> None:
    conf = "doi_works = 'a.bib'\ndoi_resolve = False\nproject = 'Python'"
    text = f"Title\n=====\n\n:doi:year:`@mathml`\n\n{LIST}   :nocite: *\n"

    built = build(project(tmp_path, text, conf, **{"a.bib": FORMULAS}), tmp_path, builder)

    page = re.sub(r"\s+", " ", built.text(file))
    assert tex in page
    assert mathml in page
    assert_times(1, "a.bib:2: tex: the TeX command \\foo is not known", built.warnings)


def test_a_reference_to_a_title_with_a_citation_keeps_what_is_raised(tmp_path: Path) -> None:
    conf = "doi_works = 'a.bib'\ndoi_resolve = False"
    text = f".. _on:\n\nOn :doi:p:`@tex`\n----------------\n\nSee :ref:`on`.\n\n{LIST}"

    built = build(project(tmp_path, text, conf, **{"a.bib": FORMULAS}), tmp_path)

    assert re.search(r"See .*\bOn \(“10⁵ and 1/2", text_in(built.text()))


@pytest.mark.parametrize(
    ("options", "title"),
    [
        ((), "Don quijote."),
        (("-D", "language=es"), "Don Quijote."),
        (("-D", "language=eo"), "Don Quijote."),
        (("-D", "doi_reference_locale=es-ES"), "Don Quijote."),
        (("-D", "language=es", "-D", "doi_reference_locale=en-GB"), "Don quijote."),
    ],
)
def test_titles_of_works_without_a_language_are_in_that_of_the_references_or_the_project(
    options: tuple[str, ...], title: str, tmp_path: Path
) -> None:
    bib = "@book{a, author = {Cervantes, Miguel}, title = {Don Quijote}, year = 1605}\n"
    conf = "doi_works = 'a.bib'\ndoi_resolve = False"
    source = project(tmp_path, f":doi:p:`@a`\n\n{LIST}", conf, **{"a.bib": bib})

    built = build(source, tmp_path, "html", *options)

    _, entry = only("entry", items(built))
    assert title in entry


def test_an_own_style_and_other_numbers_beside(tmp_path: Path, server: Site) -> None:
    conf = "extensions += ['sphinxcontrib.bibtex']\nbibtex_bibfiles = ['a.bib']\n"
    conf += "bibtex_default_style = 'plain'\n"
    text = f":cite:p:`a` :doi:p:`10.5555/kahn-b`\n\n.. bibliography::\n\n{LIST}   :style: own.csl\n"
    files = {"a.bib": BIBTEX, "own.csl": ReferenceStyle.load("numeric").xml.decode()}
    source = project(tmp_path, text, conf, **files)
    built = build(source, tmp_path)
    assert_times(1, "both number from [1]", built.warnings)
    assert re.search('<ol class="[^"]*doi-bibliography', built.text())
    write(source, {"own.csl": ReferenceStyle.load().xml.decode()})
    again = build(source, tmp_path)
    assert again.warnings == ""
    assert '<ul class="doi-bibliography csl-bib-body' in again.text()
    error = only("warning", build(write(source, {"own.csl": "<style"}), tmp_path).at)
    assert re.match(r"8: ERROR: .*own.csl:1: not XML", error), error
    labels = "bibtex_reference_style = 'author_year'\n"
    again = build(project(tmp_path, text, conf + labels, **files), tmp_path)
    assert again.warnings == ""


@pytest.mark.parametrize(
    ("builder", "file", "citation", "entry"),
    [
        (
            "html",
            "index.html",
            '<span class="small-caps">Doe</span> <span class="underline">2001</span> <span class="light">3</span>',
            (
                '<em>Ants</em> <span class="underline"><span class="light">6</span></span> <sup>2</sup> '
                '<a class="doi reference external" href="https://doi.org/10.1000/ants">'
                '<span class="underline">10.1000/ants</span></a>'
            ),
        ),
        ("text", "index.txt", "Doe 2001 3", "*Ants* 6 ² 10.1000/ants"),
        (
            "latex",
            "python.tex",
            r"\DUrole{small-caps}{Doe} \DUrole{underline}{2001} \DUrole{light}{3}",
            (
                r"\sphinxstyleemphasis{Ants} \DUrole{underline}{\DUrole{light}{6}} $^{\text{2}}$ "
                r"\sphinxhref{https://doi.org/10.1000/ants}{\DUrole{underline}{10.1000/\allowbreak{}ants}}"
            ),
        ),
    ],
)
def test_formats_of_a_style_are_shown_in_every_output(
    builder: str, file: str, citation: str, entry: str, tmp_path: Path
) -> None:
    conf = "doi_reference_style = 'looks.csl'\ndoi_works = 'w.json'\ndoi_resolve = False\nproject = 'Python'"
    files = {"looks.csl": LOOKS, "w.json": json.dumps([ANTS])}
    source = project(tmp_path, f":doi:p:`@ants, p. 3`\n\n{LIST}", conf, **files)

    built = build(source, tmp_path, builder, "-W")

    assert citation in built.text(file)
    assert entry in built.text(file)


def test_a_page_with_citations_has_the_style_sheet_though_the_list_is_elsewhere(
    tmp_path: Path, server: Site
) -> None:
    built = build(project(tmp_path, ":doi:p:`10.5555/kahn-2006`"), tmp_path)
    assert_times(1, "doiuri.css", built.text())
    assert (built.out / "_static" / "doiuri.css").is_file()


@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [("numeric", "author-date", "[1]"), ("author-date", "numeric", "(Kahn, 2001")],
)
def test_citations_are_set_in_the_style_of_the_first_list_of_their_page(
    tmp_path: Path, server: Site, first: str, second: str, shown: str
) -> None:
    lists = [f".. doi:bibliography::\n   :style: {style}\n" for style in (first, second)]
    other = f":orphan:\n\nO\n=\n\n{LIST}   :scope: project\n"
    text = "\n".join([":doi:p:`10.5555/kahn-b`\n", *lists])
    built = build(project(tmp_path, text, **{"other.rst": other}), tmp_path)
    assert Body(built.text()).texts("doi-citation")[0].startswith(shown)


LISTS = {
    "author-date": f"{LIST}   :style: author-date\n",
    "numeric": f"{LIST}   :style: numeric\n",
    "author-date-of-all": f"{LIST}   :style: author-date\n   :scope: project\n",
    "numeric-of-all": f"{LIST}   :style: numeric\n   :scope: project\n",
    "numeric-of-books": f"{LIST}   :style: numeric\n   :filter: type=book\n",
}


@pytest.mark.parametrize("order", [[*LISTS], [*reversed(LISTS)]], ids=["first", "reversed"])
def test_each_list_of_a_page_is_what_it_is_alone(
    tmp_path: Path, server: Site, order: list[str]
) -> None:
    cited = ":orphan:\n\nO\n=\n\n:doi:p:`10.5555/kahn-b` :doi:p:`10.5555/berg-1999`"
    alone = {f"{name}.rst": f"{cited}\n\n{written}" for name, written in LISTS.items()}
    together = "\n".join([f"{cited}\n", *map(LISTS.__getitem__, order)])

    built = build(project(tmp_path, "", **alone, **{"together.rst": together}), tmp_path)

    lists = {name: items(built, f"{name}.html") for name in LISTS}
    assert lists["author-date"] != lists["numeric"]
    assert items(built, "together.html") == list(chain.from_iterable(lists[name] for name in order))


REFS = {
    "index.rst": "T\n=\n\n.. toctree::\n\n   a\n   b\n   c\n   refs\n",
    "a.rst": "A\n=\n\n:doi:p:`10.5555/kahn-a`\n",
    "b.rst": "B\n=\n\nNothing yet, but :doi:`10.5555/three`\n",
    "c.rst": "C\n=\n\n:doi:p:`10.5555/berg-1999`\n",
    "refs.rst": f"R\n=\n\n{LIST}   :scope: project\n",
}


def test_a_rebuild_asks_only_what_is_new_and_writes_only_what_changed(
    tmp_path: Path, server: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write(tmp_path / "src", REFS)
    assert shown(build(source, tmp_path), "a") == ["Kahn, 2001"]
    exactly(2 + 1, "requests", server.seen)  # two cited works, and one DOI that is only linked
    server.seen.clear()
    again = build(source, tmp_path)
    build(source, tmp_path / "other")  # the cache has the works
    assert (again.written, again.warnings, server.seen) == (set(), "", [])
    monkeypatch.setenv("DOIURI_CACHE", ":memory:")
    write(source, {"b.rst": "B\n=\n\n:doi:p:`10.5555/kahn-b`\n"})
    third = build(source, tmp_path)
    assert [asked.target for asked in server.seen] == ["/10.5555/kahn-b"]
    assert third.written == {"a", "b", "refs"}
    assert shown(third, "a", "b") == ["Kahn, 2001a", "Kahn, 2001b"]


SPELLINGS = [
    "10.5555/kahn-b",
    "10.5555/KAHN-B",
    "doi:10.5555/Kahn-b",
    "https://dx.doi.org/10.5555/%6Bahn-B",
]


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_doi_has_one_request_one_number_and_one_entry(
    name: str, tmp_path: Path, server: Site
) -> None:
    cited = f":doi:p:`10.5555/kahn-a; 10.5555/kahn-b` :doi:t:`{name}` :doi:`{name}` `T <doi:10.5555/kAHN-B>`_"
    source = project(tmp_path, f"{cited}\n\n{LIST}   :nocite: {name}\n")
    built = build(source, tmp_path, "html", "-D", "doi_citation=number")
    assert [link.text for link in built.links()][:3] == ["1", "2", "Kahn [2]"]
    exactly(1, "links", {link.href for link in built.links()[1:3]})
    assert_times(2, '<li class="csl-entry" id="doi-', built.text())
    exactly(2, "requests", server.seen)
    assert [line for line in built.told if "not found" in line] == []


def test_an_accepted_doi_is_accepted_in_each_spelling(tmp_path: Path, server: Site) -> None:
    names = "10.5555/lost", "10.5555/LOST", "doi:10.5555/Lost", "https://doi.org/10.5555/l%6Fst"
    source = project(tmp_path, " ".join(f":doi:`{name}`" for name in (*names, "10.5555/three")))
    build(source, tmp_path / "lock", "doi-lock")
    lock = json.loads((source / "doi.lock.json").read_text("utf-8"))
    (source / "doi.lock.json").write_text(
        json.dumps(lock | {"accepted": {"10.5555/LOST": "withdrawn"}}), "utf-8"
    )
    for builder in "html", "linkcheck", "doi-lock", "html":
        built = build(
            source, tmp_path / "out", builder, "-D", "linkcheck_report_timeouts_as_broken=0"
        )
        assert [line for line in built.told if "10.5555" in line] == [], builder
        assert built.status == 0, builder
    assert "withdrawn" in (source / "doi.lock.json").read_text("utf-8")


@pytest.mark.parametrize("known", ["known", "unknown"])
def test_numbers_have_the_reading_order_and_lists_every_work(
    known: str, tmp_path: Path, server: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That is the order of the toctrees; documents in none come last, by name."""
    works = "three", "kahn-b", "kahn-a", "kahn-2006", "berg-1999", "literal"
    order = dict(zip(("index", *"baxyz"), works, strict=True))
    files = {name: f"T\n=\n\n:doi:p:`10.5555/{work}`\n\n" for name, work in order.items()}
    files["index"] += ".. toctree::\n\n   b\n   a\n"
    files["y"] += ".. doi:bibliography::\n   :scope: project\n"
    monkeypatch.setenv("DOIURI_OFFLINE", str(known == "unknown"))
    source = write(tmp_path / "src", {f"{name}.rst": text for name, text in files.items()})
    built = build(source, tmp_path, "html", "-D", "doi_citation=number")
    listed = built.text("y.html").partition("doi-bibliography")[2]
    assert re.findall(r'href="https://doi.org/10.5555/([\w-]*)"', listed) == [*order.values()]
    if known == "known":
        assert [shown(built, name)[0] for name in order] == ["1", "2", "3", "4", "5", "6"]


KAHN = ":doi:p:`10.5555/kahn-a`"
BERG = ":doi:p:`10.5555/berg-1999`"
NOTED = {
    "conf.py": "extensions = ['sphinx_doiuri']\ndoi_reference_style = 'notes.csl'\n",
    "notes.csl": NOTES,
    "index.rst": (
        f"T\n=\n\n.. contents::\n.. toctree::\n\n   a\n\n{KAHN} {KAHN}\n\n"
        f"S {KAHN}\n--------------------------\n\n:ref:`here <a>` {BERG}\n\n"
        f".. only:: latex\n\n   {BERG}\n\n:doi:t:`10.5555/kahn-a, p. 3` {KAHN}\n\n"
        ".. doi:bibliography::\n   :scope: project\n"
    ),
    "a.rst": f".. _a:\n\nA\n=\n\n{KAHN}\n\n.. [#] {KAHN}\n",
}


@pytest.mark.parametrize("notes", [True, False])
def test_a_style_of_notes_has_ibid_on_each_page(notes: bool, tmp_path: Path, server: Site) -> None:
    built = build(write(tmp_path / "src", NOTED), tmp_path, "html", "-D", f"doi_notes={notes}")

    page = Body(built.text())
    if notes:
        assert page.texts("doi-citation") == [
            "Kahn"
        ]  # of ":doi:t:"; the notes stand after the text
        of_notes = re.findall(r"<aside.*?</aside>", built.text(), re.DOTALL)
        assert [text_in(note).split("]")[1].strip() for note in of_notes] == [
            *("Kahn Alpha.", "Ibid.", "van der Berg On dikes.", "above n. 1 3; Kahn."),
        ]
        return
    in_contents, *in_text = page.texts("doi-citation")
    assert in_contents == "Kahn Alpha"
    assert in_text == [
        *("Kahn Alpha", "ibid.", "ibid."),
        *("van der Berg On dikes", "Kahn (3)", "Kahn"),
    ]
    assert Body(built.text("a.html")).texts("doi-citation") == ["Kahn Alpha", "Ibid."]


def test_positions_after_a_change_are_those_of_a_fresh_build(tmp_path: Path, server: Site) -> None:
    source = write(tmp_path / "src", NOTED)
    build(source, tmp_path)

    write(source, {"a.rst": f"A {BERG}\n=========================\n\n{KAHN} {KAHN}\n"})
    again = build(source, tmp_path, "html", "-j", "2")
    fresh = build(source, tmp_path / "fresh")

    for name in ("index.html", "a.html"):
        assert Body(again.text(name)).texts("doi-citation") == (
            Body(fresh.text(name)).texts("doi-citation")
        )
