"""Fuzz the protocol without IO: whatever a server answers gives a usable record or a typed error.

python tests/fuzz/rest.py [--seconds 60] [--seed N]
"""

import copy
import json
import pickle
import random
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from doiuri import (
    DOI,
    BadRecord,
    DOINotFound,
    NoValues,
    Record,
    ResolutionError,
    ResolverUnavailable,
)
from doiuri.records import choose
from doiuri.rest import read_agencies, read_record
from support.fuzzing import rounds
from support.proxy_records import value

X = DOI("10.1000/x")
Y = DOI("10.1000/y")
ERRORS = (BadRecord, DOINotFound, NoValues, ResolverUnavailable)
LOC = (
    '<?xml version="1.0"?><locations chooseby="locatt,country,weighted" http_sc="303">'
    '<location id="1" href="https://a.example/" weight="0.5" country="gb"/>'
    '<location href_template="https://b.example/{hdl}" http_role="conneg" media-type="application/json"/>'
    "</locations>"
)
VALUES = [
    value("URL", "https://c.example/"),
    value("10320/loc", LOC, index=2) | {"ttl": "2030-01-01T00:00:00Z"},
    value("HS_ALIAS", "MTAuMTAwMC95", fmt="base64", index=3, timestamp="x"),
    value("HS_ADMIN", {"handle": "0.na/10.1000"}, fmt="admin", index=100),
]
ANSWER = {"responseCode": 1, "handle": X.name, "values": VALUES}
AGENCIES = [{"DOI": X.name, "RA": "Crossref"}, {"DOI": Y.name, "status": "Invalid DOI"}]
JUNK: list[Any] = [
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        2,
        100,
        200,
        1.0,
        1.5,
        1e308,
        10**50,
        [],
        {},
        [[]],
        {"a": 1},
        ["x"],
    ),
    *(
        "",
        "1",
        "x",
        "\ud800",
        "\0",
        X.name,
        "URL",
        "10320/LOC",
        "hs_alias",
        "string",
        "base64",
        "hex",
    ),
    *("javascript:x", "9999-99-99", "2030-01-01T00:00:00+99:99", LOC, LOC[:50], "http://"),
    *("https://\ud800/", "https://a:b@[::1/"),
]
MEMBERS = ("x", "ttl", "permissions", "references", "message", "data", "handle")


def places(whole: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to all members and items of a JSON value."""
    members: Iterable[tuple[Any, Any]] = ()
    if isinstance(whole, dict):
        members = whole.items()
    elif isinstance(whole, list):
        members = enumerate(whole)
    for key, member in members:
        yield (*path, key)
        yield from places(member, (*path, key))


def junk(chance: random.Random) -> Any:
    return copy.deepcopy(chance.choice(JUNK))


def mutated(whole: Any, chance: random.Random) -> Any:
    """A copy in which one to three places hold something else, or nothing."""
    whole = copy.deepcopy(whole)
    for _ in range(chance.randint(1, 3)):
        paths = list(places(whole))
        if not paths:
            return junk(chance)
        *path, last = chance.choice(paths)
        parent = whole
        for key in path:
            parent = parent[key]
        match chance.randrange(10):
            case 0 | 1:
                del parent[last]
            case 2 if isinstance(parent, dict):
                parent[chance.choice(MEMBERS)] = junk(chance)
            case _:
                parent[last] = junk(chance)
    return whole


def use(record: Record) -> None:
    """Do with a record all that can be done with it."""
    assert record.url is None or record.url.encode()[:4].lower() == b"http"
    assert record.ttl is None or record.ttl >= 0
    assert Record.from_json(record.to_json().encode()) == record
    assert pickle.loads(pickle.dumps(record)) == record
    assert (choose(record.locations) is None) == (record.url is None)
    assert record.alias != ""
    assert all(isinstance(one.data.text, str | None) for one in record.values)


def check(chance: random.Random) -> bool:
    """Read one answer of each kind; whether the first was a record."""
    body = json.dumps(mutated(ANSWER, chance)).encode()
    found = False
    for status in (500, 404, 200):
        try:
            record = read_record(X, status, body)
        except ERRORS as error:
            pickle.loads(pickle.dumps(error))
        else:
            found = True
            use(record)
    with suppress(ResolutionError):
        agencies = read_agencies([X, Y], 200, json.dumps(mutated(AGENCIES, chance)).encode())
        assert [agency.doi for agency in agencies] == [X, Y]
    return found


def main() -> int:
    answers = records = 0
    for chance in rounds(__doc__):
        records += check(chance)
        answers += 1
    print(f"{answers} answers, {records} of them records")
    return 0 if records else 1


if __name__ == "__main__":
    sys.exit(main())
