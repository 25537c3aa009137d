"""Compare `find` with its peers in one run: ``python benchmarks/find.py [--quick]``.

Needs idutils and python-doi. Prints Markdown tables: the speed in MB/s of this process's time, medians over
repeats, each with prose of its own, a DOI in 2 kB and in 200 B; and how many mentions come out exactly. The
names are 90 % plain, 8 % with a SICI, 2 % beyond ASCII; bare, labelled and linked, in prose with punctuation.

The last table has text as rich in markup as real documents (see ``markup.py``), searched with Crossref's
pattern, as plain text, and in its syntax, in turn.
"""

import argparse
import html
import platform
import random
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial

import doi as python_doi
import idutils  # type: ignore[import-untyped]
from doiuri import DOI, find
from markup import MIX, SYNTAXES, markup  # type: ignore[import-not-found]  # beside this file

Search = Callable[[str], list[str]]

_WORDS = re.findall(
    r"\S+",
    "the of and for results study journal in we show that data 2019 12.5 method, (see Fig. 3) with: an on is "
    "observed; rates 0.05 between groups. However, 1990-2010 and/or large-scale e.g. temperature Smith's",
)
_DECIMALS = [*_WORDS, "10.5", "v10.2", "2010."]  # words that begin as a name does
_SENTENCES = ("as {} says", "({}).", "see {}.", "in {}, and", "[{}];", "“{}”", "{}:", "are in {}?")
_LEADS = ("", "", "doi:", "DOI: ", "https://doi.org/", "http://dx.doi.org/")
# The pattern that Crossref recommends, with the \b that it needs in prose
_CROSSREF = re.compile(r"\b10\.\d{4,9}/[-._;()/:A-Z0-9]+", re.IGNORECASE)


def name(chance: random.Random) -> str:
    kind = chance.random()
    registrant = chance.randrange(1000, 99999)
    number = chance.randrange(10**9)
    if kind < 0.90:
        return f"10.{registrant}/journal.pone.{number:09d}"
    if kind < 0.98:
        return (
            f"10.{registrant}/(SICI){number:09d}(199806)49:8<693::AID-ASI{number % 97}>3.0.CO;2-X"
        )
    return f"10.{registrant}/Á.GUTIÉRREZ.{number}.été"


