"""The server's half of the protocol: what is selected, and what is answered."""

from __future__ import annotations

import json
from typing import Any

import pytest
from doiuri import DOI, BadRecord, DOINotFound, NoValues, ResolverUnavailable
from doiuri.records import Data, Value, ascii_upper
from doiuri.rest import AgencyStatus, ResponseCode, read_agencies, read_record
from doiuri.rest.server import (
    agency_of,
    name_in_path,
    read_indexes,
    select,
    write_agencies,
    write_error,
    write_json,
    write_record,
    write_stored_record,
)
from hypothesis import given
from hypothesis import strategies as st

X = DOI("10.1000/x")
VALUES = [
    Value(index, kind, Data("string", kind))
    for index, kind in enumerate(("URL", "url.pdf", "EMAIL", "URLS"), start=1)
]
TEXTS = st.text() | st.text(st.characters(categories=("Cs", "L", "P")))


@pytest.mark.parametrize(
    ("types", "indexes", "selected"),
    [
        ((), (), [1, 2, 3, 4]),
        (["url"], (), [1]),
        (["URL."], (), [1, 2]),
        ((), [4, 9, 3], [3, 4]),
        (["email"], [1], [1, 3]),
        (["URL.", "email"], [2], [1, 2, 3]),
        (["X"], [0], []),
        ([""], (), []),
        (["."], (), []),
    ],
)
def test_types_and_indexes_select_their_union_in_record_order(
    types: list[str], indexes: list[int], selected: list[int]
) -> None:
    """N-025, N-032, P-115 to P-117: any one of them, not all."""
    assert [value.index for value in select(VALUES, types, indexes)] == selected


@pytest.mark.parametrize(
    ("text", "index"), [("1", 1), ("0", 0), ("+7", 7), ("-1", -1), ("9999999999", 9999999999)]
)
def test_an_index_is_an_integer(text: str, index: int) -> None:
    assert read_indexes([text]) == [index]


@pytest.mark.parametrize("text", ["", " 1", "1.0", "x", "1_0", "٣", "10000000000", "1\n"])
def test_a_malformed_index_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a number"):
        read_indexes(["1", text])


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/10.1000/182", "10.1000/182"),
        ("10.1000/182", "10.1000/182"),
        ("///10.1000/182/", "10.1000/182/"),
        ("/doi:10.1000/182", "10.1000/182"),
        ("/HDL:10.1000/182", "10.1000/182"),
        ("/info:doi/10.1000/182", "10.1000/182"),
        ("/Info:Hdl/10.1000/182", "10.1000/182"),
        ("/urn:doi:10.123:456ABC/zyz", "10.123/456ABC/zyz"),
        ("/URN:DOI:10.123/456:ABC", "10.123/456:ABC"),
        ("/urn:doi:10.123:456:ABC", "10.123/456:ABC"),
        ("/urn:doi:x:y", "x:y"),
        ("/urn:doi:10.123/a10.5:b", "10.123/a10.5:b"),
        ("/doi:10.123:456", "10.123:456"),
        ("/doi:doi:10.1000/182", "doi:10.1000/182"),
        ("/doi: 10.1000/182", " 10.1000/182"),
        ("/https://doi.org/10.1000/182", "https://doi.org/10.1000/182"),
        ("/", ""),
        ("", ""),
    ],
)
def test_the_name_in_a_path(path: str, name: str) -> None:
    """Encoding rules for URL presentation, notes on labels and URNs: one label is dropped, nothing else."""
    assert name_in_path(path) == name


@given(TEXTS)
def test_what_the_server_writes_of_a_record_the_client_reads(text: str) -> None:
    values = [Value(1, "T", Data("string", text), 60), Value(2, text, Data("of the future", {text: [text]}))]
    for pretty in (False, True):
        status, body = write_record(X.name, values, pretty=pretty)
        record = read_record(DOI("10.1000/X"), status, body)
        assert list(record.values) == values
    assert write_stored_record(X.name, write_json([value.to_json() for value in values])) == write_record(
        X.name, values
    )


def test_a_record_without_the_values_asked_for() -> None:
    """P-109: response code 200 with HTTP status 200."""
    for status, body in (write_record(X.name, []), write_stored_record(X.name, b"[]")):
        assert (status, json.loads(body)) == (200, {"responseCode": 200, "values": [], "handle": X.name})
        with pytest.raises(NoValues):
            read_record(X, status, body)


