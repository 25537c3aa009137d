"""10320/loc: read safely, chosen as documented."""

from __future__ import annotations

import collections
import json
import random
from contextlib import suppress
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from doiuri.records import Data, Location, Locations, Value, choose, locations_of, parse_locations
from hypothesis import given
from hypothesis import strategies as st
from support.cases import DATA, table
from support.growth import is_fast, is_linear

if TYPE_CHECKING:
    from collections.abc import Mapping

HANDLE = "10.1000/a#b/../c"
CASES = json.loads((DATA / "locations.json").read_text("utf-8"))
ENTITIES = "".join(
    f"<!ENTITY {b} '{f'&{a};' * 20}'>" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
BOMB = (
    f"<!DOCTYPE locations [<!ENTITY a '{'x' * 1000}'>{ENTITIES}]>"
    "<locations><location href='&i;'/></locations>"
)


def located(*places: Mapping[str, object]) -> Locations:
    """The locations with these attributes."""
    return parse_locations(f"<locations>{''.join(map(written, places))}</locations>")


def written(place: Mapping[str, object]) -> str:
    attributes = [f'{name}="{value}"' for name, value in place.items()]
    return f"<location {' '.join(attributes)}/>"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["note"])
def test_the_choice_among_locations(case: dict[str, Any]) -> None:
    """P-16, P-17, P-67 and the documented steps: locatt, country, weighted."""
    options = {name: case[name] for name in ("accept", "locatt", "country") if name in case}
    place = choose(parse_locations(case["xml"], HANDLE), **options)
    assert (place and place.href) == case["href"]


@pytest.mark.parametrize(
    ("xml", "reason"),
    [
        ("", "no element found"),
        ("no XML", "syntax error"),
        ("<locations>", "no element found"),
        ("<locations/><locations/>", "junk after document element"),
        ("<locations><location href=x/></locations>", "not well-formed"),
        ("<locations><location a='1' a='2'/></locations>", "duplicate attribute"),
        ("<places/>", "holds <places>, not <locations>"),
        ("<html><body>503<br></html>", "holds <html>"),
        ("<locations>&nbsp;</locations>", "undefined entity"),
        ("<locations>\x00</locations>", "not well-formed"),
        ("<locations>\ud800</locations>", "surrogates not allowed"),
        (b"<?xml version='1.0' encoding='x-unknown'?><locations/>", "unknown encoding"),
        (b"<locations>\xff</locations>", "not well-formed"),
        ("<!DOCTYPE locations><locations/>", "entities are refused"),
        ("<!DOCTYPE locations SYSTEM 'file:///etc/passwd'><locations/>", "entities are refused"),
        (
            "<!DOCTYPE l [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><l>&x;</l>",
            "entities are refused",
        ),
        (
            "<!DOCTYPE l [<!ENTITY % x SYSTEM 'http://127.0.0.1:9/'>%x;]><locations/>",
            "entities are refused",
        ),
        (BOMB, "entities are refused"),
        (BOMB.encode("utf-16"), "entities are refused"),
        ("<locations>" + " " * 1_000_000 + "</locations>", "too large"),
    ],
    ids=lambda text: ascii(text[:50]),
)
def test_an_invalid_10320_loc_is_refused_with_the_reason(xml: str | bytes, reason: str) -> None:
    """A 10320/loc value is XML that lists locations (P-17)."""
    with pytest.raises(ValueError, match=reason):
        parse_locations(xml)


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "UTF-8", "UTF-16"])
def test_octets_are_decoded_as_they_declare(encoding: str) -> None:
    xml = f"<?xml version='1.0' encoding='{encoding}'?><locations><location href='https://a.example/é'/></locations>"
    assert parse_locations(xml.encode(encoding)).candidates[0].href == "https://a.example/é"


def test_deep_nesting_and_many_locations_do_not_recurse() -> None:
    inner = parse_locations("<locations>" + "<location>" * 9 + "</location>" * 9 + "</locations>")
    assert len(inner) == 1, "only those right below the root"
    deep = parse_locations("<locations>" + "<a>" * 100_000 + "</a>" * 100_000 + "</locations>")
    assert deep.candidates == ()
    many = parse_locations(
        "<locations>" + "<location href='http://a.example/'/>" * 20_000 + "</locations>"
    )
    assert len(many.candidates) == 20_000


