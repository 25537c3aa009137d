"""The codec gives what a second implementation gives, written from the specifications."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

from doiuri import DOI, LINK, PATH, URI, DOISyntaxError, advise, decode, encode, encode_many
from doiuri._encoding import unescape
from doiuri.testing.strategies import case_pairs, dois, names, spelled_uris
from hypothesis import example, given
from hypothesis import strategies as st
from support import naive

_DIGIT = st.sampled_from("0123456789abcdefABCDEF")
_ESCAPE = st.builds("%{}{}".format, _DIGIT, _DIGIT)
_SPELLED = st.sampled_from(
    ["%", "%a", "%%", "%C3%a9", "%c3%A9", "%f0%9F%98%80", "%2F", "%2e", "%2E", "%0A", "%41"]
)
_OTHER = st.sampled_from(
    ["/", "//", ".", "..", "a", "Z", "é", "Ω", " ", "=", "==", "\\", "\\x41", "\n", "#", "?", "<", "&lt;"]
)
_TEXTS = st.lists(_SPELLED | _OTHER | _ESCAPE | st.characters(), max_size=9).map("".join)
_PREFIXES = st.sampled_from(
    ["10.1000/", "10.1/", "10.1.2/", "10..1/", "10.1000", "10./", "10/", "%310.1/", "10.1%2F", "11.1/"]
)


@given(names())
@example("10.1000/" + "".join(map(chr, range(0x20, 0x7F))))
@example("10.1000/a/././././b")
@example("10.1000/../../../..")
@example("10.1000/./../a/.")
def test_encoding(name: str) -> None:
    """draft-lemieux-doi-uri-scheme-00 §2; DOI Handbook, encoding rules for URL presentation."""
    uri, link = naive.encode_uri(name), naive.encode_link(name)
    assert (encode(name, URI), encode(name, LINK)) == (uri, link)
    assert (DOI(name).uri, DOI(name).url) == (f"doi:{uri}", f"https://doi.org/{link}")
    assert encode(name, PATH) == naive.without_dot_segments(uri)
    for profile in (URI, LINK, PATH):
        assert encode_many([name, "10.1000/182"], profile) == [encode(name, profile), "10.1000/182"]


@given(st.lists(st.sampled_from([".", "..", "", "a", "...", ".a"]), min_size=1, max_size=12).map("/".join))
def test_every_dot_segment_is_protected(segments: str) -> None:
    """The slash after each "." and "..", or before it at the end (DOI Handbook, note on /./ and /../)."""
    name = f"10.1000/{segments}"
    for profile in (PATH, LINK):
        assert encode(name, profile) == naive.without_dot_segments(name)


@given(_TEXTS)
@example("=41%zz")
@example("%41=")
@example("%41=\nx")
@example("%41%%41")
@example("%aB%Ab%C3%a9")
@example("\\x41%41")
def test_decoding(text: str) -> None:
    """Each "%" and two digits, in either case, is an octet of UTF-8; once (RFC 3986 §2.1 and §2.4)."""
    expected = naive.decode(text)
    graphic = expected is not None and all(map(naive.is_graphic, expected))
    assert outcome_of(decode, text) == (expected if graphic and "#" not in text and "?" not in text else None)
    assert outcome_of(lambda text: unescape(text, lenient=True), text) == naive.decode(text, lenient=True)


@given(_PREFIXES, _TEXTS)
@example("10.1000/", "a#b")
@example("10.1000/", "a?b")
@example("10.1000/", "a|b")
@example("10..1/", "a")
@example("10.1000/", "")
def test_strict_uris(prefix: str, suffix: str) -> None:
    """ASCII and legal characters only, no query, no fragment (draft §2)."""
    for uri in (f"doi:{prefix}{suffix}", f"Doi:{prefix}{suffix}", prefix + suffix):
        assert outcome_of(lambda uri: DOI.from_uri(uri).name, uri) == naive.name_of_uri(uri)


@given(_PREFIXES, _TEXTS)
@example("10.1000/", "a#b?c")
@example("10.1000/", "a?b#c")
@example("10.1000/", "50%")
@example("10.1000/", "")
def test_links(prefix: str, suffix: str) -> None:
    """The path up to a query or a fragment, decoded once (RFC 3986 §3.3 to §3.5)."""
    link = f"https://doi.org/{prefix}{suffix}".rstrip()
    assert outcome_of(lambda link: DOI.from_url(link).name, link) == naive.name_of_link(link)


@given(_PREFIXES, _TEXTS)
@example("10.1000.", "1/x")
@example("10.1000/", "")
def test_literal_names(prefix: str, suffix: str) -> None:
    """Graphic characters, and a prefix of numbers (Z39.84 §4.1, §4.2)."""
    name = prefix + suffix
    assert outcome_of(lambda name: DOI(name).name, name) == (name if naive.is_name(name) else None)


@given(spelled_uris())
def test_legal_spellings(pair: tuple[str, DOI]) -> None:
    uri, doi = pair
    assert DOI.from_uri(uri).name == DOI.parse(uri).name == naive.name_of_uri(uri) == doi.name


@given(case_pairs())
@example(("10.1000/aσд", "10.1000/AΣД"))
@example(("10.1000/σ", "10.1000/Σ"))
@example(("10.1000/д", "10.1000/Д"))
@example(("10.1000/é", "10.1000/É"))
def test_equality(pair: tuple[str, str]) -> None:
    """Only the case of a to z does not count (Z39.84 §4; draft §2 note 3)."""
    one, other = map(DOI, pair)
    same = naive.key(one.name) == naive.key(other.name)
    assert (one.key, other.key) == (naive.key(one.name), naive.key(other.name))
    assert (one == other, len({one, other}), one < other or other < one) == (same, 2 - same, not same)


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


@given(dois(12), _ESCAPE)
def test_literal_escapes_are_reported(doi: DOI, escape: str) -> None:
    found = [advice for advice in advise(DOI(doi.name + escape)) if advice.code == "literal-escape"]
    assert len(found) == 1
    assert re.findall("%[0-9A-Fa-f]{2}", doi.name + escape)[0] in found[0].message


def outcome_of(function: Callable[[str], str], text: str) -> str | None:
    """What the function returns, or None for a syntax error."""
    try:
        return function(text)
    except DOISyntaxError:
        return None
