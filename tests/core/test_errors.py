"""Errors are data: they carry what was wrong, where, and what to do, and survive pickling."""

import copy
import pickle
from collections.abc import Callable

import pytest
from doiuri import (
    DOI,
    BadRecord,
    DOIError,
    DOINotFound,
    DOISyntaxError,
    Handle,
    NoValues,
    Prefix,
    ResolutionError,
    ResolverUnavailable,
    ShortDOI,
)
from doiuri.plugins import with_suggestion


def error_of(text: str) -> DOISyntaxError:
    with pytest.raises(DOISyntaxError) as caught:
        DOI.parse(text)
    return caught.value


def test_message_says_what_and_where() -> None:
    error = error_of("10.1000")
    assert str(error) == "'10.1000' is not a DOI: no \"/\" after the prefix (position 7)"
    assert (error.text, error.position, error.reason) == ("10.1000", 7, 'no "/" after the prefix')
    assert isinstance(error, ValueError)
    assert isinstance(error, DOIError)


def test_messages_are_printable() -> None:
    reason = "\"#\" must be %23 here, unless the name stands alone: '10.1000/a\\xa0#b'"
    assert error_of("doi:10.1000/a\xa0#b").reason == reason


@pytest.mark.parametrize(
    ("text", "repaired"),
    {
        "10.1000/a\u200bb\xad": "doi:10.1000/ab",
        "https://doi.org/10.1000/a\x7f%23": "doi:10.1000/a%23",
        "10.1000/a%25b\u200b": "doi:10.1000/a%25b",
        "\u200b10.1000/182": "doi:10.1000/182",
        "\ufeffdoi:10.1000/a#b%25": "doi:10.1000/a%23b%25",
        "\u202a <10.1000/182>\u202c": "doi:10.1000/182",
        "\u2060https://doi.org/10.1000/182?x": "doi:10.1000/182",
        "\xa010.1000/182": "doi:10.1000/182",
        "doi:\u200b10.1000/182": "doi:10.1000/182",
        "d\xadoi:10.1000/182": "doi:10.1000/182",
        "\u200bfoo": None,
        "\u200b": None,
        "10.1000/a\nb": None,
        "10.1000/\u200b": None,
        "10.1000/a\ue000": None,
    }.items(),
    ids=ascii,
)
def test_invisible_characters_come_with_the_name_without_them(text: str, repaired: str | None) -> None:
    assert error_of(text).suggestion == repaired


@pytest.mark.parametrize(
    ("text", "repaired"),
    [
        ("doi:10.1000/456#789", "doi:10.1000/456%23789"),
        ("doi:10.1000/a?b=(c)", "doi:10.1000/a%3Fb%3D%28c%29"),
        ("DOI: 10.1000/a#b?c", "doi:10.1000/a%23b%3Fc"),
        ("info:doi/10.1000/a%20b#c", "doi:10.1000/a%20b%23c"),
        ("urn:doi:10.1000:a#b", "doi:10.1000/a%23b"),
        ("hdl:10.1000/a#", "doi:10.1000/a%23"),
    ],
)
def test_ambiguous_ends_come_with_the_repaired_form(text: str, repaired: str) -> None:
    """A doi: URI has neither query nor fragment, so a raw mark is never dropped (draft §2, U-26, U-27)."""
    error = error_of(text)
    assert error.suggestion == repaired
    assert repaired in str(error)
    assert text[error.position] in "#?"
    assert error.position == min(text.find(mark) for mark in "#?" if mark in text)
    assert DOI.parse(repaired).uri == repaired


