"""How a DOI is written does not matter: label, link, escapes, the case of letters, the syntax around it."""

import html
import re
from collections.abc import Callable, Iterator

from doiuri import DOI, FINAL, LINK, URI, Handle, encode, find
from doiuri.testing.strategies import case_pairs, dois, names
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from support import naive
from support.adversary import SYNTAXES

LABELS = ("doi:", "DOI:", "Doi:")
LINKS = ("https://doi.org/", "http://dx.doi.org/", "HTTPS://WWW.DOI.ORG/", "Http://Doi.Org/")
MORE_LINKS = (
    *(
        "//doi.org/",
        "doi.org/",
        "https://dx.doi.org:443/",
        "https://doi.org./",
        "https://doi.org//",
    ),
    *(
        "https://doi.org/doi:",
        "https://doi.org/DOI:",
        "https://doi.org/INFO:doi/",
        "https://doi.org/hdl:",
    ),
    *("https://doi.org/api/handles/", "https://doi.org/doi/"),
)
TYPED = (
    *("", "doi: ", "DOI ", "dOi :\u00a0", "info:doi/", "Info:DOI/", "hdl:", "HDL:", "info:hdl/"),
    *("doi:doi:", "doi:DOI:", "DOI:doi:", "doi:https://doi.org/", "DOI: HTTP://DX.DOI.ORG/"),
    *("https://doi.org/https://doi.org/", "Doi.Org/DX.doi.org/"),
)
PLACES = {
    "text": ("{}", "See {}.", "({}), and"),
    "html": ("<a href='{}'>x</a>", "<p>{}</p>", '<A HREF="{}">x</A>'),
    "markdown": ("[x]({})", "[x](<{}> 'y')", "<{}>", "[x]: {}\n"),
    "rst": ("`x <{}>`_", ":doi:`x <{}>`", ".. _x: {}\n"),
    "asciidoc": ("link:++{}++[x]", "`{}`", "*{}*"),
    "bibtex": ("url = {{{}}}", 'DOI = "{}"', "\\url{{{}}}"),
}
as_they_are = settings(
    phases=[Phase.explicit, Phase.generate]
)  # shrinking hundreds of spellings takes minutes
PRINTABLE = "".join(map(chr, range(0x20, 0x7F)))


def other_case(name: str) -> str:
    """The name with ASCII letters in the other case."""
    return re.sub("[A-Za-z]", lambda letter: letter[0].swapcase(), name)


def escapes(name: str) -> Iterator[str]:
    """The name as each profile writes it, and with every character escaped, in both cases of hex digits."""
    for profile in (URI, LINK, FINAL):
        yield encode(name, profile)
    every = "".join(f"%{octet:02X}" for octet in name.encode())
    yield from (f"10.{every[9:]}", f"10.{every[9:].lower()}")


def spellings(name: str) -> Iterator[tuple[Callable[[str], Handle], str]]:
    """Each door with each text by which it takes the name."""
    yield from ((door, name) for door in (DOI, DOI.from_name, Handle.from_name))
    for text in escapes(name):
        yield from ((DOI.from_uri, label + text) for label in LABELS)
        for link in LINKS + MORE_LINKS:
            yield DOI.from_url, link + text
            yield DOI.from_url, f"{link}{text}?x#y"
        for start in LABELS + LINKS + MORE_LINKS + TYPED:
            yield DOI.parse, start + text
            yield Handle.parse, f" <{start}{text}>\n"
    urn = DOI(name).urn.removeprefix("urn:")
    yield from ((DOI.parse, start + urn) for start in ("urn:", "URN:", "https://doi.org/Urn:"))


@as_they_are
@given((case_pairs() | st.tuples(names(), names())).map(lambda pair: (DOI(pair[0]), DOI(pair[1]))))
@example((DOI("10.1000/" + PRINTABLE), DOI("10.1000/" + PRINTABLE.upper())))
@example((DOI("10.1000/aZ%41%2F%2541%zz"), DOI("10.1000/aZ%2541")))
@example(
    (
        DOI("10.1.5/\u00e9\u00c9\u03c3\u00df\u017f\u212a\ufb01"),
        DOI("10.1.5/\u00c9\u00c9\u03a3SSSKFI"),
    )
)
@example((DOI("10.1000/a//../b:c/.."), DOI("10.1000/a/b:c")))
@example((DOI("10.1000/x_"), DOI("10.1000/xa")))
@example((DOI("10.1000/\u00c1-"), DOI("10.1000/A\u0301\u2212")))
@example((DOI("10.01000/x"), DOI("10.1000/x")))
def test_every_spelling_is_the_same_doi(pair: tuple[DOI, DOI]) -> None:
    """ASCII letters fold, nothing else does; labels and links fall away; escapes are undone once.

    It proves C-06 C-13 C-31 G-08 L-32 N-008 N-009 N-074 to N-079 N-099 P-06 S-22 U-32 to U-39.
    """
    doi, other = pair
    key = naive.key(doi.name)
    other_key = naive.key(other.name)
    wrong = []
    for name in (doi.name, other_case(doi.name)):
        url = f"https://doi.org/{naive.encode_link(name)}"
        expected = (name, key, hash(doi), True, url, *compared(key, other_key))
        for door, text in spellings(name):
            found: object
            try:
                read = door(text)
                found = (
                    read.name,
                    read.key,
                    hash(read),
                    read == doi,
                    read.url,
                    *compared(read, other),
                )
            except ValueError as error:
                found = error
            if found != expected:
                wrong.append(f"{found} of {door.__qualname__}({text!r})")
    assert not wrong, "\n".join(wrong[:5])


def compared(one: Handle | str, other: Handle | str) -> tuple[bool, ...]:
    return one == other, one < other, one <= other, one > other, one >= other  # type: ignore[operator]


@as_they_are
@given(dois(12))
@example(DOI("10.1000/" + PRINTABLE))
def test_every_spelling_is_found_whole(doi: DOI) -> None:
    """With a label or a link any name counts, in every syntax, and an encoded character never ends it."""
    wrong = []
    for name in (f"{doi.name}x1", f"{other_case(doi.name)}X1"):
        for start in (*LABELS, *LINKS, "//doi.org/", "info:doi/", "HDL:"):
            written = start + encode(name, URI)
            for syntax in SYNTAXES:
                for place in PLACES[syntax]:
                    text = place.format(written)
                    found = [
                        (match.text, match.label, match.doi.name, match.doi.key)
                        for match in find(text, syntax)
                    ]
                    if found != [(html.unescape(written), start, name, naive.key(name))]:
                        wrong.append(f"{found} in {syntax}: {text}")
    assert not wrong, "\n".join(wrong[:5])
