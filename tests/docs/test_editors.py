"""What the page on editors says: the problem matcher reads real output, and pre-commit accepts the hooks."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml
from support.manual.building import ROOT

PAGE = (ROOT / "docs" / "howto" / "editors.rst").read_text(encoding="utf-8")
BLOCK = re.compile(r"^   :caption: (\S+)\n\n((?:(?:   .*)?\n)+)", re.MULTILINE)
BLOCKS = {caption: dedent(block) for caption, block in BLOCK.findall(PAGE)}
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["A\n"]},
        {"cell_type": "markdown", "metadata": {}, "source": ["see http://dx.doi.org/10.1000/182"]},
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 4,
}
FILES = {
    "a: b.md": "see http://dx.doi.org/10.1000/182\n",
    "notes.ipynb": json.dumps(NOTEBOOK),
    "paper.bib": "@book{a,\n  doi = {1000/182},\n}\n",
}
Run = Callable[..., list[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return a function that runs the command in a folder with findings, and returns the lines it writes."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    def run(*arguments: str) -> list[str]:
        command = [sys.executable, *arguments, "--offline"]
        process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert process.returncode == 1
        return process.stdout.splitlines()

    return run


def test_the_problem_matcher_reads_every_line_of_the_task(run: Run) -> None:
    (task,) = json.loads(BLOCKS[".vscode/tasks.json"])["tasks"]
    pattern: dict[str, Any] = task["problemMatcher"]["pattern"]
    groups = itemgetter(*(pattern[name] for name in ("file", "line", "column", "severity", "code")))

    lines = run(*task["args"])
    matches = [match for line in lines if (match := re.search(pattern["regexp"], line))]

    assert [groups(match) for match in matches] == [
        ("a: b.md", "1", "5", "warning", "not-https"),
        ("notes.ipynb", "1", "5", "warning", "not-https"),
        ("paper.bib", "2", "10", "error", "syntax"),
    ]
    messages = [match[pattern["message"]] for match in matches]
    assert messages == [line.partition("] ")[2] for line in lines]


def test_the_lines_of_the_page_are_matched() -> None:
    (task,) = json.loads(BLOCKS[".vscode/tasks.json"])["tasks"]
    shown = re.findall(r"^   (\S+:\d+: .*)$|^   (\S+:cell .*)$", PAGE, re.MULTILINE)
    lines = ["".join(pair) for pair in shown]

    assert len(lines) == 3
    regexp = task["problemMatcher"]["pattern"]["regexp"]
    assert [line for line in lines if not re.search(regexp, line)] == []


def test_pre_commit_accepts_the_configuration_and_there_are_such_hooks(tmp_path: Path) -> None:
    text = BLOCKS[".pre-commit-config.yaml"]
    (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
    validate = [sys.executable, "-m", "pre_commit", "validate-config", "config.yaml"]
    subprocess.run(validate, cwd=tmp_path, check=True)

    manifest = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    (repository,) = yaml.safe_load(text)["repos"]
    assert [hook["id"] for hook in repository["hooks"]] == [hook["id"] for hook in manifest]
