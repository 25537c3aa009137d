"""Stored records: checked when they are taken from a store, parsed when they are read."""

from __future__ import annotations

import pytest
from doiuri import DOI, BadRecord, Record
from doiuri.records import Data, Value, choose
from hypothesis import example, given
from hypothesis import strategies as st

X = DOI("10.1000/x")
LOC = "<locations><location href='https://b.example/' weight='1'/></locations>"
TYPES = ["URL", "url", "URL.PDF", "EMAIL", "10320/loc", "10320/LOC", "HS_ADMIN", "HS_ALIAS", "Hs_Alias"]
TEXTS = ["https://a.example/", " http://c.example \n", "ftp://d.example", "", LOC, 'a"b', "é", "\ud800", "\\"]
ADMIN = {"handle": "0.na/10.1000", "index": 200, "permissions": "011111110010"}
DATA = st.sampled_from(TEXTS).map(lambda text: Data("string", text)) | st.sampled_from(
    [
        Data("admin", ADMIN),
        Data("admin", ADMIN | {"legacyByteLength": True}),
        Data("admin", {}),
        Data("base64", "aHR0cDovL2UuZXhhbXBsZQ=="),
        Data("string", "http://f.example", {"more": 1}),
    ]
)
VALUES = st.builds(
    Value,
    st.integers(-1, 10**10),
    st.sampled_from(TYPES),
    DATA,
    ttl=st.sampled_from([None, 86400, "2030-01-01T00:00:00Z", 10**12]),
    timestamp=st.sampled_from([None, "2004-01-21T14:14:17Z"]),
    permissions=st.sampled_from([None, "1110", 5]),
)
PIECES = ['"', "\\", ",", "}", "]}", "{", "0", "-", "[", "\n", "é", '"a":1,', '"index":1,', "null", ":", "e9"]


def stored(*values: Value) -> bytes:
    return Record(X, values).to_json().encode()


@given(st.lists(VALUES, max_size=4))
def test_a_stored_record_is_the_record(values: list[Value]) -> None:
    source = stored(*values)
    record = Record.from_json(source, doi=X)
    chosen = choose(record.locations)
    url = chosen and chosen.href
    assert Record.deferred(X, source).url == record.url == url
    assert Record.deferred(X, source).alias == record.alias
    assert Record.deferred(X, source) == record


@given(
    st.lists(VALUES, max_size=3).map(lambda values: stored(*values)),
    st.integers(0, 10_000),
    st.integers(0, 4),
    st.sampled_from(PIECES).map(str.encode) | st.binary(max_size=2),
)
@example(stored(Value(1, "URL", Data("string", "http://a.example"))), 67, 0, b"0")
def test_a_deferred_record_can_be_parsed(source: bytes, place: int, length: int, piece: bytes) -> None:
    """Whatever damage an answer has: it is found out at once, or it does no harm later."""
    place %= len(source)
    damaged = source[:place] + piece + source[place + length :]
    try:
        parsed = Record.from_json(damaged, doi=X)
    except BadRecord:
        with pytest.raises(BadRecord):
            Record.deferred(X, damaged)
        return
    taken = Record.deferred(X, damaged)
    assert taken.url == parsed.url
    assert taken.alias == parsed.alias
    assert repr(taken) == repr(parsed)
