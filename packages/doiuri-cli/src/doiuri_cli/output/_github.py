"""``github``: workflow commands, which GitHub Actions shows as annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri_cli.output._report import severity_of
from doiuri_cli.output._text import message, place, region, relative, visible

if TYPE_CHECKING:
    from typing import TextIO

    from doiuri_cli.output._report import Report
    from doiuri_cli.rules import Finding


def write_github(report: Report, stream: TextIO) -> None:
    """Write a workflow command for each finding."""
    stream.writelines(map(_command, report.findings))


def _command(finding: Finding) -> str:
    line, column, end_line, end_column = region(finding)
    properties = {
        "title": f"doiuri ({finding.code})",
        # the name of the file must stay, with the characters that the escapes below are for
        "file": visible(relative(finding.path), kept="\r\n"),
        "line": str(line),
        "endLine": str(end_line),
    }
    # GitHub takes columns only within a line
    if line == end_line:
        properties |= {"col": str(column), "endColumn": str(end_column)}
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    text = f"{place(finding)}: {finding.code}: {message(finding)}"
    return f"::{severity_of(finding).label} {listed}::{_data(text)}\n"


def _data(text: str) -> str:
    """Escape a message as ``escapeData`` in GitHub's toolkit does."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Escape a property as ``escapeProperty`` in GitHub's toolkit does."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
