"""The hooks for pre-commit: which files they are for, and what it installs; tests/system runs them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml
from doiuri_cli import readers

ROOT = Path(__file__).parents[3]
HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))


def test_the_hooks_are_for_all_files_that_are_read() -> None:
    for hook in HOOKS:
        assert [name for name in readers._TYPES if not re.search(hook["files"], f"docs/a{name}")] == []
        assert not re.search(hook["files"], "a.c")


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
