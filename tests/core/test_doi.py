"""DOI as a value: taken, equal, hashable, ordered, unchangeable; and its kin."""

import copy
import operator
import pickle
from collections.abc import Callable
from enum import StrEnum
from typing import Any
from urllib.parse import quote

import pytest
from doiuri import DOI, URI, DOISyntaxError, Handle, Prefix, Record, ShortDOI
from doiuri.works import Work
from support.cases import Case, accepted, cases, table

NAME = "10.26321/Á.GUTIÉRREZ.ZARZA.02.2018.03"
DOORS = {"name": DOI.from_name, "uri": DOI.from_uri, "url": DOI.from_url, "parse": DOI.parse}


def enter(case: Case) -> DOI:
    if case.door == "url" and case.hosts is not None:
        return DOI.from_url(case.input, hosts=case.hosts, strict=case.strict)
    return DOORS[case.door](case.input, strict=case.strict)


@pytest.mark.parametrize("door", sorted({case.door for case in cases()}))
def test_what_is_a_doi_is_taken_and_written(door: str) -> None:
    """Every name that the edition of 2000 allows stays valid (N-005)."""
    wrong = []
    for case in accepted(door):
        found: object
        try:
            doi = enter(case)
            found = (doi.name, doi.uri, doi.url)
        except DOISyntaxError as error:
            found = error
        if found != (case.name, case.uri, case.url):
            wrong.append(f"{found} of {case}, expected {case.name!r}, {case.uri}, {case.url}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("door", sorted({case.door for case in cases()}))
def test_what_is_no_doi_is_refused_at_its_flaw(door: str) -> None:
    wrong = []
    for case in cases(door):
        if case.name is not None:
            continue
        try:
            wrong.append(f"{enter(case)!r} is taken of {case}")
        except DOISyntaxError as error:
            is_in_text = case.position is None and 0 <= error.position <= len(case.input)
            is_at_flaw = error.position == case.position or is_in_text
            if error.text != case.input or not error.reason or not is_at_flaw:
                flaw = f"{error.reason!r} at {error.position} of {error.text!r}"
                wrong.append(f"{flaw}, expected {case.position} of {case.input!r}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "other", ["10.1000/182", None, 1, Prefix("10.1000"), ShortDOI("10/abc"), ...]
)
def test_other_types_are_neither_equal_nor_ordered(other: object) -> None:
    doi = DOI("10.1000/182")
    assert (doi == other, doi != other) == (False, True)
    for compare in (operator.lt, operator.ge):
        with pytest.raises(TypeError):
            compare(doi, other)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value", [DOI(NAME), Prefix("10.1000"), URI, Work(DOI(NAME), {}), Record(DOI(NAME))]
)
def test_never_changes(value: object) -> None:
    before = repr(value)
    for attribute in ("name", "key", "doi", "safe", "title", "anything"):
        with pytest.raises(AttributeError, match=f" is immutable: cannot set '{attribute}'"):
            setattr(value, attribute, "10.1000/183")
        with pytest.raises(AttributeError, match="immutable: cannot delete"):
            delattr(value, attribute)
    assert repr(value) == before
    assert not hasattr(value, "__dict__")


class Article(DOI):
    """A subclass of a user's."""


class Page(DOI):
    """Another one."""


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("value", [Article(NAME), Prefix("10.1000"), ShortDOI("10/abcd")], ids=repr)
def test_pickle_and_copy(value: DOI | Prefix | ShortDOI, protocol: int) -> None:
    assert value.key  # computed once, and no part of the pickle
    again = pickle.loads(pickle.dumps(value, protocol))
    assert type(again) is type(value)
    assert (again, again.name, hash(again)) == (value, value.name, hash(value))
    assert copy.copy(value) is value
    assert copy.deepcopy([value])[0] is value


def test_texts_of_a_doi() -> None:
    doi = DOI(NAME)
    assert repr(doi) == f"DOI({NAME!r})"
    assert eval(repr(doi)) == doi
    assert str(doi) == f"{doi}" == doi.uri
    assert f"{DOI('10.1000/a b'):>20}" == "   doi:10.1000/a%20b"
    assert f"{Prefix('10.1000'):*^15}" == "**doi:10.1000**"
    with pytest.raises(ValueError, match="format"):
        _ = f"{doi:d}"
    match doi:
        case DOI(name):
            assert name == NAME


def test_notebooks_show_a_link() -> None:
    assert DOI("10.1000/a<b>&'c")._repr_html_() == (
        '<a href="https://doi.org/10.1000/a%3Cb%3E&amp;&#x27;c">doi:10.1000/a&lt;b&gt;&amp;&#x27;c</a>'
    )


@pytest.mark.parametrize("text", ["10.1000/A", "doi:10.1000/A", " <10.1000/A>"])
def test_a_subclass_reads_its_own_kind_and_equals_all_others(text: str) -> None:
    article = Article.parse(text)
    assert type(article) is Article
    assert repr(article) == "Article('10.1000/A')"
    for other in (DOI("10.1000/a"), Page("10.1000/a"), Article.from_uri("doi:10.1000/a")):
        assert article == other
        assert hash(article) == hash(other)
        assert article <= other <= article
    assert Article("10.1000/A") < Page("10.1000/b")


