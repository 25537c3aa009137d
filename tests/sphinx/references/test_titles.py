"""Cross-references to titles that cite: their texts and their targets."""

from __future__ import annotations

import re
from pathlib import Path

from support.servers.web import Site
from support.sphinx_build import Build, build, write

LABELS = {
    "index.rst": "T\n=\n\n:ref:`one`, :ref:`two`, :ref:`rubric`, :ref:`own <one>` and :any:`two`\n\n"
    ".. toctree::\n\n   a\n   b\n",
    "a.rst": f"A\n=\n\n.. _one:\n\nOn :doi:t:`10.5555/kahn-a`\n{'-' * 30}\n\n.. _rubric:\n\n"
    ".. rubric:: See :doi:p:`10.5555/kahn-a`\n\nSee :ref:`one`\n\n"
    f".. _other:\n.. _two:\n\nAfter :doi:p:`10.5555/no-metadata`\n{'-' * 50}\n",
    "b.rst": "B\n=\n",
}


def references(built: Build, name: str) -> list[str]:
    return re.findall(r'<span class="std std-ref">([^<]*)</span>', built.text(name))


def test_references_to_titles_show_the_label_and_ids_keep_the_name(tmp_path: Path, server: Site) -> None:
    source = write(tmp_path / "src", LABELS)
    built = build(source, tmp_path, "html", "-j", "2")
    after = "After (doi:10.5555/no-metadata)"
    assert references(built, "index.html") == ["On KAHN (2001)", after, "See (KAHN, 2001)", "own", after]
    assert references(built, "a.html") == ["On KAHN (2001)"]
    assert 'id="on-doi-10-5555-kahn-a"' in built.text("a.html")
