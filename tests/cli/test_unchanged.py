"""No file that a command reads is written to, whatever option and whatever spelling of its path names it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.checks import assert_same
from support.cli.command import doiuri

TEXT = "@book{k,\n  title = {A},\n  doi = {10.1000/182},\n}\n"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bibliography with other names in the tree and outside of it; the current folder is beside it."""
    tree = tmp_path / "tree"
    (tree / "sub").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    (tree / "paper.bib").write_text(TEXT)
    os.link(tree / "paper.bib", tree / "hard.json")
    os.link(tree / "paper.bib", tmp_path / "other" / "hard.json")
    (tree / "link.json").symlink_to("paper.bib")
    (tmp_path / "other" / "link.json").symlink_to(tree / "paper.bib")
    (tmp_path / "other" / "folder").symlink_to(tree)
    monkeypatch.chdir(tree)
    return tree


SPELLINGS = {
    "name": "paper.bib",
    "relative": "./sub/../paper.bib",
    "from above": "../tree/paper.bib",
    "absolute": "{tree}/paper.bib",
    "doubled slash": "{tree}//paper.bib",
    "link": "link.json",
    "link elsewhere": "../other/link.json",
    "folder that is a link": "../other/folder/paper.bib",
    "hard link": "hard.json",
    "hard link elsewhere": "../other/hard.json",
    # another file, unless letter case does not count, as on macOS
    "letter case": "PAPER.BIB",
}
COMMANDS = {
    "report of check": "check --offline -o json:{path}",
    "report of fix": "fix -o json:{path}",
    "second report": "check --offline -o concise -o json:../a.json -o markdown:{path}",
    "lock file": "lock --offline --accept=10.1000/182 --reason=x --lock={path}",
    "bibliography of lock": "lock --offline --refresh --prune --lock=../lock.json --bib={path}",
    "lock file of check": "check --offline --lock={path}",
    "cache of check": "check --offline --cache={path}",
    "cache of lock": "lock --lock=../lock.json --resolver=http://127.0.0.1:1 --cache={path}",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_that_is_read_stays_whatever_names_it_as_an_output(command: str, tree: Path) -> None:
    for files in ("paper.bib", "."):
        for spelling, path in SPELLINGS.items():
            other_case = tree / "PAPER.BIB"
            is_another_file = spelling == "letter case" and not other_case.exists()
            words = COMMANDS[command].format(path=path.format(tree=tree)).split()

            run = doiuri(*words, files)

            promise = f"doiuri {' '.join(words)} {files} ({spelling}) leaves paper.bib as it was"
            assert_same(promise, (tree / "paper.bib").read_text(), TEXT)
            if not is_another_file:
                assert run.returncode == 2, f"{promise}, and refuses; it said {run.stderr!r}"
            elif other_case.exists():
                other_case.unlink()


def test_a_report_may_replace_an_earlier_one_and_a_file_that_is_not_read(tree: Path) -> None:
    for _ in (1, 2):
        run = doiuri("check", "--offline", "-o", "json:report.json", "paper.bib")
        assert run.returncode == 0, run.stderr

    (tree / "notes.md").write_text("doi:10.1000/182\n")
    run = doiuri("check", "--offline", "-o", "json:notes.md", "--exclude=notes.md", ".")
    assert (run.returncode, (tree / "notes.md").read_text()) == (0, "[]\n"), run.stderr