class Word(StrEnum):
    """A subclass of ``str``."""

    DOI = "10.1000/182"


@pytest.mark.parametrize("door", [DOI, DOI.parse, DOI.from_name])
def test_a_str_subclass_becomes_a_plain_str(door: Callable[[str], DOI]) -> None:
    name = door(Word.DOI).name
    assert (type(name), name) == (str, "10.1000/182")


@pytest.mark.parametrize("thing", [None, 10, 10.1, b"10.1000/182", ["10.1000/182"], ...], ids=repr)
def test_a_value_that_is_not_text_raises_type_error(thing: str) -> None:
    doors: list[Callable[[str], Handle]] = [DOI, *DOORS.values(), Prefix, ShortDOI, Handle.parse]
    for door in doors:
        with pytest.raises(TypeError, match="expected str"):
            door(thing)


@pytest.mark.parametrize(
    ("door", "text"),
    [
        *((door, "10.1000/a/b") for door in (DOI, DOI.from_name, DOI.parse)),
        *((DOI.parse, "doi:10.1000/a/b"), (DOI.from_uri, "doi:10.1000/a%2Fb")),
        (DOI.from_url, "https://doi.org/10.1000/a/b"),
    ],
)
def test_strict_refuses_reserved_suffixes_in_every_constructor(
    door: Callable[..., DOI], text: str
) -> None:
    """A suffix of one character and a slash is reserved (Z39.84 §4.3, N-097, N-098), refused if strict."""
    assert door(text).name == "10.1000/a/b"
    with pytest.raises(DOISyntaxError, match="reserved"):
        door(text, strict=True)
    for other in ("/aa", "/"):
        assert door(text.replace("/a", other), strict=True).suffix == f"{other[1:]}/b"


# Every printable character of ASCII, and some beyond
CHARACTERS = "".join(map(chr, range(0x20, 0x7F))) + "é日😀\u0301\u00a0"


@pytest.mark.parametrize("place", ["{}xy", "xy{}z", "xy{}"], ids=["start", "middle", "end"])
def test_no_character_is_reserved_anywhere_else(place: str) -> None:
    """Characters are reserved only where prefix and suffix say so (Z39.84 §4.1, N-084)."""
    refused = []
    for character in CHARACTERS:
        name = "10.1000/" + place.format(character)
        doors = ((DOI.from_name, name), (DOI.from_uri, "doi:" + quote(name)))
        for door, text in doors:
            found = outcome(door, text, strict=True)
            if found != name:
                refused.append(f"{text!r}: {found}")
    assert not refused, f"refused, though nothing in it is reserved: {'; '.join(refused)}"


@pytest.mark.parametrize("rest", ["/", "/x", "//", "/xy/z"])
def test_each_character_before_the_second_slash_makes_a_suffix_reserved(rest: str) -> None:
    """Any single character, not only a letter (Z39.84 §4.3, N-097)."""
    taken = []
    for character in CHARACTERS:
        name = f"10.1000/{character}{rest}"
        if "reserved" not in outcome(DOI.from_name, name, strict=True):
            taken.append(name)
    assert not taken, f"taken, though the suffix is reserved: {taken}"


# Z39.84 §4.1, and DEL, which is no graphic character either
CONTROLS = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0)]))


@pytest.mark.parametrize("place", ["{}xy", "x{}y", "xy{}"], ids=["start", "middle", "end"])
def test_no_name_has_a_control_character_raw_or_escaped(place: str) -> None:
    """All 65 of them are refused by all constructors (N-080 to N-083, U-17)."""
    taken = []
    for character in CONTROLS:
        name = "10.1000/" + place.format(character)
        escaped = quote(name)
        texts: list[tuple[Callable[..., DOI], str]] = [
            (DOI, name),
            (DOI.from_name, name),
            (DOI.parse, escaped),
            (DOI.parse, f"doi:{escaped}"),
            (DOI.from_uri, f"doi:{escaped}"),
            (DOI.from_url, f"https://doi.org/{escaped}"),
        ]
        if name.strip() == name:  # outer white space is no part of what is typed
            texts.append((DOI.parse, name))
        for door, text in texts:
            if "a name cannot contain" not in outcome(door, text):
                taken.append(f"{door.__qualname__}({text!r})")
    assert not taken, f"a control character is taken: {'; '.join(taken)}"


@pytest.mark.parametrize("name", ["1000/x", ".1000/x", "0.1000/x", "1.1000/x", "11.1000/x", "/x"])
def test_the_directory_code_is_required(name: str) -> None:
    """Without "10." nothing is a DOI (Z39.84 §4.2, N-085)."""
    texts = [
        (DOI, name),
        (DOI.from_name, name),
        (DOI.parse, name),
        (DOI.parse, f"doi:{name}"),
        (DOI.from_uri, f"doi:{name}"),
        (DOI.from_url, f"https://doi.org/{name}"),
    ]
    for door, text in texts:
        assert "10." in outcome(door, text).partition(": ")[2], f"{text} is taken for a DOI"


