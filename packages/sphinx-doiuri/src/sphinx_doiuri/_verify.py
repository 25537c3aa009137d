"""Look up the DOIs of all documents, once per build, in the main process."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

from doiuri.plugins import open_resolver
from doiuri.plugins.survey import Need, Survey
from sphinx.errors import ConfigError
from sphinx.util.display import status_iterator

from sphinx_doiuri._compat import LinkChecker
from sphinx_doiuri._config import PRODUCT, options, switch
from sphinx_doiuri._environment import doi_data, shows_pages
from sphinx_doiuri._locale import __
from sphinx_doiuri._lock import LockBuilder, read_lock
from sphinx_doiuri._report import report_cards, report_differences, report_unknown, report_uses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from doiuri import DOI
    from doiuri.plugins.options import Options
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from sphinx_doiuri._contents import Contents
    from sphinx_doiuri._environment import DOIData
    from sphinx_doiuri._lock import Lock


def verify(app: Sphinx, env: BuildEnvironment, written: Contents) -> Contents:
    """Bring the answers about DOIs up to date, and report what is wrong.

    1. Read the options and the lock file.
    2. Ask the lock file or else the resolver for what is not known. ``linkcheck`` does so, too, but its
       answers are not kept: the pages on disk do not show them yet. ``gettext`` asks nothing.
    3. Report what is not known, DOIs that do not exist, and advice on how DOIs are written.

    :param written: what the pages show, as it is written.
    :returns: the same with the names that mentions mean, now that they are known.
    :raises sphinx.errors.ConfigError: if the lock file or the cache cannot be used.
    """
    settings = options(app.config)
    lock = read_lock(app, settings)
    data = doi_data(env)
    asks = shows_pages(app)
    builder = app.builder
    if isinstance(builder, LinkChecker):
        data = data.copy()
        asks = switch(app.config, "doi_linkcheck")

    if asks:
        _look_up(app, data, written, settings, lock)
        if isinstance(builder, LinkChecker):
            builder.answers = data.statuses
            builder.accepted = lock.accepted

    contents = written.with_whole_names(data.statuses)
    report_uses(app, data, contents, lock.accepted)
    return contents


def _look_up(app: Sphinx, data: DOIData, written: Contents, settings: Options, lock: Lock) -> None:
    """Discard the answers that are out of date, ask for those that are missing, and report what stays unknown.

    Answers of a resolver are renewed once a day, those of a lock file in every build.
    """
    has_cards = switch(app.config, "doi_details")
    writes_lock = isinstance(app.builder, LockBuilder)
    uses_lock = writes_lock or lock.file is not None
    source = (settings.resolve, settings.resolver, has_cards, uses_lock)
    data.discard_stale(source, anew=uses_lock)
    # Without doi_resolve, only the builders ask whose task it is to know about DOIs.
    if not (settings.resolve or writes_lock or isinstance(app.builder, LinkChecker)):
        return

    # Is there anything to ask?
    last = data.copy()
    data.begin_day(time.strftime("%Y-%m-%d"))
    unknown_works = written.with_whole_names(data.statuses).unknown_works(data)
    if not (data.unanswered() or unknown_works or has_cards or uses_lock):
        return

    # Ask, first for the works that pages show
    needs = dict.fromkeys(unknown_works, Need.WORK)
    need = Need.CARD if has_cards else Need.EXISTENCE
    for doi in data.dois():
        needs.setdefault(doi, need)
    known_works = {*data.works}
    lock_path = None if lock.file is None else str(lock.file.path)
    survey = _ask(app, data, needs, replace(settings, lock=lock_path))

    # Keep the answers, and report what they lack
    if has_cards:
        report_cards(data, known_works)
    if isinstance(app.builder, LockBuilder):
        # Before keep(), as it changes the works of the survey, which are still those of the data
        app.builder.take(survey)
    data.keep(last)
    contents = written.with_whole_names(data.statuses)
    if lock.file is not None:
        report_differences(lock.file, data, contents, drops_unused=lock.drops_unused)
    elif not writes_lock:
        report_unknown(survey, contents)


def _ask(app: Sphinx, data: DOIData, needs: Mapping[DOI, Need], settings: Options) -> Survey:
    """Ask the resolver or the lock file for what is needed, and add the answers to the data.

    :raises sphinx.errors.ConfigError: if the cache cannot be opened.
    """
    try:
        resolver = open_resolver(settings, PRODUCT)
    except ValueError as error:
        raise ConfigError(str(error)) from None

    to_lock: Literal["record"] | None = "record" if isinstance(app.builder, LockBuilder) else None
    with resolver:
        survey = Survey(resolver, settings.budget, lock=to_lock)
        # The survey adds its answers to the dictionaries of the data
        survey.statuses = data.statuses
        survey.works = data.works
        survey.meant = data.meant
        longer = [(use.doi, use.longer) for use in data.all_uses()]
        survey.ask(needs, longer=longer, show=partial(_progress, app.verbosity))
    return survey


@contextmanager
def _progress(
    verbosity: int, stage: str, dois: Sequence[DOI]
) -> Iterator[Callable[[int, int | None], None]]:
    """Yield a function that shows how many DOIs are done, in at most 100 steps: each redraws a line."""
    summary = __("fetching DOI metadata... ") if stage == "works" else __("checking DOIs... ")
    dois_per_step = len(dois) // 100 + 1
    steps = dois[::dois_per_step]
    line = status_iterator(steps, summary, "darkgreen", len(steps), verbosity, attrgetter("name"))

    def show(done: int, _total: int | None) -> None:
        if (done - 1) % dois_per_step == 0:
            next(line, None)

    yield show
    list(line)  # ends the line
