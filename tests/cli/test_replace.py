"""Writing: at any time the old or the new content, and all else about the file stays."""

import os
import stat
from pathlib import Path

import pytest
from doiuri_cli.files import replace_file


def test_mode_and_no_litter(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"old")
    path.chmod(0o754)
    replace_file(str(path), b"new", b"old")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o754
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.md"]


def test_link(tmp_path: Path) -> None:
    target = tmp_path / "folder" / "target.md"
    target.parent.mkdir()
    target.write_bytes(b"old")
    link = tmp_path / "link.md"
    link.symlink_to("folder/target.md")
    replace_file(str(link), b"new", b"old")
    assert link.is_symlink()
    assert link.readlink() == Path("folder/target.md")
    assert target.read_bytes() == b"new"


def test_read_only(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match="read-only"):
        replace_file(str(path), b"new", b"old")
    assert path.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1


def test_changed_in_the_meantime(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"newer")
    with pytest.raises(OSError, match="changed in the meantime"):
        replace_file(str(path), b"new", b"old")
    assert path.read_bytes() == b"newer"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_device_is_written_to_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        replace_file(str(pipe), b"new")
        assert os.read(reader, 10) == b"new"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_new_file_has_the_usual_mode(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    replace_file(str(tmp_path / "new"), b"new")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_what_only_the_owner_may_read_is_never_open_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"old")
    path.chmod(0o600)
    modes = []

    def note(descriptor: int, _status: os.stat_result) -> None:
        modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))

    monkeypatch.setattr("doiuri._files._replacing._keep_owner", note)
    replace_file(str(path), b"new")
    assert modes == [0o600]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