def outcome(door: Callable[..., DOI], text: str, **options: bool) -> str:
    """Return the name that is read in a text, or the error."""
    try:
        return door(text, **options).name
    except DOISyntaxError as error:
        return f"DOISyntaxError: {error.reason}"


def test_urn_examples() -> None:
    """The Handbook's two examples (L-30, L-34), and colons of the suffix, which stay colons (L-33)."""
    assert DOI("10.123/456").urn == "urn:doi:10.123:456"
    assert DOI("10.123/456ABC/zyz").urn == "urn:doi:10.123:456ABC%2Fzyz"
    assert DOI("10.123/a:b/c/ d").urn == "urn:doi:10.123:a:b%2Fc%2F%20d"


@table("values", "queries", "query, end")
def test_link_query(query: dict[str, Any], end: str) -> None:
    doi = DOI("10.1000/a b")
    assert doi.link(**query) == "https://doi.org/10.1000/a%20b" + end
    assert (
        doi.link("http://localhost:8000/doi/", **query)
        == "http://localhost:8000/doi/10.1000/a%20b" + end
    )


@table("values", "no bases", "base")
def test_link_base_is_http(base: str) -> None:
    with pytest.raises(ValueError, match="not a base for links: "):
        DOI("10.1000/182").link(base)
    with pytest.raises(TypeError, match="not a base for links: expected str"):
        DOI("10.1000/182").link(base.encode(errors="replace"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "base",
    ["http://a", "HTTPS://a.b:8000/c//", " https://[::1]/ ", "https://xn--mnchen-3ya.example"],
)
def test_link_base(base: str) -> None:
    """The characters of a name are escaped whatever the base is (P-42, P-43)."""
    assert DOI("10.1000/a<b>c").link(base) == f"{base.strip().rstrip('/')}/10.1000/a%3Cb%3Ec"


@pytest.mark.parametrize("suffix", ["a", "é", "/..", "\u00a0", "("], ids=ascii)
def test_no_limit_of_length(suffix: str) -> None:
    """Neither a name nor any part of it has a limit (Z39.84 §4, N-071, N-072, N-108, S-02, S-03)."""
    for name in ("10.1/xx" + suffix * 20_000, "10.1" + ".1" * 20_000 + "/xx" + suffix):
        doi = DOI(name)
        assert doi.name == name
        assert DOI.from_name(name, strict=True) == DOI.parse(name) == doi
        assert DOI.from_uri(doi.uri) == DOI.from_url(doi.url) == doi


@pytest.mark.parametrize(
    ("text", "handle"),
    [
        *((text, DOI("10.1000/182")) for text in ("10.1000/182", "doi:10.1000/182")),
        *(
            (text, Prefix("10.1000"))
            for text in ("10.1000", "https://doi.org/10.1000", "doi:10.1000")
        ),
        *(
            (text, ShortDOI("10/p54k"))
            for text in (
                "10/p54k",
                "doi:10/p54k",
                " <10/P54K> ",
                "DOI10/p54k",
                "https://doi.org/p54k",
            )
        ),
    ],
)
def test_the_form_of_a_name_tells_its_kind(text: str, handle: DOI | Prefix | ShortDOI) -> None:
    found = Handle.parse(text)
    assert type(found) is type(handle) is type(Handle.from_name(handle.name))
    assert found == handle
    assert (found.url, found.uri) == (f"https://doi.org/{found.name}", f"doi:{found.name}")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "10",
        "10.",
        "10/",
        "10/a/b",
        "10/a b",
        "10/é",
        "10.1000/",
        "11.1000",
        "10.1000#x",
        "10..1",
        "https://doi.org/help",  # a page of the site
        "https://doi.org/p54k/more",
        "https://doi.org/p5",
        "p54k",
    ],
)
def test_what_has_no_such_form_is_no_handle(text: str) -> None:
    for read in (Handle.parse, Handle.from_name, Prefix, ShortDOI):
        with pytest.raises(DOISyntaxError):
            read(text)


def test_prefix_and_short_doi_are_not_dois() -> None:
    with pytest.raises(DOISyntaxError, match=r"short DOI, use Handle\.parse"):
        DOI("10/abcd")
    assert Prefix("10.1000") != ShortDOI("10/1000")
    assert not isinstance(Prefix("10.1000"), DOI)


@pytest.mark.parametrize(
    "text", ["11681", "a/b", "1b/c", "/x", "11/", ".", "127.0.0.1/x", "10/a-b", "http://11/5"]
)
def test_other_text_is_not_taken_for_a_handle(text: str) -> None:
    with pytest.raises(DOISyntaxError) as caught:
        DOI.parse(text)
    assert "hdl" not in str(caught.value)
