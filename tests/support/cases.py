"""The shared cases in tests/data: one entry, which every package runs through its own door."""

import json
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).parent.parent / "data"


@dataclass(frozen=True)
class Case:
    """One text and what a door of ``DOI`` makes of it; ``name`` is None where it is refused."""

    door: str
    input: str
    name: str | None
    uri: str
    url: str
    position: int | None
    strict: bool
    hosts: tuple[str, ...] | None
    why: str

    def __str__(self) -> str:
        return ascii(f"{self.door} {self.input[:60]}")


def cases(*doors: str) -> list[Case]:
    """Return the cases for these doors, or all of them."""
    entries = json.loads((DATA / "doi.json").read_text(encoding="utf-8"))["cases"]
    return [
        Case(
            entry["door"],
            entry["input"],
            entry.get("name"),
            entry.get("uri", ""),
            entry.get("url", ""),
            entry.get("position"),
            entry.get("strict", False),
            tuple(entry["hosts"]) if "hosts" in entry else None,
            entry.get("why", ""),
        )
        for entry in entries
        if not doors or entry["door"] in doors
    ]


def accepted(*doors: str) -> list[Case]:
    """Return the cases that are DOIs."""
    return [case for case in cases(*doors) if case.name is not None]
