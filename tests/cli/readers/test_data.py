"""JSON and YAML, however other libraries write them, have the DOIs that a walk through the data finds."""

from __future__ import annotations

import json
from copy import deepcopy
from itertools import cycle, product
from typing import TYPE_CHECKING, Any

import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from support.cli.command import fixed, places

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# For each text, its DOI, and what it is after fixes
HEADS = ["", "doi:", "DOI:"]
NAMES = ["1", "AbC", "é", "𝐀", "a'b", 'a"b', "a\\b", "a#b", "a/b"]
FIELDS = {f"{head}10.1000/{name}": f"10.1000/{name}" for head, name in product(HEADS, NAMES)}
TEXTS = {
    "see 10.1000/2 there": ("10.1000/2", "see 10.1000/2 there"),
    "é http://dx.doi.org/10.1000/3": ("10.1000/3", "é https://doi.org/10.1000/3"),
    "it's: # doi:10.1000/4": ("10.1000/4", "it's: # doi:10.1000/4"),
} | {text: ("", text) for text in ("x", "", "true")}


LABELLED = [text for text in TEXTS if "http" in text or "doi:" in text]


class Styled(str):
    """A string, and the style in which YAML is to write it."""

    __slots__ = ("style",)
    style: str | None


def styled(text: str, style: str | None) -> Styled:
    found = Styled(text)
    found.style = style
    return found


class Dumper(yaml.SafeDumper):
    """Writes each string in its style."""


Dumper.add_representer(
    Styled,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", str(text), text.style),
)
STYLES = [None, "'", '"', "|", ">"]


def any_of(texts: Iterable[str]) -> st.SearchStrategy[Styled]:
    return st.builds(styled, st.sampled_from([*texts]), st.sampled_from(STYLES))


VALUES = any_of(TEXTS) | st.sampled_from([None, True, 7])
MEMBERS = {
    **dict.fromkeys(("type", "title", "note", "URL", "x"), VALUES),
    **dict.fromkeys(("doi", "DOI"), any_of(FIELDS) | st.just(7)),
    "id": st.sampled_from(["a", "b", 7]),
}
OBJECTS = st.fixed_dictionaries({}, optional=MEMBERS)
DATA = st.recursive(
    OBJECTS,
    lambda inner: (
        st.lists(inner | VALUES, max_size=3)
        | st.builds(
            lambda one, key, more: {key: more, **one},
            OBJECTS,
            st.sampled_from(["y", "author"]),
            inner,
        )
    ),
    max_leaves=4,
)


def everything() -> list[Any]:
    """Return an object for each field and each text in each style, and the text alone."""
    pairs = product(STYLES, zip(FIELDS, cycle(TEXTS)))
    items: list[Any] = []
    for number, (style, (doi, text)) in enumerate(pairs):
        title = styled(text, style)
        items += [{"id": number, "doi": styled(doi, style), "title": title}, title]
    return items


def walk(
    value: Any, keys: tuple[Any, ...] = (), *around: Any
) -> Iterator[tuple[tuple[Any, ...], list[Any], str]]:
    """Yield the keys to each text, what is around it from the inside out, and the text."""
    if isinstance(value, str):
        yield keys, [*around], value
        return
    items: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        items += value.items()
    elif isinstance(value, list):
        items += enumerate(value)
    for key, inner in items:
        yield from walk(inner, (*keys, key), value, *around)


def put(data: Any, keys: tuple[Any, ...], text: str) -> None:
    for key in keys[:-1]:
        data = data[key]
    data[keys[-1]] = text


def agrees(
    path: str, text: str, data: Any, expected: list[tuple[str, str | None]], load: Any
) -> None:
    assert [(one["doi"], one["entry"]) for one in places(path, text)] == expected
    assert load(fixed(path, text)) == data


def read(key: Any, text: str) -> tuple[str, str]:
    """Return the DOI in the value of a key, and the text after fixes."""
    if key in {"doi", "DOI"}:
        return FIELDS[text], FIELDS[text]
    return TEXTS.get(text, ("", text))


