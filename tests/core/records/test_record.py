"""Records: every format read, nothing lost, stored or not, the landing page chosen."""

from __future__ import annotations

import copy
import json
import pickle
import re
import time
from collections.abc import Callable
from functools import partial
from operator import is_not
from typing import Any
from xml.etree import ElementTree

import pytest
from doiuri import DOI, BadRecord, Handle, Prefix, Record, ShortDOI
from doiuri.records import Data, Value, ascii_upper, choose, select
from hypothesis import example, given
from hypothesis import strategies as st
from support.cases import DATA, table
from support.growth import is_linear
from support.proxy_records import FIGURE_1

X = DOI("10.1000/x")
MAX_TTL = 2**31 - 1  # seconds: the greatest that the protocol can send
LOC = "<locations><location href='{}' weight='{}'/></locations>"
CASES = json.loads((DATA / "records.json").read_text("utf-8"))


def value(kind: str, text: str, index: int = 1, **members: Any) -> dict[str, Any]:
    return {"index": index, "type": kind, "data": {"format": "string", "value": text}, **members}


def record(*values: Any) -> Record:
    """The record of these values; a list has the arguments of ``value``."""
    written = []
    for each in values:
        member = each if isinstance(each, dict) else value(*each)
        written.append(member)
    return Record.from_json({"handle": X.name, "values": written})


def test_the_figure_of_the_draft() -> None:
    """U-09, U-14, U-41, U-56, U-57, U-59 to U-61, P-85, P-86, P-93 to P-99, P-103; C-21: an array."""
    found = Record.from_json(json.dumps(FIGURE_1))
    rights = {
        "handle": "0.na/10.1000",
        "index": 200,
        "permissions": "011111110010",
        "legacyByteLength": True,
    }
    assert found.doi == DOI("10.1000/182")
    assert found.values == (
        Value(
            1, "URL", Data("string", "http://www.doi.org/hb.html"), 86400, "2004-01-21T14:14:17Z"
        ),
        Value(100, "HS_ADMIN", Data("admin", rights), 86400, "2000-06-23T15:17:46Z"),
    )
    assert (found.url, found.ttl, found.alias) == ("http://www.doi.org/hb.html", 86400, None)
    assert json.loads(found.to_json()) == FIGURE_1


def test_one_doi_with_two_urls_xml_and_octets() -> None:
    """N-033, N-034: the values of 10.123/456 serve a browser, a reader of metadata and a player of video.

    It also proves N-017 N-019 N-022 N-023 N-026 P-14 P-15 U-09.
    """
    video = {"index": 4, "type": "VIDEO", "data": {"format": "base64", "value": "AAEC"}}
    urls = [["URL", "http://www.a.example/", 1], ["URL", "http://www.b.example/", 2]]
    found = record(*urls, ["XML", "<title>Ü</title>", 3], video)
    assert found.url == "http://www.a.example/"
    assert [place.href for place in found.locations.candidates] == [
        v.data.text for v in found.of_type("URL")
    ]
    assert found.of_type("XML")[0].data.text == "<title>Ü</title>"
    assert found.of_type("VIDEO")[0].data.octets == b"\0\1\2"


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
NOT_NONE = JSON_VALUES.filter(partial(is_not, None))
ANY_DATA = st.builds(
    lambda more, pair: more | dict(zip(("format", "value"), pair, strict=True)),
    st.dictionaries(st.text(), JSON_VALUES, max_size=2),
    st.tuples(st.just("string"), st.text())
    | st.tuples(st.sampled_from(["key", "new"]), JSON_VALUES),
)
ANY_VALUES = st.fixed_dictionaries(
    {"index": st.integers(), "type": st.text(), "data": ANY_DATA},
    optional={"ttl": st.integers() | st.text(), "timestamp": st.text(), "other": JSON_VALUES}
    | dict.fromkeys(("permissions", "references"), NOT_NONE),
)


