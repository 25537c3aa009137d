"""Fuzz the codec: ``python tests/fuzz/codec.py [--seconds 60] [--seed N]``.

Only a DOI or a DOISyntaxError may come out, what comes out is read again as itself, and a text of a megabyte
takes less than a second, whatever it repeats.
"""

import random
import time
from collections.abc import Callable

from doiuri import DOI, DOIError, DOISyntaxError, Handle, advise, decode, encode, encode_many
from support.fuzzing import rounds

PIECES = [
    "10.", "10.1000", "10.1000/", "10.1000.10/", "/", "//", "/.", "/..", "/../", ".", "..", "%", "%%",
    "%2", "%2F", "%2f", "%25", "%252F", "%C3", "%C3%81", "%c3%a9", "%ED%A0%80", "%F0%9F%98%80", "%00",
    "%0A", "%E2%80%8B", "%zz", "doi:", "DOI ", "doi", "DOI:", "info:doi/", "info:hdl/", "urn:doi:",
    "hdl:", "https://", "http://", "//", "doi.org", "dx.doi.org", "www.doi.org/", "https://doi.org/",
    "https://doi.org/api/handles/", "notadoi.org/", "user@", ":443", ":", "#", "?", "&", "=", ";", ",",
    "+", "<", ">", "(", ")", "[", "]", "{", "}", "|", "\\", "^", "`", "'", "\"", "-", "_", "~", " ",
    "\t", "\n", "\r", "\x00", "\x1b", "\x7f", "\x85", "\xa0", "\xad", "\u200b", "\u2028", "\u202e",
    "\ufeff", "\ufffe", "\ufdd0", "\ud800", "\udfff", "\ue000", "\u0378", "\U000e0001", "\U0010ffff",
    "é", "É", "é", "̣́", "ß", "ſ", "\u212a", "\u0131", "日本", "😀", "１", "٣", "ﬁ", "–", "a", "A", "Z",
    "x", "0", "9", "abc", "SICI", "&lt;", "&#60;", "\\_", "$<$",
]  # fmt: skip
FUNCTIONS: list[Callable[[str], object]] = [
    DOI.parse, DOI.from_name, DOI.from_uri, DOI.from_url, decode, Handle.parse, advise
]  # fmt: skip
MEGABYTE = 1_000_000
BEGINNINGS = ["", "10.1/", "doi:10.1/", "https://doi.org/10.1/", "urn:doi:10.1:", "<", "https://"]


def short_text(chance: random.Random) -> str:
    """A few pieces in a row, often with a proper beginning."""
    return "".join([chance.choice(BEGINNINGS), *chance.choices(PIECES, k=chance.randrange(12))])


def long_text(chance: random.Random) -> str:
    """A megabyte of one short sequence, repeated."""
    piece = "".join(chance.choices(PIECES, k=chance.randint(1, 3)))
    return chance.choice(BEGINNINGS) + piece * (MEGABYTE // len(piece.encode("utf-8", "surrogatepass")))


def outcome_of(function: Callable[[str], object], text: str) -> object:
    """What the function returns, or its DOIError; anything else is raised."""
    try:
        return function(text)
    except DOIError as error:
        return error


def check(text: str) -> None:
    """Raise AssertionError if anything but a DOI or a syntax error with its place comes out."""
    for function in FUNCTIONS:
        outcome = outcome_of(function, text)
        if isinstance(outcome, DOI):
            check_forms(outcome)
        elif isinstance(outcome, DOIError):
            assert isinstance(outcome, DOISyntaxError), (function, text)
            assert 0 <= outcome.position <= len(text), (function, text)
            assert str(outcome).isprintable(), (function, text)


def check_forms(doi: DOI) -> None:
    """Raise AssertionError if a form of the DOI is not read as the same name."""
    for form in (
        DOI.from_uri(doi.uri),
        DOI.from_url(doi.url),
        DOI.parse(doi.urn),
        DOI(doi.name, strict=False),
    ):
        assert form.name == doi.name, (doi, form)
    assert encode_many([doi.name, doi.name]) == [encode(doi.name)] * 2


def check_time(text: str) -> None:
    """Raise AssertionError if a door takes more than a second for the text."""
    for function in FUNCTIONS[:-1]:
        start = time.process_time()
        outcome = outcome_of(function, text)
        assert not isinstance(outcome, DOIError) or len(str(outcome)) < 2000, text[:40]
        taken = time.process_time() - start
        assert taken < 1, f"{taken:.1f} s: {function} {text[:40]!r} …"


def main() -> None:
    short = long = 0
    for chance in rounds(__doc__):
        for _ in range(2000):
            check(short_text(chance))
        check_time(long_text(chance))
        short, long = short + 2000, long + 1
    print(f"codec: {short:,} texts and {long} of a megabyte, nothing found")


if __name__ == "__main__":
    main()
