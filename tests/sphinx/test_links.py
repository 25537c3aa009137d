"""Linkcheck, which knows about DOIs what other builds know, and links that are not the role's."""

from __future__ import annotations

import json
from operator import itemgetter
from pathlib import Path

import pytest
from support.checks import assert_times
from support.doi_org import doi_org
from support.servers.web import Answer, Site, resolver, site
from support.sphinx_build import Build, Serve, build, page, project, write

QUIET = ("-D", "linkcheck_report_timeouts_as_broken=0")  # Sphinx 7 warns where it is not set


def details(built: Build) -> list[dict[str, str]]:
    links = map(json.loads, built.text("output.json").splitlines())
    return sorted(links, key=itemgetter("lineno", "uri"))


PAGE = """T
=

:doi:`10.1000/alive` and :doi:`10.1000/a<b>%25/../c` `old <http://dx.doi.org/10.1000/alive?x=y#z>`_

:doi:`10.1000/dead`
"""

LOCK = {
    "doiuri-lock": 1,
    "record": {
        "10.1000/A<B>%/../C": {
            "json": {"responseCode": 1, "handle": "10.1000/a<b>%/../c", "values": []}
        },
        "10.1000/DEAD": {"json": {"responseCode": 100, "handle": "10.1000/dead", "values": []}},
    },
    "work": {"10.1000/ALIVE": {"title": "Alive", "issued": {"date-parts": [[2001]]}}},
}


def test_dead_dois_show_and_publishers_are_not_asked(tmp_path: Path, serve: Serve) -> None:
    with site(lambda _: Answer(403)) as publisher:
        server = serve(
            resolver(dict.fromkeys(("10.1000/alive", "10.1000/a<b>%/../c"), publisher.url))
        )
        built = build(
            write(tmp_path / "src", {"index.rst": PAGE}), tmp_path / "out", "linkcheck", *QUIET
        )
        assert publisher.seen == []
    output = built.text("output.txt")
    assert output == "index.rst:6: [broken] https://doi.org/10.1000/dead: DOI not found\n"
    names = ["a%3Cb%3E%25/..%2Fc", "alive", "dead"]
    assert [link["uri"] for link in details(built)] == [
        f"https://doi.org/10.1000/{name}" for name in names
    ]
    assert built.status == 1
    assert {asked.target for asked in server.seen} == {
        f"/api/handles/10.1000/{name}" for name in names
    }


