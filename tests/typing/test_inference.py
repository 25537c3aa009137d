"""What type checkers infer in programs, plugins and readers; mypy reads this, pytest runs it.

A ``type: ignore`` marks wrong use: mypy reports unneeded ones, so each proves that the use is refused.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, assert_type

import httpx
import httpx2
import httpx_doiuri.httpx2
import pytest
from doiuri import (
    DOI,
    LINK,
    Advice,
    BadRecord,
    DOINotFound,
    DOISyntaxError,
    Handle,
    Match,
    Prefix,
    Profile,
    Record,
    ResolutionError,
    ResolverUnavailable,
    ShortDOI,
    advise,
    decode,
    encode,
    encode_many,
    find,
    suggest,
)
from doiuri.plugins import open_resolver, user_agent
from doiuri.plugins.clients import ClientOptions
from doiuri.plugins.display import check_display, display
from doiuri.plugins.options import Options
from doiuri.records import Locations, Value
from doiuri.resolver import Metadata, Outcome, Resolver, Settings
from doiuri.rest import read_record, record_url
from doiuri_cli import Part, Reader, ReadError, Source
from doiuri_proxy import resolver_for
from httpx_doiuri import AsyncClient, Client


class Article(DOI):
    """A subclass of a user's."""

    __slots__ = ()


def test_ways_in() -> None:
    assert_type(DOI("10.1000/182"), DOI)
    assert_type(DOI("10.1000/182", strict=True), DOI)
    assert_type(DOI.parse("doi:10.1000/182"), DOI)
    assert_type(DOI.from_name("10.1000/182"), DOI)
    assert_type(DOI.from_uri("doi:10.1000/182"), DOI)
    assert_type(DOI.from_url("https://example.org/10.1000/182", hosts=["example.org"]), DOI)
    assert_type(Article.parse("10.1000/182"), Article)
    assert_type(Handle.parse("10.1000"), Handle)
    assert_type(Handle.from_name("10/abcd"), Handle)
    assert_type(Prefix.parse("10.1000"), Prefix)
    assert_type(ShortDOI("10/abcd"), ShortDOI)


def test_kinds_are_told_apart() -> None:
    handle = Handle.parse("10.1000/182")
    match handle:
        case DOI(name):
            assert_type(handle, DOI)
            assert_type(name, str)
        case ShortDOI() | Prefix():
            raise AssertionError


def test_attributes() -> None:
    doi = DOI("10.1000/182")
    assert_type((doi.name, doi.prefix, doi.suffix), tuple[str, str, str])
    assert_type((doi.uri, doi.url, doi.urn, doi.key), tuple[str, str, str, str])
    assert_type(doi.link("https://example.org", locatt=["id:1"], noredirect=True, index=1), str)
    assert_type(f"{doi:>40}", str)
    assert_type(sorted([doi, DOI("10.1000/1")]), list[DOI])
    assert_type({doi: 1}, dict[DOI, int])


def test_codec() -> None:
    assert_type(encode("10.1000/182", LINK), str)
    assert_type(decode("10.1000/182"), str)
    assert_type(encode_many(["10.1000/182"], LINK), list[str])
    assert_type((LINK.name, LINK.safe), tuple[str, bytes])
    assert_type(LINK, Profile)


def test_text() -> None:
    matches = find("see doi:10.1000/182", "text")
    assert_type(matches, Iterator[Match])
    for match in matches:
        assert_type((match.start, match.end, match.text, match.doi), tuple[int, int, str, DOI])
    remarks = advise("10.1000/182.")
    assert_type(remarks, tuple[Advice, ...])
    assert_type((remarks[0].code, remarks[0].message), tuple[str, str])
    assert_type(remarks[0].suggestion, str | None)
    assert_type(suggest(DOI("10.1000/182")), str | None)


def test_errors() -> None:
    doi = DOI("10.1000/182")
    with pytest.raises(DOISyntaxError) as caught:
        DOI.parse("10.1000")
    error = caught.value
    assert_type((error.text, error.position, error.reason, error.kind), tuple[str, int, str, str])
    assert_type(error.suggestion, str | None)
    missing: ResolutionError = DOINotFound(doi)
    assert_type(missing.doi, Handle | None)
    assert_type(BadRecord(doi, "not JSON").reason, str)
    away = ResolverUnavailable(doi, "busy", 503, 1.5)
    assert_type(away.status, int | None)
    assert_type(away.retry_after, float | None)


def test_text_is_no_doi() -> None:
    def title(doi: DOI) -> str:
        return f"{doi.name}"

    assert title(DOI("10.1000/182")) == "10.1000/182"
    with pytest.raises(AttributeError):
        title("10.1000/182")  # type: ignore[arg-type]
    with pytest.raises(AttributeError):
        title(Prefix("10.1000").prefix)  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        DOI.parse(b"10.1000/182")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        DOI.parse("10.1000/182", True)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Handle.parse("10.1000/182", strict=True)  # type: ignore[call-arg]


