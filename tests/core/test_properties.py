"""What holds for every name; each test says in its own words which clause it proves.

``support.naive`` is a second implementation, written from the specifications.
"""

import html
import re
import unicodedata
from collections.abc import Callable
from itertools import product
from typing import TypeVar
from urllib.parse import quote, unquote, urlsplit

import pytest
from doiuri import (
    DOI,
    FINAL,
    LINK,
    PATH,
    URI,
    DOISyntaxError,
    Handle,
    Profile,
    _parse,
    advise,
    decode,
    encode,
)
from doiuri import encode_many as many
from doiuri.testing.strategies import dois, names, spelled_texts
from hypothesis import example, given
from hypothesis import strategies as st
from support import naive

T = TypeVar("T", bound=Callable[..., None])
PROFILES = [URI, PATH, LINK, FINAL]
UNRESERVED = "A-Za-z0-9._~\\-"
SHAPES = {
    "URI": rf"(?:[{UNRESERVED}/]|%[0-9A-F]{{2}})*",
    "PATH": rf"(?:[{UNRESERVED}/]|%[0-9A-F]{{2}})*",
    "LINK": rf"(?:[{UNRESERVED}/!$&'()*,:;=@]|%[0-9A-F]{{2}})*",
    "FINAL": rf"10\.[0-9.]+/(?:[{UNRESERVED}!$&'()*+,;=:@]|%[0-9A-F]{{2}})*",
}
profiles = st.sampled_from(PROFILES)
_DIGIT = st.sampled_from("0123456789abcdefABCDEF")
_ESCAPE = st.builds("%{}{}".format, _DIGIT, _DIGIT)
_PIECES = (
    *(
        "%",
        "%a",
        "%%",
        "%C3%a9",
        "%c3%A9",
        "%f0%9F%98%80",
        "%2F",
        "%2e",
        "%2E",
        "%0A",
        "%41",
        "%2528",
    ),
    *(
        "/",
        "//",
        ".",
        "..",
        "a",
        "Z",
        "é",
        "Ω",
        " ",
        "=",
        "==",
        "\\",
        "\\x41",
        "\n",
        "\t",
        "#",
        "?",
        "<",
    ),
    *("%00", ">", "&lt;", "doi:", "10.1", "\ud800", "\uff11", "\u00a0"),
)
_TEXTS = st.lists(st.sampled_from(_PIECES) | _ESCAPE | st.characters(), max_size=9).map("".join)
_PREFIXES = st.sampled_from(
    [
        "10.1000/",
        "10.1/",
        "10.1.2/",
        "10..1/",
        "10.1000",
        "10./",
        "10/",
        "%310.1/",
        "10.1%2F",
        "11.1/",
    ]
)
_HEADS = st.sampled_from(
    [
        "",
        "doi:",
        "https://doi.org/",
        "https://doi.org/doi:",
        "doi:https://doi.org/",
        "doi:doi:",
        "DOI:",
        "<",
    ]
)

PRINTABLE = "".join(map(chr, range(0x20, 0x7F)))
DECISIVE = (
    "10.1000/" + PRINTABLE,
    "10.1000/a/../b/./..",
    "10.1000/./a//b/",
    "10.1000/%41%2F%zz%",
    "10.1000.5/\u00e9e\u0301\u65e5\U0001f600",
)
"""Names that break programs: every test of this file meets them, whatever else is generated."""


def each(*examples: object) -> Callable[[T], T]:
    """Add these examples; a tuple has several arguments."""

    def add(test: T) -> T:
        for each in examples:
            arguments = each if isinstance(each, tuple) else (each,)
            test = example(*arguments)(test)
        return test

    return add


def dotted(segments: list[str]) -> str:
    return "/".join(["10.1000", "a", *segments])


each_name = each(*DECISIVE)


@given(names(), profiles)
@each(*product(DECISIVE, PROFILES))
def test_every_profile_decodes_to_the_name(name: str, profile: Profile) -> None:
    """Encoding changes how a name is written, never the name (Z39.84 appendix E, N-146 S-28).

    So each name has its own URI (draft §2, U-18 U-37), and decoding happens once (N-147 S-30 S-34).
    Bytes that are neither allowed bare nor a slash become %XX, in upper case (draft §2 step 2, U-22).
    """
    assert decode(encode(name, profile)) == name
    assert decode(encode(encode(name), profile)) == encode(name)
    assert re.fullmatch(SHAPES[profile.name], encode(name, profile))


