"""Which Accept headers are content with the DOI record, and which ask for something else."""

import pytest
from doiuri import DOI, BadRecord
from doiuri.plugins.clients import ClientOptions
from doiuri.resolver import Resolver
from doiuri.rest import media_ranges
from support.cases import table
from support.servers.faults import reply
from support.servers.rest import handling

LONG = 'a/b;x="' + "\\" * 100_000
RECORD = [
    *(None, "", "*/*", "application/json", b"application/json", "APPLICATION/JSON; Charset=utf-8"),
    *("application/*;q=0.2", "application/json, text/plain, */*", "text/html;q=0, */*"),
    *(
        "application/json;q=0.1, text/html;q=0.5, application/json",
        "*/*;q=0.1, text/html;q=0.2, */*",
    ),
    *("application/x-bibtex;q=0.5, */*", "nonsense", "application/json;q=nonsense", '"' * 100_000),
]
OTHER = [
    *("application/x-bibtex", b"application/x-bibtex", "text/*", "application/json;q=0, */*", LONG),
    "application/vnd.citationstyles.csl+json",
    "application/vnd.citationstyles.csl+json, application/json;q=0.5",
    "text/x-bibliography; style=apa; locale=de-DE",
    'text/x-bibliography; style="a, application/json"',
    'text/x-bibliography; style="x;q=0"',
    "application/x-bibtex;q=0.5, */*;q=0.1",
    "application/x-bibtex, */*",
    *(
        "application/json;q=0.1, application/rdf+xml;q=0.2",
        "text/html, application/json;q=0.5, text/html;q=0.1",
    ),
    "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
]


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [(accept, True) for accept in RECORD] + [(accept, False) for accept in OTHER],
    ids=lambda text: str(text)[:50],
)
def test_who_accepts_json_as_well_as_any_other_type_gets_the_record(
    accept: str | bytes | None, wanted: bool
) -> None:
    options = ClientOptions.read()
    assert options.wants_record(accept) is wanted
    if isinstance(accept, str) and '"' not in accept:
        assert options.wants_record(", ".join(reversed(accept.split(",")))) is wanted, (
            "in any order"
        )


def test_media_ranges_are_read_in_order_with_their_quality() -> None:
    accept = 'Text/Turtle;q=0.25, text/x;a="1,2;q=0.1", broken, a/b;q=0, c/d;q=7, e/f;q=.5'
    first, second, *others = media_ranges(accept)
    assert (first, second) == (("text/turtle", {}, 0.25), ("text/x", {"a": "1,2;q=0.1"}, 1.0))
    assert others == [("a/b", {}, 0.0), ("c/d", {}, 1.0), ("e/f", {}, 0.5)]


@table("negotiation", "answers", "content_type, accept, expected")
def test_whether_an_answer_is_of_a_type_that_was_asked_for(
    content_type: str, accept: str, expected: bool
) -> None:
    answer = reply("200 OK", b"text", kind=content_type)
    with (
        handling(lambda _target: answer) as server,
        Resolver(server.url, store=None, rate=None) as resolver,
    ):
        if expected:
            assert resolver.metadata(DOI("10.1000/182"), accept).text == "text"
        else:
            with pytest.raises(BadRecord, match="in place of"):
                resolver.metadata(DOI("10.1000/182"), accept)