def test_values_never_change() -> None:
    with pytest.raises(AttributeError):
        DOI("10.1000/182").url = "https://example.org"  # type: ignore[misc]
    with pytest.raises(TypeError):
        encode("10.1000/182", "LINK")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        _ = DOI("10.1000/182") < "10.1000/183"  # type: ignore[operator]


def test_no_prefix_has_a_suffix() -> None:
    with pytest.raises(AttributeError):
        _ = Prefix("10.1000").suffix  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        _ = Handle.parse("10/abcd").urn  # type: ignore[attr-defined]


def test_options() -> None:
    options = Options.read({"doi_timeout": "2", "other": object()}, prefix="doi_", environ={})
    assert_type(options, Options)
    assert_type((options.resolver, options.offline), tuple[str, bool])
    assert_type((options.mailto, options.cache), tuple[str | None, str | None])
    assert_type(options.resolve, bool)
    assert_type((options.timeout, options.budget), tuple[float, float])
    assert_type(options.lock, str | None)
    assert_type((options.text, options.link), tuple[str, str])
    assert_type(options.display(DOI("10.1000/182")), str)


def test_options_of_clients() -> None:
    assert_type(ClientOptions.read(offline=True).follow, Literal["record", "target"])


def test_helpers() -> None:
    assert_type(display(DOI("10.1000/182"), check_display("{name}")), str)
    assert_type(user_agent("doiuri", "me@example.org"), str)
    assert_type(ClientOptions.query({"type": ["URL"], "auth": True}), str)
    with open_resolver(Options.read({"offline": True}), "doiuri") as resolver:
        assert_type(resolver, Resolver)


def test_httpx_clients() -> None:
    with Client(follow="target", timeout=5, follow_redirects=True) as client:
        assert_type(client, Client)
        assert_type(client.doi_options, ClientOptions)
        assert_type(
            client.build_request("GET", "doi:10.1000/182", params={"type": "URL"}), httpx.Request
        )
    with httpx_doiuri.httpx2.Client() as other:
        request = other.build_request("GET", "doi:10.1000/182")
        assert_type(request, httpx2.Request)
        assert_type(other.params, httpx2.QueryParams)
    with pytest.raises(ValueError, match="follow"):
        AsyncClient(follow="page")  # type: ignore[arg-type]


def test_wrong_use() -> None:
    with pytest.raises(AttributeError):
        Options.read({}).timeout = 5  # type: ignore[misc]
    with pytest.raises(TypeError):
        Options()  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        display("10.1000/182")  # type: ignore[arg-type]


def read(source: Source) -> Iterator[Part]:
    """Return the lines that are not comments."""
    if not source.text:
        raise ReadError("the file is empty")
    start = 0
    for line in source.text.splitlines(keepends=True):
        if not line.startswith("# "):
            yield Part(line, "text", start)
        start += len(line)


def test_a_function_is_a_reader() -> None:
    reader: Reader = read
    (part,) = reader(Source.from_bytes("a.org", b"# 10.1000/1\nSee 10.1000/182.\n"))
    assert_type(part, Part)
    assert_type((part.text, part.syntax), tuple[str, str])
    assert_type(part.places, Sequence[int] | None)
    assert part.span(4, 15) == (16, 27)
    with pytest.raises(ReadError):
        list(reader(Source("a.org", "")))


RECORD = {
    "handle": "10.1000/182",
    "values": [
        {"index": 1, "type": "URL", "data": {"format": "string", "value": "https://example.org/"}}
    ],
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
        assert_type(same.check(iter(["10.1000/182"]), batch=True), Iterator[Outcome])
        assert_type(same.agencies(["10.1000/182"]), Iterator[Outcome])
        for outcome in same.resolve_many([DOI("10.1000/182")]):
            assert_type(outcome.record, Record | None)
            assert_type(outcome.agency, str | None)
            assert_type((outcome.reason, outcome.stale), tuple[str, bool])
            assert_type(outcome.doi, Handle | None)
            assert_type(
                outcome.status, Literal["found", "not-found", "no-values", "unknown", "invalid"]
            )
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


def test_wrong_use_of_a_resolver() -> None:
    with resolver_for([RECORD]) as resolver:
        with pytest.raises(TypeError):
            resolver.resolve(182)  # type: ignore[arg-type]
        with pytest.raises(AttributeError):
            _ = resolver.resolve("10.1000/182").href  # type: ignore[attr-defined]
        for outcome in resolver.check(["10.1000/182"], batch=True):
            with pytest.raises(AttributeError):
                outcome.status = "found"  # type: ignore[misc]
            with pytest.raises(AttributeError):
                _ = outcome.record.url  # type: ignore[union-attr]
        with pytest.raises(AttributeError):
            resolver.settings.base = "https://example.org"  # type: ignore[misc]
    with pytest.raises((TypeError, ValueError)):
        Resolver(timeout="soon")  # type: ignore[arg-type]
