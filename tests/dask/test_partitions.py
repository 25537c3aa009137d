"""All at once = one by one = in any order: what a row gets depends on its own text alone."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from doiuri import DOI, Handle, find_one
from doiuri.records import ascii_upper
from doiuri.resolver import Resolver
from support.cases import odd_cases
from support.partitions import SHAPES, asked, bag, check, dask, dd, frame, parse, pd, rows
from support.servers.faults import Server

PARSED = ("doi_name", "doi_key", "doi_reason")
CHECKED = ("doi_name", "doi_status", "doi_agency", "doi_reason")
NO_DOI = "there is no DOI"
NO_LABEL = 'expected "10.", a label such as "doi:", or a link to doi.org'
# By text: name, key, status, agency and reason
EXPECTED: dict[str | None, tuple[str | None, ...]] = {
    "doi:10.1000/crossref": ("10.1000/crossref", "10.1000/CROSSREF", "found", "Crossref", None),
    "https://doi.org/10.1000/CrossRef": (
        "10.1000/CrossRef",
        "10.1000/CROSSREF",
        "found",
        "Crossref",
        None,
    ),
    "10.1000/<crossref-é": (
        "10.1000/<crossref-é",
        "10.1000/<CROSSREF-é",
        "found",
        "Crossref",
        None,
    ),
    "10.1000/link": ("10.1000/link", "10.1000/LINK", "found", None, None),
    "10.1000/gone": ("10.1000/gone", "10.1000/GONE", "not-found", None, "no such DOI"),
    None: (None, None, "invalid", None, NO_DOI),
    "": (None, None, "invalid", None, "the text is empty"),
    "nonsense": (None, None, "invalid", None, NO_LABEL),
    "10.1000": (None, None, "invalid", None, 'no "/" after the prefix'),
}
TEXTS = [*EXPECTED, "10.1000/gone", "doi:10.1000/crossref", None]
ORDERS = {"given": TEXTS, "reversed": TEXTS[::-1], "interleaved": TEXTS[::2] + TEXTS[1::2]}


@pytest.mark.parametrize(
    ("partitions", "order"), [(1, "given"), (2, "reversed"), (12, "interleaved")]
)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_row_gets_what_its_text_gets_alone(
    server: Server, shape: str, partitions: int, order: str
) -> None:
    texts = ORDERS[order]
    data = SHAPES[shape](texts, partitions)
    expected = [(text, *EXPECTED[text]) for text in texts]
    parsed = []
    for text, name, key, *_, reason in expected:
        why_none = None if name else reason
        parsed.append((text, name, key, why_none))
    assert rows(parse(data), "doi", *PARSED) == parsed
    checked = check(data, resolver=server.url)
    assert not server.requests, "asked before it was computed"
    for _ in range(2):
        found = rows(checked, "doi", *CHECKED)
        assert found == [(text, name, *answer) for text, name, _, *answer in expected]
    keys = sorted(ascii_upper(name) for name in asked(server).elements())
    assert keys == sorted({key for _, key, *_ in EXPECTED.values() if key}), (
        "asked twice, or not at all"
    )


@pytest.mark.parametrize("convert", [True, False, None])
@pytest.mark.parametrize(
    "add", [parse, lambda data: check(data, offline=True)], ids=["parse", "check"]
)
def test_a_frame_keeps_its_order_index_columns_and_types(
    add: Callable[..., Any], convert: bool | None
) -> None:
    from dask.dataframe.utils import assert_eq

    with dask.config.set({"dataframe.convert-string": convert}):
        data = frame(TEXTS, 3)
        added = add(data)
        result = added.compute()
        before = data.compute()
        assert_eq(added, result)  # the types are those of the meta
    assert added.divisions == data.divisions
    assert result["doi_name"].dtype == before["doi"].dtype
    pd.testing.assert_frame_equal(result[["n", "doi"]], before)
    assert [*result.columns][:3] == ["n", "doi", "doi_name"]


@pytest.mark.parametrize(
    ("item", "name", "reason"),
    [
        (DOI("10.1000/a"), "10.1000/a", None),
        (Handle.parse("10/abc"), "10/abc", None),
        (float("nan"), None, NO_DOI),
        (pd.NA, None, NO_DOI),
        (10.1, None, "expected a DOI or a str, not 10.1"),
        (["10.1000/a"], None, "expected a DOI or a str, not ['10.1000/a']"),
        ({"n": 1}, None, NO_DOI),
        ({"n": 1, "doi": "10.1000/a"}, "10.1000/a", None),
    ],
    ids=repr,
)
def test_an_item_of_a_bag_becomes_a_dict_and_stays_as_it_is(
    item: Any, name: str | None, reason: str | None
) -> None:
    old = item if isinstance(item, dict) else {"doi": item}
    before = dict(old)
    (parsed,) = parse(bag([item])).compute()
    assert parsed == {**old, "doi_name": name, "doi_key": parsed["doi_key"], "doi_reason": reason}
    (checked,) = check(bag([item]), offline=True).compute()
    assert checked["doi_name"] == name
    assert old == before
    assert [*parsed] == [*before, *PARSED]


def test_odd_names_and_what_surrounds_them_are_read_as_the_core_reads_them() -> None:
    cases = odd_cases("parse")
    texts = [str(case.input) for case in cases] + ["\u200b(see https://doi.org/10.1000/182 [PDF].)"]
    found = rows(parse(frame(texts)), "doi_name", "doi_key")
    wanted = [(find_one(text).name, find_one(text).key) for text in texts]
    wrong = [
        f"{text}: {one}"
        for text, one, right in zip(texts, found, wanted, strict=True)
        if one != right
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("data", "column", "error", "says"),
    [
        (
            lambda: pd.DataFrame({"doi": ["x"]}),
            "doi",
            TypeError,
            r"use dask\.dataframe\.from_pandas",
        ),
        (
            lambda: ["10.1000/a"],
            "doi",
            TypeError,
            r"expected a Dask bag or data frame, not \['10\.1000/a'\]",
        ),
        (lambda: frame(["x"])["doi"], "doi", TypeError, r"not a series; use to_frame\(\)"),
        (
            lambda: frame(["x"]),
            "DOI",
            ValueError,
            "there is no column 'DOI'; the columns are 'n', 'doi'",
        ),
        (
            lambda: dd.concat([frame(["x"])] * 2, axis=1),
            "doi",
            ValueError,
            "2 columns are named 'doi'",
        ),
        (
            lambda: frame(["x"]).assign(doi_name="", doi_reason=""),
            "doi",
            ValueError,
            "has doi_name, doi_reason;",
        ),
        (lambda: bag([{"doi": "x", "doi_name": ""}]), "doi", ValueError, "already has doi_name"),
    ],
    ids=[
        "pandas",
        "list",
        "series",
        "no such column",
        "two such columns",
        "taken",
        "taken in a bag",
    ],
)
@pytest.mark.parametrize("function", [parse, check])
def test_wrong_data_is_refused(
    function: Callable[..., Any],
    data: Callable[[], Any],
    column: str,
    error: type[Exception],
    says: str,
) -> None:
    wrong = data()
    with pytest.raises(error, match=says):
        function(wrong, column).compute()


@pytest.mark.parametrize(
    ("option", "value", "error", "says"),
    [
        ("resolver", "https://doi.org/#x", ValueError, "resolver: .* must have neither query nor"),
        ("rate", 0, ValueError, "rate: 0 is not a number of requests"),
        ("budget", -1, ValueError, "budget: -1 is not a number of seconds"),
        ("concurrency", 1.5, ValueError, "concurrency: 1.5 is not"),
        ("cache", "https://x.example/", ValueError, "cache: no store is known for https"),
        ("known", ["10.1000/a"], TypeError, r"known: expected a data frame, not \['10\.1000/a'\]"),
        ("base", "https://doi.org", TypeError, "unexpected keyword"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_is_computed(
    option: str, value: object, error: type[Exception], says: str
) -> None:
    options: dict[str, Any] = {option: value}
    for shape in SHAPES.values():
        with pytest.raises(error, match=says):
            check(shape(["x"], 1), **options)


@pytest.mark.parametrize("shape", SHAPES)
def test_known_names_without_a_column_of_dois_are_refused(shape: str) -> None:
    known = pd.DataFrame({"DOI": []})
    with pytest.raises(ValueError, match="known: there is no column doi_key or doi"):
        check(SHAPES[shape](["x"], 1), known=known)


class Odd:
    """An object that says nothing about itself."""

    def __repr__(self) -> str:
        raise LookupError("no text")


@pytest.mark.parametrize("shape", ["bag", "bag of dicts", "objects"])
def test_an_object_that_cannot_be_read_is_unknown_and_the_others_are_as_without_it(
    server: Server, shape: str
) -> None:
    texts = ["10.1000/crossref", "10.1000/gone", "nonsense"]
    unread = "unexpected LookupError"
    with dask.config.set({"dataframe.convert-string": False}):
        for place in range(len(texts) + 1):
            items = [*texts[:place], Odd(), *texts[place:]]
            data = SHAPES[shape](items, 1)
            without = SHAPES[shape](texts, 1)

            parsed = rows(parse(data), *PARSED)
            checked = rows(check(data, resolver=server.url), *CHECKED)

            assert parsed.pop(place) == (None, None, unread)
            assert parsed == rows(parse(without), *PARSED), place
            assert checked.pop(place) == (None, "unknown", None, unread)
            assert checked == rows(check(without, resolver=server.url), *CHECKED), place


DOIS = ["10.1000/crossref", "10/link", "10.1000/gone"]
PREFIXES = ["10.1000", "10.1000.10", "10.99999"]
NO_DOIS = [
    "10",
    "10.",
    "10/",
    "10/a b",
    "10.10x",
    "10.1000/",
    "20.500/x",
    "nonsense",
    "",
    " ",
    "\0",
]
LABELS = ["{}", "doi:{}", "DOI: {}", " {} ", "https://doi.org/{}", "<{}>", "urn:doi:{}", "hdl:{}"]


def spelt(names: list[str]) -> list[str]:
    return [label.format(name) for name, label in product(names, LABELS)]


def test_a_prefix_as_text_is_invalid() -> None:
    data = bag(spelt(PREFIXES))
    reason = 'no "/" after the prefix'
    assert {*rows(parse(data), *PARSED)} == {(None, None, reason)}
    assert {*rows(check(data, offline=True), *CHECKED)} == {(None, "invalid", None, reason)}


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param(spelt(DOIS), id="DOIs"),
        pytest.param(spelt(NO_DOIS), id="no DOIs"),
        pytest.param(spelt(PREFIXES), id="prefixes"),
    ],
)
def test_a_text_is_read_as_a_resolver_reads_it(server: Server, texts: list[str]) -> None:
    with Resolver(server.url, store=None) as resolver:
        outcomes = [*resolver.check(texts, batch=True)]
    data = bag(texts)

    parsed = rows(parse(data), "doi_name", "doi_reason")
    checked = rows(check(data, resolver=server.url), "doi_name", "doi_status", "doi_reason")

    names = [outcome.doi and outcome.doi.name for outcome in outcomes]
    statuses = [outcome.status for outcome in outcomes]
    reasons = [outcome.reason or None for outcome in outcomes]
    assert checked == [*zip(names, statuses, reasons, strict=True)]
    assert [name for name, _ in parsed] == names
    for status, reason, (_, unread) in zip(statuses, reasons, parsed, strict=True):
        assert unread == (reason if status == "invalid" else None)
