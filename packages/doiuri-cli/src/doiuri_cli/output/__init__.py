"""The output formats, one a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri_cli.output._concise import write as write_concise
from doiuri_cli.output._report import Counts, Report

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

__all__ = ["FORMATS", "Counts", "Report"]

FORMATS: dict[str, Callable[[Report, TextIO], None]] = {"concise": write_concise}
"""What writes a report, by the name of the format."""