@given(
    names() | st.lists(st.sampled_from([".", "..", "", "a", "...", ".a"]), min_size=1).map(dotted)
)
@each_name
@each("10.1000/a/././././b", "10.1000/../../../..", "10.1000/./../a/.")
def test_uris_links_and_paths_are_those_of_a_second_implementation(name: str) -> None:
    """URIs: UTF-8 with neither mark nor normalization, then escapes (draft §2, U-19 to U-25).

    A scheme of RFC 3986 with a path; neither query nor fragment (draft §2, U-03 U-26 U-27).
    Links: mandatory and recommended escapes, the slashes of "." and ".." (DOI Handbook, URL presentation):
    each row of the Handbook's table, of Z39.84's and of the resolution documentation's (L-06 to L-22).
    A client that deletes dot segments still asks for the same name (Handbook note, L-24 to L-27).
    It also proves C-27 C-32 G-01 to G-05 L-01 L-02 N-030 N-073 N-106 N-127 N-128 N-133 N-139 N-141 N-142
    N-153 N-155 N-157 N-158 P-33 P-34 S-01 S-10 S-15 S-18 S-20 S-21 S-24 S-36 S-39.
    """
    doi = DOI(name)
    assert doi.uri == "doi:" + naive.encode_uri(name) == "doi:" + quote(name, safe="/")
    assert doi.url == f"https://doi.org/{naive.encode_link(name)}"
    assert encode(name, PATH) == naive.without_dot_segments(naive.encode_uri(name))
    uri = urlsplit(doi.uri)
    link = urlsplit(doi.url)
    assert (uri.scheme, link.netloc, *uri[3:], *link[3:]) == ("doi", "doi.org", "", "", "", "")
    assert unquote(uri.path, errors="strict") == unquote(link.path[1:], errors="strict") == name
    assert not {".", ".."} & {*re.sub("%2[Ee]", ".", link.path).split("/")}


@given(names())
@each_name
def test_names_are_taken_literally(name: str) -> None:
    """In the Directory every character stands for itself: stored names hold no escapes (N-160 P-36).

    A DOI is a prefix, a slash, a suffix; the prefix is directory and registrant code (N-067 to N-070).
    It also proves N-002 N-003 N-038 N-039 N-041 N-063 N-064 N-096 N-124 N-152 N-154 P-27 S-29 S-35 S-37.
    """
    doi = DOI(name)
    assert doi.name == name
    assert [doi.prefix, doi.suffix] == name.split("/", 1)


@given(st.characters())
@each(*"\x00\x1f\x7f\x85\xad\u200b\u2028\ue000\u00a0\u00e9", *PRINTABLE)
def test_only_graphic_characters(character: str) -> None:
    """A name has graphic characters only, raw or escaped (draft §2, Z39.84 §4.1, U-17 N-080 N-059)."""
    name = f"10.1000/x{character}y"
    category = unicodedata.category(character)
    noncharacter = ord(character) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(character) <= 0xFDEF
    if category in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} or noncharacter:
        with pytest.raises(DOISyntaxError) as caught:
            DOI(name)
        assert caught.value.position == 9
        if category != "Cs":
            with pytest.raises(DOISyntaxError):
                DOI.from_uri("doi:" + quote(name))
    elif category != "Cn":
        assert DOI(name).name == name


@given(st.lists(st.text() | names()), profiles)
@each(
    *product(
        [
            [*DECISIVE],
            [*map(chr, range(0x100))],
            ["10.1/a\nb", "", "\n", "..", "../x", "/", "%", "10.1/\r\n"],
        ],
        PROFILES,
    )
)
def test_many_are_encoded_as_one(texts: list[str], profile: Profile) -> None:
    """No context's rule changes or refuses a name: each is encoded as if alone (N-126).

    A control character that reaches the encoder is escaped (S-11, S-12, S-20); and P-29, C-39.
    """
    assert many(texts, profile) == [encode(text, profile) for text in texts]
    assert many(texts, LINK) == [*map(naive.encode_link, texts)]
    assert many(iter(texts), profile) == many(tuple(texts), profile)


@given(
    st.text(st.characters() | st.sampled_from("doi:/10.%<>#? "))
    | spelled_texts().map(lambda pair: pair[0])
)
@each_name
def test_nothing_but_a_doi_or_a_syntax_error(text: str) -> None:
    """Any text gives a DOI that can be written and parsed again, or an error with its place (N-083)."""
    for door in (DOI.parse, DOI.from_name, DOI.from_uri, DOI.from_url):
        outcome = outcome_of(door, text, located=True)
        if isinstance(outcome, DOI):
            assert DOI.from_uri(outcome.uri) == outcome, door
    for function in (decode, advise, Handle.parse):
        outcome_of(function, text, located=True)


