"""What every package has, and that the manual lists every option, format and warning."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml
from doiuri import advise
from doiuri_cli.output import FORMATS
from support.manual.readme import ORDER

ROOT = Path(__file__).parents[2]
PROJECTS = sorted(ROOT.glob("packages/*/pyproject.toml"))
DOCS = ROOT / "docs"
PACKAGES = ROOT / "packages"
NAMES = {path.parent.name for path in PROJECTS}


@pytest.mark.parametrize("path", PROJECTS, ids=lambda p: p.parent.name)
def test_a_package_has_the_version_the_licence_and_the_python_of_the_others(path: Path) -> None:
    project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]

    assert project["version"] == "0.1.0"
    assert project["license"] == "MIT"
    assert project["requires-python"] == ">= 3.11"
    assert (path.parent / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


@pytest.mark.parametrize("path", PROJECTS, ids=lambda p: p.parent.name)
def test_a_package_has_types_and_a_readme(path: Path) -> None:
    module = path.parent / "src" / path.parent.name.replace("-", "_")
    readme = (path.parent / "README.md").read_text(encoding="utf-8")

    assert (module / "py.typed").is_file()
    assert len(readme.splitlines()) >= 20


@pytest.mark.parametrize("path", PROJECTS, ids=lambda p: p.parent.name)
def test_dependencies_have_a_range_for_siblings_and_a_floor_for_others(path: Path) -> None:
    project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    sibling_or_other = re.compile(r"\S*doiuri\S* ~= [\d.]+|(?!\S*doiuri)\S+ >= [\d.]+")

    unusual = [text for text in project["dependencies"] if not sibling_or_other.fullmatch(text)]

    assert unusual == []


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


def settings(path: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / path).read_text(encoding="utf-8"))


def contract(kind: str) -> dict[str, Any]:
    """Return import-linter's first contract of a type."""
    contracts: list[dict[str, Any]] = TOOL["importlinter"]["contracts"]
    return next(contract for contract in contracts if contract["type"] == kind)


def mentions(path: str, start: str = "", end: str = r"\Z") -> list[str]:
    """Return the words with "doiuri" in a text, from the first match of a pattern to one of another."""
    text = (ROOT / path).read_text(encoding="utf-8")
    part = re.search(f"{start}.*?{end}", text, re.DOTALL | re.MULTILINE)
    assert part
    return re.findall(r"[\w-]*doiuri[\w-]*", part[0])


TOOL = settings("pyproject.toml")["tool"]
LAYERS = " | ".join(contract("layers")["layers"]).split(" | ")
EXTRAS = settings("packages/doiuri/pyproject.toml")["project"]["optional-dependencies"]
FORM = yaml.safe_load((ROOT / ".github/ISSUE_TEMPLATE/bug.yml").read_text(encoding="utf-8"))
LISTS: dict[str, Iterable[str]] = {
    "tool.uv.sources in pyproject.toml": TOOL["uv"]["sources"],
    "root_packages of tool.importlinter in pyproject.toml": TOOL["importlinter"]["root_packages"],
    "the layers of import-linter's first contract in pyproject.toml": LAYERS,
    "the ancestors in import-linter's last contract in pyproject.toml": contract(
        "acyclic_siblings"
    )["ancestors"],
    "mypy_path of tool.mypy in pyproject.toml": TOOL["mypy"]["mypy_path"],
    "source_pkgs of tool.coverage.run in pyproject.toml": TOOL["coverage"]["run"]["source_pkgs"],
    "the extras in packages/doiuri/pyproject.toml": chain(*EXTRAS.values()),
    "the packages in .github/ISSUE_TEMPLATE/bug.yml": FORM["body"][1]["attributes"]["options"],
    "ORDER in tests/support/manual/readme.py": ORDER,
    "tests/repo/public.toml": mentions("tests/repo/public.toml"),
    "docs/reference/api/packages.rst": mentions("docs/reference/api/packages.rst"),
    "the diagram in CONTRIBUTING.md": mentions("CONTRIBUTING.md", "^```mermaid", "^```$"),
    "CHANGELOG.md": mentions("CHANGELOG.md"),
}


@pytest.mark.parametrize("place", LISTS)
def test_a_list_names_every_package(place: str) -> None:
    entries = [re.sub(r"^packages/|/src$|[ \[].*", "", entry) for entry in LISTS[place]]
    missing = NAMES - {entry.replace("_", "-") for entry in entries}
    assert not missing, f"add {', '.join(sorted(missing))} to {place}"


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


def test_every_format_of_the_command_is_described() -> None:
    page = (DOCS / "reference" / "command.rst").read_text("utf-8")

    assert [name for name in FORMATS if f"``{name}``" not in page] == []
