"""What type checkers infer in programs that use the core; mypy reads this, pytest runs it.

A ``type: ignore`` marks wrong use: mypy reports unneeded ones, so each proves that the use is refused.
"""

from collections.abc import Iterator
from typing import assert_type

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
