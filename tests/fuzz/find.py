"""Fuzz find: only DOIs come out, where they say, and the time of a megabyte of anything is linear.

A slow search is measured beside one of a tenth of the text: linear time is ten times as much, quadratic time
a hundred times.

python tests/fuzz/find.py [--seconds 60] [--seed N]
"""

import random
import sys
import time
from functools import partial

from doiuri import DOI, find
from support.adversary import PATTERNS, SYNTAXES, repeated
from support.fuzzing import rounds
from support.growth import is_linear

SIZE = 1_000_000  # characters
SLOW = 0.6  # seconds; a search that takes longer has to be linear


def check(text: str, syntax: str) -> float:
    """Search ``text``, check each match, and return the seconds that the search took."""
    begin = time.process_time()
    matches = list(find(text, syntax))
    seconds = time.process_time() - begin
    last = 0
    for match in matches:
        assert last <= match.start < match.end, (syntax, match)
        assert text[match.start : match.end] == match.text, (syntax, match)
        assert syntax != "text" or DOI.parse(match.text) == match.doi, match
        last = match.end
    return seconds


def search(unit: str, syntax: str, size: int) -> None:
    """Search a text of so many characters."""
    list(find(repeated(unit, size), syntax))


def long_unit(chance: random.Random) -> str:
    """Return one to four patterns, to be repeated."""
    return "".join(chance.choices(PATTERNS, k=chance.choice((1, 1, 2, 3, 4))))


def mixed_text(chance: random.Random) -> str:
    """Return a short text of patterns and random characters."""
    pieces = [*chance.choices(PATTERNS, k=20), *(chr(chance.randrange(0x3100)) for _ in range(5))]
    chance.shuffle(pieces)
    return "".join(pieces)


def main() -> int:
    short = 0
    slowest, slowest_unit = 0.0, ""
    for chance in rounds(__doc__):
        for _ in range(200):
            check(mixed_text(chance), chance.choice(SYNTAXES))
            short += 1
        unit, syntax = long_unit(chance), chance.choice(SYNTAXES)
        seconds = check(repeated(unit, SIZE), syntax)
        if seconds > slowest:
            slowest, slowest_unit = seconds, f"{syntax}: {unit!r}"
        if seconds > SLOW and not is_linear(partial(search, unit, syntax), SIZE // 10, SIZE):
            print(f"{seconds:.2f} s for a megabyte, not linear: {syntax}: {unit!r}")
            return 1
    print(f"{short} short texts; slowest megabyte {slowest:.2f} s ({slowest_unit})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
