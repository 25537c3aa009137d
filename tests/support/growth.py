"""How the time of a job grows with its input, measured on machines that may be busy."""

import time
from collections.abc import Callable

ATTEMPTS = 5
FLOOR = 0.0005  # seconds; shorter times are noise


def seconds(job: Callable[[], object]) -> float:
    """Return the CPU seconds that a job takes in this thread."""
    begun = time.thread_time()
    job()
    return time.thread_time() - begun


def is_linear(job: Callable[[int], object], short: int, long: int) -> bool:
    """Return whether the time of `job(long)` is nearer to linear than to quadratic growth from `job(short)`.

    The limit lies halfway, at the power of 1.5, and one attempt of five is enough, since a busy machine
    and full caches slow any of them. The first also compiles and caches what later ones find.
    """
    assert long >= 8 * short, "too close to tell linear from quadratic"
    limit = (long / short) ** 1.5
    return any(_grows_below(limit, job, short, long) for _ in range(ATTEMPTS))


def _grows_below(limit: float, job: Callable[[int], object], short: int, long: int) -> bool:
    """Return whether `job(long)` takes less than `limit` times as long as `job(short)`."""
    for_long = seconds(lambda: job(long))
    if for_long <= limit * FLOOR:
        return True
    for_short = min(seconds(lambda: job(short)), seconds(lambda: job(short)))
    return for_long <= limit * for_short


def is_fast(job: Callable[[], object], limit: float) -> bool:
    """Return whether a job takes at most `limit` CPU seconds in one of five attempts."""
    return any(seconds(job) <= limit for _ in range(ATTEMPTS))
