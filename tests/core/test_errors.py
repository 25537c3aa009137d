"""Errors are data: they carry what was wrong, where, and what to do, and survive pickling."""

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from doiuri import (
    DOI,
    BadRecord,
    DOIError,
    DOINotFound,
    DOISyntaxError,
    Handle,
    NoValues,
    Prefix,
    ResolutionError,
    ResolverUnavailable,
    ShortDOI,
)
from doiuri.plugins import with_suggestion
from support.cases import DATA

CASES = json.loads((DATA / "errors.json").read_text("utf-8"))
DOORS = (DOI.parse, DOI.from_name, DOI.from_uri, DOI.from_url, Prefix, ShortDOI)
READ: dict[str, Callable[[str], Handle]] = {door.__name__: door for door in DOORS}


def error_of(text: str, read: Callable[[str], Handle] = DOI.parse) -> DOISyntaxError:
    with pytest.raises(DOISyntaxError) as caught:
        read(text)
    return caught.value


@pytest.mark.parametrize("case", CASES["errors"], ids=lambda case: ascii(case["text"]))
def test_an_error_says_what_is_wrong_where_and_what_to_write(case: dict[str, Any]) -> None:
    """A doi: URI has neither query nor fragment, so a raw mark is never dropped (draft §2, U-26, U-27)."""
    error = error_of(case["text"], READ[case.get("read", "parse")])
    message = str(error)
    assert case.get("message", "") in message
    assert (error.text, error.position) == (case["text"], case.get("position", error.position))
    assert error.suggestion == case.get("suggestion", error.suggestion)
    assert message.isprintable()
    assert f"is not a {error.kind}: {error.reason} (position {error.position})" in message
    if error.suggestion is not None:
        assert message.endswith(f"; write {error.suggestion}")
        assert DOI.parse(error.suggestion).uri == error.suggestion


@pytest.mark.parametrize("start", ["11.", "doi:10.1000/#"])
def test_a_long_text_is_kept_but_not_repeated_in_full(start: str) -> None:
    text = start + "9" * 1_000_000
    error = error_of(text)
    assert (error.text == text, len(str(error)) < 600) == (True, True)


@pytest.mark.parametrize("make", [DOI, DOI.from_name, Handle.from_name])
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("https://doi.org/10.1000/a%20b", "10.1000/a b"),
        *(("doi:10.1/x", "10.1/x"), (" 10.1/x", "10.1/x")),
        # what parse refuses, too
        *(
            (text, None)
            for text in ("10.1000/", "hello", "doi:10.1000/", "https://example.org/10.1000/182")
        ),
    ],
)
def test_a_text_taken_for_a_name_points_to_parse(
    make: Callable[[str], Handle], text: str, name: str | None
) -> None:
    error = error_of(text, make)
    assert (error.text, error.suggestion) == (text, name)
    assert (".parse also reads labels, links and white space" in str(error)) is (name is not None)


D = DOI("10.1000/182")
ERRORS = [
    DOISyntaxError("doi:10.1/a#b", 10, "ambiguous", "doi:10.1/a%23b", "doi: URI"),
    *(DOINotFound(D), DOINotFound(D, "because"), NoValues(D), BadRecord(D, "no JSON")),
    *(ResolverUnavailable(D, "throttled", 429, 30.0), ResolverUnavailable(D)),
    ResolutionError(None, "nobody knows"),
]


@pytest.mark.parametrize("error", ERRORS, ids=repr)
def test_errors_survive_pickling_and_copying(error: DOIError) -> None:
    error.add_note("seen on Tuesday")
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert again.args == error.args
        assert vars(again) == vars(error)
    attributes = {name: member for name, member in vars(error).items() if name != "__notes__"}
    assert vars(type(error)(*error.args)) == attributes


def test_one_root_and_the_builtin_that_fits_catch_each_error() -> None:
    assert issubclass(DOISyntaxError, DOIError)
    assert issubclass(DOISyntaxError, ValueError)
    assert issubclass(DOINotFound, LookupError)
    for kind in (DOINotFound, NoValues, BadRecord, ResolverUnavailable):
        assert issubclass(kind, ResolutionError)
        assert kind(D).doi is D
        assert str(kind(D)).startswith("10.1000/182: ")
        assert kind(D, "why").reason == "why"
    error = ResolverUnavailable(D, "busy", 503, 1.5)
    assert (error.status, error.retry_after) == (503, 1.5)


def test_a_suggestion_is_shown_on_one_line_and_in_visible_characters() -> None:
    error = DOISyntaxError("doi:10.1/a", 0, "a label", "10.1/\u0378\x1b[2J")
    assert str(error).endswith(r"; write '10.1/\u0378\x1b[2J'")
    assert str(DOISyntaxError("doi:10.1/á", 0, "a label", "10.1/á")).endswith("; write 10.1/á")


@pytest.mark.parametrize(
    "case",
    [
        *CASES["publishers"],
        {"text": "https://example.org/10.1000/1/" + "a" * 3000, "suggestion": None},
    ],
    ids=lambda case: case["text"][:60],
)
def test_the_doi_in_a_publisher_s_url_is_suggested(case: dict[str, Any]) -> None:
    text = case["text"]
    meant = case["suggestion"]
    error = error_of(text)
    suggested = with_suggestion(error)
    assert suggested.suggestion == meant
    assert (suggested.text, suggested.position, suggested.reason) == (
        text,
        error.position,
        error.reason,
    )
    assert meant is None or str(suggested).endswith(f"; write {meant}")
