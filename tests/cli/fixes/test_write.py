"""Writing: at any time the old or the new content, and all else about the file stays."""

import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from doiuri_cli.fixes._write import write


def test_mode_and_no_litter(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"old")
    path.chmod(0o754)
    write(str(path), b"old", b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o754
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.md"]


def test_link(tmp_path: Path) -> None:
    target = tmp_path / "folder" / "target.md"
    target.parent.mkdir()
    target.write_bytes(b"old")
    link = tmp_path / "link.md"
    link.symlink_to("folder/target.md")
    write(str(link), b"old", b"new")
    assert link.is_symlink()
    assert link.readlink() == Path("folder/target.md")
    assert target.read_bytes() == b"new"


def test_read_only(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match="read-only"):
        write(str(path), b"old", b"new")
    assert path.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1


def test_changed_in_the_meantime(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"newer")
    with pytest.raises(OSError, match="changed in the meantime"):
        write(str(path), b"old", b"new")
    assert path.read_bytes() == b"newer"
    assert len(list(tmp_path.iterdir())) == 1


WRITER = """
import sys
from doiuri_cli.fixes._write import write
path, size = sys.argv[1], int(sys.argv[2])
contents = [b"a" * size, b"b" * size]
print("ready", flush=True)
while True:
    write(path, contents[0], contents[1])
    contents.reverse()
"""


@pytest.mark.once
def test_killed_while_writing(tmp_path: Path) -> None:
    """Whenever a process that rewrites a file is killed, the file is whole."""
    path, size = tmp_path / "a.md", 300_000
    whole = {b"a" * size, b"b" * size}
    seen = set()
    for number in range(40):
        path.write_bytes(b"a" * size)
        command = [sys.executable, "-c", WRITER, str(path), str(size)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            time.sleep(0.0007 * number)
            process.send_signal(signal.SIGKILL)
        content = path.read_bytes()
        assert content in whole
        seen.add(content)
        for entry in tmp_path.iterdir():
            assert entry == path or (entry.name.startswith(".a.md.") and entry.suffix == ".tmp")
            if entry != path:
                entry.unlink()
    assert seen == whole
