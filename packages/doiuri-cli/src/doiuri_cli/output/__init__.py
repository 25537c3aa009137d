"""The output formats, and the summary of a run."""

from doiuri_cli.output._report import Counts, References, Report, recorded_lines, summary_lines, visible
from doiuri_cli.output._write import FORMATS, Output, check_outputs, output_option, write_report

__all__ = [
    "FORMATS",
    "Counts",
    "Output",
    "References",
    "Report",
    "check_outputs",
    "output_option",
    "recorded_lines",
    "summary_lines",
    "visible",
    "write_report",
]
