"""Compare the codec with its peers in one run: ``python benchmarks/codec.py [--quick]`` prints a table.

Needs idutils, python-doi, rfc3986 and yarl. The mix is 90 % plain names, 8 % with a SICI, 2 % beyond ASCII;
every repeat has names of its own, so that no cache flatters. Times are medians of the processor's time.
"""

import argparse
import importlib
import platform
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from urllib.parse import quote, unquote

from doiuri import DOI, LINK, decode, encode, encode_many

Names = list[str]
Task = Callable[[Names], object]
TURN = 1_000  # names
python_doi = importlib.import_module("doi")
idutils = importlib.import_module("idutils")
rfc3986 = importlib.import_module("rfc3986")
yarl = importlib.import_module("yarl")
quoting = importlib.import_module("yarl._quoting")
yarl_quote: Callable[[str], str] = quoting._Quoter(safe="/", requote=False)
yarl_unquote: Callable[[str], str] = quoting._Unquoter()


def mix(size: int, seed: int) -> Names:
    """Return names in the mix that libraries hold, different for each seed."""
    chance = random.Random(seed)
    names = []
    for _ in range(size):
        kind = chance.random()
        registrant = chance.randrange(1000, 99999)
        number = chance.randrange(10**9)
        names.append(name(kind, registrant, number))
    return names


def name(kind: float, registrant: int, number: int) -> str:
    if kind < 0.90:
        return f"10.{registrant}/journal.pone.{number:09d}"
    if kind < 0.98:
        return f"10.{registrant}/(SICI){number:09d}(199806)49:8<693::AID-ASI{number % 97}>3.0.CO;2-{number % 10}"
    return f"10.{registrant}/Á.GUTIÉRREZ.{number}.été"


def typed(names: Names) -> Names:
    """Return the names as people write them: a third bare, a third as URIs, a third as links."""
    spellings: tuple[Callable[[str], str], ...] = (
        str,
        lambda name: DOI(name).uri,
        lambda name: DOI(name).url,
    )
    return [spellings[number % 3](name) for number, name in enumerate(names)]


def each(function: Callable[[str], object]) -> Task:
    return lambda names: [function(name) for name in names]


def measure(
    tasks: dict[str, Task], spell: Callable[[Names], Names], size: int, repeats: int
) -> dict[str, float]:
    """The median processor time of each task for one name, in ns.

    The tasks take turns every thousand names, so that a busy machine slows them all down alike.
    """
    times: dict[str, list[float]] = {label: [] for label in tasks}
    for repeat in range(repeats):
        texts = [spell(mix(size, repeat * len(tasks) + number)) for number in range(len(tasks))]
        spent = [0] * len(tasks)
        for begin in range(0, size, TURN):
            for number, task in enumerate(tasks.values()):
                part = texts[number][begin : begin + TURN]
                start = time.process_time_ns()
                task(part)
                spent[number] += time.process_time_ns() - start
        for label, whole in zip(tasks, spent, strict=True):
            times[label].append(whole / size)
    return {label: statistics.median(figures) for label, figures in times.items()}


def as_they_are(names: Names) -> Names:
    return names


ENCODE: dict[str, Task] = {
    "urllib.parse.quote": each(lambda name: quote(name, safe="/")),
    "yarl's C quoter (keeps sub-delims)": each(yarl_quote),
    "doiuri.encode": lambda names: [encode(name) for name in names],
    "doiuri.encode, profile LINK": lambda names: [encode(name, LINK) for name in names],
    "doiuri.encode_many": encode_many,
}
DECODE = {
    "urllib.parse.unquote": each(unquote),
    "yarl's C unquoter": each(yarl_unquote),
    "doiuri.decode, which validates": each(decode),
}
LINKS = {
    "idutils: normalize_doi, to_url": each(
        lambda text: idutils.to_url(idutils.normalize_doi(text), "doi", "https")
    ),
    "python-doi: find_doi_in_text, no link": each(python_doi.find_doi_in_text),
    "rfc3986: uri_reference, normalize": each(
        lambda text: rfc3986.uri_reference("doi:" + text).normalize().unsplit()
    ),
    "yarl.URL": each(lambda text: str(yarl.URL("https://doi.org/" + text))),
    "doiuri: DOI.parse, .url": each(lambda text: DOI.parse(text).url),
}
TYPED = {
    "idutils: normalize_doi, to_url": LINKS["idutils: normalize_doi, to_url"],
    "doiuri: DOI.parse, .url": LINKS["doiuri: DOI.parse, .url"],
}
SPELLED = {
    "doiuri: DOI.parse of a doi: URI, .url": each(lambda text: DOI.parse(text).url),
}


def startup(code: str, repeats: int) -> float:
    """The median time of a fresh process, in ms."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter_ns()
        subprocess.run([sys.executable, "-c", code], check=True)
        times.append((time.perf_counter_ns() - start) / 1e6)
    return statistics.median(times)


def table(title: str, rows: dict[str, float], unit: str) -> None:
    """Print one table; ratios refer to its first row."""
    first = next(iter(rows.values()))
    print(f"\n| {title} | {unit} | ratio |\n| --- | ---: | ---: |")
    for label, figure in rows.items():
        print(f"| {label} | {figure:,.0f} | {figure / first:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the codec against its peers.")
    parser.add_argument("--quick", action="store_true", help="few repeats, for a first look")
    size = 20_000
    repeats = 25
    if parser.parse_args().quick:
        size = 5_000
        repeats = 5
    assert encode_many(mix(size, 0)) == [encode(name) for name in mix(size, 0)]
    assert encode_many(mix(size, 0)) == [quote(name, safe="/") for name in mix(size, 0)]
    python = f"{platform.python_implementation()} {platform.python_version()}"
    print(f"{python}, {size:,} names, {repeats} repeats")
    for title, tasks, spell in [
        ("name → URI", ENCODE, as_they_are),
        ("URI → name", DECODE, encode_many),
        ("name as typed → link", LINKS, as_they_are),
        ("name, doi: URI or link, a third each → link", TYPED, typed),
        ("doi: URI → link", SPELLED, lambda names: [DOI(name).uri for name in names]),
    ]:
        table(title, measure(tasks, spell, size, repeats), "ns")
    programs = {
        "import re, unicodedata": "import re, unicodedata",
        "from doiuri import DOI; DOI.parse(…).url": "from doiuri import DOI; DOI.parse('10.1000/182').url",
    }
    times = {label: startup(code, repeats) for label, code in programs.items()}
    table("a fresh process", times, "ms")


if __name__ == "__main__":
    main()
