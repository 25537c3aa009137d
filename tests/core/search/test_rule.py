"""The rule of the search: what is sure, what is likely, and what is another work; through the public face.

Each case of ``missing.json`` says what its entry and the registered works have that the usual ones do not.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from doiuri.resolver import Resolver
from doiuri.search import Search
from doiuri.works import Work
from support.servers.search import search_site

RULE = json.loads(Path(__file__).parents[2].joinpath("cases", "missing.json").read_text("utf-8"))


def changed(usual: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return {member: value for member, value in (usual | changes).items() if value}


@pytest.mark.parametrize("case", RULE["cases"], ids=lambda case: str(case["name"]))
def test_the_rule(case: dict[str, Any]) -> None:
    entry = Work.from_item("gross1956", changed(RULE["entry"], case["entry"]))
    registered = [changed(RULE["registered"], changes) for changes in case["registered"]]
    with search_site(registered) as running:
        resolver = Resolver(running.url, store=None)
        [found] = Search(resolver, crossref=running.url, datacite=running.url).find([entry])
    sure = found.doi and found.doi.name
    likely = sorted(candidate.doi.name for candidate in found.likely)
    assert (sure, likely) == (case["sure"], case["likely"]), case["name"]
