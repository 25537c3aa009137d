"""Links that are not the role's: hard-coded ones, and those of sphinxcontrib-bibtex."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.servers.web import Site
from support.sphinx_build import build, write

BIB = r"""
@article{odd, author = {Kahn, R.}, title = {Odd}, journal = {J}, year = 2001, doi = {10.5555/a<b>#c;d,(e)}}

@article{dead,
  author = {Berg, A.}, title = {Dead}, journal = {J}, year = 2002,
  doi = {10.5555/lost#1},
}

@article{plain, author = {Zorn, A.}, title = {Plain}, journal = {J}, year = 2003, doi = {10.5555/three}}
@article{bad, author = {Aal, A.}, title = {Bad}, journal = {J}, year = 2000, doi = {10.5555}}
@article{handle, author = {Aal, B.}, title = {H}, journal = {J}, year = 2000, doi = {http://hdl.handle.net/1773/33311}}
@article{tex, author = {Aal, D.}, title = {T}, journal = {J}, year = 2, doi = {10.5555/a\%3Cb\%3E\#{c;d,}(e)}}
@article{advised, author = {Aal, E.}, title = {A}, journal = {J}, year = 2000, doi = {10.5555/three.}}
@article{unused, author = {No, A.}, title = {No}, journal = {J}, year = 2003, doi = {10.5555/unused}}
"""
HOST = "'http://hdl.handle.net/1773/33311' is not a DOI: the host 'hdl.handle.net' is not a DOI proxy"
DOT = "the name ends in '.' (entry advised); did you mean 10.5555/three?"
BIBTEX = 'extensions = ["{}", "{}"]\nbibtex_bibfiles = ["refs.bib"]\n'


@pytest.mark.parametrize(
    "extensions",
    [("sphinx_doiuri", "sphinxcontrib.bibtex"), ("sphinxcontrib.bibtex", "sphinx_doiuri")],
    ids=lambda names: names[0],
)
def test_entries_of_bibtex(tmp_path: Path, server: Site, extensions: tuple[str, str]) -> None:
    text = "T\n=\n\n:cite:p:`bad,odd,dead,plain,handle,tex,advised`\n\n.. bibliography::\n"
    files = {"conf.py": BIBTEX.format(*extensions), "refs.bib": BIB, "index.rst": text}
    source = write(tmp_path / "src", files)
    built = build(source, tmp_path)
    assert [line.replace(" WARNING:", "").removeprefix("refs.bib:") for line in built.told] == [
        "10: '10.5555' is not a DOI: no \"/\" after the prefix (position 7) (entry bad) [doi.syntax]",
        f"11: {HOST} (position 7) (entry handle) [doi.syntax]",
        f"13: DOI not found: 10.5555/three.: {DOT} [doi.not-found]",
        "4: DOI not found: 10.5555/lost#1 (entry dead) [doi.not-found]",
    ]
    page = built.text()
    assert (
        page.count('href="https://doi.org/10.5555/a%3Cb%3E%23c;d,(e)">doi:10.5555/a&lt;b&gt;#c;d,(e)</a>')
        == 2
    )
    assert 'href="https://doi.org/10.5555/lost%231"' in page
    assert page.count("doi-not-found") == 2
    assert 'href="http://hdl.handle.net/1773/33311"' in page
    assert 'href="https://doi.org/10.5555/three"' in page
    assert not any("unused" in asked.target for asked in server.seen)
    assert build(source, tmp_path).warnings == ""


def test_an_entry_whose_line_is_unknown_is_reported_with_the_document(tmp_path: Path, server: Site) -> None:
    text = "T\n=\n\n:cite:p:`dead`\n\n.. bibliography::\n"
    bib = BIB.replace("{dead,", "{\n  dead,")
    source = write(
        tmp_path / "src",
        {
            "conf.py": BIBTEX.format("sphinx_doiuri", "sphinxcontrib.bibtex"),
            "refs.bib": bib,
            "index.rst": text,
        },
    )
    assert build(source, tmp_path).told == [
        "index.rst: WARNING: DOI not found: 10.5555/lost#1 (entry dead) [doi.not-found]"
    ]


@pytest.mark.parametrize("builder", ["html", "latex", "text", "man"])
def test_hardcoded_links_are_verified(tmp_path: Path, server: Site, builder: str) -> None:
    text = (
        "T\n=\n\nSee\nhttps://doi.org/10.5555/lost and `this <http://dx.doi.org/10.5555/gone>`_.\n\n"
        ".. only:: texinfo\n\n   https://doi.org/10.5555/hidden\n\n"
        "https://doi.org/10.5555/three https://example.org/10.5555/other\n"
    )
    source = write(tmp_path / "src", {"index.rst": text})
    built = build(source, tmp_path, builder)
    assert built.told == [
        "index.rst:5: WARNING: DOI not found: 10.5555/gone [doi.not-found]",
        "index.rst:5: WARNING: DOI not found: 10.5555/lost [doi.not-found]",
    ]
    if builder == "html":
        assert built.text().count("doi-not-found") == 2
    assert sorted(asked.target for asked in server.seen) == [
        f"/api/handles/10.5555/{name}" for name in ("gone", "hidden", "lost", "three")
    ]


def test_hardcoded_links_that_exist_stay_as_they_are(tmp_path: Path, server: Site) -> None:
    source = write(tmp_path / "src", {"index.rst": "T\n=\n\nhttps://doi.org/10.5555/three\n"})
    page = build(source, tmp_path).text()
    link = (
        '<a class="reference external" href="https://doi.org/10.5555/three">https://doi.org/10.5555/three</a>'
    )
    assert link in page
