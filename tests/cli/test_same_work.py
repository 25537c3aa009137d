"""Whether an entry and the registry's metadata mean one work: pairs of titles, authors and years as data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from doiuri_proxy import running
from support.cli.command import findings
from support.cli.library import CSL, item

PAIRS: dict[str, list[list[Any]]] = json.loads(Path(__file__).with_name("same.json").read_text("utf-8"))
CASES = {f"{kind}-{n}": (kind, *pair) for kind, pairs in PAIRS.items() for n, pair in enumerate(pairs)}
CODES = {"titles": "title-differs", "authors": "author-differs", "years": "year-differs"}


def entry(kind: str, written: Any) -> dict[str, Any]:
    """Return what an entry of CSL-JSON has."""
    if kind == "titles":
        return {"title": written}
    return {"author": [{"literal": written}]} if kind == "authors" else {"issued": {"raw": str(written)}}


def registered(kind: str, known: Any, whole: str = "", *editors: str) -> dict[str, Any]:
    """Return what the registry has."""
    if kind == "titles":
        return {"title": known}
    if kind == "years":
        return {"issued": {"date-parts": [[known]]}}
    given = whole.removesuffix(f" {known}")
    author = {"literal": known} if given == whole else {"family": known, "given": given}
    return {"author": [author], "editor": [{"family": family} for family in editors]}


RECORDS = [
    item(f"10.5555/{name}", metadata={CSL: {"type": "book", "title": "Known", **registered(kind, *known)}})
    for name, (kind, _, _, *known) in CASES.items()
]


@pytest.fixture(scope="module")
def told() -> dict[str, list[str]]:
    """The codes that are told of each entry, all compared in one run."""
    works = [
        {"id": name, "type": "book", "DOI": f"10.5555/{name}", **entry(kind, written)}
        for name, (kind, _, written, *_) in CASES.items()
    ]
    with running(RECORDS) as proxy:
        options = "--records", "--online", "--resolver", proxy.url, "--select", ",".join(CODES.values())
        listed = findings("a.json", json.dumps(works), *options)
    found: dict[str, list[str]] = {name: [] for name in CASES}
    for one in listed:
        found[one["entry"]].append(one["code"])
    return found


@pytest.mark.parametrize("name", CASES)
def test_titles_authors_and_years_of_one_work(name: str, told: dict[str, list[str]]) -> None:
    kind, expected, *values = CASES[name]
    assert told[name] == ([] if expected == "same" else [CODES[kind]]), values
