"""Whole projects: docstrings, and pages in the style of SciPy, scikit-learn and pvlib."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest
from doiuri import DOI
from support.servers.web import resolver, site
from support.sphinx_build import ROOTS, Build, build, write

MANUAL = Path(__file__).parents[2] / "docs" / "howto" / "migrating.rst"
CHAOS = "10.1175/1520-0469(1963)020<0130:DNF>2.0.CO;2"


def warnings(built: Build, project: str) -> list[str]:
    lines = (line.rpartition(f"/{project}/")[2] for line in built.warnings.splitlines())
    return [re.sub(r" WARNING: .* ", " ", line) for line in lines]


def names(built: Build, page: str) -> list[str]:
    return [DOI.from_url(link.href).name for link in built.links(page)]


def test_docstrings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [CHAOS, "10.1000/parameter", "10.1000/456#789", "10.1000/argument"]
    with site(resolver(dict.fromkeys(found, "https://example.org/"))) as server:
        monkeypatch.setenv("DOIURI_RESOLVER", server.url)
        built = build(ROOTS / "api", tmp_path, "html", "-D", "doi_hardcoded_links=1")
    assert sorted(names(built, "index.html")) == sorted([CHAOS, *found, "10.1000/lost", "10.1000/lost"])
    docstring = "docstrings_of_a_model.py:docstring of docstrings_of_a_model."
    assert sorted(warnings(built, "api")) == [
        f"{docstring}google_style:1: [doi.hardcoded]",
        f"{docstring}google_style:5: [doi.not-found]",
        f"{docstring}google_style:6: [doi.syntax]",
        f"{docstring}numpy_style:10: [doi.not-found]",
    ]


def test_downstream(tmp_path: Path) -> None:
    options = ("-n", "-D", "doi_resolve=False", "-D", "doi_hardcoded_links=1")
    built = build(ROOTS / "downstream", tmp_path, "html", *options)
    assert built.status == 0
    madden = "10.1175/1520-0469(1972)029<1109:DOGSCC>2.0.CO;2"
    assert names(built, "scipy.html") == [
        "10.1016/0771-050X(80)90013-3",
        "10.1145/355984.355989",
        "10.1137/0111030",
        madden,
        madden,
    ]
    assert names(built, "learn.html") == [
        "10.1023/A:1010933404324",
        "10.1214/009053604000000067",
        "10.1214/aos/1013203451",
        "10.1007/978-3-540-70659-5_2",
        "10.1002/(SICI)1096-8644(199706)103:2<285::AID-AJPA10>3.0.CO;2-X",
        "10.24432/C5XW20",
    ]
    assert names(built, "pv.html") == [
        "10.1016/j.solener.2003.12.003",
        "10.21105/joss.00884",
        "10.1016/0038-092X(86)90024-0",
        "10.1109/PVSC.2015.7356420.",
        "10.1016/0927–0248",
        "10.1007/978-1-4020-6694-8_8",
    ]
    assert sorted(warnings(built, "downstream")) == [
        "pv.rst:12: [doi.trailing-punctuation]",
        "pv.rst:13: [doi.hardcoded]",
        "pv.rst:14: [doi.hardcoded]",
        "pv.rst:15: [doi.look-alike]",
        "pv.rst:16: [doi.syntax]",
        "pv.rst:16: [doi.syntax]",
    ]
    assert "https://example.org/issues/12" in built.text("scipy.html")


ARXIV_ROLE = """
from docutils import nodes, utils
from sphinx.util.nodes import split_explicit_title

def link(base, label):
    def role(typ, rawtext, text, lineno, inliner, options={}, content=[]):
        has_title, title, part = split_explicit_title(utils.unescape(text))
        shown = title if has_title else label + part
        return [nodes.reference(shown, shown, internal=False, refuri=base + part)], []
    return role

def setup_roles(app):
    for name in ("doi", "DOI"):
        app.add_role(name, link("https://doi.org/", "DOI:"), override=True)
    for name in ("arxiv", "arXiv"):
        app.add_role(name, link("https://arxiv.org/abs/", "arXiv:"), override=True)

def setup(app):
    app.connect("builder-inited", setup_roles)
"""


def test_the_manuals_lines_replace_a_doi_role_that_also_defines_arxiv(tmp_path: Path) -> None:
    text = (
        "T\n=\n\n:doi:`10.1000/a#b` :arxiv:`2001.00001` :arXiv:`math/0309136`\n:arXiv:`Title <1207.0580>`\n"
    )
    [lines] = re.findall(
        r"code-block:: python\n\n((?:   .*\n)+)", MANUAL.read_text("utf-8").split("\nFrom ``extlinks``\n")[0]
    )
    after = textwrap.dedent(lines)
    before = "import sys\nsys.path.insert(0, '.')\nextensions = ['copied_doi_role']\n"
    before = f"from pathlib import Path\n{before}".replace("'.'", "str(Path(__file__).parent)")
    source = write(tmp_path / "old", {"index.rst": text, "conf.py": before, "copied_doi_role.py": ARXIV_ROLE})
    old = build(source, tmp_path / "old", "html", "-W")
    new = build(
        write(tmp_path / "new", {"index.rst": text, "conf.py": f"{after}doi_resolve = False\n"}),
        tmp_path / "new",
        "html",
        "-W",
        "-n",
    )
    assert (old.status, new.status, new.warnings) == (0, 0, "")
    arxiv = re.compile(r'href="(https://arxiv\.org/[^"]*)"[^>]*>(.*?)</a>')
    assert (
        arxiv.findall(new.text())
        == arxiv.findall(old.text())
        == [
            ("https://arxiv.org/abs/2001.00001", "arXiv:2001.00001"),
            ("https://arxiv.org/abs/math/0309136", "arXiv:math/0309136"),
            ("https://arxiv.org/abs/1207.0580", "Title"),
        ]
    )
    assert names(new, "index.html") == ["10.1000/a#b"]
