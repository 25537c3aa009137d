"""Find the DOIs of works that have none, by our rule and by that of JOSS' editorial bot, and count the wrong ones.

    python benchmarks/search.py WORKS QUERIES

WORKS and QUERIES are files of JSON lines, perhaps compressed by gzip. A work is CSL-JSON with its DOI, as a
registry has it; a query is ``{"truth": DOI or null, "item": CSL-JSON}``: a work without its DOI, and what it
is, or null if the registry does not have it. Both rules get the same candidates, eight for each query, from a
full-text index of titles and first authors. A second DOI of the same work (the same first page and letters of the
title) counts as neither right nor wrong.
"""

from __future__ import annotations

import gzip
import json
import re
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from doiuri.search._rule import choose
from doiuri.works import Work

Item = dict[str, Any]
CANDIDATES = 8


def lines(path: str) -> list[Item]:
    raw = Path(path).read_bytes()
    text = gzip.decompress(raw) if path.endswith(".gz") else raw
    return [json.loads(line) for line in text.splitlines()]


def words(item: Item) -> str:
    names = item.get("author") or item.get("editor") or [{}]
    family = names[0].get("family") or names[0].get("literal") or ""
    return " ".join(re.findall(r"[^\W_]+", f"{item['title']} {family}".casefold()))


def letters(item: Item) -> str:
    return "".join(re.findall(r"[^\W_]", re.sub(r"<[^<>]*>", "", item["title"]).casefold()))


def first_page(item: Item) -> str:
    return re.split(r"\W", str(item.get("page") or ""))[0]


def candidates(works: list[Item], queries: list[Item]) -> Iterator[list[Item]]:
    index = sqlite3.connect(":memory:")
    index.execute("CREATE VIRTUAL TABLE texts USING fts5(words)")
    rows = [(number + 1, words(work)) for number, work in enumerate(works)]
    index.executemany("INSERT INTO texts (rowid, words) VALUES (?, ?)", rows)
    for query in queries:
        wanted = " OR ".join(f'"{word}"' for word in dict.fromkeys(words(query["item"]).split()))
        best = "SELECT rowid FROM texts WHERE words MATCH ? ORDER BY rank LIMIT ?"
        found = index.execute(best, [wanted, CANDIDATES])
        yield [works[number - 1] for (number,) in found]


def by_proof(item: Item, found: list[Item]) -> str | None:
    sure, _ = choose(Work.from_item("query", item), found)
    return sure.doi.name if sure else None


def by_nearly_the_same_title(item: Item, found: list[Item]) -> str | None:
    """Return the first result whose title has fewer than three other letters, as the editorial bot does."""
    if found and distance(found[0]["title"].lower(), item["title"].lower()) < 3:
        return str(found[0]["DOI"])
    return None


def distance(one: str, other: str) -> int:
    """Return the Levenshtein distance."""
    previous = list(range(len(other) + 1))
    for row, left in enumerate(one, 1):
        current = [row]
        for column, right in enumerate(other, 1):
            substituted = previous[column - 1] + (left != right)
            current.append(min(previous[column] + 1, current[-1] + 1, substituted))
        previous = current
    return previous[-1]


def main(works_file: str, queries_file: str) -> None:
    works = lines(works_file)
    queries = lines(queries_file)
    by_doi = {work["DOI"].lower(): work for work in works}
    found = list(candidates(works, queries))
    rules: dict[str, Callable[[Item, list[Item]], str | None]] = {
        "doiuri": by_proof,
        "nearly the same title": by_nearly_the_same_title,
    }
    present = sum(query["truth"] is not None for query in queries)
    print(f"{len(queries)} works, {present} of which are among the {len(works)} registered ones")
    print("| rule | precision | recall | right | wrong |\n| --- | --- | --- | --- | --- |")
    for name, rule in rules.items():
        counts: Counter[str] = Counter()
        for query, items in zip(queries, found, strict=True):
            answer = (rule(query["item"], items) or "").lower()
            if not answer:
                continue
            item = query["item"]
            work = by_doi[answer]
            is_twin = first_page(work) == first_page(item) != "" and letters(work) == letters(item)
            if answer == query["truth"]:
                counts["right"] += 1
            elif not is_twin:
                counts["wrong"] += 1
        right, wrong = counts["right"], counts["wrong"]
        precision = f"{right / (right + wrong):.2%}"
        print(f"| {name} | {precision} | {right / present:.1%} | {right} | {wrong} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