@given(
    st.text(st.characters() | st.sampled_from("doi:/10.%<>#? "))
    | spelled_texts().map(lambda pair: pair[0])
)
@each("doi:10.1000/a#b", "https://doi.org/10.1000/a?b", "10.1000/a ", "10.1000/a%", "10.1000/%C3")
def test_a_quick_reading_gives_what_a_close_one_does(text: str) -> None:
    """Nearly all spellings are read at once; the grammar of all spellings gives the same."""
    quick = [outcome_of(door, text, located=True) for door in (DOI.parse, Handle.parse)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_parse, "read_quickly", lambda _: "")
        close = [outcome_of(door, text, located=True) for door in (DOI.parse, Handle.parse)]
    assert repr(quick) == repr(close)


@given(_TEXTS)
@each("a+b", "%2f", "é%C3%A9", "%252F", "%F0%9F%98%80", "")
@each("=41%zz", "%41=", "%41=\nx", "%41%%41", "%aB%Ab%C3%a9", "\\x41%41")
def test_escapes_are_octets_of_utf8_decoded_once(text: str) -> None:
    """Each "%" and two digits, in either case, is an octet of UTF-8; once (RFC 3986 §2.1 and §2.4).

    Typed, %XX is an escape; a % that starts none stays; %25 is always a % (S-33 S-34 S-38).
    """
    expected = naive.decode(text)
    graphic = expected is not None and all(map(naive.is_graphic, expected))
    assert outcome_of(decode, text) == (
        expected if graphic and "#" not in text and "?" not in text else None
    )
    typed = f"10.1/x{text}y"
    name = naive.decode(typed, lenient=True)
    meant = name if name is not None and naive.is_name(name) else None
    assert outcome_of(lambda typed: DOI.parse(typed).name, typed) == meant
    if naive.is_name(typed):
        assert DOI.parse(typed.replace("%", "%25")).name == typed


@given(_PREFIXES, _TEXTS)
@each(
    *(
        ("10.1000/", suffix)
        for suffix in ("a#b?c", "a?b#c", "a|b", "50%", "", PRINTABLE, *PRINTABLE)
    )
)
@each(("10..1/", "a"), ("10.1000.", "1/x"), ("10.1000a", "/x"))
def test_each_constructor_takes_what_a_second_implementation_takes(
    prefix: str, suffix: str
) -> None:
    """Of URIs, ASCII and legal characters only, no query, no fragment (draft §2).

    Of links, the path up to a query or a fragment, decoded once (RFC 3986 §3.3 to §3.5). Of names, graphic
    characters, and a prefix of numbers: appendix A overrules §4.2 (N-103, N-093, C-11).
    A link is read without the recommended escapes; a raw "%", "#" or "?" breaks it (S-09).
    """
    name = prefix + suffix
    for uri in (f"doi:{name}", f"Doi:{name}", name):
        assert outcome_of(lambda uri: DOI.from_uri(uri).name, uri) == naive.name_of_uri(uri)
    link = f"https://doi.org/{name}".rstrip()
    assert outcome_of(lambda link: DOI.from_url(link).name, link) == naive.name_of_link(link)
    assert outcome_of(lambda name: DOI(name).name, name) == (name if naive.is_name(name) else None)


@given(_HEADS, _PREFIXES, _TEXTS)
@each(
    *(("https://doi.org/", "10.1000/", suffix) for suffix in ("", "a?b")), ("", "10.1000/", "a\n")
)
@each(
    *(("doi:", "10.1000/", suffix) for suffix in ("a#b", "a=\nb%41")),
    ("", "10.1000/", "%%2F41%41%41"),
)
def test_frequent_spellings_are_read_as_all_others_are(head: str, prefix: str, suffix: str) -> None:
    """White space around a text changes nothing: a bare name, a URI or a link is read at once without it."""
    text = head + prefix + suffix
    plain, padded = (
        outcome_of(lambda text: DOI.parse(text).name, one) for one in (text, f"\n{text} ")
    )
    assert plain == padded


@given(
    dois(12),
    st.sampled_from(["&lt;", "&#60;", "&#x3C;", "&amp;", "&eacute;", "&#0060;"]),
    st.sampled_from(["", "a"]),
)
def test_entities_are_reported_at_the_end_too(doi: DOI, entity: str, rest: str) -> None:
    name = doi.name + entity + rest
    (advice,) = [advice for advice in advise(DOI(name)) if advice.code == "entity"]
    meant = outcome_of(lambda text: DOI(text).name, html.unescape(name))
    assert (advice.suggestion and DOI.parse(advice.suggestion).name) == meant


def outcome_of(function: Callable[[str], object], text: str, *, located: bool = False) -> object:
    """What the function returns, or None for a syntax error, whose place is in the text if ``located``."""
    try:
        return function(text)
    except DOISyntaxError as error:
        place = error.position if error.text == text else -1
    assert not located or 0 <= place <= len(text)
    return None
