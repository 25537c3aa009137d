"""Profiles and decoding, character by character."""

import copy
import pickle
from collections.abc import Callable

import pytest
from doiuri import DOI, FINAL, LINK, PATH, URI, DOISyntaxError, Profile, decode, encode, encode_many
from support.cases import table

PROFILES = [URI, PATH, LINK, FINAL]


@pytest.mark.parametrize(
    ("profile", "text"),
    [
        (URI, "10.1000/%28a%29/b%3Bc%40d%2Be%2Cf~g"),
        (PATH, "10.1000/%28a%29/b%3Bc%40d%2Be%2Cf~g"),
        (LINK, "10.1000/(a)/b;c@d%2Be,f~g"),
        (FINAL, "10.1000/(a)%2Fb;c@d+e,f~g"),
    ],
)
def test_profiles_side_by_side(profile: Profile, text: str) -> None:
    """There are two encodings, and a third one in a later edition (C-01, C-40, G-01, G-08)."""
    assert encode("10.1000/(a)/b;c@d+e,f~g", profile) == text
    assert decode(text) == "10.1000/(a)/b;c@d+e,f~g"


@pytest.mark.parametrize("size", [0, 1, 1023, 1024, 1025, 3000])
@pytest.mark.parametrize("profile", PROFILES, ids=repr)
def test_many_of_any_number(profile: Profile, size: int) -> None:
    names = [f"10.1000/{'<é%/..' * (number % 3)}{number}" for number in range(size)]
    assert encode_many(names, profile) == [encode(name, profile) for name in names]


@pytest.mark.parametrize("call", [encode, lambda name: encode_many(["10.1/x", name])])
def test_a_surrogate_is_an_error_with_its_place(call: Callable[[str], object]) -> None:
    with pytest.raises(DOISyntaxError) as caught:
        call("10.1000/\ud800")
    assert (caught.value.text, caught.value.position) == ("10.1000/\ud800", 8)


@pytest.mark.parametrize("thing", [None, 5, b"10.1000/182"], ids=repr)
def test_a_value_that_is_not_text_raises_type_error(thing: str) -> None:
    for call in (encode, decode, lambda name: encode_many([name])):
        with pytest.raises(TypeError, match=f"expected str, not {type(thing).__name__}"):
            call(thing)


@pytest.mark.parametrize("profile", [None, "LINK", 5], ids=repr)
def test_an_invalid_profile_raises_type_error(profile: Profile) -> None:
    for call in (lambda: encode("10.1/x", profile), lambda: encode_many(["10.1/x"], profile)):
        with pytest.raises(
            TypeError, match=r"expected a Profile \(URI, PATH, LINK or FINAL\), not"
        ):
            call()


def test_one_name_is_not_many() -> None:
    with pytest.raises(TypeError, match=r"names, not the str '10\.1/x'; use encode for one name"):
        encode_many("10.1/x")


@table("values", "no escapes", "text, position")
def test_decode_refuses(text: str, position: int) -> None:
    """Bad escapes, bytes that are not UTF-8, characters that no name may have (C-33, N-083, U-26, U-27)."""
    with pytest.raises(DOISyntaxError) as caught:
        decode(text)
    assert (caught.value.text, caught.value.position) == (text, position)


@pytest.mark.parametrize(
    ("character", "octets"),
    [("é", 2), ("\u07ff", 2), ("\u0800", 3), ("日", 3), ("\U00010000", 4), ("😀", 4)],
    ids=ascii,
)
def test_a_character_has_at_most_four_octets(character: str, octets: int) -> None:
    """Z39.84 speaks of up to six, for characters of 16 bits; today's UTF-8 has four (N-129, C-33, U-19)."""
    written = encode(f"10.1000/{character}")
    assert written.count("%") == octets, f"{character!a} is written as {written}"
    assert decode(written) == f"10.1000/{character}"


@pytest.mark.parametrize(
    "escapes",
    ["%F8%88%80%80%80", "%FC%84%80%80%80%80", "%ED%A0%BD%ED%B8%80", "%F4%90%80%80", "%F0%82%82%AC"],
    ids=["five octets", "six", "two surrogates", "beyond U+10FFFF", "longer than needed"],
)
def test_the_utf_8_of_earlier_days_is_refused(escapes: str) -> None:
    """N-129, C-33: at most four octets, no surrogates."""
    name = f"10.1000/{escapes}"
    for read in (decode, DOI.parse):
        with pytest.raises(DOISyntaxError, match="UTF-8"):
            pytest.fail(f"{escapes} was read as {read(name)!a}")


def test_profiles_are_copied_and_pickled_as_the_same_object() -> None:
    copies = [
        *map(copy.copy, PROFILES),
        *copy.deepcopy(PROFILES),
        *pickle.loads(pickle.dumps(PROFILES)),
    ]
    assert [*map(id, copies)] == [*map(id, PROFILES)] * 3
    assert len({*PROFILES}) == 4


@pytest.mark.parametrize("name", ["BARE", "URI"])
def test_a_profile_of_ones_own_stays_its_own_whatever_its_name(name: str) -> None:
    bare = Profile(name, b"0123456789./abc")
    assert (bare.name, bare.safe, bare.slashes, repr(bare)) == (
        name,
        b"0123456789./abc",
        None,
        name,
    )
    again = pickle.loads(pickle.dumps(bare))
    assert (again.name, again.safe) == (name, bare.safe)
    assert encode("10.1000/a-b", bare) == encode("10.1000/a-b", again) == "10.1000/a%2Db"


def test_a_link_is_read_as_typed_and_as_shown() -> None:
    """Z39.84 appendix E: the example with a quotation mark, in a page and back (N-135 to N-138)."""
    doi = DOI('10.1006/rwei.1999".0001')
    assert doi.link("http://dx.doi.org") == "http://dx.doi.org/10.1006/rwei.1999%22.0001"
    assert DOI.parse("10.1006/rwei.1999%22.0001") == doi
