"""What type checkers infer in programs that resolve DOIs; mypy reads this, pytest runs it."""

from collections.abc import Iterator
from typing import Literal, assert_type

import pytest
from doiuri import DOI, DOINotFound, Handle, Record
from doiuri.plugins import Settings
from doiuri.records import Locations, Value
from doiuri.resolver import Metadata, Outcome, Resolver
from doiuri.rest import read_record, record_url
from doiuri.testing import resolver_for

RECORD = {
    "handle": "10.1000/182",
    "values": [{"index": 1, "type": "URL", "data": {"format": "string", "value": "https://example.org/"}}],
}


def test_record() -> None:
    record = Record.from_json(RECORD | {"responseCode": 1})
    assert_type(record, Record)
    assert_type(record.doi, Handle)
    assert_type(record.url, str | None)
    assert_type(record.alias, str | None)
    assert_type(record.ttl, int | None)
    assert_type(record.locations, Locations)
    assert_type(record.of_type("URL"), tuple[Value, ...])
    assert_type(record.to_json(), str)


def test_rest() -> None:
    doi = DOI("10.1000/182")
    assert_type(record_url(doi, type=["URL", "EMAIL"], auth=True), str)
    assert_type(read_record(doi, 200, Record.from_json(RECORD).to_json().encode()), Record)


def test_resolver() -> None:
    resolver = resolver_for([RECORD])
    assert_type(resolver, Resolver)
    with resolver as same:
        assert_type(same, Resolver)
        assert_type(same.resolve("10.1000/182", type="URL", follow=False), Record)
        assert_type(same.resolve_many(["10.1000/182", DOI("10.1000/182")]), Iterator[Outcome])
        assert_type(same.verify(iter(["10.1000/182"])), Iterator[Outcome])
        assert_type(same.agencies(["10.1000/182"]), Iterator[Outcome])
        for outcome in same.resolve_many([DOI("10.1000/182")]):
            assert_type(outcome.record, Record | None)
            assert_type(outcome.agency, str | None)
            assert_type((outcome.reason, outcome.stale), tuple[str, bool])
            assert_type(outcome.doi, Handle | None)
            assert_type(outcome.status, Literal["found", "not-found", "no-values", "unknown", "invalid"])
            assert_type(outcome.found, bool)
            outcome.raise_for_status()
            assert outcome.status == "found"
        assert_type(same.settings, Settings)
        assert_type((same.settings.base, same.settings.rate), tuple[str, float | None])
        with pytest.raises(DOINotFound) as caught:
            same.resolve("10.1000/183")
        assert_type(caught.value.doi, Handle | None)


def metadata(resolver: Resolver) -> str:
    """For mypy only: it needs an agency."""
    answer = resolver.metadata("10.1000/182", "application/x-bibtex")
    assert_type(answer, Metadata)
    assert_type(answer.content_type, str)
    return answer.text


def test_wrong_use() -> None:
    with resolver_for([RECORD]) as resolver:
        with pytest.raises(TypeError):
            resolver.resolve(182)  # type: ignore[arg-type]
        with pytest.raises(AttributeError):
            _ = resolver.resolve("10.1000/182").href  # type: ignore[attr-defined]
        for outcome in resolver.verify(["10.1000/182"]):
            with pytest.raises(AttributeError):
                outcome.status = "found"  # type: ignore[misc]
            with pytest.raises(AttributeError):
                _ = outcome.record.url  # type: ignore[union-attr]
        with pytest.raises(AttributeError):
            resolver.settings.base = "https://example.org"  # type: ignore[misc]
    with pytest.raises((TypeError, ValueError)):
        Resolver(timeout="soon")  # type: ignore[arg-type]
