"""The GitHub action: its last step is run as GitHub runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ACTION = Path(__file__).parents[3] / "action.yml"
BASH = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]


def steps() -> dict[str, dict[str, Any]]:
    """The steps that run a script, by name."""
    action = yaml.safe_load(ACTION.read_text("utf-8"))
    return {step["name"]: step for step in action["runs"]["steps"] if "run" in step}


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
    """Run the step."""
    step = steps()["Check DOIs"]
    variables = {name: inputs.get(name, "") for name in step["env"]} | {
        "RUNNER_TEMP": str(runner),
        "GITHUB_STEP_SUMMARY": str(runner / "summary.md"),
        "DOIURI_CACHE": str(runner / "doiuri-cache" / "doiuri.sqlite"),
    }
    return subprocess.run(
        [*BASH, "-c", step["run"]],
        cwd=runner / "checkout",
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def test_annotations_a_summary_and_sarif(runner: Path) -> None:
    for name in ("a b.md", "c.md", "d.md"):
        (runner / "checkout" / name).write_text("see http://dx.doi.org/10.1000/182\n")
    run = check(
        runner,
        DOI_PATH="a b.md\nc.md\n",
        ARGUMENTS="--offline\n --fail-on warning ",
        FORMAT="github",
        SARIF="out.sarif",
    )
    assert run.returncode == 1
    assert [line.split("::")[1].split(",")[1] for line in run.stdout.splitlines()] == [
        "file=a b.md",
        "file=c.md",
    ]
    assert "| a b.md:1:5 | warning | not-https |" in (runner / "summary.md").read_text("utf-8")
    log = json.loads((runner / "checkout" / "out.sarif").read_text("utf-8"))
    assert len(log["runs"][0]["results"]) == 2


def test_without_further_options(runner: Path) -> None:
    (runner / "checkout" / "a.md").write_text("No DOIs; $(touch injected)\n")
    run = check(runner, DOI_PATH=".", ARGUMENTS="--offline", FORMAT="full")
    assert (run.returncode, run.stdout) == (0, "")
    assert check(
        runner, DOI_PATH=".\n$(touch injected)", ARGUMENTS="--offline; true", FORMAT="full"
    ).returncode
    assert not (runner / "checkout" / "injected").exists()


def test_inputs_reach_scripts_as_variables_only() -> None:
    assert set(steps()) == {"Install doiuri", "Check DOIs"}
    assert [name for name, step in steps().items() if "${{" in step["run"]] == []


def test_every_action_is_pinned_to_a_commit() -> None:
    used = [line.split("uses: ")[1] for line in ACTION.read_text("utf-8").splitlines() if "uses: " in line]
    assert len(used) == 3
    assert all(len(use.partition("@")[2].split(" # v")[0]) == 40 for use in used)
