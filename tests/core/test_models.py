"""DOIs in pydantic models: what they read and write, their errors, and their JSON schema."""

from __future__ import annotations

import json
import re
import unicodedata
from types import GenericAlias
from typing import Annotated, Any

import pytest
from doiuri import DOI, DOIForm
from doiuri.testing.strategies import dois, names
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, BeforeValidator, Field, TypeAdapter, ValidationError
from support import naive

ESCAPED = DOI("10.1000/50%25")  # typed, its "%25" would be an escape
FORMS: dict[str | None, Any] = {
    None: DOI,
    "name": Annotated[DOI, DOIForm("name")],
    "uri": Annotated[DOI, DOIForm("uri")],
    "url": Annotated[DOI, DOIForm("url")],
}
CONTAINERS: dict[str | None, Any] = {
    form: GenericAlias(dict, (kind, GenericAlias(list, kind))) for form, kind in FORMS.items()
}
WRITTEN = {
    None: ("10.1000/a#é", "doi:10.1000/50%2525"),
    "name": ("10.1000/a#é", "10.1000/50%25"),
    "uri": ("doi:10.1000/a%23%C3%A9", "doi:10.1000/50%2525"),
    "url": ("https://doi.org/10.1000/a%23%C3%A9", "https://doi.org/10.1000/50%2525"),
}
# What is read, and the position, the reason and the suggestion of its error
MARK = '"#" must be %23 here, unless the name stands alone: 10.1000/456#7'
THINGS = (10.1000, None, b"10.1000/182", ["10.1000/182"])
ERRORS: list[tuple[object, int, str, str | None]] = [
    ("10.1000/", 8, "nothing after the slash", None),
    ("doi:10.1000/456#7", 15, MARK, "doi:10.1000/456%237"),
    ("10.1000/\ud800", 8, "a name cannot contain U+D800 (surrogate)", None),
    *((thing, 0, f"expected str, not {type(thing).__name__}", None) for thing in THINGS),
]


class Paper(BaseModel):
    doi: DOI
    other: DOI | None = None
    cited: list[DOI] = []
    notes: dict[DOI, str] = {}


def failure(kind: Any, value: object, **options: Any) -> Any:
    """The only error of reading a value."""
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(kind).validate_python(value, **options)
    (error,) = caught.value.errors()
    return error


def test_fields_lists_and_keys_are_read_and_written() -> None:
    text = (
        '{"doi":"https://doi.org/10.1000/182","other":"doi:10.1000/1","cited":["DOI 10.1000/50%2525"],'
        '"notes":{"urn:doi:10.1000:2":"x"}}'
    )
    paper = Paper.model_validate_json(text)
    one = DOI("10.1000/182")
    other = DOI("10.1000/1")
    second = DOI("10.1000/2")
    assert paper == Paper(doi=one, other=other, cited=[ESCAPED], notes={second: "x"})
    assert json.loads(paper.model_dump_json()) == {
        "doi": "10.1000/182",
        "other": "10.1000/1",
        "cited": ["doi:10.1000/50%2525"],
        "notes": {"10.1000/2": "x"},
    }
    assert paper.model_dump()["notes"] == {DOI("10.1000/2"): "x"}
    assert Paper.model_validate_strings({"doi": "doi:10.1000/182"}).model_dump()["other"] is None


@pytest.mark.parametrize("form", FORMS)
@given(dois())
@example(ESCAPED)
@example(DOI("10.1000/ "))
def test_what_a_model_writes_it_reads_again(form: str | None, doi: DOI) -> None:
    """As a value and as a key; in Python, even in strict mode."""
    adapter: TypeAdapter[dict[DOI, list[DOI]]] = TypeAdapter(CONTAINERS[form])
    given = {doi: [doi]}
    read = adapter.validate_json(adapter.dump_json(given), strict=True)
    assert read.keys() == {doi}
    assert [key.name for key in read] == [value.name for value in read[doi]] == [doi.name]
    assert adapter.validate_python(adapter.dump_python(given, mode="json")) == given
    assert adapter.validate_python(adapter.dump_python(given), strict=True) == given


