"""The manual: its examples are true, its reference is complete, and it builds offline without a warning."""

from __future__ import annotations

import doctest
import importlib
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from doiuri import advise
from doiuri_cli._main import COMMANDS, doiuri
from doiuri_cli.output import FORMATS
from doiuri_cli.rules import RULES
from sphinx.util.inventory import InventoryFile

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted([*DOCS.rglob("*.rst"), *DOCS.rglob("*.md")])
PACKAGES = DOCS.parent / "packages"
PUBLIC = [
    "dask_doiuri",
    "doiuri",
    "doiuri.plugins",
    "doiuri.records",
    "doiuri.resolver",
    "doiuri.rest",
    "doiuri.testing",
    "doiuri.testing.strategies",
    "docutils_doiuri",
    "docutils_doiuri.nodes",
    "doiuri_cli",
    "doiuri_proxy",
    "httpx_doiuri",
    "markdown_doiuri",
    "requests_doiuri",
    "sphinx_doiuri",
    "urllib_doiuri",
]
SECRET = "secret-of-the-build-machine"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples(page: Path) -> None:
    results = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert results.failed == 0


def test_the_pages_have_examples() -> None:
    assert sum(page.read_text("utf-8").count(">>> ") for page in PAGES) > 15


def test_every_warning_is_listed() -> None:
    """Each subtype and each code of advice that the sources know is in warnings.rst and in the README."""
    known = set()
    for source in [
        *PACKAGES.glob("sphinx-doiuri/src/**/*.py"),
        PACKAGES / "doiuri" / "src" / "doiuri" / "_advice.py",
    ]:
        text = source.read_text("utf-8")
        known |= set(re.findall(r'subtype="([a-z-]+)"', text))
        known |= set(re.findall(r'Advice\(\s*"([a-z-]+)"', text))
    assert len(known) > 15
    for page in DOCS / "reference" / "warnings.rst", PACKAGES / "sphinx-doiuri" / "README.md":
        listed = page.read_text("utf-8")
        assert [code for code in sorted(known) if f"{code}`" not in listed] == []
    assert {advice.code for advice in advise("10.1000/978–3")} <= known


def test_examples_of_citations_show_the_authors_of_the_work() -> None:
    """10.1000/182 is the DOI Handbook, which Kahn and Wilensky did not write."""
    for page in DOCS / "howto" / "markdown.rst", *PACKAGES.glob("*/README.md"):
        text = page.read_text("utf-8")
        assert not re.search(r"@?doi:(?:p:`)?10\.1000/182\]?`+ ?(?:gives|\||\n     -)[^|\n]*Kahn", text), page


def test_every_option_is_listed() -> None:
    source = (PACKAGES / "sphinx-doiuri/src/sphinx_doiuri/_config.py").read_text("utf-8")
    pages = DOCS / "reference" / "options.rst", DOCS / "howto" / "sphinx.rst"
    listed = "".join(page.read_text("utf-8") for page in pages)
    names = re.findall(r'^    "doi_(\w+)":', source, re.MULTILINE)
    assert len(names) > 10
    assert [name for name in names if f"``{name}``" not in listed and f"doi_{name}" not in listed] == []


def test_every_option_and_format_of_the_command_is_described() -> None:
    page = (DOCS / "reference" / "command.rst").read_text("utf-8")
    missing = [f"doiuri {name}" for name in COMMANDS if f"``doiuri {name}``" not in page]
    missing += [name for name in FORMATS if f"``{name}``" not in page]
    for name in COMMANDS:
        command = doiuri.get_command(click.Context(doiuri), name)
        assert command is not None
        options = [word for param in command.params for word in (*param.opts, *param.secondary_opts)]
        missing += [
            f"{name} {word}"
            for word in options
            if word.startswith("--") and not re.search(f"{word}\\b", page)
        ]
    assert missing == []


def test_the_lock_file_knows_every_doi_of_the_manual_and_the_readmes() -> None:
    readmes = [str(path) for path in DOCS.parent.glob("packages/*/README.md")]
    run = subprocess.run(
        [sys.executable, "-m", "doiuri_cli", "check", "--offline", "docs", "README.md", *readmes],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=DOCS.parent,
        check=False,
        env={**os.environ, "DOIURI_CACHE": ":memory:"},
    )
    assert (run.returncode, run.stdout) == (0, "")
    assert re.fullmatch(r"Checked (\d+) DOIs: \1 known\.\nNo findings\.\n", run.stderr), run.stderr


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built manual; the builder's environment holds a secret."""
    folder = tmp_path_factory.mktemp("manual")
    command = [sys.executable, "-m", "sphinx", "-W", "-n", "-q", "-D", "html_theme=alabaster", "-b", "html"]
    build = subprocess.run(
        [*command, "-d", str(folder / "trees"), str(DOCS), str(folder / "html")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "CI_JOB_TOKEN": SECRET},
    )
    assert (build.returncode, build.stderr) == (0, "")
    return folder / "html"


@pytest.mark.newest
def test_it_builds(manual: Path) -> None:
    page = (manual / "index.html").read_text("utf-8")
    assert 'href="https://doi.org/10.1000/182"' in page
    assert "/10.1002/(SICI)1521-3951(199911)216:1%3C135::AID-PSSB135%3E3.0.CO;2-%23" in page


@pytest.mark.newest
def test_links_to_source_files_lead_to_pages(manual: Path) -> None:
    page = (manual / "tutorial" / "index.html").read_text("utf-8")
    links = re.findall(r'class="reference external" href="(\.\./[^"]+)"', page)
    assert "../howto/ci.html" in links
    assert [link for link in links if not (manual / "tutorial" / link).is_file()] == []


@pytest.mark.newest
def test_every_code_has_a_section(manual: Path) -> None:
    page = (manual / "reference" / "codes.html").read_text("utf-8")
    assert [code for code in RULES if f'<span id="code-{code}"></span>' not in page] == []
    assert page.count("10.1000/978\u20133") == 1


@pytest.mark.newest
def test_it_does_not_print_the_environment(manual: Path) -> None:
    pages = [path for path in manual.rglob("*") if path.suffix in {".html", ".js", ".txt"}]
    assert len(pages) > 20
    assert [path.name for path in pages if SECRET in path.read_text("utf-8")] == []


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


@pytest.mark.newest
@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_is_in_the_reference(manual: Path, module: str) -> None:
    assert sorted(public_members(module) - described(manual)) == []


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_has_a_docstring(module: str) -> None:
    home = importlib.import_module(module)
    for name in home.__all__:
        value = getattr(home, name)
        if inspect.isclass(value) or inspect.isroutine(value):
            assert inspect.getdoc(value), f"{module}.{name} has no docstring"