def test_attributes_are_kept_as_they_are_in_the_record() -> None:
    """So the proxy can list them (action=showurls)."""
    own = "id='1' href_template='https://a.example/{hdl}' W='ä'"
    locations = parse_locations(
        f"<locations http_sc='303' x='y'><location {own}/></locations>", "10.1000/1"
    )
    assert locations.attributes == {"http_sc": "303", "x": "y"}
    (place,) = locations.candidates
    assert place.attributes == {"id": "1", "href_template": "https://a.example/{hdl}", "W": "ä"}
    assert place.href == "https://a.example/10.1000%2F1"


KINDS = {
    "u": ("URL", "https://u.example/"),
    "v": ("URL", "https://v.example/"),
    "a": (
        "10320/loc",
        "<locations http_sc='301'><location href='https://a.example/'/></locations>",
    ),
    "b": (
        "10320/loc",
        "<locations http_sc='303'><location href='https://b.example/' weight='3'/></locations>",
    ),
    "-": ("10320/loc", "<locations http_sc='301'/>"),
    "x": ("10320/loc", "<!DOCTYPE x><locations/>"),
    "y": ("10320/loc", "<x/>"),
}


@pytest.mark.parametrize(
    ("values", "weights", "chosen", "legacy"),
    [
        ("u", {"u": 1}, "u", "u"),
        ("uv", {"u": 1, "v": 0}, "u", "u"),
        ("vu", {"v": 1, "u": 0}, "v", "v"),
    ]
    + [(values, {"a": 1, "u": 0, "v": 0}, "a", "u") for values in ("auv", "uav", "uva", "xuva")]
    + [(values, {"u": 0, "v": 0}, "u", "u") for values in ("-uv", "uv-", "x-uv")]
    + [(values, {"u": 1}, "u", "u") for values in ("xyu", "uxy")]
    + [(values, {"a": 1, "b": 3}, "b", "b") for values in ("ab", "ba", "b-a")],
)
def test_urls_come_last_and_locations_overrule_them(
    values: str, weights: dict[str, float], chosen: str, legacy: str
) -> None:
    """Of those that cannot be read, the first one is reported; the first that can says how to redirect."""
    numbered = enumerate(KINDS[value] for value in values)
    found = locations_of([Value(n, kind, Data("string", text)) for n, (kind, text) in numbered], "")
    assert {place.href[8]: place.weight for place in found} == weights
    statuses = {"a": 301, "-": 301, "b": 303}
    status = statuses.get(values.strip("uvxy")[:1], 302)
    for locatt, expected in (((), chosen), (["mode:legacy"], legacy), ("mode:legacy", legacy)):
        place = choose(found, locatt=locatt)
        assert place, (locatt, expected)
        assert (place.href[8], found.status(place)) == (expected, status)
    assert ("entities are refused" in found.problem) is bool(found.problem) is ("x" in values)


def test_a_random_choice_is_proportional_to_the_weights() -> None:
    locations = located(*({"href": f"https://{w}.example/", "weight": w} for w in (0, 1, 3)))
    source = random.Random(7)
    counts = collections.Counter(
        place.href for _ in range(4000) if (place := choose(locations, pick=source))
    )
    huge = {"href": "http://a.example/", "weight": "1e308"}
    assert choose(located(huge, huge, huge), pick=source) is not None, "their sum is not infinite"
    assert counts["https://0.example/"] == 0
    assert 2.6 < counts["https://3.example/"] / counts["https://1.example/"] < 3.4


def test_a_random_choice_among_zeros_takes_any_page() -> None:
    """What is for content negotiation is taken only if there is nothing else."""
    pages = [{"href": f"http://{name}.example/", "weight": 0} for name in "ab"]
    data = {"href": "http://c.example/", "weight": 0, "http_role": "conneg"}
    source = random.Random(7)
    chosen = [choose(located(data, *pages), pick=source, accept="x/y;q=0, */*") for _ in range(50)]
    assert {place and place.href for place in chosen} == {"http://a.example/", "http://b.example/"}


@table("rest", "redirects", "own, common, status")
def test_the_status_of_the_redirect(own: str | None, common: str | None, status: int) -> None:
    own_attributes = {"http_sc": own} if own else {}
    common_attributes = {"http_sc": common} if common else {}
    place = Location("https://a.example/", 1.0, own_attributes)

    assert Locations((place,), common_attributes).status(place) == status


