"""How the time of a job grows with its input, measured on machines that may be busy."""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

T = TypeVar("T")
ATTEMPTS = 5
TOGETHER = 6  # cases that are measured at once
PROPORTION = 0.6  # of the growth of the sizes; a job takes some time for an empty text, too
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


def not_linear(
    job: Callable[[Sequence[T], int], object], cases: Sequence[T], short: int, long: int
) -> list[T]:
    """Return the cases whose time does not grow as `is_linear` wants it.

    Half a dozen of them are first measured together, and smaller: if their time grows in proportion, or less,
    as that of each is then near to linear, none of them is measured alone.
    """
    slow: list[T] = []
    for group in batched(cases, TOGETHER):
        for_short = seconds(partial(job, group, short // 2))
        if seconds(partial(job, group, long // 2)) <= PROPORTION * for_short * long / short:
            continue
        slow += (case for case in group if not is_linear(partial(job, [case]), short, long))
    return slow


def batched(values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield the values in groups of a size, of which the last may be smaller."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


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
