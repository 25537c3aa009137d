"""All files: read, looked up, examined."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from doiuri_cli._examine import FileReport, examine
from doiuri_cli.files import Source
from doiuri_cli.registry._check import check_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doiuri_cli._config import Config


def check_files(paths: Sequence[str], config: Config) -> list[FileReport]:
    """Return the reports on some files, in their order."""
    reports = [_examined(path, config) for path in paths]
    names = dict.fromkeys(name for report in reports for name in report.names)
    statuses = check_names(list(names), config)
    return [_examined(path, config, statuses) for path in paths]


def _examined(path: str, config: Config, statuses: dict[str, str] | None = None) -> FileReport:
    try:
        source = Source.from_bytes(path, Path(path).read_bytes())
    except OSError as error:
        return FileReport(path, problem=error.strerror or str(error))
    return examine(source, config, statuses)
