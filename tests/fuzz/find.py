"""Fuzz find: only DOIs come out, where they say, and the time of a megabyte of anything is linear.

A tenth of a text is searched first: linear time is ten times as much, quadratic time a hundred times.

python tests/fuzz/find.py [--seconds 60] [--seed N]
"""

import random
import sys
import time

from doiuri import DOI, find
from support.adversary import PATTERNS, SYNTAXES
from support.fuzzing import rounds

SIZE = 1_000_000  # characters
MOST = 30  # times the seconds of a tenth of the text
LEAST = 0.02  # seconds; less cannot be measured well


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


def long_text(chance: random.Random) -> str:
    """Return a long text: one to four patterns, repeated, and a DOI at the end, so that all of it is read."""
    unit = "".join(chance.choices(PATTERNS, k=chance.choice((1, 1, 2, 3, 4))))
    return (unit * (SIZE // len(unit) + 1))[:SIZE] + " 10.1000/182"


def mixed_text(chance: random.Random) -> str:
    """Return a short text of patterns and random characters."""
    pieces = [*chance.choices(PATTERNS, k=20), *(chr(chance.randrange(0x3100)) for _ in range(5))]
    chance.shuffle(pieces)
    return "".join(pieces)


def is_linear(text: str, syntax: str) -> bool:
    """Measure up to five times, because a busy machine makes a search slow by chance."""
    return any(check(text, syntax) <= MOST * max(LEAST, check(text[: SIZE // 10], syntax)) for _ in range(5))


def main() -> int:
    short = 0
    slowest, slowest_text = 0.0, ""
    for chance in rounds(__doc__):
        for _ in range(200):
            check(mixed_text(chance), chance.choice(SYNTAXES))
            short += 1
        text, syntax = long_text(chance), chance.choice(SYNTAXES)
        seconds = check(text, syntax)
        if seconds > slowest:
            slowest, slowest_text = seconds, f"{syntax}: {text[:60]!r}"
        if seconds > MOST * LEAST and not is_linear(text, syntax):
            print(f"{seconds:.2f} s for a megabyte, not linear: {syntax}: {text[:60]!r}")
            return 1
    print(f"{short} short texts; slowest megabyte {slowest:.2f} s ({slowest_text})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
