"""Documents in which n1, n2 … are not DOIs, and where these are written."""

import re
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "cases" / "lines"


def written(*names: str) -> list[str]:
    """Return the places in some files, such as "page.md:3 n1", sorted."""
    return sorted(
        f"{name}:{number} {found}"
        for name in names
        for number, line in enumerate((FOLDER / name).read_text("utf-8").splitlines(), 1)
        for found in re.findall(r"\bn[0-9]+\b", line)
    )


def told(messages: str) -> list[str]:
    """Return the places in messages about them, in the same form."""
    found = re.findall(
        r"^(?:.*/)?([\w.]+:\d+): .*?'(?:doi:)?(n\d+)' is not a DOI", messages, re.MULTILINE
    )
    return sorted(f"{place} {name}" for place, name in found)