@pytest.mark.parametrize(
    ("locked", "accepted", "statuses"),
    [
        (False, False, ["unchecked", "unchecked", "unchecked"]),
        (True, False, ["working", "working", "broken"]),
        (True, True, ["working", "working", "ignored"]),
    ],
)
def test_without_a_network_the_lock_file_answers_and_what_is_unknown_is_not_broken(
    locked: bool,
    accepted: bool,
    statuses: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = PAGE.replace(
        ":doi:`10.1000/alive", ":doi:p:`10.1000/alive"
    )  # a work shows that its DOI exists
    source = write(tmp_path / "src", {"index.rst": page})
    if locked:
        lock = LOCK | ({"accepted": {"10.1000/DEAD": "withdrawn"}} if accepted else {})
        write(source, {"doi.lock.json": json.dumps(lock)})
    monkeypatch.setenv("DOIURI_OFFLINE", "1")
    built = build(source, tmp_path / "out", "linkcheck", *QUIET)
    assert [link["status"] for link in details(built)] == statuses
    assert built.status == ("broken" in statuses)
    assert ("3 of 3 DOIs could not be checked: offline" in built.said) is not locked


def test_it_can_be_turned_off_and_knows_other_proxies(tmp_path: Path, serve: Serve) -> None:
    source = write(tmp_path / "src", {"index.rst": "T\n=\n\n:doi:`10.1000/a#b`\n"})
    serve(resolver({}))
    with site(lambda _: Answer()) as mirror:
        options = (*QUIET, "-D", f"doi_link={mirror.url}")
        assert build(source, tmp_path / "on", "linkcheck", *options).status == 1
        assert mirror.seen == []
        assert (
            build(source, tmp_path / "off", "linkcheck", *options, "-D", "doi_linkcheck=0").status
            == 0
        )
        assert {asked.target for asked in mirror.seen} == {"/10.1000/a%23b"}


OTHERS = {
    "index.rst": "T\n=\n\n:doi:`10.1000/x` https://doi.org/10.1000/alive\n\n.. toctree::\n\n   old/a\n   z\n",
    "old/a.rst": "A\n=\n\n:doi:`10.1000/old` :doi:`10.1000/dead`\n",
    "z.rst": "Z\n=\n\n:doi:`10.1000/dead`\n",
}


@pytest.mark.parametrize(
    ("ignore", "exclude", "expected"),
    [
        ([r"https://doi\.org/10\.1000/x"], [], {"x": "ignored"}),
        ([r"^(?!https?:)"], [], {}),
        ([r"https?://(?!(dx\.)?doi\.org)", r"doi:", r"#"], [], {}),
        ([r"https?://doi\.org/"], [], dict.fromkeys(("x", "alive", "old", "dead"), "ignored")),
        ([r"^(?!https?:)"], ["old/.*"], {"old": "ignored"}),
        ([], ["old/.*", "index"], {"old": "ignored", "x": "ignored", "alive": "ignored"}),
        ([r"^(?!https?:)"], ["old/.*", "z"], {"old": "ignored", "dead": "ignored"}),
    ],
    ids=" ".join,
)
def test_what_the_options_of_linkcheck_leave_out(
    ignore: list[str], exclude: list[str], expected: dict[str, str], tmp_path: Path, serve: Serve
) -> None:
    """The options are about addresses and documents, not about what stands for a DOI in linkcheck."""
    conf = f"extensions = ['sphinx_doiuri']\nlinkcheck_ignore = {ignore}\n"
    conf += f"linkcheck_exclude_documents = {exclude}\n"
    source = write(tmp_path / "src", {"conf.py": conf, **OTHERS})
    serve(resolver({"10.1000/alive": "https://example.org/"}))
    built = build(source, tmp_path / "out", "linkcheck", *QUIET)
    found: dict[str, set[str]] = {}
    for line in details(built):
        found.setdefault(line["uri"].rpartition("/")[2], set()).add(line["status"])
    default = {"x": "broken", "alive": "working", "old": "broken", "dead": "broken"}
    worst = {name: min(statuses) for name, statuses in found.items()}
    assert worst == default | expected
    assert built.status == ("broken" in worst.values())


def test_an_e_print_is_checked_by_its_doi_in_pages_lock_file_and_linkcheck(
    tmp_path: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = "T\n=\n\n:arxiv:`2301.00001v2`, :arxiv:`2301.00001` and\n:arxiv:`A title <math.GT/0309136v1>`\n"
    source = write(tmp_path / "src", {"index.rst": page})
    server = serve(resolver({"10.48550/arXiv.2301.00001": "https://arxiv.org/"}))
    built = build(source, tmp_path / "out")
    with doi_org(server.url):
        assert build(source, tmp_path / "lock", "doi-lock").status == 0
    assert built.told == [
        "index.rst:5: WARNING: DOI not found: 10.48550/arXiv.math/0309136 [doi.not-found]"
    ]
    assert ["doi-not-found" in link.classes for link in built.links()] == [False, False, True]
    names = ["10.48550/ARXIV.2301.00001", "10.48550/ARXIV.MATH/0309136"]
    assert [*json.loads((source / "doi.lock.json").read_text())["record"]] == names
    monkeypatch.setenv("DOIURI_OFFLINE", "1")
    checked = build(source, tmp_path / "links", "linkcheck", *QUIET)
    assert [(link["uri"], link["status"]) for link in details(checked)] == [
        ("https://arxiv.org/abs/2301.00001v2", "working"),
        ("https://arxiv.org/abs/math.GT/0309136v1", "broken"),
    ]


NOTEBOOKS = """
from docutils import nodes
from docutils.transforms import Transform
from sphinx.util import logging

class RewriteLocalLinks(Transform):
    default_priority = 500

    def apply(self):
        for node in self.document.findall(nodes.Element):
            uri = node.get("refuri", "")
            if uri and "://" not in uri:
                logging.getLogger("nbsphinx").warning("File not found: %r", uri)

class CopyLinkedFiles(RewriteLocalLinks):
    default_priority = 600

def setup(app):
    app.add_transform(RewriteLocalLinks)
    app.add_transform(CopyLinkedFiles)
"""


def test_uris_are_not_taken_for_files_as_nbsphinx_does(tmp_path: Path) -> None:
    text = "`a <doi:10.1000/1>`__ `b <doi:10.1000/2>`_ c_ d__ `e <file.txt>`__ `f <doi:no>`__\n\n"
    text += ".. _c: doi:10.1000/3\n\n__ doi:10.1000/4"
    built = page(tmp_path, text, NOTEBOOKS)
    assert [(link.href, link.text) for link in built.links()] == [
        (f"https://doi.org/10.1000/{number}", letter)
        for number, letter in zip("1234", "abcd", strict=True)
    ]
    told = [line.partition("WARNING: ")[2] for line in built.warnings.splitlines()]
    assert [line for line in told if "File" in line] == ["File not found: 'file.txt'"] * 2
    assert "'doi:no' is not a DOI" in built.warnings


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
@article{ advised, author = {Aal, E.}, title = {A}, journal = {J}, year = 2000, doi = {10.5555/three.}}
@article{web, author = {Aal, F.}, title = {W}, journal = {J}, year = 2000, url = {https://doi.org/10.5555/lost%232}}
@article{page, author = {Aal, G.}, title = {P}, journal = {J}, year = 2000, url = {https://example.org/10.5555/lost}}
@article{unused, author = {No, A.}, title = {No}, journal = {J}, year = 2003, doi = {10.5555/unused}}
"""
HOST = (
    "'http://hdl.handle.net/1773/33311' is not a DOI: the host 'hdl.handle.net' is not a DOI proxy"
)
DOT = "the name ends in '.' (entry advised); did you mean 10.5555/three?"
BIBTEX = 'extensions = ["{}", "{}"]\nbibtex_bibfiles = ["refs.bib"]\n'


@pytest.mark.parametrize(
    "extensions",
    [("sphinx_doiuri", "sphinxcontrib.bibtex"), ("sphinxcontrib.bibtex", "sphinx_doiuri")],
    ids=lambda names: names[0],
)
def test_entries_of_bibtex(tmp_path: Path, server: Site, extensions: tuple[str, str]) -> None:
    text = "T\n=\n\n:cite:p:`bad,odd,dead,plain,handle,tex,advised,web,page`\n\n.. bibliography::\n"
    files = {"conf.py": BIBTEX.format(*extensions), "refs.bib": BIB, "index.rst": text}
    source = write(tmp_path / "src", files)
    built = build(source, tmp_path)
    assert [line.replace(" WARNING:", "").removeprefix("refs.bib:") for line in built.told] == [
        f"index.rst: DOI not found: 10.5555/three.: {DOT} [doi.not-found]",  # its key is not at {
        "10: '10.5555' is not a DOI: no \"/\" after the prefix (position 7) (entry bad) [doi.syntax]",
        f"11: {HOST} (position 7) (entry handle) [doi.syntax]",
        "14: DOI not found: 10.5555/lost#2 (entry web) [doi.not-found]",
        "4: DOI not found: 10.5555/lost#1 (entry dead) [doi.not-found]",
    ]
    page = built.text()
    link = 'href="https://doi.org/10.5555/a%3Cb%3E%23c;d,(e)">doi:10.5555/a&lt;b&gt;#c;d,(e)</a>'
    assert_times(2, link, page)
    assert 'href="https://doi.org/10.5555/lost%231"' in page
    assert_times(3, "doi-not-found", page)
    assert 'href="http://hdl.handle.net/1773/33311"' in page
    assert 'href="https://doi.org/10.5555/three"' in page
    assert not any("unused" in asked.target for asked in server.seen)
    assert build(source, tmp_path).warnings == ""


@pytest.mark.parametrize("builder", ["html", "latex", "text", "man"])
def test_hardcoded_links_are_verified(tmp_path: Path, server: Site, builder: str) -> None:
    text = "See\nhttps://doi.org/10.5555/lost and `this <http://dx.doi.org/10.5555/gone>`_.\n\n"
    text += ".. only:: texinfo\n\n   https://doi.org/10.5555/hidden\n\n"
    text += "https://doi.org/10.5555/three https://example.org/10.5555/other\n"
    built = build(project(tmp_path, text), tmp_path, builder)
    assert sorted(built.at) == [
        f"5: DOI not found: 10.5555/{name} [doi.not-found]" for name in ("gone", "lost")
    ]
    if builder == "html":
        assert_times(2, "doi-not-found", built.text())
        url = "https://doi.org/10.5555/three"
        assert f'<a class="reference external" href="{url}">{url}</a>' in built.text()
    asked = sorted(asked.target.removeprefix("/api/handles/10.5555/") for asked in server.seen)
    assert asked == ["gone", "hidden", "lost", "three"]
