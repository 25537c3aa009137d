"""What all fuzzers share: options, the seed to repeat a run, and the time limit."""

import argparse
import random
import time
from collections.abc import Iterator


def rounds(description: str | None) -> Iterator[random.Random]:
    """Read ``--seconds`` and ``--seed``, print the seed, and yield the random generator until time is up."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    options = parser.parse_args()
    print(f"seed {options.seed}: repeat with --seed {options.seed}", flush=True)
    chance = random.Random(options.seed)
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        yield chance
