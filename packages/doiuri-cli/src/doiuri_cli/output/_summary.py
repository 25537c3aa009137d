"""The last lines of a run, on standard error: what was checked and what was not, and how much was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri_cli.output._text import visible

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TextIO

    from doiuri_cli.output._report import Counts, Report


def write_summary(report: Report, stream: TextIO) -> None:
    """Write the lines of the summary."""
    stream.writelines(f"{line}\n" for line in summary_lines(report))


def summary_lines(report: Report) -> list[str]:
    """Return the lines of the summary."""
    counts = report.counts
    if not (counts.files or counts.dois or counts.skipped or report.findings):
        return ["No files to check."]
    lines = [_checked(counts)]
    if counts.skipped:
        lines.append(f"{_number(sum(counts.skipped.values()), 'file')} skipped: {_reasons(counts.skipped)}.")
    lines.append(_found(report))
    return lines


def _checked(counts: Counts) -> str:
    if not counts.dois:
        return f"No DOIs found in {_number(counts.files, 'file')}."
    text = f"Checked {_number(counts.dois, 'DOI')}: {counts.known} known"
    if counts.asked or counts.requests:
        text += f", {counts.asked} asked in {_number(counts.requests, 'request')}"
    if counts.unknown:
        text += f". {sum(counts.unknown.values())} could not be checked: {_reasons(counts.unknown)}"
    return f"{text}."


def _found(report: Report) -> str:
    counts = report.counts
    if not (counts.errors or counts.warnings):
        return "No findings."
    numbers = (counts.errors, "error"), (counts.warnings, "warning")
    text = ", ".join(_number(count, noun) for count, noun in numbers if count) + "."
    unsafe = sum(finding.fix is not None and not finding.fix.safe for finding in report.findings)
    if counts.fixable:
        text += f" [*] {counts.fixable} can be fixed with doiuri fix"
        text += f", {unsafe} more with --unsafe-fixes if the corrected DOI exists." if unsafe else "."
    elif unsafe:
        text += f" {unsafe} can be fixed with doiuri fix --unsafe-fixes if the corrected DOI exists."
    return text


def _reasons(counts: Mapping[str, int]) -> str:
    """Return the reasons, the most frequent first; with their numbers if there are several."""
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    if len(ordered) == 1:
        return visible(ordered[0][0])
    return ", ".join(f"{visible(reason)} ({count:d})" for reason, count in ordered)


def _number(count: int, noun: str) -> str:
    return f"{count:d} {noun}{'' if count == 1 else 's'}"
