"""What the Hypothesis strategies generate: names of all shapes, each spelling with its DOI."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from doiuri import DOI
from doiuri.testing.strategies import dois, names, prefixes, spelled_texts, spelled_uris, suffixes
from hypothesis import Phase, given, settings

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    T = TypeVar("T")

TRICKY = "/.%#?&;:,+<>()[]{}\\|^`\"'~-_= é日😀"


def examples(strategy: SearchStrategy[T]) -> list[T]:
    """Return examples. They depend on which modules are loaded; what is looked for is in a twentieth or more."""
    found = []

    @settings(
        max_examples=200, database=None, derandomize=True, deadline=None, phases=[Phase.generate]
    )
    @given(strategy)
    def collect(example: T) -> None:
        found.append(example)

    collect()
    return found


def test_prefixes_have_one_to_three_numbers_of_up_to_six_digits() -> None:
    found = examples(prefixes())
    assert all(re.fullmatch(r"10(\.[0-9]{1,6}){1,3}", prefix) for prefix in found)
    assert {prefix.count(".") for prefix in found} == {1, 2, 3}
    numbers = ".".join(prefix.removeprefix("10.") for prefix in found).split(".")
    assert {len(number) for number in numbers} == {1, 2, 3, 4, 5, 6}


def test_suffixes_are_as_long_as_asked_and_hold_what_breaks_programs() -> None:
    assert {len(suffix) for suffix in examples(suffixes(3))} == {1, 2, 3}
    assert {len(name.partition("/")[2]) for name in examples(names(3))} == {1, 2, 3}
    assert {len(doi.suffix) for doi in examples(dois(3))} == {1, 2, 3}
    for found in (examples(suffixes()), [doi.suffix for doi in examples(dois())]):
        assert 12 < max(map(len, found)) <= 30
        assert len({*TRICKY} & {*"".join(found)}) > len(TRICKY) / 3


def test_a_spelled_uri_is_read_as_its_doi() -> None:
    found = examples(spelled_uris())
    assert all(DOI.from_uri(uri) == doi for uri, doi in found)
    assert {uri[:4] for uri, _ in found} == {"doi:", "DOI:", "Doi:"}
    assert 6 < max(len(doi.suffix) for _, doi in found) <= 12
    escapes = re.findall("%..", " ".join(uri for uri, _ in found))
    assert any(escape.upper() != escape for escape in escapes)
    assert any(escape.lower() != escape for escape in escapes)
    assert any(re.fullmatch("%[a-f][A-F]", escape) for escape in escapes), "no %cA"
    assert any(re.fullmatch("%[A-F][a-f]", escape) for escape in escapes), "no %Ca"
    needless = [re.search("%(?:2[DEde]|[46][1-9A-Fa-f])", uri) for uri, _ in found]
    assert any(needless)
    assert not all(needless)


def test_a_spelled_text_is_parsed_as_its_doi() -> None:
    found = examples(spelled_texts())
    assert all(DOI.parse(text) == doi for text, doi in found)
    texts = [text for text, _ in found]
    for start in ("10.", "<"):
        assert any(text.startswith(start) for text in texts), start
    starts = {re.match(r"<?\s*(.*?)10\.", text, re.DOTALL)[1] for text in texts}  # type: ignore[index]
    assert len(starts) > 6  # of 13 labels and links
    assert any(text.endswith(("\n", "\r", "\t", " ")) for text in texts)
    assert any(text.startswith("<") and text.endswith(">") for text in texts)
    assert max(len(doi.suffix) for _, doi in found) > 12
