"""Whole projects: docstrings, and pages in the style of SciPy, scikit-learn and pvlib."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from urllib.parse import unquote
from warnings import catch_warnings

import pytest
from doiuri import DOI
from support.servers.web import resolver
from support.sphinx_build import ROOTS, Build, Serve, build, write

CHAOS = "10.1175/1520-0469(1963)020<0130:DNF>2.0.CO;2"


def warnings(built: Build, project: str) -> list[str]:
    lines = (line.rpartition(f"/{project}/")[2] for line in built.warnings.splitlines())
    return [re.sub(r" WARNING: .* ", " ", line) for line in lines]


def names(built: Build, page: str) -> list[str]:
    return [DOI.from_url(link.href).name for link in built.links(page)]


def test_docstrings(tmp_path: Path, serve: Serve) -> None:
    found = [CHAOS, "10.1000/parameter", "10.1000/456#789", "10.1000/argument"]
    serve(resolver(dict.fromkeys(found, "https://example.org/")))
    built = build(ROOTS / "api", tmp_path, "html", "-D", "doi_hardcoded_links=1")
    assert sorted(names(built, "index.html")) == sorted(
        [CHAOS, *found, "10.1000/lost", "10.1000/lost"]
    )
    assert sorted(warnings(built, "api")) == [
        "docstrings_of_a_model.py:16: [doi.not-found]",
        "docstrings_of_a_model.py:22: [doi.hardcoded]",
        "docstrings_of_a_model.py:28: [doi.not-found]",
        "docstrings_of_a_model.py:29: [doi.syntax]",
    ]


def test_downstream(tmp_path: Path) -> None:
    options = ("-n", "-D", "doi_resolve=False", "-D", "doi_hardcoded_links=1")
    built = build(ROOTS / "downstream", tmp_path, "html", *options)
    assert built.status == 0
    madden = "10.1175/1520-0469(1972)029<1109:DOGSCC>2.0.CO;2"
    expected = {
        "scipy": f"10.1016/0771-050X(80)90013-3 10.1145/355984.355989 10.1137/0111030 {madden} {madden}",
        "learn": "10.1023/A:1010933404324 10.1214/009053604000000067 10.1214/aos/1013203451"
        " 10.1007/978-3-540-70659-5_2 10.1002/(SICI)1096-8644(199706)103:2<285::AID-AJPA10>3.0.CO;2-X"
        " 10.24432/C5XW20",
        "pv": "10.1016/j.solener.2003.12.003 10.21105/joss.00884 10.1016/0038-092X(86)90024-0"
        " 10.1109/PVSC.2015.7356420. 10.1016/0927–0248 10.1007/978-1-4020-6694-8_8",
    }
    assert {name: " ".join(names(built, f"{name}.html")) for name in expected} == expected
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


# In the shape of projects that have such a copy
CONF = """
import os, sys, warnings

sys.path.insert(0, os.path.join(os.path.abspath(os.path.dirname(__file__)), "ext"))
extensions = ["sphinx.ext.autosummary", "sphinx.ext.mathjax", "doi_role", "myst_parser"]
source_suffix = {".rst": "restructuredtext"}
default_role = "obj"
nitpicky = True
warnings.filterwarnings("error")
warnings.filterwarnings("ignore", category=DeprecationWarning)
"""


def test_the_extension_in_place_of_a_copied_doi_role(
    tmp_path: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        "T\n=\n\n:doi:`10.1000/a#b` :arxiv:`2001.00001` :arXiv:`math/0309136`\n"
        ':arXiv:`Simon, N., "A title" <1207.0580>`\n'
    )
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "doi_role", raising=False)
    with catch_warnings():
        files = {"index.rst": text, "conf.py": CONF, "ext/doi_role.py": ARXIV_ROLE}
        old = build(write(tmp_path / "old", files), tmp_path / "old" / "out", "html", "-W")
    del files["ext/doi_role.py"]
    files["conf.py"] = CONF.replace('"doi_role"', '"sphinx_doiuri"')
    found = [
        "10.1000/a#b",
        *(f"10.48550/arXiv.{id_}" for id_ in ("2001.00001", "math/0309136", "1207.0580")),
    ]
    server = serve(resolver(dict.fromkeys(found, "https://example.org/")))
    with catch_warnings():
        new = build(write(tmp_path / "new", files), tmp_path / "new" / "out", "html", "-W", "-n")
    assert (old.status, new.status, new.warnings) == (0, 0, "")
    assert sorted(unquote(asked.target) for asked in server.seen) == sorted(
        f"/api/handles/{name}" for name in found
    )
    arxiv = re.compile(r'href="(https://arxiv\.org/[^"]*)"[^>]*>(.*?)</a>')
    assert arxiv.findall(new.text()) == arxiv.findall(old.text())
    assert arxiv.findall(new.text())[-1] == (
        "https://arxiv.org/abs/1207.0580",
        "Simon, N., “A title”",
    )
    assert new.links()[0].href == "https://doi.org/10.1000/a%23b"
