"""What is generated in the READMEs, by ``nox -s readme``: the table of packages, and how to install them."""

from __future__ import annotations

import tomllib
from operator import itemgetter
from pathlib import Path

from support.manual.installing import renewed_install

ROOT = Path(__file__).parents[3]
README = ROOT / "README.md"
READMES = sorted(ROOT.glob("packages/*/README.md"))
NAMED = itemgetter("name", "description")
HEAD = "| package | what it is |\n| --- | --- |\n"
# The core first, then by what most readers look for
ORDER = [
    "doiuri",
    "sphinx-doiuri",
    "docutils-doiuri",
    "markdown-doiuri",
    "doiuri-cli",
    "urllib-doiuri",
    "requests-doiuri",
    "httpx-doiuri",
    "dask-doiuri",
    "fsspec-doiuri",
    "doiuri-proxy",
    "doiuri-csl",
]


def packages() -> str:
    """The table of packages, from the descriptions in their metadata."""
    paths = ROOT.glob("packages/*/pyproject.toml")
    projects = [tomllib.loads(path.read_text(encoding="utf-8"))["project"] for path in paths]
    projects.sort(key=lambda project: _place(project["name"]))
    rows = [f"| [{name}](packages/{name}) | {text} |\n" for name, text in map(NAMED, projects)]
    return "".join([HEAD, *rows])


def _place(name: str) -> tuple[int, str]:
    """Where a package stands in the table; a new one comes last until it has a place."""
    place = ORDER.index(name) if name in ORDER else len(ORDER)
    return place, name


def renewed(text: str) -> str:
    """The README with its table of packages renewed."""
    before, head, rest = text.partition(HEAD)
    assert head, f"no table begins with {HEAD!r}"
    return before + packages() + "\n" + rest.partition("\n\n")[2]


if __name__ == "__main__":
    README.write_text(renewed(README.read_text(encoding="utf-8")), encoding="utf-8")
    for path in READMES:
        path.write_text(renewed_install(path.read_text(encoding="utf-8")), encoding="utf-8")