ATTRIBUTES = st.dictionaries(
    st.sampled_from(["href", "id", "weight", "country", "http_role", "ctype", "href_template"]),
    st.sampled_from(
        [
            "https://a.example/",
            "javascript:x",
            "1",
            "0",
            "-1",
            "nan",
            "gb",
            "conneg",
            "browser",
            "{hdl}",
            "",
        ]
    ),
)


@given(
    st.lists(ATTRIBUTES),
    st.lists(st.sampled_from(["id", "id:1", "country:gb", ":", "", "href:"])),
    st.text(max_size=20),
)
def test_whatever_is_chosen_is_one_of_the_candidates_and_may_be_linked(
    attributes: list[dict[str, object]], locatt: list[str], accept: str
) -> None:
    """Only http and https targets are linked or opened, and the choice is always the same."""
    locations = located(*attributes)
    place = choose(locations, locatt=locatt, accept=accept)
    assert place == choose(locations, locatt=locatt, accept=accept)
    linkable = [one for one in locations.candidates if one.href.startswith("https://")]
    assert place in linkable if linkable else place is None


@given(st.text() | st.binary())
def test_any_text_is_read_or_refused_with_a_value_error(xml: str | bytes) -> None:
    with suppress(ValueError):
        assert parse_locations(xml).candidates == ()


MANY = "<location href='http://a.example/' x='1'/>" * 10_000


@table("rest", "steps", "attributes, steps")
def test_each_step_counts_once(attributes: str, steps: list[str]) -> None:
    assert [*parse_locations(f"<locations {attributes}/>").steps] == steps


@pytest.mark.parametrize(
    ("steps", "request_"),
    [
        ("locatt,country," * 20_000, {"country": "gb", "locatt": "y"}),
        ("locatt", {"locatt": [f"y:{number}" for number in range(10_000)]}),
        ("locatt", {"accept": ",".join(f"a/b{number}" for number in range(10_000))}),
    ],
    ids=["steps", "locatt", "accept"],
)
def test_the_time_of_a_choice_is_linear_in_record_and_request(
    steps: str, request_: dict[str, Any]
) -> None:
    locations = parse_locations(f"<locations chooseby='{steps}'>{MANY}</locations>")
    assert is_fast(lambda: choose(locations, **request_), 5)


@table("rest", "pairs", "pairs, href")
def test_each_pair_narrows_those_that_the_pairs_before_it_left(pairs: list[str], href: str) -> None:
    places = (
        {"href": f"http://{a}{b}.example/", "a": a, "b": b} for a, b in product((1, 2), repeat=2)
    )
    place = choose(located(*places), locatt=pairs)
    assert place is not None
    assert place.href == href


SLASHES = "10.1000/" + "/" * 1500
TEMPLATE = "<locations><location href_template='{}'/></locations>"


@pytest.mark.parametrize(
    "xml",
    [
        TEMPLATE.format("{hdl}" * 180_000),
        TEMPLATE.format("{hdl:path}" * 90_000),
        "<locations>"
        + "<location href_template='http://a.example/{hdl}'/>" * 10_000
        + "</locations>",
    ],
    ids=["names", "paths", "many"],
)
def test_templates_expand_to_a_bounded_length(xml: str) -> None:
    with pytest.raises(
        ValueError, match="too large: at most 1000000 characters in filled templates"
    ):
        parse_locations(xml, SLASHES)
    (place,) = parse_locations(
        TEMPLATE.format("http://a.example/?{hdl}&amp;" + "{hdl}" * 200), SLASHES
    )
    assert len(place.href) == 18 + 201 * (7 + 1501 * 3) + 1


def test_the_templates_of_all_values_share_the_bound() -> None:
    xml = TEMPLATE.format("http://a.example/" + "{hdl}" * 100)
    values = [Value(index, "10320/loc", Data("string", xml)) for index in range(1, 5)]
    locations = locations_of(values, SLASHES)
    assert len(locations) == 2
    assert "filled templates" in locations.problem


def test_the_values_of_a_record_are_joined_in_linear_time() -> None:
    xml = "<locations a{0}='{0}' b='{0}'><location href='http://{0}.example/'/></locations>"
    values = [
        Value(index, "10320/loc", Data("string", xml.format(index))) for index in range(10_000)
    ]
    assert is_linear(lambda count: locations_of(values[:count], "10.1000/1"), 1_000, 10_000)
    locations = locations_of(values, "10.1000/1")
    assert len(locations) == 10_000
    assert (locations.attributes["b"], locations.attributes["a7"]) == ("0", "7")