def prose(
    size: int, gap: int, seed: int, vocabulary: list[str] = _WORDS
) -> tuple[list[str], list[str]]:
    """Return paragraphs of ``gap`` characters, ``size`` in all, and the name in each."""
    chance = random.Random(seed)
    paragraphs = []
    names = []
    for _ in range(size // gap):
        doi = name(chance)
        lead = chance.choice(_LEADS)
        written = DOI(doi).url if lead.startswith("https") else lead + doi
        mention = chance.choice(_SENTENCES).format(written)
        words = " ".join(chance.choices(vocabulary, k=gap // 5))[: max(0, gap - len(mention) - 2)]
        place = words.find(" ", len(words) // 2)
        paragraphs.append(f"{words[:place]} {mention}{words[place:]}\n")
        names.append(doi)
    return paragraphs, names


def with_doiuri(text: str, syntax: str = "text") -> list[str]:
    return [match.doi.name for match in find(text, syntax)]


def with_crossref(text: str) -> list[str]:
    return _CROSSREF.findall(text)


def with_python_doi(text: str) -> list[str]:
    found = python_doi.find_doi_in_text(text)
    return [found] if found else []


def with_idutils(text: str) -> list[str]:
    return [idutils.normalize_doi(word) for word in text.split() if idutils.is_doi(word)]


# The input of one call: the whole text, or one paragraph if the search returns only one DOI
PEERS: dict[str, tuple[Search, bool]] = {
    "doiuri.find": (with_doiuri, True),
    "Crossref's pattern": (with_crossref, True),
    "python-doi: find_doi_in_text, by paragraph": (with_python_doi, False),
    "idutils: is_doi, by word": (with_idutils, False),
}


def seconds(search: Search, texts: list[str]) -> float:
    start = time.process_time()
    for text in texts:
        search(text)
    return time.process_time() - start


def speed(search: Search, whole: bool, gap: int, size: int, repeats: int) -> float:
    """The median speed in millions of characters per second."""
    speeds = []
    for seed in range(repeats):
        paragraphs, _ = prose(size, gap, seed)
        texts = ["".join(paragraphs)] if whole else paragraphs
        speeds.append(sum(map(len, texts)) / seconds(search, texts) / 1e6)
    return statistics.median(speeds)


def decimals(size: int) -> Iterator[tuple[str, float]]:
    """The speed on prose with decimals and versions, in ASCII and with one other character."""
    plain, _ = prose(size, 2000, 0)
    decimal, _ = prose(size, 2000, 0, _DECIMALS)
    texts = {
        "prose": "".join(plain),
        "with decimals": "".join(decimal),
        "and a dash": "".join(decimal) + "—",
    }
    for label, text in texts.items():
        yield label, len(text) / seconds(with_doiuri, [text]) / 1e6


def exact(search: Search, gap: int, size: int) -> float:
    """Return the share of paragraphs for which the search returns exactly their name."""
    paragraphs, names = prose(size, gap, 0)
    right = sum(search(text) == [doi] for text, doi in zip(paragraphs, names, strict=True))
    return right / len(names)


def syntaxes(size: int) -> Iterator[tuple[str, float]]:
    """The speed of each syntax on prose that is legal in all of them."""
    paragraphs, _ = prose(size, 2000, 0)
    text = html.escape("".join(paragraphs), quote=False)
    for syntax in ("text", "html", "markdown", "rst", "bibtex"):
        start = time.process_time()
        for _ in find(text, syntax):
            pass
        yield syntax, len(text) / (time.process_time() - start) / 1e6


def in_markup(size: int, repeats: int) -> Iterator[tuple[str, float, float, float]]:
    """For each syntax, medians: the speed of Crossref's pattern; the ratios of find, as text and in it."""
    for syntax in SYNTAXES:
        in_syntax: Search = partial(with_doiuri, syntax=syntax)
        peers = []
        plain = []
        ratios = []
        for seed in range(repeats):
            text = markup(syntax, size, seed, name)
            peer = seconds(with_crossref, [text])
            peers.append(len(text) / peer / 1e6)
            plain.append(peer / seconds(with_doiuri, [text]))
            ratios.append(peer / seconds(in_syntax, [text]))
        yield syntax, statistics.median(peers), statistics.median(plain), statistics.median(ratios)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure find against its peers.")
    parser.add_argument("--quick", action="store_true", help="few repeats, for a first look")
    size = 10_000_000
    repeats = 7
    if parser.parse_args().quick:
        size = 1_000_000
        repeats = 3
    print(f"Python {platform.python_version()}, {platform.machine()}, {sys.platform}\n")
    print("| search | MB/s, a DOI in 2 kB | MB/s, a DOI in 200 B | exact |")
    print("| --- | ---: | ---: | ---: |")
    for label, (search, whole) in PEERS.items():
        searched = size if whole else size // 10
        rare = speed(search, whole, 2000, searched, repeats)
        frequent = speed(search, whole, 200, searched, repeats)
        share = exact(search, 200, size // 10)
        print(f"| {label} | {rare:,.0f} | {frequent:,.0f} | {share:.0%} |")
    print("\n| text | MB/s, a DOI in 2 kB |\n| --- | ---: |")
    for label, figure in decimals(size):
        print(f"| {label} | {figure:,.0f} |")
    print("\n| syntax | MB/s, a DOI in 2 kB |\n| --- | ---: |")
    for syntax, figure in syntaxes(size):
        print(f"| {syntax} | {figure:,.0f} |")
    print(f"\nMarkup: {MIX}.\n")
    print("| markup | Crossref's pattern, MB/s | find as text | find |")
    print("| --- | ---: | ---: | ---: |")
    for syntax, peer, plain, ratio in in_markup(size // 10, repeats):
        print(f"| {syntax} | {peer:,.0f} | {plain:.2f} x | {ratio:.2f} x |")


if __name__ == "__main__":
    main()
