"""What stands around the command: its README, the GitHub action and the hooks for pre-commit."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from doiuri_proxy.pytest_plugin import Proxies
from support.cli.command import doiuri
from support.cli.library import item
from support.doi_org import DOI_ORG, doi_org

ROOT = Path(__file__).parents[2]
README = ROOT / "packages" / "doiuri-cli" / "README.md"
NOTES = """\
# Notes

The handbook is at http://dx.doi.org/10.1000/182 and short.

The article is gone:

https://doi.org/10.1371/journal.pone.013187
"""
PAPER = "@book{handbook,\n  title = {DOI Handbook},\n  doi = {https://doi.org/10.1000/182},\n}\n"
HANDBOOK = item("10.1000/182")
HANDBOOK["values"][0]["data"]["value"] = "https://www.doi.org/the-identifier/resources/handbook/"
RECORDS = {"records": [HANDBOOK], "agencies": {"10.1000": "Crossref", "10.1371": "Crossref"}}


@pytest.mark.doi_records(RECORDS)
def test_examples_print_what_the_readme_shows(tmp_path: Path, doi_proxy: Proxies) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "notes.md").write_text(NOTES)
    (tmp_path / "paper.bib").write_text(PAPER)
    environ = {
        "DOIURI_RESOLVER": DOI_ORG,
        "DOIURI_CACHE": "",
        "XDG_CACHE_HOME": f"{tmp_path}/.cache",
    }
    blocks = re.findall(r"(?ms)^```console\n(.*?)^```$", README.read_text("utf-8"))
    assert blocks
    for block in blocks:
        printed = ""
        for line in re.findall(r"(?m)^\$ doiuri (.*)$", block):
            with doi_org(doi_proxy.url):
                run = doiuri(*shlex.split(line), cwd=tmp_path, stdin=b"", **environ)
            shown = (run.stdout + run.stderr).replace(str(tmp_path), "~")
            printed += f"$ doiuri {line}\n{shown}"
        assert printed == block


BASH = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    """The runner's folder for temporary files, with the command installed."""
    programs = tmp_path / "doiuri" / "bin"
    programs.mkdir(parents=True)
    (programs / "doiuri").symlink_to(Path(sys.executable).with_name("doiuri"))
    (tmp_path / "summary.md").touch()
    (tmp_path / "checkout").mkdir()
    return tmp_path


def check(runner: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the step of the action that checks."""
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    (step,) = (one for one in action["runs"]["steps"] if one.get("name") == "Check DOIs")
    variables = {name: inputs.get(name, "") for name in step["env"]} | {
        "RUNNER_TEMP": str(runner),
        "GITHUB_STEP_SUMMARY": str(runner / "summary.md"),
        "DOIURI_CACHE": str(runner / "doiuri-cache" / "doiuri.sqlite"),
    }
    words = [*BASH, "-c", step["run"]]
    return subprocess.run(
        words,
        cwd=runner / "checkout",
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def test_annotations_a_summary_and_sarif(runner: Path) -> None:
    for name in ("a b.md", "c.md", "d.md"):
        (runner / "checkout" / name).write_text("see http://dx.doi.org/10.1000/182\n")
    options = {
        "ARGUMENTS": "--offline\n --fail-on warning ",
        "FORMAT": "github",
        "SARIF": "out.sarif",
    }
    run = check(runner, DOI_PATH="a b.md\nc.md\n", **options)
    assert run.returncode == 1
    named = [line.split("::")[1].split(",")[1] for line in run.stdout.splitlines()]
    assert named == ["file=a b.md", "file=c.md"]
    assert "| a b.md:1:5 | warning | not-https |" in (runner / "summary.md").read_text("utf-8")
    log = json.loads((runner / "checkout" / "out.sarif").read_text("utf-8"))
    assert len(log["runs"][0]["results"]) == 2


def test_without_further_options(runner: Path) -> None:
    (runner / "checkout" / "a.md").write_text("No DOIs; $(touch injected)\n")
    run = check(runner, DOI_PATH=".", ARGUMENTS="--offline", FORMAT="full")
    assert (run.returncode, run.stdout) == (0, "")
    injected = {
        "DOI_PATH": ".\n$(touch injected)",
        "ARGUMENTS": "--offline; true",
        "FORMAT": "full",
    }
    assert check(runner, **injected).returncode
    assert not (runner / "checkout" / "injected").exists()


HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))


EXTENSIONS = re.findall(
    "[a-z][a-z0-9]*", HOOKS[0]["files"].replace("[iwx]?", "|pyi|pyw|pyx").replace("?", "")
)
NAMES = [
    *("README", "CITATION", "AUTHORS", "DESCRIPTION", "LICENSE", "Makefile"),
    *("a.c", "a.csv", "a.png", "a.toml", "a.htm", "a.yml", "a.BIB", "a.Rmd"),
    *(f"a.{name}" for name in {*EXTENSIONS} - {"i", "htm", "yml"}),
]


@pytest.mark.parametrize("name", sorted(NAMES))
def test_the_hooks_are_for_the_files_that_are_read(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("")
    is_read = doiuri("check", "--isolated", cwd=tmp_path).stderr != "No files to check.\n"
    assert [re.search(hook["files"], f"docs/{name}") is not None for hook in HOOKS] == [
        is_read
    ] * len(HOOKS)


def test_pre_commit_can_install_this_repository() -> None:
    """It installs the root, which is a package with nothing in it, and the dependencies of the hook."""
    root = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert root["tool"]["hatch"]["build"]["targets"]["wheel"] == {"bypass-selection": True}
    assert "dependencies" not in root["project"]
