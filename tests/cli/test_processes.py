"""Several processes: an interrupted command changes no more files, and a killed process costs one file."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from support.cli.command import INTERRUPTIBLE, doiuri_process, register
from support.waiting import until

LINK = "http://dx.doi.org/10.1000/182"
FIXED = "https://doi.org/10.1000/182"
NAMES = [f"{number:02}.slow" for number in range(40)]

READER = """
import os, signal, time
from pathlib import Path
from doiuri_cli import Part

def read(source):
    if "wait" in source.text:
        Path("reading").write_text(str(os.getpid()))
        while not Path("go").exists():
            time.sleep(0.01)
    if "kill once" in source.text and not Path("killed").exists():
        Path("killed").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if "kill always" in source.text:
        os.kill(os.getpid(), signal.SIGKILL)
    yield Part(source.text)
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder with many files, and a package that reads their type."""
    (tmp_path / "package").mkdir()
    register(tmp_path / "package", "slow", READER, {".slow": "read"})
    (tmp_path / "tree").mkdir()
    for name in NAMES:
        (tmp_path / "tree" / name).write_text(f"{LINK}\n")
    return tmp_path / "tree"


def run(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return doiuri_process(*words, cwd=tree, PYTHONPATH=python_path(tree))


def python_path(tree: Path) -> str:
    return os.pathsep.join([str(tree.parent / "package"), os.environ.get("PYTHONPATH", "")])


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("words", ["fix --isolated -j 2", "check --isolated --offline -j 2"])
def test_an_interrupted_command_ends_at_once_and_changes_nothing_more(
    words: str, tree: Path
) -> None:
    (tree / NAMES[1]).write_text(f"wait {LINK}\n")
    environ = os.environ | {"PYTHONPATH": python_path(tree)}
    with subprocess.Popen([*INTERRUPTIBLE, *words.split()], cwd=tree, env=environ) as process:
        until((tree / "reading").exists)
        until((tree / "reading").read_text)
        process.send_signal(signal.SIGINT)
        try:
            until(lambda: process.poll() is not None, "it goes on")
        finally:
            (tree / "go").touch()

    worker = int((tree / "reading").read_text())
    until(lambda: not is_running(worker), "a worker goes on")
    assert process.returncode == 130
    assert [path.name for path in tree.iterdir() if ".tmp" in path.name] == []
    assert (tree / NAMES[1]).read_text() == f"wait {LINK}\n"
    assert (tree / NAMES[-1]).read_text() == f"{LINK}\n"


@pytest.mark.parametrize(
    ("words", "killed"),
    [
        ("check --isolated --offline -j2 -o concise -q", NAMES[0]),
        ("find --isolated -j2", NAMES[17]),
        ("fix --isolated -j2 -q", NAMES[-1]),
    ],
    ids=["check", "find", "fix"],
)
def test_a_file_whose_process_is_killed_is_told_and_all_others_are_read(
    words: str, killed: str, tree: Path
) -> None:
    text = f"kill always {LINK}\n"
    (tree / killed).write_text(text)
    others = [name for name in NAMES if name != killed]
    told = (
        f"doiuri: {killed}: the process that read it was killed; there may be too little memory\n"
    )

    done = run(tree, *words.split())

    assert (done.returncode, done.stderr) == (2, told)
    assert (tree / killed).read_text() == text
    if words.startswith("fix"):
        assert {(tree / name).read_text() for name in others} == {f"{FIXED}\n"}
    else:
        assert [line.partition(":")[0] for line in done.stdout.splitlines()] == others


def test_a_process_that_is_killed_among_others_may_read_its_file_alone(tree: Path) -> None:
    (tree / NAMES[5]).write_text(f"kill once {LINK}\n")

    done = run(tree, "fix", "--isolated", "-j2")

    assert (done.returncode, done.stderr) == (0, "Fixed 40 in 40 files; 0 left.\n")


@pytest.mark.parametrize("jobs", ["-j1", "-j2"])
def test_a_file_that_is_named_several_times_is_fixed_once(jobs: str, tree: Path) -> None:
    (tree / "link.slow").symlink_to(NAMES[0])
    names = NAMES[0], f"./{NAMES[0]}", f"../tree/{NAMES[0]}", str(tree / NAMES[0]), "link.slow"

    done = run(tree, "fix", "--isolated", jobs, *names)

    assert (done.returncode, done.stderr) == (0, "Fixed 1 in 1 file; 0 left.\n")
    assert (tree / "link.slow").is_symlink()