@pytest.mark.parametrize(
    ("code", "options", "written", "status", "error"),
    [
        (100, {"name": "10.1000/x"}, {"responseCode": 100, "handle": "10.1000/x"}, 404, DOINotFound),
        (
            100,
            {"name": "10.1000/x", "message": "unknown prefix"},
            {"responseCode": 100, "message": "unknown prefix", "handle": "10.1000/x"},
            404,
            DOINotFound,
        ),
        (102, {"name": ""}, {"responseCode": 102, "handle": ""}, 400, ResolverUnavailable),
        (2, {"message": "broken"}, {"responseCode": 2, "message": "broken"}, 500, ResolverUnavailable),
        (4, {"message": "odd"}, {"responseCode": 4, "message": "odd"}, 400, ResolverUnavailable),
        (4, {"message": "odd", "status": 404}, {"responseCode": 4, "message": "odd"}, 404, BadRecord),
    ],
)
def test_errors(
    code: int, options: dict[str, Any], written: dict[str, object], status: int, error: type[Exception]
) -> None:
    """P-91, P-107, P-108: the members in this order; the client reads the same record."""
    answered, body = write_error(ResponseCode(code), **options)
    assert (answered, json.loads(body), [*json.loads(body)]) == (status, written, [*written])
    with pytest.raises(error):
        read_record(X, answered, body)


def test_json_is_utf_8_without_escapes_on_one_line_or_indented() -> None:
    assert write_json({"ü": ["\u2028", 1]}) == '{"ü":["\u2028",1]}'.encode()
    assert write_json({"ü": [1]}, pretty=True) == '{\n  "ü": [\n    1\n  ]\n}'.encode()
    assert write_json("ü\ud800") == b'"\\u00fc\\ud800"'
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(float("nan"))


@pytest.mark.parametrize(
    ("answer", "item"),
    [
        (("10.1000/X", "Crossref", "found"), {"DOI": "10.1000/X", "RA": "Crossref"}),
        (("10.1000/X", None, "found"), {"DOI": "10.1000/X", "status": "Unknown"}),
        (("10.1000/X", None, "unknown"), {"DOI": "10.1000/X", "status": "Unknown"}),
        (("10.1000/X", None, "not-found"), {"DOI": "10.1000/X", "status": "DOI does not exist"}),
        (("10.1000/X", "Crossref", "invalid"), {"DOI": "10.1000/X", "status": "Invalid DOI"}),
    ],
)
def test_answers_of_which_ra(answer: tuple[str, str | None, AgencyStatus], item: dict[str, str]) -> None:
    """P-74, P-78 to P-80: the name as it was sent, and its agency or a status."""
    status, body = write_agencies([answer, ("10.2000", "DataCite", "found")])
    assert (status, json.loads(body)) == (200, [item, {"DOI": "10.2000", "RA": "DataCite"}])
    (agency,) = read_agencies([X], status, body)
    assert agency.name == item.get("RA")
    assert agency.status == ("unknown" if item.get("status") == "Unknown" else answer[2])


AGENCIES = {"10.1000": "Crossref", "10.1000.5": "EIDR", "10.1000/LIKE": "OP", "CNRI": "CNRI"}


@pytest.mark.parametrize(
    ("name", "agency"),
    [
        ("10.1000", "Crossref"),
        ("10.1000/x", "Crossref"),
        ("10.1000.4/x", "Crossref"),
        ("10.1000.5", "EIDR"),
        ("10.1000.5.3/x.y", "EIDR"),
        ("10.1000/like", "OP"),
        ("cnri.dlib/x", "CNRI"),
        ("10.10001/x", None),
        ("10.2000/10.1000", None),
        ("10", None),
        ("", None),
    ],
)
def test_the_longest_prefix_names_the_agency(name: str, agency: str | None) -> None:
    assert agency_of(name, AGENCIES) == agency


@given(TEXTS)
def test_only_ascii_letters_are_upper_cased(text: str) -> None:
    """Z39.84 §4."""
    upper = "".join(letter.upper() if letter.isascii() else letter for letter in text)
    assert ascii_upper(text) == upper
