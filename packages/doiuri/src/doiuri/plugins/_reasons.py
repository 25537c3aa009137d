"""Why DOIs could not be checked, in one line."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from doiuri.resolver import Cause


def tally(causes: Iterable[Cause]) -> dict[Cause, int]:
    """Return how often each cause occurs, the most frequent first; of equally frequent ones, the earliest.

    Causes are the same if kind, host and HTTP status are; the first of them stands for all.

    >>> from doiuri.resolver import Cause
    >>> refused = Cause("connection", "doi.org", detail="Connection refused")
    >>> skipped = refused._replace(detail="Connection refused; not asked again for 5 s", retry_after=5.0)
    >>> for cause, count in tally([Cause("offline", detail="offline"), refused, skipped]).items():
    ...     print(cause, count)
    doi.org: Connection refused 2
    offline 1
    """
    firsts: dict[tuple[object, ...], Cause] = {}
    counts: Counter[tuple[object, ...]] = Counter()
    for cause in causes:
        firsts.setdefault(cause[:3], cause)
        counts[cause[:3]] += 1
    return {firsts[key]: count for key, count in counts.most_common()}


def common_cause(causes: Iterable[Cause]) -> Cause:
    """Return the most frequent cause, as ``tally`` counts them.

    :param causes: the causes, at least one.
    """
    return next(iter(tally(causes)))
