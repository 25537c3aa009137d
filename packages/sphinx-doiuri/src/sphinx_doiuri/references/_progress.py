"""The progress of a look-up, as Sphinx shows it."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, TypeVar

from sphinx.util.display import status_iterator

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from doiuri import DOI
    from sphinx.application import Sphinx

_T = TypeVar("_T")


def with_progress(
    app: Sphinx, summary: str, dois: list[DOI], results: Iterable[_T]
) -> Iterator[tuple[DOI, _T]]:
    """Yield each DOI with its result, and show the progress in at most 100 steps: each redraws a line."""
    step = len(dois) // 100 + 1
    shown = dois[::step]
    line = status_iterator(shown, summary, "darkgreen", len(shown), app.verbosity, attrgetter("name"))
    for number, pair in enumerate(zip(dois, results, strict=True)):
        if number % step == 0:
            next(line)
        yield pair
    next(line, None)  # ends the line
