"""Works of files, what lists show and leave out, and what stands when answers are missing."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from unittest import mock

import pytest
from doiuri.citations import Style, _processor
from support.failing import FAILING
from support.servers.web import Site
from support.sphinx_build import Build, build, write

BIBTEX = "@book{a, author = {Zorn, A.}, title = {A}, publisher = {P}, year = 2003}\n"


def items(built: Build, name: str = "index.html") -> list[tuple[str, str]]:
    """The numbers with which lists begin, and the texts of their entries without links back."""
    lists = re.findall(
        r'<[ou]l class="[^"]*doi-bibliography[^"]*"(?: start="(\d+)")?>\n(.*?)</[ou]l>',
        built.text(name),
        re.DOTALL,
    )
    return [
        (start, re.sub("<[^>]*>", "", entry.partition('<span class="doi-back">')[0]))
        for start, text in lists
        for entry in re.findall(r"<li.*?</li>", text, re.DOTALL)
    ]


def test_filtered_lists_keep_their_numbers_and_citations_lead_to_them(tmp_path: Path, server: Site) -> None:
    text = (
        "T\n=\n\n:doi:p:`@b1` :doi:p:`10.5555/kahn-2006` :doi:p:`@b2`\n\n"
        ".. doi:bibliography::\n   :filter: type=book\n\n"
        "B\n-\n\n.. doi:bibliography::\n   :filter: type=article-journal, thesis\n"
    )
    works = [{"id": name, "type": "book", "title": name.upper()} for name in ("b1", "b2")]
    conf = "extensions = ['sphinx_doiuri']\ndoi_works = ['w.json']\ndoi_citation = 'number'\n"
    files = {"conf.py": conf, "w.json": json.dumps(works), "index.rst": text}
    built = build(write(tmp_path / "src", files), tmp_path, "html", "-W")
    assert [(start, entry.partition(" ")[0]) for start, entry in items(built)] == [
        ("", "B1."), ("3", "B2."), ("2", "R."),
    ]  # fmt: skip
    page = built.text()
    addresses = re.findall(r'<a class="[^"]*reference internal" href="#(doi-[bk][^"]*)"', page)
    assert len(addresses) == 3
    assert all(f'<li id="{address}"' in page for address in addresses)


def test_a_change_of_a_file_of_works_rebuilds_what_it_touches(tmp_path: Path, server: Site) -> None:
    """Only new entries are formatted."""
    listed = ".. doi:bibliography::\n"
    files = {
        "conf.py": "extensions = ['sphinx_doiuri']\ndoi_works = 'w.json'\ndoi_details = True\n",
        "w.json": '[{"id": "a", "title": "First"}]',
        "index.rst": "T\n=\n\n.. toctree::\n\n   a\n   b\n   c\n   d\n",
        "a.rst": f"A\n=\n\n:doi:p:`@a`\n\n{listed}",
        "b.rst": f"B\n=\n\n:doi:p:`10.5555/kahn-b`\n\n{listed}",
        "c.rst": f"C\n=\n\n:doi:p:`10.5555/three`\n\n{listed}",
        "d.rst": "D\n=\n\n:doi:`10.5555/kahn-b`\n",
    }
    source = write(tmp_path / "src", files)
    build(source, tmp_path)
    with mock.patch.object(_processor, "entry", wraps=_processor.entry) as formatting:
        changed = '[{"id": "a", "title": "Second"}, {"DOI": "10.5555/kahn-b", "title": "Gamma"}]'
        again = build(write(source, {"w.json": changed}), tmp_path)
    assert sorted(str(call.args[0].key) for call in formatting.mock_calls) == ["a", "doi:10.5555/kahn-b"]
    assert items(again, "a.html") == [("", "Second (n.d.).")]
    assert "Gamma" in again.text("b.html")
    assert '<span class="doi-card-title">Gamma</span>' in again.text("d.html")
    assert set(re.findall(r"writing output\.\.\. \[ *\d+%\] (\S+)", again.said)) - {"index"} == {
        "a",
        "b",
        "d",
    }
    write(source, {"w.json": "[]"})
    assert "a.rst:4: WARNING: no file of works has the id 'a'" in build(source, tmp_path).warnings


def test_what_a_build_removes_is_neither_listed_nor_counted(
    tmp_path: Path, server: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = ".. todo::\n\n   :doi:p:`10.5555/three`\n"
    text = f"T\n=\n\n:doi:p:`10.5555/kahn-b`\n\n{hidden}\n.. doi:bibliography::\n"
    conf = "extensions = ['sphinx_doiuri', 'sphinx.ext.todo']\n"
    source = write(tmp_path / "src", {"conf.py": conf, "index.rst": text})
    assert len(items(build(source, tmp_path))) == 1
    assert len(items(build(source, tmp_path, "html", "-D", "todo_include_todos=1"))) == 2
    monkeypatch.setenv("DOIURI_OFFLINE", "1")
    monkeypatch.setenv("DOIURI_CACHE", ":memory:")
    offline = build(source, tmp_path / "offline")
    assert items(offline) == [("", "https://doi.org/10.5555/kahn-b")]
    assert "1 of 1 DOIs could not be checked: offline" in offline.said


def test_a_style_that_citeproc_cannot_render_is_one_warning(tmp_path: Path) -> None:
    files = {
        "conf.py": "extensions = ['sphinx_doiuri']\ndoi_works = 'a.bib'\ndoi_reference_style = 'bad.csl'\n",
        "a.bib": f"{BIBTEX}@book{{c, doi = {{10/abc}}}}\n@book{{b, author={{Abel}}, doi = {{10.1000/b}}}}\n",
        "bad.csl": FAILING,
        "index.rst": "T\n=\n\n:doi:p:`@a`, :doi:p:`@b`\n\n.. doi:bibliography::\n",
    }
    built = build(write(tmp_path / "src", files), tmp_path, "html", "-D", "doi_resolve=0")
    invalid, warning = built.warnings.splitlines()
    assert re.search("a.bib:2: c: '10/abc' is not a DOI.*the work is read without a DOI .*doi.works", invalid)
    assert "bad.csl: citeproc-py cannot format" in warning
    assert warning.endswith("[doi.extra]")
    shown = re.sub("<[^>]*>", "", built.text())
    assert "(Zorn, 2003), (Abel, n.d.)" in shown
    assert sorted(text for _, text in items(built)) == ["A", "https://doi.org/10.1000/b"]


def test_an_own_style_and_other_numbers_beside(tmp_path: Path, server: Site) -> None:
    files = {
        "conf.py": "extensions = ['sphinx_doiuri', 'sphinxcontrib.bibtex']\nbibtex_bibfiles = ['a.bib']\n"
        "bibtex_default_style = 'plain'\n",
        "a.bib": BIBTEX,
        "own.csl": Style.load("numeric").xml.decode(),
        "index.rst": "T\n=\n\n:cite:p:`a` :doi:p:`10.5555/kahn-b`\n\n.. bibliography::\n\n"
        ".. doi:bibliography::\n   :style: own.csl\n",
    }
    source = write(tmp_path / "src", files)
    built = build(source, tmp_path)
    assert built.warnings.count("both number from [1]") == 1
    assert re.search('<ol class="[^"]*doi-bibliography', built.text())
    write(source, {"own.csl": Style.load().xml.decode()})
    again = build(source, tmp_path)
    assert again.warnings == ""
    assert '<ul class="doi-bibliography' in again.text()


@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [("numeric", "author-date", "[1]"), ("author-date", "numeric", "(Kahn, 2001")],
)
def test_citations_are_set_in_the_style_of_the_first_list_of_their_page(
    tmp_path: Path, server: Site, first: str, second: str, shown: str
) -> None:
    lists = [f".. doi:bibliography::\n   :style: {style}\n" for style in (first, second)]
    source = write(tmp_path / "src", {"index.rst": "\n".join(["T\n=\n\n:doi:p:`10.5555/kahn-b`\n", *lists])})
    text = build(source, tmp_path).text()
    paragraph = re.sub("<[^>]*>", "", text[text.index("<p>") : text.index("</p>")])
    assert paragraph.startswith(shown)


def test_citeproc_is_imported_only_for_new_entries(
    tmp_path: Path, server: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write(tmp_path / "src", {"index.rst": "T\n=\n\n:doi:p:`10.5555/kahn-b`\n"})
    monkeypatch.setitem(sys.modules, "citeproc", None)
    assert build(source, tmp_path, "html", "-W").links()[0].text == "Kahn, 2001"
