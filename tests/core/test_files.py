"""Files that are replaced as a whole: links, permissions, failures, two writers at once."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from errno import ENOSPC
from pathlib import Path

import pytest
from doiuri.plugins import replacing


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o640)
    return path


def test_a_reader_sees_the_old_content_until_the_end(file: Path) -> None:
    with replacing(file) as draft:
        draft.write_text("new")
        assert file.read_text() == "old"
        assert draft.parent == file.parent
    assert file.read_text() == "new"
    assert mode_of(file) == 0o640
    assert [*file.parent.iterdir()] == [file]


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="no extended attributes")
def test_owner_group_and_extended_attributes_stay_but_not_the_time(file: Path) -> None:
    owner = os.geteuid()
    group = [os.getegid(), *os.getgroups()][-1]  # a user may only set a group of theirs
    if owner == 0:
        owner = group = 1000
    os.chown(file, owner, group)
    file.chmod(0o2750)
    os.setxattr(file, "user.origin", b"here")
    os.utime(file, (1, 1))

    with replacing(file) as draft:
        draft.write_text("new")

    status = file.stat()
    assert (status.st_uid, status.st_gid, mode_of(file)) == (owner, group, 0o2750)
    assert os.getxattr(file, "user.origin") == b"here"
    assert status.st_mtime > 1


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    with replacing(tmp_path / "new") as draft:
        assert mode_of(draft) == mode_of(tmp_path / "usual")
    assert mode_of(tmp_path / "new") == mode_of(tmp_path / "usual")


def test_of_two_writers_at_once_each_has_a_private_draft_and_the_last_one_counts(
    file: Path,
) -> None:
    with replacing(file) as first:
        first.write_text("first")
        with replacing(file) as second:
            second.write_text("second")
            assert first != second
            assert mode_of(first) == mode_of(second) == 0o600
        assert file.read_text() == "second"
    assert file.read_text() == "first"
    assert [*file.parent.iterdir()] == [file]


def test_a_failure_leaves_the_old_file_and_no_draft(file: Path) -> None:
    with suppress(KeyboardInterrupt), replacing(file) as draft:
        draft.write_text("half")
        raise KeyboardInterrupt
    for expected in (b"another", b""):
        with (
            pytest.raises(OSError, match="changed in the meantime"),
            replacing(file, expected=expected),
        ):
            pass
    assert file.read_text() == "old"
    assert [*file.parent.iterdir()] == [file]


def test_a_read_only_file_stays_even_for_root(file: Path) -> None:
    old = file.read_bytes()
    file.chmod(0o444)
    with pytest.raises(PermissionError, match="the file is read-only"), replacing(file):
        pytest.fail("there is a draft")
    assert file.read_bytes() == old
    assert [*file.parent.iterdir()] == [file]


def test_the_target_of_a_link_is_replaced(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("a.txt")
    with replacing(link) as draft:
        draft.write_text("new")
    assert link.is_symlink()
    assert file.read_text() == "new"


def test_a_pipe_or_a_device_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    link = tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to("pipe")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        for path in (link, pipe):
            with replacing(path) as draft:
                draft.write_text("new")
            assert os.read(reader, 10) == b"new", path
    finally:
        os.close(reader)
    assert link.is_symlink()
    assert pipe.is_fifo()


@pytest.mark.parametrize("character", ["x", "\N{GRINNING FACE}"])
def test_a_name_may_be_as_long_as_the_file_system_allows(tmp_path: Path, character: str) -> None:
    file = tmp_path / (character * (255 // len(character.encode())))
    with replacing(file) as draft:
        draft.write_text("new")
    assert file.read_text() == "new"


def test_an_error_names_the_file_and_not_the_draft(tmp_path: Path) -> None:
    missing = tmp_path / "missing" / "a.txt"
    full = tmp_path / "a.txt"
    with pytest.raises(FileNotFoundError) as caught, replacing(missing):
        pass
    assert caught.value.filename == str(missing)
    with pytest.raises(OSError, match="No space") as caught_full, replacing(full):
        raise OSError(ENOSPC, "No space left on device")
    assert caught_full.value.filename == str(full)


def test_a_draft_stays_where_it_is_if_the_current_folder_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    with replacing("a.txt") as draft:
        monkeypatch.chdir(tmp_path / "other")
        draft.write_text("new")
    assert (tmp_path / "a.txt").read_text() == "new"
