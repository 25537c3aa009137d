"""A repository that a stranger wrote: git runs none of the commands that its configuration names."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from support.cli.command import doiuri


class Trap(NamedTuple):
    """How a repository makes git run a command."""

    settings: dict[str, str]  # of .git/config; {} stands for the command
    attributes: str = ""
    hook: str = ""  # the name of a hook
    reference: str = "HEAD"


MISSING = "1" * 40
PROMISE = {"core.repositoryFormatVersion": "1", "extensions.partialClone": "far"}
CLEAN = Trap({"filter.x.clean": "{}"}, "*.md filter=x")
TRAPS = {
    "clean in upper case": Trap(
        {"filter.X.Clean": "{}", "filter.X.required": "true"}, "* filter=X"
    ),
    "process": Trap({"filter.x.process": "{}", "filter.x.required": "true"}, "*.md filter=x"),
    "hook": Trap({}, hook=".git/hooks/post-index-change"),
    "remote": Trap(
        PROMISE | {"remote.far.url": "ext::{}", "protocol.ext.allow": "always"}, reference=MISSING
    ),
    "ssh": Trap(
        PROMISE | {"remote.far.url": "ssh://x/y", "core.sshCommand": "{}"}, reference=MISSING
    ),
}
"""What the test of every key below has not."""


def git(*words: str) -> None:
    subprocess.run(["git", *words], check=True, capture_output=True)


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that leaves a mark; the current folder is a repository with a commit."""
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch '{tmp_path}/mark'\ncat\n")
    program.chmod(0o755)
    commit_files(tmp_path / "tree")
    monkeypatch.chdir(tmp_path / "tree")
    return program


def commit_files(folder: Path) -> None:
    """Make a repository with a commit, or one more commit."""
    folder.mkdir(exist_ok=True)
    (folder / "a.md").write_text("10.1000/182")
    git("init", str(folder))
    git("-C", str(folder), "add", ".")
    author = "-c", "user.name=A", "-c", "user.email=a@example.org"
    git("-C", str(folder), *author, "commit", "-m", "one")


@pytest.mark.parametrize("trap", TRAPS)
def test_no_command_of_a_stranger_is_run(trap: str, command: Path) -> None:
    set_trap(TRAPS[trap], command)
    os.utime("a.md", (1, 1))  # git has to compare the content

    for words in ("check --offline", f"check --offline --changed={TRAPS[trap].reference}"):
        doiuri(*words.split())

    assert not (command.parent / "mark").exists()


# git-config(1): the keys whose value is a command or a program, with "x" for the name of a driver, remote or tool
KEYS = """
    core.alternateRefsCommand core.askPass core.editor core.fsmonitor core.gitProxy core.pager core.sshCommand
    browser.x.cmd credential.helper credential.x.helper difftool.x.cmd difftool.x.path gpg.program
    gpg.openpgp.program gpg.ssh.defaultKeyCommand gpg.ssh.program gpg.x509.program guitool.x.cmd
    diff.external diff.x.command diff.x.textconv filter.x.clean filter.x.smudge filter.y.process
    filter.z.Clean imap.tunnel instaweb.httpd interactive.diffFilter man.x.cmd man.x.path
    merge.x.driver mergetool.x.cmd mergetool.x.path pager.config pager.diff pager.ls-files pager.rev-parse
    remote.x.receivepack remote.x.uploadpack remote.x.vcs sendemail.ccCmd sendemail.sendmailCmd
    sendemail.smtpServer sendemail.toCmd sequence.editor tar.x.command trailer.x.cmd trailer.x.command
    uploadpack.packObjectsHook web.browser
""".split()  # noqa: SIM905 - as a list, it would fill a screen
KEYS += [f"alias.{name}" for name in ("config", "diff", "ls-files", "rev-parse")]
HOOKS = (
    "fsmonitor-watchman",
    "post-checkout",
    "post-index-change",
    "pre-auto-gc",
    "reference-transaction",
)


@pytest.mark.parametrize("where", ["config", "included", "config.worktree"])
def test_nothing_runs_in_a_repository_with_every_key_that_starts_a_command(
    where: str, command: Path
) -> None:
    for name in ("b.md", "c.md", "d.md"):
        Path(name).write_text("doi:10.1000/182")
    commit_files(Path())
    file = Path(".git", where)
    if where == "included":
        git("config", "include.path", where)
    if where == "config.worktree":
        git("config", "extensions.worktreeConfig", "true")
    for key in KEYS:
        git("config", "--file", str(file), key, str(command))
    git("config", "--file", str(file), "core.hooksPath", "hooks")
    Path("hooks").mkdir()
    for hook in HOOKS:
        Path("hooks", hook).symlink_to(command)
    attributes = ["* diff=x merge=x", "a.md filter=x", "b.md filter=y", "c.md filter=z"]
    Path(".gitattributes").write_text("\n".join(attributes))
    Path("a.md").write_text("10.1000/183")
    for name in ("a.md", "b.md", "c.md", "d.md"):
        os.utime(name, (1, 1))  # git has to compare the content

    for words in ("find", "find --changed", "find --changed=HEAD", "fix"):
        run = doiuri(*words.split())
        assert words == "fix" or run.stdout.startswith("a.md:1:1: 10.1000/183\n"), run.stderr
        is_run = (command.parent / "mark").exists()
        assert not is_run, f"doiuri {words} runs a command that .git/{where} names"

    subprocess.run(["git", "status"], check=False, capture_output=True)
    is_run = (command.parent / "mark").exists()
    assert is_run, f"git status runs no command that .git/{where} names: nothing is proved"


def set_trap(trap: Trap, command: Path) -> None:
    for name, value in trap.settings.items():
        git("config", name, value.format(command))
    Path(".gitattributes").write_text(trap.attributes)
    if trap.hook:
        Path(trap.hook).parent.mkdir(exist_ok=True)
        Path(trap.hook).symlink_to(command)


def test_nor_one_of_a_submodule(command: Path) -> None:
    commit_files(Path("inner"))
    commit_files(Path())
    with contextlib.chdir("inner"):
        set_trap(CLEAN, command)
        os.utime("a.md", (1, 1))

    for words in ("check --offline", "check --offline --changed"):
        assert doiuri(*words.split()).returncode == 0

    assert not (command.parent / "mark").exists()


def test_a_changed_file_is_found_though_its_filter_is_not_run(command: Path) -> None:
    set_trap(CLEAN, command)
    Path("a.md").write_text("10.1000/183")
    assert doiuri("find", "--changed").stdout == "a.md:1:1: 10.1000/183\n"


def test_a_filter_whose_name_cannot_be_written_as_an_option_is_refused(command: Path) -> None:
    set_trap(Trap({"filter.a=b.clean": "{}"}, "* filter=a=b"), command)
    os.utime("a.md", (1, 1))

    run = doiuri("check", "--offline", "--changed")

    assert run.returncode == 2
    assert run.stderr == "doiuri: refused: the name of a filter, 'filter.a=b.clean', contains '='\n"
    assert not (command.parent / "mark").exists()
