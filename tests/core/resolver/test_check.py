"""A few new names are asked about one by one, more in batches; every name gets an answer, in order."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

import pytest
from doiuri.resolver import MemoryStore, Outcome, Reply, Request, Resolver
from support.proxy_records import value
from support.servers.faults import record

pytestmark = pytest.mark.usefixtures("clock")

NAMES = [f"10.1000/{number:04}" for number in range(3000)]
DEAD = "10.1000/dead"


class Registry:
    """A transport: every name exists, except dead ones; "alias-" makes an alias of what follows."""

    def __init__(self) -> None:
        self.asked = [0, 0]
        """How many requests the REST API got, and how many Which RA."""

    def get(self, request: Request) -> Reply:
        _, _, names = request.url.partition("/doiRA/")
        name = unquote(request.url.partition("/api/handles/")[2])
        self.asked[bool(names)] += 1
        if names:
            found = {"RA": "Crossref"}, {"status": "DOI does not exist"}
            answer = [
                {"DOI": one, **found["dead" in one]} for one in map(unquote, names.split(","))
            ]
            return Reply(200, {}, json.dumps(answer).encode(), request.url)
        if "alias-" in name:
            target = f"10.1000/{name.partition('alias-')[2]}"
            return Reply(200, {}, record(name, value("HS_ALIAS", target)), request.url)
        if "dead" in name:
            return Reply(
                404, {}, json.dumps({"responseCode": 100, "handle": name}).encode(), request.url
            )
        return Reply(200, {}, record(name), request.url)

    def resolver(self, store: MemoryStore | None = None, **options: object) -> Resolver:
        return Resolver(store=store, transport=self, **options)  # type: ignore[arg-type]


def count(outcomes: Sequence[Outcome], status: str) -> int:
    return sum(outcome.status == status for outcome in outcomes)


Layout = list[tuple[str, int]]

COUNTS: dict[str, tuple[Layout, tuple[int, int]]] = {
    "1 new": ([("new", 1)], (1, 0)),
    "16 new": ([("new", 16)], (16, 0)),
    "17 new": ([("new", 17)], (0, 1)),
    "16 new, one of them dead": ([("new", 15), ("dead", 1)], (16, 0)),
    "209 new, one of them dead": ([("new", 100), ("dead", 1), ("new", 108)], (1, 2)),
    "5 new beside 209 that exist": ([("exists", 209), ("new", 5)], (5, 0)),
    "5 new beside 209 with records": ([("record", 209), ("new", 5)], (5, 0)),
    "16 new beside 209 stored aliases": ([("alias-x", 209), ("new", 16)], (16, 0)),
    "17 new beside 20 stored aliases": ([("alias-x", 20), ("new", 17)], (0, 1)),
    "16 new, far apart": ([("exists", 40), ("new", 1)] * 16, (16, 0)),
    "17 new, far apart": ([("exists", 40), ("new", 1)] * 17, (0, 1)),
    "16 new, and the 17th later": ([("new", 16), ("exists", 300), ("new", 1)], (0, 1)),
    "17 new, and 3 much later": ([("new", 17), ("record", 1200), ("new", 3)], (0, 2)),
    "nothing new": ([("record", 50), ("exists", 50), ("alias-x", 1)], (0, 0)),
}


def arranged(layout: Layout, resolver: Resolver) -> list[str]:
    """Names as the layout lists them, each stored as its kind says."""
    names: list[str] = []
    for number, (kind, many) in enumerate(layout):
        names += [f"10.1000/{number}{kind}"] * many
    names = [name.replace("/", f"/{number}.") for number, name in enumerate(names)]
    list(resolver.check((name for name in names if "exists" in name), batch=True))
    list(resolver.resolve_many(name for name in names if "record" in name or "alias-" in name))
    return names


@pytest.mark.parametrize("kind", [list, iter], ids=["list", "stream"])
@pytest.mark.parametrize(("layout", "expected"), COUNTS.values(), ids=COUNTS)
def test_the_number_of_new_names_decides_how_they_are_asked_about(
    kind: type[list[str]], layout: Layout, expected: tuple[int, int]
) -> None:
    registry = Registry()
    resolver = registry.resolver(MemoryStore(), rate=None)
    names = arranged(layout, resolver)
    registry.asked = [0, 0]
    outcomes = list(resolver.check(kind(names)))
    assert (*registry.asked,) == expected
    assert [one.doi.name for one in outcomes if one.doi] == names
    dead = sum("dead" in name for name in names)
    assert (count(outcomes, "not-found"), count(outcomes, "found")) == (dead, len(names) - dead)
    again = list(resolver.check(names))
    assert [one.status for one in again] == [one.status for one in outcomes]
    assert (*registry.asked,) == expected, "everything is in the store now"


def test_three_thousand_new_names_get_an_answer_within_a_budget_for_a_hundred() -> None:
    """In order, beside invalid items and repeated names."""
    items = ["nonsense", *NAMES[:7], DEAD, *NAMES[7:], 7, *NAMES[:40]]
    registry = Registry()
    outcomes = list(registry.resolver(rate=2, budget=50).check(items))  # type: ignore[arg-type]
    named = [outcome.doi.name for outcome in outcomes if outcome.doi]
    invalid = [outcome.text for outcome in outcomes if not outcome.doi]
    assert (invalid, named) == (["nonsense", "7"], [*NAMES[:7], DEAD, *NAMES[7:], *NAMES[:40]])
    assert [outcome.status for outcome in outcomes].index("invalid", 1) == items.index(7)
    assert [count(outcomes, status) for status in ("found", "not-found", "invalid")] == [3040, 1, 2]
    assert sum(registry.asked) < 30


@pytest.mark.parametrize("known", [0, 3000])
def test_a_stream_is_read_bit_by_bit(known: int) -> None:
    read = []

    def stream() -> Iterator[str]:
        for name in ["10.1000/new", *NAMES]:
            read.append(name)
            yield name

    resolver = Registry().resolver(MemoryStore(), rate=None)
    list(resolver.check(NAMES[:known], batch=True))
    first = next(resolver.check(stream()))
    assert first.status == "found"
    assert len(read) <= 1024 + 256