@pytest.mark.parametrize("form", FORMS)
def test_the_form_decides_what_is_written_and_is_in_the_schema(form: str | None) -> None:
    adapter = TypeAdapter(FORMS[form])
    written = [adapter.dump_python(doi, mode="json") for doi in (DOI("10.1000/a#é"), ESCAPED)]
    assert tuple(written) == WRITTEN[form]
    schema = adapter.json_schema()
    assert schema == adapter.json_schema(mode="serialization")
    assert (schema["type"], schema["format"]) == (
        "string",
        "uri" if form in {"uri", "url"} else "doi",
    )
    assert Draft202012Validator(schema).is_valid(written[0])
    assert not Draft202012Validator(schema).is_valid(written[0] + "\n")


def test_the_form_name_is_literal_both_ways() -> None:
    adapter = TypeAdapter(FORMS["name"])
    assert adapter.validate_json('"10.1000/50%25"').name == "10.1000/50%25"
    error = failure(FORMS["name"], "doi:10.1000/182")
    assert (error["type"], error["ctx"]["suggestion"]) == ("doi_syntax", "10.1000/182")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("value", "position", "reason", "suggestion"), ERRORS)
def test_an_error_says_where_and_why(
    form: str | None, value: object, position: int, reason: str, suggestion: str | None
) -> None:
    error = failure(FORMS[form], value)
    assert error["type"] == "doi_syntax"
    if form != "name":  # a literal name has other errors
        assert error["ctx"] == {"position": position, "reason": reason, "suggestion": suggestion}
        better = f"; write {suggestion}" if suggestion else ""
        assert error["msg"] == f"not a DOI: {reason} (position {position}){better}"


@pytest.mark.parametrize("form", FORMS)
def test_strict_mode_takes_text_in_json_only(form: str | None) -> None:
    assert failure(FORMS[form], "10.1000/182", strict=True)["type"] == "is_instance_of"
    adapter = TypeAdapter(FORMS[form])
    assert adapter.validate_python(ESCAPED, strict=True) is ESCAPED
    assert adapter.validate_json('"10.1000/182"', strict=True) == DOI("10.1000/182")
    with pytest.raises(ValidationError, match="doi_syntax"):
        adapter.validate_json("10.1000", strict=True)


def test_a_form_keeps_what_precedes_it_or_is_refused() -> None:
    url = DOIForm("url")
    strict = Field(strict=True)
    for kept in (Annotated[DOI, strict, url], Annotated[DOI, url, strict]):
        assert failure(kept, "10.1000/182")["type"] == "is_instance_of"
    wrong: Any
    for wrong in (Annotated[DOI | None, url], Annotated[DOI, BeforeValidator(str), url]):
        with pytest.raises(TypeError, match="DOIForm follows DOI"):
            TypeAdapter(wrong)
    with pytest.raises(ValueError, match='not "name", "uri" or "url"'):
        DOIForm("link")  # type: ignore[arg-type]


def test_a_subclass_reads_its_own_kind() -> None:
    class Own(DOI):
        __slots__ = ()

    assert type(TypeAdapter(Own).validate_python("doi:10.1000/182")) is Own


PATTERN = TypeAdapter(DOI).json_schema()["pattern"]


@given(
    names() | st.builds("{}{}".format, names(), st.characters()) | st.text("10./a\n é", max_size=9)
)
def test_the_pattern_accepts_exactly_the_names(name: str) -> None:
    assert bool(re.search(PATTERN, name)) == naive.is_name(name)


def test_the_pattern_knows_every_character() -> None:
    accepts = re.compile(PATTERN).search
    for character in map(chr, range(0x110000)):
        if unicodedata.category(character) != "Cn":
            assert bool(accepts(f"10.1/{character}")) is naive.is_graphic(character), ascii(
                character
            )


def test_the_pattern_is_one_in_javascript_too() -> None:
    """Mode u knows few escapes; tests/system asks Node."""
    assert {*re.findall(r"\\(?:x..|u....|.)", PATTERN)} >= {r"\.", r"\ud800"}
    assert re.sub(r"\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|[nrsS.])", "", PATTERN).count("\\") == 0