@example(everything(), {})
@given(
    DATA,
    st.fixed_dictionaries({"ensure_ascii": st.booleans(), "indent": st.sampled_from([None, 1])}),
)
def test_json_has_the_dois_of_its_keys_and_what_has_a_label(
    data: Any, style: dict[str, Any]
) -> None:
    """Only works are fixed; a bare name is none, but for keys that describe a work."""
    text = json.dumps(data, **style)
    data = deepcopy(data)
    expected: list[tuple[str, str | None]] = []
    for keys, around, value in [*walk(data)]:
        if "author" in keys:
            continue
        holder = around[0] if around and isinstance(around[0], dict) else {}
        entry = str(holder["id"]) if is_work(holder) and "id" in holder else None
        doi, better = read(keys[-1], value)
        describes = is_work(holder) and keys[-1] in {"doi", "DOI", "URL", "note"}
        if doi and (describes or keys[-1] in {"doi", "DOI"} or value in LABELLED):
            expected.append((doi, entry))
        if describes:
            put(data, keys, better)
    agrees("a.json", text, data, expected, json.loads)


@example([{"doi": "10.1000/\N{MATHEMATICAL BOLD CAPITAL A}"}], True, None, False)
@given(
    st.lists(OBJECTS, min_size=1, max_size=3),
    st.booleans(),
    st.sampled_from([None, 1]),
    st.booleans(),
)
def test_two_spellings_of_one_file_have_the_same_names(
    data: Any, ensure_ascii: bool, indent: int | None, flow: bool
) -> None:
    """In YAML, a bare name in a text counts, too."""
    data = [
        {key: value for key, value in item.items() if value not in TEXTS or value in LABELLED}
        for item in data
    ]
    minified = json.dumps(data, separators=(",", ":"))
    spellings = {
        "a.json": json.dumps(data, ensure_ascii=ensure_ascii, indent=indent),
        "a.yaml": yaml.dump(data, Dumper=Dumper, sort_keys=False, default_flow_style=flow),
        "b.yaml": minified,
    }

    expected = [place["doi"] for place in places("b.json", minified)]

    for path, text in spellings.items():
        assert [place["doi"] for place in places(path, text)] == expected, path


def is_work(value: dict[str, Any]) -> bool:
    """Return whether an object describes a work with a DOI; 7 is none."""
    has_doi = any(value.get(key, 7) != 7 for key in ("doi", "DOI"))
    return has_doi and not value.keys().isdisjoint({"type", "title", "author"})


def nearest_entry(around: Iterable[Any]) -> str | None:
    """Return the id of the innermost object that has one, and a DOI or a title."""
    for value in around:
        if "id" in value and not {"doi", "DOI", "title"}.isdisjoint(value):
            return str(value["id"])
    return None


# Entries in entries, and in what is none
NESTED: Any = {"id": "a", "title": "x", "doi": "10.1000/1"}
for key_of_inner in ("y", "author"):
    inner_item = {
        "id": key_of_inner,
        "doi": "10.1000/a#b",
        key_of_inner: [NESTED, {"doi": "10.1000/é"}],
    }
    NESTED = {"id": "none", "z": inner_item, "note": "see 10.1000/2 there"}

YAML = {
    "default_flow_style": st.sampled_from([True, False, None]),
    "allow_unicode": st.booleans(),
    "width": st.sampled_from([20, 500]),
    "indent": st.sampled_from([2, 5]),
}


@example([everything(), {"id": "b", "doi": "10.1000/1"}, *TEXTS, [{"DOI": "10.1000/1"}]], {})
@example([everything()], {"default_flow_style": True, "allow_unicode": True})
@example([NESTED, {"id": "f", "y": [NESTED, {"doi": "10.1000/1"}]}], {})
@example([styled("see 10.1000/2 there", "|"), "é http://dx.doi.org/10.1000/3"], {})
@given(st.lists(DATA | VALUES, min_size=1, max_size=3), st.fixed_dictionaries(YAML))
def test_yaml_has_the_dois_of_all_values_in_the_nearest_entry(
    data: Any, style: dict[str, Any]
) -> None:
    """In a stream of several documents, an entry belongs to its own."""
    text = yaml.dump_all(data, Dumper=Dumper, sort_keys=False, **style)
    data = deepcopy(data)
    expected: list[tuple[str, str | None]] = []
    for keys, (*around, _), value in [*walk(data)]:
        doi, better = read(keys[-1], value)
        if doi:
            expected.append((doi, nearest_entry(around)))
        put(data, keys, better)
    agrees("a.yaml", text, data, expected, lambda text: [*yaml.safe_load_all(text)])
