"""Where problems are reported: in the file and on the line that the author has to change."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.lines import FOLDER, told, written
from support.servers.web import resolver, site
from support.sphinx_build import build, write

CONF = """extensions = ["sphinx_doiuri", "myst_parser", "sphinx.ext.todo"]
myst_enable_extensions = ["deflist", "colon_fence", "fieldlist"]
todo_include_todos = True
doi_resolve = False
"""


def test_every_construct_of_restructuredtext_and_myst(tmp_path: Path) -> None:
    source = Path(shutil.copytree(FOLDER, tmp_path / "src"))
    index = "T\n=\n\n.. toctree::\n   :glob:\n\n   *\n"
    built = build(write(source, {"conf.py": CONF, "index.rst": index}), tmp_path / "out", "dummy")
    assert told(built.warnings) == written(*(path.name for path in FOLDER.iterdir()))


def test_what_is_written_once_is_reported_once_where_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "T\n=\n\n|s| y_ |b|\n\n|s| y_ |b|\n\n.. |s| replace:: :doi:`10.1000/s`\n.. _y: doi:10.1000/y\n"
    text += ".. |b| image:: a.png\n   :target: doi:10.1000/b\n\n:doi:`10.1000/s`\n\n.. :doi:`10.1000/s`\n"
    source = write(tmp_path / "src", {"index.rst": text, "a.png": ""})
    with site(resolver({})) as server:
        monkeypatch.setenv("DOIURI_RESOLVER", server.url)
        built = build(source, tmp_path / "out")
    places = [line.partition(" [")[0].replace("WARNING: DOI not found: ", "") for line in built.told]
    assert places == [
        "index.rst:11: 10.1000/b",
        "index.rst:13: 10.1000/s",
        "index.rst:8: 10.1000/s",
        "index.rst:9: 10.1000/y",
    ]
