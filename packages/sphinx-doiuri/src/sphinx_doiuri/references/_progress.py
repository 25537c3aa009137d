"""The progress of a look-up, as Sphinx shows it."""

from __future__ import annotations

from contextlib import contextmanager
from operator import attrgetter
from typing import TYPE_CHECKING

from sphinx.util.display import status_iterator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from doiuri import DOI
    from sphinx.application import Sphinx


@contextmanager
def progress(app: Sphinx, summary: str, dois: Sequence[DOI]) -> Iterator[Callable[[int, int | None], None]]:
    """Yield a function that shows how many DOIs are done, in at most 100 steps: each redraws a line."""
    step = len(dois) // 100 + 1
    shown = dois[::step]
    line = status_iterator(shown, summary, "darkgreen", len(shown), app.verbosity, attrgetter("name"))

    def show(done: int, _total: int | None) -> None:
        if (done - 1) % step == 0:
            next(line, None)

    yield show
    for _ in line:  # ends the line
        pass
