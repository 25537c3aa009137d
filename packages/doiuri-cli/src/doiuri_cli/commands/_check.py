"""``doiuri check``."""

from __future__ import annotations

import sys

import click

from doiuri_cli._config import Config
from doiuri_cli._run import check_files
from doiuri_cli.rules import RULES


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=str))
@click.option("--resolver", help="URL of the DOI proxy to ask.")
@click.option("--offline", is_flag=True, default=None, help="Send no requests.")
def check(paths: tuple[str, ...], resolver: str | None, offline: bool | None) -> int:
    """Report DOIs that do not exist, and how they should be written."""
    reports = check_files(paths, Config(resolver=resolver, offline=offline))
    findings = [finding for report in reports for finding in report.findings]
    for finding in findings:
        severity = RULES[finding.code].severity.label
        place = f"{finding.path}:{finding.line}:{finding.column}"
        sys.stdout.write(f"{place}: {severity}[{finding.code}] {finding.message}\n")
    for report in reports:
        if report.problem is not None:
            click.echo(f"doiuri: {report.path}: {report.problem}", err=True)
    if any(report.problem is not None for report in reports):
        return 2
    return int(any(RULES[finding.code].severity.label == "error" for finding in findings))
