"""Add the target of each DOI to a CSV file, with a progress bar.

    python examples/scripts/targets.py [dois.csv [targets.csv]]

The column "doi" holds the DOIs, in whatever form people pasted them. The resolver is https://doi.org or the
one in ``DOIURI_RESOLVER``.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

from doiuri.resolver import Outcome, Resolver

EXAMPLE = Path(__file__).with_name("dois.csv")


def bar(done: int, total: int | None, width: int = 30) -> None:
    """Draw the progress bar if stderr is a terminal."""
    if not sys.stderr.isatty() or not total:
        return
    full = "#" * (width * done // total)
    line = f"\r[{full:.<{width}}] {done}/{total}"
    end = "\n" if done == total else ""
    print(line, end=end, file=sys.stderr, flush=True)


def row(outcome: Outcome) -> tuple[str, str]:
    """Return the target ("" if there is none), and the status or the reason why the cell is not a DOI."""
    target = ""
    if outcome.record is not None:
        target = outcome.record.url or ""
    if outcome.status == "invalid":
        return target, outcome.reason
    return target, outcome.status


def main(source: Path, destination: Path | None) -> int:
    """Write the table; return the exit status."""
    with source.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with Resolver() as resolver:
        outcomes = list(resolver.resolve_many([cells["doi"] for cells in rows], progress=bar))
    output = destination.open("w", newline="", encoding="utf-8") if destination else sys.stdout
    table = csv.writer(output)
    table.writerow([*rows[0], "target", "status"])
    table.writerows(
        [*cells.values(), *row(outcome)] for cells, outcome in zip(rows, outcomes, strict=True)
    )
    if destination:
        output.close()
    statuses = [outcome.status for outcome in outcomes]
    found = statuses.count("found")
    missing = statuses.count("not-found")
    others = len(rows) - found - missing
    counts = f"{found} resolved, {missing} not found, {others} unknown or not a DOI"
    print(f"{len(rows)} DOIs: {counts}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("source", nargs="?", default=EXAMPLE, type=Path)
    parser.add_argument("destination", nargs="?", type=Path)
    arguments = parser.parse_args()
    sys.exit(main(arguments.source, arguments.destination))
