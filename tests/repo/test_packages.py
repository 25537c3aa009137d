"""What every package has, and that the manual lists every option, format and warning."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import click
import pytest
import yaml
from doiuri import advise
from doiuri_cli._main import COMMANDS, doiuri
from doiuri_cli.output import FORMATS

ROOT = Path(__file__).parents[2]
PROJECTS = sorted(ROOT.glob("packages/*/pyproject.toml"))
DOCS = ROOT / "docs"
PACKAGES = ROOT / "packages"
NAMES = {path.parent.name for path in PROJECTS}


def test_all_packages_are_here() -> None:
    plugins = "docutils sphinx markdown urllib requests httpx dask fsspec".split()  # noqa: SIM905
    assert {
        "doiuri",
        "doiuri-proxy",
        "doiuri-cli",
        "doiuri-csl",
        *(f"{name}-doiuri" for name in plugins),
    } == NAMES


@pytest.mark.parametrize("path", PROJECTS, ids=lambda p: p.parent.name)
def test_a_package_keeps_its_promises(path: Path) -> None:
    project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    module = path.parent / "src" / path.parent.name.replace("-", "_")
    assert project["version"] == "0.1.0"
    assert project["license"] == "MIT"
    assert project["requires-python"] == ">= 3.11"
    assert (path.parent / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    assert (module / "py.typed").is_file()
    assert len((path.parent / "README.md").read_text(encoding="utf-8").splitlines()) >= 20
    usual = re.compile(r"\S*doiuri\S* ~= [\d.]+|(?!\S*doiuri)\S+ >= [\d.]+")
    assert [one for one in project["dependencies"] if not usual.fullmatch(one)] == []


SYSTEMS = {
    "Operating System :: POSIX :: Linux": "ubuntu",
    "Operating System :: MacOS": "macos",
    "Operating System :: Microsoft :: Windows": "windows",
}


@pytest.mark.parametrize("path", PROJECTS, ids=lambda p: p.parent.name)
def test_a_package_claims_the_systems_on_which_ci_runs_the_whole_suite(path: Path) -> None:
    project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    matrix = workflow["jobs"]["tests"]["strategy"]["matrix"]
    limited = {entry["system"] for entry in matrix["include"] if "files" in entry}

    claims = [one for one in project["classifiers"] if one.startswith("Operating System")]

    assert {SYSTEMS[one] for one in claims} == {*matrix["system"]} - limited


def test_uv_takes_every_package_from_this_clone() -> None:
    root = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert root["tool"]["uv"]["sources"] == {name: {"workspace": True} for name in NAMES}


def test_every_dependency_is_pinned_for_ci_by_plain_versions() -> None:
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert len(pins) > 20
    assert [
        pin for pin in pins if not re.fullmatch(r"[a-z0-9._-]+==[0-9a-z.+!-]+( ; .+)?", pin)
    ] == []


@pytest.mark.parametrize("mark", ["demo", "test"])
def test_the_readme_names_the_newcomers_commands(mark: str) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.search(rf"^<!-- {mark} -->\n```sh\n.+\n```$", text, re.MULTILINE)


def test_every_warning_is_listed() -> None:
    """Each subtype and each code of advice that the sources know is in warnings.rst."""
    known = set()
    for source in [
        *PACKAGES.glob("sphinx-doiuri/src/**/*.py"),
        PACKAGES / "doiuri" / "src" / "doiuri" / "_advice.py",
    ]:
        text = source.read_text("utf-8")
        known |= set(re.findall(r'(?:subtype=|_warn\(\s*\w+,\s*)"([a-z-]+)"', text))
        known |= set(re.findall(r'Advice\(\s*"([a-z-]+)"', text))
    assert len(known) > 15
    listed = (DOCS / "reference" / "warnings.rst").read_text("utf-8")
    assert [code for code in sorted(known) if f"{code}`" not in listed] == []
    assert {
        "syntax",
        "not-found",
        "lock-missing",
        *(one.code for one in advise("10.1000/978–3")),
    } <= known


def test_examples_of_citations_show_the_authors_of_the_work() -> None:
    """10.1000/182 is the DOI Handbook, which Kahn and Wilensky did not write."""
    wrong = re.compile(r"@?doi:(?:p:`)?10\.1000/182\]?`+ ?(?:gives|\||\n     -)[^|\n]*Kahn")
    pages = [DOCS / "howto" / "markdown.rst", *PACKAGES.glob("*/README.md")]
    assert [page for page in pages if wrong.search(page.read_text("utf-8"))] == []


def test_every_option_and_format_of_the_command_is_described() -> None:
    page = (DOCS / "reference" / "command.rst").read_text("utf-8")
    missing = [f"doiuri {name}" for name in COMMANDS if f"``doiuri {name}``" not in page]
    missing += [name for name in FORMATS if f"``{name}``" not in page]
    for name in COMMANDS:
        options = (doiuri.get_command(click.Context(doiuri), name) or doiuri).params
        words = [word for option in options for word in (*option.opts, *option.secondary_opts)]
        missing += [f"{name} {word}" for word in words if not re.search(f"(^|[` ]){word}\\b", page)]
    assert missing == []