def test_nothing_is_repaired_where_the_name_is_wrong_anyway() -> None:
    assert error_of("doi:11.1000/a#b").suggestion is None
    assert error_of("doi:10.1000#b").suggestion is None


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("doi:10.1000/%C3%81\u200bx", 18),
        ("  doi: 10.1000/%41%42\u200b", 21),
        ("https://doi.org/10.1000/%F0%9F%98%80%00", 36),
        ("https://doi.org/urn:doi:10.1000:%C3%81%0A", 38),
        ("https://doi.org/doi%3A10.1000/%0A", 30),
        ("10.1000/%41%zz\n.", 14),
        ("urn:doi:10.1000:é%0A", 17),
        ("doi:10.1%30.x/y", 12),
    ],
)
def test_position_is_that_in_the_text_as_given(text: str, position: int) -> None:
    assert error_of(text).position == position


def test_position_in_a_literal_name_counts_no_escapes() -> None:
    for kind, name in [(DOI, "10.1/%41%C3%81\u200b"), (DOI.from_name, "10.1/%41%C3%81\u200b")]:
        with pytest.raises(DOISyntaxError) as caught:
            kind(name)
        assert caught.value.position == 14


def test_a_long_text_is_kept_but_not_repeated_in_full() -> None:
    text = "11." + "9" * 1_000_000
    error = error_of(text)
    assert error.text == text
    assert len(str(error)) < 500


def test_odd_characters_are_visible_in_messages() -> None:
    message = str(error_of("10.1000/a\u202eb\x1b"))
    assert message.isprintable()
    assert "U+202E" in message


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (Prefix, "", "'' is not a prefix: the prefix is missing (position 0)"),
        (Prefix, "11.1", "'11.1' is not a prefix: a DOI begins with \"10.\" (position 0)"),
        (Prefix, "10.", "'10.' is not a prefix: digits must follow \"10.\" (position 3)"),
        (Prefix, "10.1/x", "a prefix has no slash; for a whole name use DOI or Handle.parse (position 4)"),
        (ShortDOI, "10/", "'10/' is not a short DOI: nothing after the slash (position 3)"),
        (DOI, "", "'' is not a DOI: the name is missing (position 0)"),
        (DOI.parse, "doi: ", "'doi: ' is not a DOI: the name is missing (position 4)"),
        (DOI.parse, "https://doi.org/", "is not a DOI: the name is missing (position 16)"),
        (DOI.parse, "doi://10.1/x", "'doi://10.1/x' is not a DOI: no slash may precede \"10.\" (position 4)"),
        (DOI.parse, "https:///10.1/x", 'is not a DOI: no host after "//" (position 8)'),
        (DOI.parse, "x", '\'x\' is not a DOI: expected "10.", a label such as "doi:", or a link to doi.org'),
        (DOI.parse, "https://me@doi.org/10.1/x", "a link to a DOI has no user name before the host"),
        (DOI.parse, "https://notadoi.org/10.1/x", "the host 'notadoi.org' is not a DOI proxy"),
        (DOI.parse, "[10.1000/182]", 'expected "10.", a label such as "doi:"'),
        (DOI.parse, "see doi:10.1000/182", 'expected "10.", a label such as "doi:"'),
        (DOI.parse, "10/abcd", "this is a short DOI, use Handle.parse"),
        (DOI.from_uri, "doi:", "'doi:' is not a DOI: the name is missing (position 4)"),
        (DOI.from_url, "", "'' is not a link to a DOI: the text is empty (position 0)"),
        (
            DOI.from_url,
            "doi:10.1/x",
            "is not a link to a DOI: expected a link such as https://doi.org/10.1000/182",
        ),
        (DOI.from_url, "https://x.org/10.1/x", "is not a link to a DOI: the host 'x.org' is not a DOI proxy"),
        (
            DOI.from_url,
            "https://doi.org/10.1/%",
            'is not a link to a DOI: "%" without two hexadecimal digits',
        ),
    ],
)
def test_messages_name_what_was_expected(read: Callable[[str], Handle], text: str, message: str) -> None:
    with pytest.raises(DOISyntaxError) as caught:
        read(text)
    assert message in str(caught.value)


