"""Documents in which n1, n2 … are not DOIs, and where these are written."""

import re
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "cases" / "lines"


def written(*names: str) -> list[str]:
    """Return the places in some files, such as "page.md:3 n1", sorted."""
    places = []
    for name in names:
        lines = (FOLDER / name).read_text("utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            places += [f"{name}:{number} {text}" for text in re.findall(r"\bn[0-9]+\b", line)]
    return sorted(places)


def told(messages: str) -> list[str]:
    """Return the places in messages about them, in the same form."""
    found = re.findall(
        r"^(?:.*/)?([\w.]+:\d+): .*?'(?:doi:)?(n\d+)' is not a DOI", messages, re.MULTILINE
    )
    return sorted(f"{place} {name}" for place, name in found)
