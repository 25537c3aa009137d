"""The hooks for pre-commit: which files they are for, and what it installs; tests/system runs them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.cli.command import doiuri

ROOT = Path(__file__).parents[3]
HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))


EXTENSIONS = re.findall("[a-z]+", HOOKS[0]["files"].replace("[iwx]?", "|pyi|pyw|pyx").replace("?", ""))
NAMES = [
    *(
        "README",
        "CITATION",
        "AUTHORS",
        "DESCRIPTION",
        "LICENSE",
        "Makefile",
        "a.c",
        "a.csv",
        "a.png",
        "a.toml",
    ),
    *(f"a.{name}" for name in {*EXTENSIONS, "htm", "yml", "BIB", "Rmd"} - {"i"}),
]


@pytest.mark.parametrize("name", sorted(NAMES))
def test_the_hooks_are_for_the_files_that_are_read(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("")
    is_read = doiuri("check", "--isolated", cwd=tmp_path).stderr != "No files to check.\n"
    assert [re.search(hook["files"], f"docs/{name}") is not None for hook in HOOKS] == [is_read] * len(HOOKS)


def test_pre_commit_can_install_this_repository() -> None:
    """It installs the root, which is a package with nothing in it, and the dependencies of the hook."""
    root = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert root["tool"]["hatch"]["build"]["targets"]["wheel"] == {"bypass-selection": True}
    assert "dependencies" not in root["project"]
    for hook in HOOKS:
        folders = [ROOT / name.partition("[")[0] for name in hook["additional_dependencies"]]
        assert [folder.name for folder in folders if (folder / "pyproject.toml").is_file()] == [
            "doiuri",
            "doiuri-cli",
        ]