@pytest.mark.parametrize("make", [DOI, DOI.from_name, Handle.from_name])
@pytest.mark.parametrize(
    ("text", "name"),
    [("https://doi.org/10.1000/a%20b", "10.1000/a b"), ("doi:10.1/x", "10.1/x"), (" 10.1/x", "10.1/x")],
)
def test_a_text_taken_for_a_name_points_to_parse(make: Callable[[str], DOI], text: str, name: str) -> None:
    with pytest.raises(DOISyntaxError, match=r"\.parse also reads labels, links and white space") as caught:
        make(text)
    error = caught.value
    assert (error.text, error.position, error.suggestion) == (text, 0, name)


def test_a_text_that_parse_refuses_too_does_not_point_to_it() -> None:
    for text in ("10.1000", "hello", "doi:10.1000", "https://example.org/10.1000/182"):
        with pytest.raises(DOISyntaxError) as caught:
            DOI(text)
        assert "parse" not in str(caught.value)


D = DOI("10.1000/182")
ERRORS = [
    DOISyntaxError("doi:10.1/a#b", 10, "ambiguous", "doi:10.1/a%23b"),
    DOINotFound(D),
    DOINotFound(D, "because"),
    NoValues(D),
    BadRecord(D, "no JSON"),
    ResolverUnavailable(D, "throttled", 429, 30.0),
    ResolverUnavailable(D),
    ResolutionError(None, "nobody knows"),
]


@pytest.mark.parametrize("error", ERRORS, ids=repr)
def test_errors_survive_pickling_and_copying(error: DOIError) -> None:
    error.add_note("seen on Tuesday")
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert again.args == error.args
        assert vars(again) == vars(error)


def test_the_tree() -> None:
    assert issubclass(DOISyntaxError, DOIError)
    assert issubclass(DOINotFound, LookupError)
    for kind in (DOINotFound, NoValues, BadRecord, ResolverUnavailable):
        assert issubclass(kind, ResolutionError)
        assert kind(D).doi is D
        assert str(kind(D)).startswith("10.1000/182: ")
        assert kind(D, "why").reason == "why"
    error = ResolverUnavailable(D, "busy", 503, 1.5)
    assert (error.status, error.retry_after) == (503, 1.5)


def test_a_suggestion_is_shown_on_one_line_and_in_visible_characters() -> None:
    error = DOISyntaxError("doi:10.1/a", 0, "a label", "10.1/\u0378\x1b[2J")
    assert str(error).endswith(r"; write '10.1/\u0378\x1b[2J'")
    assert str(DOISyntaxError("doi:10.1/á", 0, "a label", "10.1/á")).endswith("; write 10.1/á")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("https://onlinelibrary.wiley.com/doi/10.1002/abc.123/full?x=1", "doi:10.1002/abc.123"),
        ("doi:https://dl.acm.org/doi/pdf/10.1145/3292500.3330701", "doi:10.1145/3292500.3330701"),
        ("https://link.springer.com/article/10.1007%2Fs00-1", "doi:10.1007/s00-1"),
        ("https://doi.org/abs/10.1000/182", "doi:10.1000/182"),
        ("https://example.org/10.1000/%C3%A9%3C", "doi:10.1000/%C3%A9%3C"),
        ("https://example.org/article/5", None),
        ("https://example.org/10.1000/1?other=10.1000/2", None),  # two
        ("https://example.org/10.1000/1/" + "a" * 3000, None),
        ("see 10.1000/182", None),
        ("10.1000", None),
        ("doi:10.1000/a#b", "doi:10.1000/a%23b"),  # its own
    ],
)
def test_the_doi_in_a_publisher_s_url_is_suggested(text: str, meant: str | None) -> None:
    error = error_of(text)
    suggested = with_suggestion(error)
    assert suggested.suggestion == meant
    assert (suggested.text, suggested.position, suggested.reason) == (text, error.position, error.reason)
    assert meant is None or str(suggested).endswith(f"; write {meant}")
