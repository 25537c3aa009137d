"""What all fuzzers begin with: their options, the seed to repeat a run by, and the time that they have."""

import argparse
import random
import time
from collections.abc import Iterator


def rounds(description: str | None) -> Iterator[random.Random]:
    """Read ``--seconds`` and ``--seed``, say the seed, and yield one source of chance until time is up."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    chance = random.Random(options.seed)
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        yield chance
