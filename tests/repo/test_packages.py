"""What every package has: the common version, ranges, the licence, type information, a README."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECTS = sorted(ROOT.glob("packages/*/pyproject.toml"))
NAMES = {path.parent.name for path in PROJECTS}


def test_all_packages_are_here() -> None:
    plugins = "docutils sphinx markdown urllib requests httpx dask fsspec".split()  # noqa: SIM905
    assert {"doiuri", "doiuri-proxy", "doiuri-cli", *(f"{name}-doiuri" for name in plugins)} == NAMES


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
    for requirement in project["dependencies"]:
        name = re.split(r"[\[ ~<>=]", requirement)[0]
        assert re.search(r"~=" if name in NAMES else r">=", requirement), requirement


def test_uv_takes_every_package_from_this_clone() -> None:
    root = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert root["tool"]["uv"]["sources"] == {name: {"workspace": True} for name in NAMES}


def test_every_dependency_is_pinned_for_ci_by_plain_versions() -> None:
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert len(pins) > 20
    for pin in pins:
        assert re.fullmatch(r"[a-z0-9._-]+==[0-9a-z.+!-]+( ; .+)?", pin), pin


@pytest.mark.parametrize("mark", ["demo", "test"])
def test_the_readme_names_the_newcomers_commands(mark: str) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.search(rf"^<!-- {mark} -->\n```sh\n.+\n```$", text, re.MULTILINE)
