"""Content negotiation without IO: media types, and what a server with metadata answers."""

from __future__ import annotations

import pytest
from doiuri.rest import BIBTEX, CSL_JSON, reference_type
from doiuri_proxy.records._metadata import read_metadata, write_metadata

METADATA = read_metadata(
    {
        CSL_JSON: {"title": "Ä"},
        "text/x-bibliography; style=apa": "In APA",
        "text/x-bibliography; style=apa; locale=de-DE": "Auf Deutsch",
        "text/x-bibliography;style=ieee": "In IEEE",
        BIBTEX: "@misc{a}",
    }
)


@pytest.mark.parametrize(
    ("accept", "body"),
    [
        (CSL_JSON, '{"title":"Ä"}'),
        ("APPLICATION/VND.CITATIONSTYLES.CSL+JSON", '{"title":"Ä"}'),
        (f"{CSL_JSON};q=0.5, {BIBTEX}", "@misc{a}"),
        (f"{CSL_JSON}, {BIBTEX}", '{"title":"Ä"}'),
        (f"application/rdf+xml, {BIBTEX};q=0.1", "@misc{a}"),
        (f"{BIBTEX};q=0", None),
        ("text/x-bibliography", "In APA"),
        (reference_type("apa", "en-US"), "In APA"),
        (reference_type("ieee"), "In IEEE"),
        ('text/x-bibliography; style="ieee"', "In IEEE"),
        ("text/x-bibliography; STYLE=IEEE", "In IEEE"),
        (reference_type("nature"), None),
    ],
)
def test_what_is_accepted(accept: str, body: str | None) -> None:
    status, kind, found = write_metadata(METADATA, accept)
    if body is None:
        assert (status, kind, found) == (406, "", b"")
    else:
        assert (status, found.decode()) == (200, body)
        assert kind == (kind if kind.startswith("application/") else "text/x-bibliography;charset=utf-8")


def test_the_first_that_fits_is_sent() -> None:
    """A parameter that the client leaves out does not matter, nor one that the records leave out."""
    assert write_metadata(METADATA, "text/x-bibliography; locale=de-DE")[2] == b"In APA"
    german = read_metadata({"text/x-bibliography; locale=de-DE": "Auf Deutsch"})
    assert write_metadata(german, reference_type("apa", "de-DE"))[2] == b"Auf Deutsch"
    assert write_metadata(german, reference_type("apa", "en-US"))[0] == 406


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("", 302),
        ("*/*", 302),
        (f"{BIBTEX}, */*", 200),
        (f"{BIBTEX};q=0.8, */*", 302),
        (f"{BIBTEX}, text/html", 302),
        (f"{BIBTEX}, application/xhtml+xml;q=0.5", 200),
        (f"application/pdf, text/html;q=0.5, {BIBTEX};q=0.4", 302),
        ("application/pdf", 406),
        (f"{BIBTEX};q=0", 406),
        ("text/html;q=0", 406),
        ("nonsense", 302),
    ],
)
def test_a_page_that_is_accepted_as_well_is_preferred(accept: str, status: int) -> None:
    assert write_metadata(METADATA, accept)[0] == status


def test_lone_surrogates_are_sent_as_something_else() -> None:
    assert read_metadata({BIBTEX: "a\ud800"}) == {BIBTEX: b"a?"}
    assert read_metadata({CSL_JSON: {"title": "\ud800"}}) == {CSL_JSON: b'{"title":"\\ud800"}'}
