"""Why DOIs could not be checked, in one line."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# What a resolver says of a request that it did not send because of earlier failures
_NOT_ASKED = re.compile(r"not asked again for \d+ s after repeated failures \(last: ")


def common_cause(reasons: Iterable[str]) -> str:
    """Return the most frequent cause in the reasons of Outcomes; of equally frequent ones, the first.

    A request that is not sent because earlier requests failed has the cause of those.

    >>> refused = "doi.org: Connection refused"
    >>> skipped = "doi.org: not asked again for 5 s after repeated failures (last: Connection refused)"
    >>> common_cause([refused, skipped, skipped])
    'doi.org: Connection refused'

    :param reasons: the reasons, at least one.
    """
    [(cause, _)] = Counter(map(_cause, reasons)).most_common(1)
    return cause


def _cause(reason: str) -> str:
    # Not one pattern for both ends, which would read the rest of a long reason again and again
    skipped = _NOT_ASKED.search(reason) if reason.endswith(")") else None
    return reason[: skipped.start()] + reason[skipped.end() : -1] if skipped else reason
