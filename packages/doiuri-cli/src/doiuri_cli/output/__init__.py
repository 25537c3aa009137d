"""The output formats, one a file, and the summary of a run."""

from doiuri_cli.output._report import Counts, Report, findings_counts
from doiuri_cli.output._summary import summary_lines, write_summary
from doiuri_cli.output._text import visible
from doiuri_cli.output._write import FORMATS, Output, output_option, write_report

__all__ = [
    "FORMATS",
    "Counts",
    "Output",
    "Report",
    "findings_counts",
    "output_option",
    "summary_lines",
    "visible",
    "write_report",
    "write_summary",
]
