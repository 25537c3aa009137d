"""The command ``doiuri``."""

from __future__ import annotations

import click


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="doiuri-cli", prog_name="doiuri")
def main() -> None:
    """Check, fix and look up the DOIs of a whole tree."""