# As the reference proxy writes them
ORDER = ["index", "type", "data", "permissions", "ttl", "timestamp", "references"]
DOCUMENTED = [  # index 100 comes before index 1, and the order stays
    value("HS_ADMIN", "", 100, timestamp="2000-04-13T15:08:57Z")
    | {"data": {"format": "admin", "value": {"handle": "0.NA/10.1000", "index": 200}}},
    value("URL", "http://www.doi.org/index.html", ttl=86400, timestamp="2004-09-10T19:49:59Z"),
]
ODD = {"index": 2**40, "type": "", "data": {"format": "string", "value": "", "charset": "x"}}
ODD |= {"permissions": "1111", "ttl": "2030-01-01T00:00:00Z", "timestamp": "yesterday"}
ODD |= {"references": [{"handle": "0.NA/10.1000", "index": 1}], "signature": {"x": None}}


@given(
    st.lists(ANY_VALUES, min_size=1, max_size=4),
    st.dictionaries(st.text(), JSON_VALUES, max_size=2),
)
@example(DOCUMENTED, {})
@example([{"index": 5, "type": "T", "data": data} for data in CASES["formats"]], {})
@example([ODD], {"message": "x", "extra": {"n": 10**30}})
def test_nothing_is_lost_between_json_and_json(
    values: list[dict[str, Any]], more: dict[str, Any]
) -> None:
    """A record has any number of values, each with an index, a type and data (N-024 P-93 to P-95 U-57).

    Generally five attributes, so there may be others (P-92 P-98), in the server's order (P-84 to P-86). Every
    format is carried through (P-100 to P-105); readers keep what they do not know (C-25).
    """
    source = more | {"responseCode": 1, "handle": X.name, "values": values}
    read = Record.from_json(json.dumps(source))
    text = read.to_json()
    assert json.loads(text) == source
    assert "\n" not in text
    for one in json.loads(text)["values"]:
        assert [*one] == [
            *(name for name in ORDER if name in one),
            *(name for name in one if name not in ORDER),
        ]
    assert Record.from_json(text.encode()) == read, "what is written is UTF-8"
    assert pickle.loads(pickle.dumps(read)) == read
    assert all(isinstance(one.data.text, str | None) for one in read.values)
    assert read.url is None or read.url.lower().startswith("http")
    assert read.ttl is None or 0 <= read.ttl <= MAX_TTL


@pytest.mark.parametrize("flaw", CASES["wrong values"], ids=str)
def test_a_value_of_another_shape_makes_a_bad_record(flaw: dict[str, Any]) -> None:
    """The attributes of a value have the types of section 5 (P-104 P-92 to P-96 P-98 P-99)."""
    with pytest.raises(BadRecord) as caught:
        record(value("URL", "https://a.example/") | flaw)
    assert caught.value.reason
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize(
    "source",
    [
        *("", "null", "[]", "{}", b"\xff", '{"handle":"10.1000/x"}', '{"handle":1,"values":[]}'),
        *('{"responseCode":200,"handle":"10.1000/x","values":[]}', '{"values":[],"values":[]}'),
        *(
            '{"responseCode":true,"handle":"10.1000/x","values":[]}',
            '{"handle":"10.1000/x","values":[7]}',
        ),
    ],
)
def test_an_invalid_record_raises_bad_record(source: str | bytes) -> None:
    with pytest.raises(BadRecord) as caught:
        Record.from_json(source)
    assert caught.value.doi is None
    with pytest.raises(BadRecord, match=r"^10\.1000/x: ") as caught:
        Record.from_json(source, doi=X)
    assert caught.value.doi == X


@pytest.mark.parametrize(
    "handle", ["20.5000/x", "10.1000/", "", "doi:10.1000/x", "10/a-b", " 10.1000/x"]
)
def test_a_record_with_an_invalid_handle_raises_bad_record(handle: str) -> None:
    with pytest.raises(BadRecord, match="is not a"):
        Record.from_json({"handle": handle, "values": []})


@pytest.mark.parametrize(
    "handle", [DOI("10.1000/50%25off"), Prefix("10.1000"), ShortDOI("10/abcd")], ids=str
)
def test_a_handle_is_a_literal_name(handle: Handle) -> None:
    """N-149: names are stored unencoded, so a percent sign is one (P-09)."""
    assert Record.from_json({"handle": handle.name, "values": []}).doi == handle


