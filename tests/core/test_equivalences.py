"""Early exits and odd spellings of data make no difference: each is compared with the plain way."""

from __future__ import annotations

import json
import time

import pytest
from doiuri import DOI, DOISyntaxError, Handle, find
from doiuri.plugins.display import Details, card
from doiuri.plugins.survey import tally, unchecked
from doiuri.resolver import Cause, Key, Reply, Request, Resolver
from doiuri.rest import BIBTEX, CSL_JSON
from doiuri.works import Work
from hypothesis import example, given
from hypothesis import strategies as st
from support.servers.faults import record
from support.store_contract import Kept

NAME = DOI("10.1000/182")
SPACES = ["", " ", "\t", "\n", "\r\n", "\f\v"]
WHITE = st.text(" \t\n\r\f\v", max_size=3)
FIXED_SPACES = ["\u00a0", "\u2007", "\u2009", "\u202f"]


LABELS = ["", "doi:", "DOI ", "https://doi.org/", "info:doi/", "urn:doi:"]


@example(" ", "", "")
@example("", "", " ")
@example("\n", "doi:", "\r\n")
@given(WHITE, st.sampled_from(LABELS), WHITE)
def test_outer_white_space_is_dropped_by_both_parsers(before: str, label: str, after: str) -> None:
    """``Handle.parse`` has an early exit for plain names."""
    text = f"{before}{label}10.1000/182{after}"
    assert Handle.parse(text) == DOI.parse(text) == NAME, repr(text)


@pytest.mark.parametrize("space", [*SPACES, *FIXED_SPACES])
@pytest.mark.parametrize("gap", ["DOI{}:10.1000/182", "DOI:{}10.1000/182", "doi{0}:{0}10.1000/182"])
def test_a_label_may_have_any_space_at_each_gap(gap: str, space: str) -> None:
    assert DOI.parse(gap.format(space)) == NAME


@pytest.mark.parametrize("port", ["", ":8000"])
def test_one_host_is_a_list_of_one(port: str) -> None:
    url = f"https://one.example{port}/10.1000/182"
    assert DOI.from_url(url, hosts="one.example") == DOI.from_url(url, hosts=["one.example"])
    with pytest.raises(DOISyntaxError):
        DOI.from_url(url, hosts="one.exampl")


def test_a_uri_with_slashes_has_the_repaired_form_as_its_suggestion() -> None:
    with pytest.raises(DOISyntaxError) as caught:
        DOI.from_uri("doi://10.1000/182")
    assert caught.value.suggestion == "doi:10.1000/182"


RAW = {
    "CDATA": ("<![CDATA[{}]]>", "10.1000/a&amp;b"),
    "a script": ("<script>{}</script>", "10.1000/a&amp;b"),
    "a script in capitals": ("<SCRIPT>{}</SCRIPT>", "10.1000/a&amp;b"),
    "a style": ("<style type='x'>{}</style>", "10.1000/a&amp;b"),
    "an element": ("<p>{}</p>", "10.1000/a&b"),
    "an element in capitals": ("<P>{}</P>", "10.1000/a&b"),
    "an attribute": ('<p title="{}">', "10.1000/a&b"),
}


@pytest.mark.parametrize(("form", "name"), RAW.values(), ids=RAW)
def test_entities_are_decoded_where_html_decodes_them(form: str, name: str) -> None:
    source = form.format("10.1000/a&amp;b")
    assert [match.doi.name for match in find(source, "html")] == [name]


TYPES = [
    *("retraction", "partial-retraction", "withdrawal", "removal", "expression-of-concern"),
    "correction",
]


@pytest.mark.parametrize("kind", TYPES)
@given(joint=st.sampled_from("-_ "), is_upper=st.lists(st.booleans(), min_size=24, max_size=24))
def test_the_type_of_a_notice_may_be_spelled_in_any_way(
    kind: str, joint: str, is_upper: list[bool]
) -> None:
    def notices(spelled: str) -> object:
        update = {"type": spelled, "DOI": "10.5555/notice", "updated": {"date-parts": [[2020]]}}
        return Work(NAME, {"title": "A", "updated-by": [update]}).notices

    letters = zip(kind.replace("-", joint), is_upper, strict=False)
    spelled = "".join(letter.upper() if upper else letter for letter, upper in letters)

    assert notices(kind) != ()
    assert notices(spelled) == notices(kind), spelled


def test_causes_that_differ_only_in_the_status_stay_apart() -> None:
    causes = [
        Cause("status", "doi.org", status, f"HTTP status {status}") for status in (429, 503, 429)
    ]
    assert [*tally(causes)] == causes[:2]
    assert "429" in unchecked(causes, 3)
    assert "503" in unchecked(causes[1:2], 3)


class Server:
    """A transport that sends one body for everything but records."""

    def __init__(self, body: bytes, kind: str) -> None:
        self.body = body
        self.kind = kind

    def get(self, request: Request) -> Reply:
        if "/api/handles/" in request.url:
            return Reply(200, {}, record("10.1000/182"), request.url)
        return Reply(200, {"Content-Type": self.kind}, self.body, request.url)


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["no mark", "a byte order mark"])
def test_metadata_with_a_byte_order_mark_are_the_metadata_without_it(mark: str) -> None:
    def resolver(text: str, kind: str) -> Resolver:
        server = Server((mark + text).encode(), kind)
        return Resolver("https://doi.org", store=None, transport=server, rate=None)

    csl = json.dumps({"type": "book", "title": "Ä"})
    assert resolver(csl, CSL_JSON).work(NAME).title == "Ä"
    assert resolver("@book{ä}", BIBTEX).bibtex(NAME) == "@book{ä}"
    assert resolver("Ä.", "text/plain").metadata(NAME, "text/plain").text == "Ä."


@pytest.mark.parametrize(("ttl", "seconds"), [(0, 0), (60, 60), (None, 86_400), (10**9, 86_400)])
def test_a_record_is_kept_for_its_ttl(ttl: int | None, seconds: int) -> None:
    """For a day at most. A TTL of 0 is one, too."""
    value = {"index": 1, "type": "URL", "data": {"format": "string", "value": "https://e.org/"}}
    values = [value if ttl is None else value | {"ttl": ttl}]
    body = json.dumps({"responseCode": 1, "handle": "10.1000/182", "values": values}).encode()

    class Registry:
        def get(self, request: Request) -> Reply:
            return Reply(200, {}, body, request.url)

    store = Kept()
    before = time.time()
    Resolver("https://doi.org", store=store, transport=Registry(), rate=None).resolve(NAME)

    entry = store[Key("record", "https://doi.org", NAME.key)]
    assert before + seconds <= entry.expires <= time.time() + seconds


def test_nothing_in_a_card_becomes_markup() -> None:
    hostile = "<b>\"'&"
    html = card(Details(hostile, hostile, hostile), "id", hostile)
    assert "<b>" not in html
    assert html.count("&lt;b&gt;") == 7  # its three lines, these as its name, and the button's
