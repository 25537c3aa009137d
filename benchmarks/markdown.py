"""Measure the cost of the Markdown extension: `python benchmarks/markdown.py [--quick]` prints tables."""

import argparse
import gc
import random
import re
import resource
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

# not from this folder, in which "markdown" is this file
HERE = Path(__file__).resolve().parent
sys.path = [folder for folder in sys.path if Path(folder).resolve() != HERE]

import markdown  # noqa: E402
from doiuri.resolver import LockFile  # noqa: E402
from doiuri_proxy import resolver_for, running  # noqa: E402

Options = dict[str, object]

EACH = 500  # characters of prose with one DOI
COMMON = """the of and to a in that is was he for it with as his on be at by had not are but from or have
an they which one you were her all she there would their we him been has when who will more no if out so said
what up its about into than them can only other new some could time these two may then do first any my now"""
FORMS = ("doi:{}", "<doi:{}>", "[this article](doi:{})")


def prose(size: int, marked: bool) -> tuple[str, list[str]]:
    """Return ``size`` characters of paragraphs, and the DOIs in them.

    ``marked`` is as authors write: broken lines, a heading and a list now and then, emphasis, code, links.
    """
    chance = random.Random(size)
    words = COMMON.split()
    names = []
    paragraphs = []
    for number in range(size // EACH):
        name = f"10.{chance.randrange(1000, 9999)}/{chance.choice(('abc', 'j.cub', 's'))}.{number}"
        names.append(name)
        body = chance.choices(words, k=105)
        if marked:
            for form in ("*{}*", "**{}**", "`{}`", "[{}](https://example.org/)"):
                place = chance.randrange(len(body))
                body[place] = form.format(body[place])
        place = chance.randrange(len(body))
        body.insert(place, chance.choice(FORMS).format(name))
        paragraph = layout(body, number) if marked else " ".join(body)
        paragraphs.append(paragraph)
    return "\n\n".join(paragraphs), names


def layout(words: list[str], number: int) -> str:
    """Return the words in lines of twelve; now and then with a heading, or as a list."""
    item = "- " if number % 10 == 5 else ""
    lines = []
    if number % 10 == 0:
        lines.append(f"## Part {number}\n")
    for place in range(0, len(words), 12):
        lines.append(item + " ".join(words[place : place + 12]))
    return "\n".join(lines)


def long_line(form: str) -> str:
    """Return one line of 1 MB with 2,500 DOIs in this form."""
    chance = random.Random(1)
    words = COMMON.split()
    parts = []
    for n in range(2_500):
        parts += chance.choices(words, k=90)
        parts.append(form.format(f"10.1000/abc.{n}"))
    return " ".join(parts)


def convert(text: str, options: Options | None) -> str:
    """Convert with plain Markdown, or with our options."""
    if options is None:
        return markdown.markdown(text)
    return markdown.markdown(text, extensions=["doiuri"], extension_configs={"doiuri": options})


def user_cpu(text: str, options: Options | None) -> float:
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    convert(text, options)
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime - before


class Medians(NamedTuple):
    """The medians for plain Markdown and for ours, in seconds of user CPU."""

    plain: float
    ours: float

    def __str__(self) -> str:
        return f"{self.plain:.3f} | {self.ours:.3f} | {self.ours / self.plain:.2f}"


def compare(text: str, options: Options, repeats: int) -> Medians:
    """Return the medians, measured in turns."""
    plain = []
    ours = []
    for _ in range(repeats):
        plain.append(user_cpu(text, None))
        ours.append(user_cpu(text, options))
    return Medians(statistics.median(plain), statistics.median(ours))


def record(name: str) -> Options:
    data = {"format": "string", "value": f"https://example.org/{name}"}
    return {"handle": name, "values": [{"index": 1, "type": "URL", "data": data, "ttl": 86400}]}


def warm(size: int, marked: bool, repeats: int) -> Medians:
    """Measure with every answer in the cache: the first conversion fills it and is not counted."""
    text, names = prose(size, marked)
    with (
        tempfile.TemporaryDirectory() as folder,
        running([record(name) for name in names]) as proxy,
    ):
        options: Options = {"resolver": proxy.url, "cache": f"{folder}/cache", "budget": 600}
        assert convert(text, options).count('class="doi"') == len(names)
        return compare(text, options, repeats)


CITED = 200  # works, each cited once


def work(number: int) -> dict[str, object]:
    """Return a record with metadata."""
    csl = {
        "title": f"The title of article {number}",
        "author": [{"family": f"Name{number % 77}", "given": "A."}],
        "issued": {"date-parts": [[2000 + number % 20]]},
    }
    name = f"10.5555/work.{number}"
    entry = f"Name{number % 77}, A. (2000). The title of article {number}. https://doi.org/{name}"
    metadata = {
        "application/vnd.citationstyles.csl+json": csl,
        "text/x-bibliography; style=apa": entry,
    }
    return {"handle": name, "values": [], "metadata": metadata}


def cited(size: int, repeats: int) -> Medians:
    """Measure prose with citations, textual and in brackets, of works that are all in the lock file."""
    with_dois, _ = prose(size, True)
    plain = re.sub(r"<doi:\S*>|\[this article\]\(doi:\S*\)|doi:\S*", "article", with_dois)
    paragraphs = plain.split("\n\n")
    names = [f"10.5555/work.{number}" for number in range(CITED)]
    for number, name in enumerate(names):
        citation = f"[@doi:{name}]" if number % 2 else f"@doi:{name}"
        paragraphs[number * len(paragraphs) // CITED] += f"\n{citation}"
    text = "\n\n".join(paragraphs)
    works = [work(number) for number in range(CITED)]
    with tempfile.TemporaryDirectory() as folder:
        with resolver_for(works, store=LockFile(f"{folder}/lock")) as resolver:
            assert all(outcome.work for outcome in resolver.works(names))
        options: Options = {"lock": f"{folder}/lock", "offline": True, "cache": f"{folder}/cache"}
        assert convert(text, options).count("doi-backref") == CITED
        return compare(text, options, repeats)


HOSTILE: dict[str, Callable[[int], str]] = {
    "doi: × n": lambda n: "doi:" * n,
    "doi:10. × n": lambda n: "doi:10." * n,
    "doi:10.1000/ and ( × n": lambda n: "doi:10.1000/" + "(" * n,
    # the next three are shorter: plain Markdown and its HTML parser take quadratic time or more
    "<doi: × n/4": lambda n: "<doi:" * (n // 4),
    "<doi:<a> × n/4": lambda n: "<doi:<a>" * (n // 4),
    '<a "<doi: × n/20': lambda n: '<a "<doi:' * (n // 20),
    "doi:10.1000/_ × n": lambda n: "_doi:10.1000/_" * n,
    "$ × n": lambda n: "doi:10.1000/1 " + "$x " * n,
    "&amp; × n": lambda n: "doi:10.1000/1" + "&amp;" * n,
    "[x](doi:1) in paragraphs": lambda n: "[x](doi:1)\n\n" * n,
    "<doi:1> in paragraphs": lambda n: "<doi:1>\n\n" * n,
}


def growth(make: Callable[[int], str], size: int) -> tuple[float, float]:
    """Return our extra seconds for ``size``, and how many times as long four times the size takes."""
    extra = extra_seconds(make(size))
    return extra, extra_seconds(make(4 * size)) / extra


def extra_seconds(text: str) -> float:
    medians = compare(text, {"resolve": False, "warn": repr}, 3)
    return max(medians.ours - medians.plain, 0.01)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller texts, fewer repeats")
    quick = parser.parse_args().quick
    small = 200_000 if quick else 1_000_000
    factor = 4 if quick else 10
    repeats = 3 if quick else 5
    long_repeats = 3 if quick else 1
    print("| text, every DOI known | plain, s | with DOIs, s | ratio |\n| --- | --- | --- | --- |")
    for title, marked in (("prose", True), ("words and nothing else", False)):
        short = warm(small, marked, repeats)
        long = warm(factor * small, marked, long_repeats)
        growth_of_extra = (long.ours - long.plain) / (short.ours - short.plain)
        print(f"| {small:,} B of {title} | {short} |")
        print(f"| {factor * small:,} B of {title} | {long} |")
        print(f"| extra time for {factor} × the {title} | | | {growth_of_extra:.1f} × |")
    print(f"| {small:,} B with {CITED} citations | {cited(small, repeats)} |")
    print("\n| one line of 1 MB with 2,500 DOIs | plain, s | with DOIs, s | ratio |")
    print("| --- | --- | --- | --- |")
    for form in (*FORMS, "(doi:{})", "*doi:{}*"):
        print(f"| `{form}` | {compare(long_line(form), {'resolve': False}, repeats)} |")
    print("\n| hostile text | extra, s | for 4 × the text |\n| --- | --- | --- |")
    size = 2_000 if quick else 10_000
    for title, make in HOSTILE.items():
        extra, ratio = growth(make, size)
        print(f"| `{title}` | {extra:.3f} | {ratio:.1f} × |")


if __name__ == "__main__":
    main()
