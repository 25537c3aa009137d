"""Names of files and keys that would control a terminal or forge lines of the output."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.cli.command import doiuri

NAMES = ["\x1b]0;owned\x07.md", "a\n+++ b.md", "q\"\\'.md", "with space.md", "日本.md", "bad\udcff.md"]
OLD = "é http://dx.doi.org/10.1000/182\n".encode("latin-1")


@pytest.mark.parametrize("arguments", [["find"], ["check", "--offline", "-o", "concise"], ["fix", "--check"]])
def test_output_is_printable(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "\x1b[31m\n.md").write_bytes(OLD)
    (tmp_path / "\x1b[32m\n.ipynb").write_text("no notebook")
    run = doiuri(*arguments, cwd=tmp_path)
    assert "\\x1b[32m\\n.ipynb:" in run.stdout + run.stderr
    assert [line for line in (run.stdout + run.stderr).split("\n") if not line.isprintable()] == []


def test_messages_are_printable(tmp_path: Path) -> None:
    (tmp_path / "doiuri.toml").write_text('"\\u001b[31mkey" = 1')
    run = doiuri("check", cwd=tmp_path)
    assert run.returncode == 2
    assert run.stderr.startswith("doiuri: doiuri.toml: \\x1b[31mkey: unknown key")
    assert run.stderr.rstrip("\n").isprintable()


@pytest.mark.parametrize("name", NAMES)
def test_diff_can_be_applied(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(OLD)
    done = doiuri("fix", "--isolated", "--diff", name, cwd=tmp_path)
    assert done.returncode == 1
    subprocess.run(
        ["git", "apply", "-"], input=done.stdout.encode(errors="surrogateescape"), cwd=tmp_path, check=True
    )
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_bytes() == OLD.replace(b"http://dx.", b"https://")