@pytest.mark.parametrize(
    "read", [Record.from_json, lambda source, doi: Record.deferred(doi, source)]
)
def test_the_name_asked_for_stays_as_it_was_asked_for(read: Callable[..., Record]) -> None:
    """The handle of an answer is the name asked for, in any case of ASCII letters (U-54)."""
    stored = b'{"responseCode":1,"handle":"10.1000/X","values":[]}'
    assert read(stored, doi=X).doi.name == "10.1000/x"
    with pytest.raises(BadRecord, match="another name"):
        read(stored, doi=DOI("10.1000/y"))


@pytest.mark.parametrize("case", CASES["where a DOI leads"], ids=lambda case: ascii(case["values"]))
def test_where_a_doi_leads(case: dict[str, Any]) -> None:
    """U-10, N-019, N-028, N-042, P-14 to P-16; C-34: the first URL, unless 10320/loc overrules."""
    assert record(*case["values"]).url == case["url"]


def test_a_loc_value_in_octets_is_decoded_as_it_declares() -> None:
    def loc(form: str, data: object) -> Record:
        return record({"index": 1, "type": "10320/loc", "data": {"format": form, "value": data}})

    xml = "<?xml version='1.0' encoding='ISO-8859-1'?>" + LOC.format("https://a.example/é", 1)
    assert loc("hex", xml.encode("latin-1").hex()).url == "https://a.example/é"
    assert "damaged hex data" in loc("hex", "zz").locations.problem
    assert loc("site", {}).locations.problem
    damaged = {"index": 1, "type": "URL", "data": {"format": "hex", "value": "zz"}}
    (place,) = record(damaged, ["URL", "https://a.example/"]).locations
    assert place.weight == 1.0, "the first URL that can be read"


@pytest.mark.parametrize(
    ("data", "octets"),
    [
        (Data("string", "ü\ud800"), b"\xc3\xbc\xed\xa0\x80"),
        (Data("base64", "AP/+\r\nAA=="), b"\x00\xff\xfe\x00"),
        *((Data("base64", text), b"\xfb\xff") for text in ("-_8", "+/8=")),
        (Data("hex", "00fF fe"), b"\x00\xff\xfe"),
        (Data("admin", {}), None),
        *((Data("base64", text), "damaged") for text in ("A", "äöü=")),
        *((Data("hex", text), "damaged") for text in ("0", "xx")),
    ],
)
def test_octets_of_the_formats(data: Data, octets: object) -> None:
    """P-100 to P-102."""
    if octets != "damaged":
        assert data.octets == octets
        return
    with pytest.raises(ValueError, match=f"damaged {data.format} data"):
        _ = data.octets
    assert data.text is None


@pytest.mark.parametrize("case", CASES["aliases"], ids=lambda case: ascii(case["values"]))
def test_the_alias_of_a_record(case: dict[str, Any]) -> None:
    """P-58: the handle to resolve in place of this one; P-59: the record itself stays as it is (N-023)."""
    found = record(["URL", "https://a.example/"], *case["values"])
    assert found.alias == case["alias"]
    assert found.url == "https://a.example/"


@table("rest", "ttl", "ttl, lifetime")
def test_absolute_and_relative_ttl(ttl: int | str | None, lifetime: int | None) -> None:
    """P-96, P-97: seconds, or the time of expiry."""
    assert Value(1, "URL", Data("string", ""), ttl).lifetime(1_700_000_000.0) == lifetime


def test_a_record_holds_as_long_as_the_least_of_its_values() -> None:
    """Values change; their TTL tells for how long they hold."""
    later = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 500))
    found = record(value("A", "", ttl=86400), value("B", "", ttl=later), value("C", ""))
    assert found.ttl is not None
    assert 490 < found.ttl <= 500
    assert record(["A", ""]).ttl is None
    assert record(value("A", "", ttl=86400), value("B", "", ttl=0)).ttl == 0


