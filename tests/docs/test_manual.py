"""The manual: its examples are true, its reference is complete, and it builds offline without a warning."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest
from doiuri_cli.rules import RULES
from sphinx.util.inventory import InventoryFile
from support.cli.command import doiuri

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted([*DOCS.rglob("*.rst"), *DOCS.rglob("*.md")])
PUBLIC = [
    "dask_doiuri",
    "doiuri",
    "doiuri.plugins",
    "doiuri.plugins.clients",
    "doiuri.plugins.connections",
    "doiuri.plugins.display",
    "doiuri.plugins.survey",
    "doiuri.records",
    "doiuri.resolver",
    "doiuri.rest",
    "doiuri.rest.server",
    "doiuri.testing",
    "doiuri.testing.strategies",
    "docutils_doiuri",
    "docutils_doiuri.nodes",
    "doiuri_cli",
    "doiuri_proxy",
    "fsspec_doiuri",
    "httpx_doiuri",
    "markdown_doiuri",
    "requests_doiuri",
    "sphinx_doiuri",
    "urllib_doiuri",
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples(page: Path) -> None:
    results = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert results.failed == 0


def test_the_pages_have_examples() -> None:
    assert sum(page.read_text("utf-8").count(">>> ") for page in PAGES) > 15


def test_the_lock_file_knows_every_doi_of_the_manual_and_the_readmes() -> None:
    readmes = [str(path) for path in DOCS.parent.glob("packages/*/README.md")]
    run = doiuri("check", "--offline", "docs", "README.md", *readmes, cwd=DOCS.parent)
    assert (run.returncode, run.stdout) == (0, "")
    assert re.fullmatch(r"Checked (\d+) DOIs: \1 known\.\nNo findings\.\n", run.stderr), run.stderr


def test_it_builds(manual: Path) -> None:
    page = (manual / "index.html").read_text("utf-8")
    assert 'href="https://doi.org/10.1000/182"' in page
    assert "/10.1002/(SICI)1521-3951(199911)216:1%3C135::AID-PSSB135%3E3.0.CO;2-%23" in page


def test_links_to_source_files_lead_to_pages(manual: Path) -> None:
    page = (manual / "tutorial" / "index.html").read_text("utf-8")
    links = re.findall(r'class="reference external" href="(\.\./[^"]+)"', page)
    assert "../howto/ci.html" in links
    assert [link for link in links if not (manual / "tutorial" / link).is_file()] == []


def test_every_code_has_a_section(manual: Path) -> None:
    page = (manual / "reference" / "codes.html").read_text("utf-8")
    assert [code for code in RULES if f'<span id="code-{code}"></span>' not in page] == []
    assert page.count("10.1000/978\u20133") == 1


def test_it_does_not_print_the_environment(manual: Path) -> None:
    """A default value of os.environ would be shown as environ({...}), with the secrets of the machine."""
    pages = [path for path in manual.rglob("*") if path.suffix in {".html", ".js", ".txt"}]
    assert len(pages) > 20
    assert [path.name for path in pages if "environ({" in path.read_text("utf-8")] == []


def test_the_reference_shows_no_docstring_of_another_library(manual: Path) -> None:
    """Such as httpx's, in Markdown, below signatures of fifty lines."""
    text = "".join(path.read_text("utf-8") for path in sorted((manual / "reference" / "api").glob("*.html")))
    assert 'id="httpx_doiuri.Client.send"' in text
    foreign = ("typing.", "][0]", "Override in subclasses", "Alias for field", "&lt;function")
    assert [words for words in foreign if words in text] == []


def described(manual: Path) -> set[str]:
    """The names that the reference describes."""
    with (manual / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", lambda _base, name: name)
    return {name for role in inventory if role.startswith("py:") for name in inventory[role]}


def public_members(module: str) -> set[str]:
    """The public names of a module, and the public attributes of its classes."""
    names = set()
    for name in importlib.import_module(module).__all__:
        if name == "__version__" or (module, name) == ("doiuri.records", "Record"):
            continue
        names.add(f"{module}.{name}")
        value = getattr(importlib.import_module(module), name)
        if inspect.isclass(value):
            own = [base for base in value.__mro__ if base.__module__.partition(".")[0].endswith(OURS)]
            members = {member for base in own for member in vars(base) if not member.startswith("_")}
            names |= {f"{module}.{name}.{member}" for member in members}
    return names


OURS = ("doiuri", "doiuri_cli", "doiuri_proxy")


def test_every_public_name_is_in_the_reference(manual: Path) -> None:
    names = described(manual)
    assert [name for module in PUBLIC for name in sorted(public_members(module) - names)] == []


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_has_a_docstring(module: str) -> None:
    home = importlib.import_module(module)
    for name in home.__all__:
        value = getattr(home, name)
        if inspect.isclass(value) or inspect.isroutine(value):
            assert inspect.getdoc(value), f"{module}.{name} has no docstring"
