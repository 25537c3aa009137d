"""The hooks, run by pre-commit in a repository of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

MANIFEST = Path(__file__).parents[2] / ".pre-commit-hooks.yaml"
PROGRAMS = Path(sys.executable).parent
LINK = "see http://dx.doi.org/10.1000/182\n"


def hooks() -> dict[str, dict[str, Any]]:
    return {hook["id"]: hook for hook in yaml.safe_load(MANIFEST.read_text("utf-8"))}


class Repository:
    """A repository with one of the hooks, which runs the installed command."""

    def __init__(self, folder: Path, hook: str) -> None:
        self.folder = folder / "repository"
        self.folder.mkdir()
        self.home = folder / "home"
        local = hooks()[hook] | {"language": "system", "additional_dependencies": []}
        config = {"repos": [{"repo": "local", "hooks": [local]}]}
        self.write(".pre-commit-config.yaml", yaml.safe_dump(config))
        self.git("init", "--quiet")
        self.git("add", ".")

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.folder, env=self.environment, check=True)

    @property
    def environment(self) -> dict[str, str]:
        unset = ("GIT_", "FORCE_COLOR")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(unset)}
        return kept | {
            "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            "PRE_COMMIT_HOME": str(self.home / "pre-commit"),
        }

    def run(self) -> subprocess.CompletedProcess[str]:
        """Run the hook on the files that are staged."""
        self.git("add", ".")
        return subprocess.run(
            [sys.executable, "-m", "pre_commit", "run", "--color=never"],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )


def test_the_manifest_is_valid() -> None:
    command = [sys.executable, "-m", "pre_commit", "validate-manifest", str(MANIFEST)]
    assert subprocess.run(command, capture_output=True, text=True, check=False).returncode == 0
    assert set(hooks()) == {"doiuri-fix", "doiuri-check", "doiuri-check-online"}


def test_fix_corrects_staged_files_and_then_passes(tmp_path: Path) -> None:
    repository = Repository(tmp_path, "doiuri-fix")
    repository.write("a.md", LINK)
    repository.write("a.bin", LINK)
    first = repository.run()
    assert first.returncode == 1
    assert "files were modified by this hook" in first.stdout
    assert (repository.folder / "a.md").read_text("utf-8") == "see https://doi.org/10.1000/182\n"
    assert (repository.folder / "a.bin").read_text("utf-8") == LINK
    assert "Passed" in repository.run().stdout


@pytest.mark.parametrize("hook", ["doiuri-fix", "doiuri-check", "doiuri-check-online"])
def test_excluded_files_are_left_out(hook: str, tmp_path: Path) -> None:
    repository = Repository(tmp_path, hook)
    repository.write("doiuri.toml", 'exclude = ["/a.md"]\nfail-on = "warning"\n')
    repository.write("a.md", LINK)
    assert "Passed" in repository.run().stdout
    assert (repository.folder / "a.md").read_text("utf-8") == LINK


def test_check_sends_no_request_and_reports_what_is_invalid(tmp_path: Path) -> None:
    repository = Repository(tmp_path, "doiuri-check")
    repository.write("a.bib", "@article{smith, doi = {1000/182}}\n")
    run = repository.run()
    assert run.returncode == 1
    assert re.search(r"^a\.bib:1:\d+: error\[syntax\] smith: ", run.stdout, re.MULTILINE), (
        run.stdout
    )
    repository.write("a.bib", "@article{smith, doi = {10.1000/182}}\n")
    assert repository.run().returncode == 0


def test_check_online_asks_the_registry(
    tmp_path: Path, doi_proxy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DOIURI_RESOLVER")  # it would win over the file
    repository = Repository(tmp_path, "doiuri-check-online")
    repository.write("doiuri.toml", f'resolver = "{doi_proxy.url}"\n')
    repository.write("a.md", "see https://doi.org/10.5555/no-such-name\n")
    run = repository.run()
    assert run.returncode == 1
    assert "a.md:1:5: error[not-found] 10.5555/no-such-name is not registered" in run.stdout