def test_a_record_compares_by_what_it_says() -> None:
    found = Record(X, record(["URL", "https://a.example/"]).values, {"signature": "x"})
    assert copy.deepcopy(found) is copy.copy(found) is found
    assert pickle.loads(pickle.dumps(found)) == found == Record(X, found.values, found.extra)
    assert hash(found) == hash(Record(DOI("10.1000/X"), found.values))
    other = Record(DOI("10.1000/y"), found.values, found.extra)
    assert found not in (other, Record(X), Record(X, found.values), "10.1000/x")
    assert eval(repr(found), {"Record": Record, "DOI": DOI, "Value": Value, "Data": Data}) == found


def test_a_notebook_shows_a_table_with_links() -> None:
    html = record(["URL", "https://a.example/?a=1&b=2"], ["EMAIL", "x@a.example", 2])._repr_html_()
    assert '<caption><a href="https://doi.org/10.1000/x">doi:10.1000/x</a></caption>' in html
    assert (
        '<td><a href="https://a.example/?a=1&amp;b=2">https://a.example/?a=1&amp;b=2</a></td>'
        in html
    )
    assert "<tr><td>2</td><td>EMAIL</td><td>x@a.example</td></tr>" in html


@pytest.mark.parametrize(
    "hostile",
    [
        value("URL", "javascript:alert('1')"),
        value("URL", "https://a.example/\"onclick='x'<script>alert(1)</script>"),
        value("<script>", "<img src=x onerror=alert(1)>"),
        value("\ud800", "\ud800 &amp; \"'"),
        {"index": 1, "type": "T", "data": {"format": "admin", "value": {"<script>": "'\"&"}}},
        {"index": 1, "type": "URL", "data": {"format": "base64", "value": "<script>"}},
    ],
    ids=ascii,
)
def test_a_notebook_shows_a_hostile_record_as_text(hostile: dict[str, Any]) -> None:
    shown = Record.from_json({"handle": "10.1000/<script>'\"", "values": [hostile]})._repr_html_()
    table = ElementTree.fromstring(shown)
    assert shown.encode()
    elements = {"table", "caption", "thead", "tbody", "tr", "th", "td", "a"}
    assert {element.tag for element in table.iter()} <= elements
    links = [element.attrib for element in table.iter() if element.attrib]
    assert all([*link] == ["href"] and link["href"].startswith("https://") for link in links)


@pytest.mark.parametrize(("start", "end"), [("[", "]"), ('{"a":', "}")])
@pytest.mark.parametrize("depth", [100, 300, 900, 2000, 200_000])
def test_what_is_read_can_be_written_however_deep_it_is(start: str, end: str, depth: int) -> None:
    text = f'{{"handle":"10.1000/x","values":[],"a":{start * depth}0{end * depth}}}'
    try:
        read = Record.from_json(text)
    except BadRecord as error:
        assert "nested too deeply" in str(error)  # noqa: PT017 - where the limit is depends on the interpreter
        assert depth > 300, "records need four levels"
    else:
        assert Record.from_json(read.to_json()) == read


# Values selected by type and index

KINDS = ("URL", "url.pdf", "EMAIL", "URLS", "straße")
VALUES = [Value(index, kind, Data("string", kind)) for index, kind in enumerate(KINDS, start=1)]


@table("rest", "selected", "types, indexes, selected")
def test_types_and_indexes_select_their_union_in_record_order(
    types: list[str], indexes: list[int], selected: list[int]
) -> None:
    """N-025, N-032, P-115 to P-117: any one of them, not all.

    Types match without case, with a dot their family: N-013, N-017, N-022 to N-024, N-034, P-15.
    """
    assert [value.index for value in select(VALUES, types, indexes)] == selected
    if len(types) == 1 and not indexes:
        assert [value.index for value in Record(X, VALUES).of_type(types[0])] == selected


NAMES = st.text("aB.é", max_size=4)


@given(st.lists(NAMES), st.lists(NAMES))
def test_values_are_selected_that_have_one_of_the_types(kinds: list[str], types: list[str]) -> None:
    values = [Value(index, kind, Data("string", "")) for index, kind in enumerate(kinds, start=1)]

    selected = select(values, types, [1])

    expected = [value for value in values if value.index == 1 or has_any(value, types)]
    assert [*selected] == expected


