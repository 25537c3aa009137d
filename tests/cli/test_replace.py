"""What the command adds to replacing a file: one that is read-only, or changed in the meantime, stays."""

from pathlib import Path

import pytest
from doiuri_cli.files import replace_file


def test_a_file_is_replaced_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    replace_file(str(path), b"old")
    replace_file(str(path), b"new", b"old")
    assert path.read_bytes() == b"new"
    with pytest.raises(OSError, match="changed in the meantime"):
        replace_file(str(path), b"newer", b"old")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match="read-only"):
        replace_file(str(path), b"newer", b"new")
    assert path.read_bytes() == b"new"
    assert [*tmp_path.iterdir()] == [path]