def has_any(value: Value, types: list[str]) -> bool:
    return any(value.has_type(name) for name in types)


@pytest.mark.parametrize("name", ["TYPE{}", "FAMILY{}."])
def test_the_time_to_select_grows_with_the_types_and_the_values_not_with_their_product(
    name: str,
) -> None:
    values = [Value(index, f"URL.{index}", Data("string", "")) for index in range(1, 5000)]
    types = [name.format(index) for index in range(5000)]
    assert is_linear(lambda size: select(values[:size], types[:size]), 500, 4000)


@given(st.text() | st.text(st.characters(categories=("Cs", "L", "P"))))
def test_only_ascii_letters_are_upper_cased(text: str) -> None:
    """Z39.84 §4."""
    upper = re.sub("[a-z]", lambda letter: letter[0].upper(), text)
    assert ascii_upper(text) == upper


# Stored records: checked when they are taken from a store, parsed when they are read

TYPES = [
    "URL",
    "url",
    "URL.PDF",
    "EMAIL",
    "10320/loc",
    "10320/LOC",
    "HS_ADMIN",
    "HS_ALIAS",
    "Hs_Alias",
]
TEXTS = [
    "https://a.example/",
    "  http://c.example ",
    "http://c\n",
    "ftp://d",
    "",
    'a"b',
    "é",
    "\ud800",
    "\\",
]
ADMIN = {"handle": "0.na/10.1000", "index": 200, "permissions": "011111110010"}
DATA_OF_VALUES = [
    *(Data("string", text) for text in (*TEXTS, LOC.format("https://b.example/", 1))),
    *(Data("admin", ADMIN), Data("admin", ADMIN | {"legacyByteLength": True}), Data("admin", {})),
    *(Data("base64", "aHR0cDovL2UuZXhhbXBsZQ=="), Data("string", "http://f.example", {"more": 1})),
]
STORED = st.builds(
    Value,
    st.integers(-1, 10**10),
    st.sampled_from(TYPES),
    st.sampled_from(DATA_OF_VALUES),
    ttl=st.sampled_from([None, 86400, "2030-01-01T00:00:00Z", 10**12]),
    timestamp=st.sampled_from([None, "2004-01-21T14:14:17Z"]),
    permissions=st.sampled_from([None, "1110", 5]),
)
PIECES = [
    '"',
    "\\",
    ",",
    "}",
    "]}",
    "{",
    "0",
    "-",
    "[",
    "\n",
    "é",
    '"a":1,',
    '"index":1,',
    "null",
    ":",
    "e9",
]


def stored(*values: Value) -> bytes:
    return Record(X, values).to_json().encode()


@pytest.mark.parametrize("kind", TYPES)
def test_a_stored_value_is_the_value(kind: str) -> None:
    url = Value(2, "URL", Data("string", "http://a.example/"))
    for data in DATA_OF_VALUES:
        for values in (
            [Value(1, kind, data)],
            [Value(1, kind, data), url],
            [url, Value(1, kind, data)],
        ):
            same_if_stored(values)


@given(st.lists(STORED, max_size=4))
def test_a_stored_record_is_the_record(values: list[Value]) -> None:
    same_if_stored(values)


def same_if_stored(values: list[Value]) -> None:
    source = stored(*values)
    record = Record.from_json(source, doi=X)
    chosen = choose(record.locations)
    assert Record.deferred(X, source).url == record.url == (chosen and chosen.href)
    assert Record.deferred(X, source).alias == record.alias
    assert Record.deferred(X, source) == record


@given(
    st.lists(STORED, max_size=3).map(lambda values: stored(*values)),
    st.integers(0, 10_000),
    st.integers(0, 4),
    st.sampled_from(PIECES).map(str.encode) | st.binary(max_size=2),
)
@example(stored(Value(1, "URL", Data("string", "http://a.example"))), 67, 0, b"0")
def test_a_deferred_record_can_be_parsed(
    source: bytes, place: int, length: int, piece: bytes
) -> None:
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
    assert (taken.url, taken.alias, repr(taken)) == (parsed.url, parsed.alias, repr(parsed))
