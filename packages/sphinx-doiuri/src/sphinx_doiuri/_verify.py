"""Look up the DOIs of all documents, once per build, in the main process, and report what is wrong."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Literal, NamedTuple

from doiuri import DOI
from doiuri.plugins import open_resolver
from doiuri.plugins.display import details_of, needs_work
from doiuri.plugins.sentences import dead_doi, remarks
from doiuri.plugins.survey import Need, Survey, common_cause
from sphinx.errors import ConfigError
from sphinx.util import logging
from sphinx.util.display import status_iterator
from sphinx.util.logging import is_suppressed_warning

from sphinx_doiuri._citations import domain_of
from sphinx_doiuri._compat import LinkChecker
from sphinx_doiuri._config import PRODUCT, options, switch
from sphinx_doiuri._environment import doi_data, in_documents, is_shown, links_in, shows_pages
from sphinx_doiuri._locale import __
from sphinx_doiuri._lock import LockBuilder, accepted_dois, open_lock, report_differences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from doiuri.plugins.options import Options
    from doiuri.works import Work
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from sphinx_doiuri._citations import Citation, Place
    from sphinx_doiuri._environment import DOIData, Use

logger = logging.getLogger(__name__)


def verify(app: Sphinx, env: BuildEnvironment) -> None:
    """Look up the DOIs without an answer, warn of each use of one that does not exist, and give advice.

    :raises sphinx.errors.ConfigError: if the lock file or the cache cannot be used.
    """
    data = doi_data(env)
    builder = app.builder
    if isinstance(builder, LinkChecker) and switch(app.config, "doi_linkcheck"):
        data = data.copy()  # not kept: the pages on disk do not show these answers yet
        _look_up(app, data)
        builder.answers = data.statuses
        builder.accepted = accepted_dois(app)
    elif shows_pages(app):
        _look_up(app, data)
    _report_uses(app, data)


def _look_up(app: Sphinx, data: DOIData) -> None:
    """Discard the answers that are out of date, look up those that are missing, and report unknown ones.

    All are looked up again once a day.
    """
    shared = options(app.config)
    lock = open_lock(app)
    has_cards = switch(app.config, "doi_details")
    writes_lock = isinstance(app.builder, LockBuilder)
    uses_lock = lock is not None or writes_lock
    data.discard_stale((shared.resolve, shared.resolver, has_cards, uses_lock), anew=uses_lock)
    if not (shared.resolve or writes_lock or isinstance(app.builder, LinkChecker)):
        return

    last = data.copy()
    data.begin_day(time.strftime("%Y-%m-%d"))
    lacks_answers = data.unanswered() or _works_needed(app, data)
    if not (lacks_answers or has_cards or uses_lock):
        return

    lock_path = None if lock is None else str(lock.path)
    survey = _ask(app, data, replace(shared, lock=lock_path))
    if isinstance(app.builder, LockBuilder):
        # Before keep(), as it changes the works of the survey, which are still those of the data
        app.builder.take(survey)
    data.keep(last)
    if writes_lock:
        return

    if lock is None:
        _report_unknown(app, data, survey)
    else:
        report_differences(app, data, lock, set(_works_needed(app, data)))


def _ask(app: Sphinx, data: DOIData, shared: Options) -> Survey:
    """Ask the resolver or the lock file for what the build needs, and add the answers to the data."""
    try:
        resolver = open_resolver(shared, PRODUCT)
    except ValueError as error:  # the cache cannot be opened
        raise ConfigError(str(error)) from None

    has_cards = switch(app.config, "doi_details")
    lock: Literal["record"] | None = "record" if isinstance(app.builder, LockBuilder) else None
    with resolver:
        survey = Survey(resolver, shared.budget, lock=lock)
        # The survey adds its answers to the dictionaries of the data
        survey.statuses = data.statuses
        survey.works = data.works
        survey.meant = data.meant
        known = set(data.works)
        longer = [(use.doi, use.longer) for use in data.all_uses()]
        needs = _needs(app, data, has_cards=has_cards)
        survey.ask(needs, longer=longer, show=partial(_progress, app))
        if has_cards:
            _report_cards(data, known)
    return survey


def _report_unknown(app: Sphinx, data: DOIData, survey: Survey) -> None:
    """Say how many of the DOIs that this build shows could not be checked or read, and why."""
    shown = dict.fromkeys(use.doi for use in data.all_uses() if is_shown(app, use.conditions))
    unknown = [survey.unknown[doi] for doi in shown if doi in survey.unknown]
    incomplete = [survey.incomplete[doi] for doi in shown if doi in survey.incomplete]
    if unknown:
        cause = common_cause(unknown)
        logger.info(__("%d of %d DOIs could not be checked: %s"), len(unknown), len(shown), cause)
    elif incomplete:
        cause = common_cause(incomplete)
        logger.info(__("the metadata of %d DOIs could not be read: %s"), len(incomplete), cause)


class _WorkUse(NamedTuple):
    """A place at which the build needs the work that a DOI names."""

    docname: str
    doi: DOI
    location: str


def _works_needed(app: Sphinx, data: DOIData) -> list[DOI]:
    """Return the DOIs whose metadata is needed but not known yet.

    They are the cited and the listed ones; if ``doi_text`` names authors, year or title, all.
    """
    if needs_work(options(app.config).text):
        needed: Iterable[DOI] = data.dois()
    else:
        needed = dict.fromkeys(use.doi for use in (*_cited(app), *_linked(app)))
    return [
        doi for doi in needed if doi not in data.works and data.statuses.get(doi) != "not-found"
    ]


def _cited(app: Sphinx) -> Iterator[_WorkUse]:
    """Yield the works that the build cites, and then those that its lists contain because of ``nocite``."""
    domain = domain_of(app.env)
    citations_and_lists: list[Citation | Place] = [
        *in_documents(domain.citations),
        *in_documents(domain.places),
    ]
    for source in citations_and_lists:
        if not is_shown(app, source.conditions):
            continue
        for cite in source.cites:
            if isinstance(cite.key, DOI):
                yield _WorkUse(source.docname, cite.key, source.location)


def _linked(app: Sphinx) -> Iterator[_WorkUse]:
    """Yield the links whose works the build lists."""
    places = [
        place
        for place in in_documents(domain_of(app.env).places)
        if place.links and is_shown(app, place.conditions)
    ]
    pages = {place.docname for place in places}
    lists_project = any(place.scope == "project" for place in places)
    for docname in sorted(doi_data(app.env).uses):
        if lists_project or docname in pages:
            for use in links_in(app, docname):
                yield _WorkUse(docname, use.doi, use.location)


def _needs(app: Sphinx, data: DOIData, *, has_cards: bool) -> dict[DOI, Need]:
    """Return what is needed about the DOIs of the project; those whose works are needed come first."""
    need = Need.CARD if has_cards else Need.EXISTENCE
    needs = dict.fromkeys(_works_needed(app, data), Need.WORK)
    for doi in data.dois():
        needs.setdefault(doi, need)
    return needs


def _report_cards(data: DOIData, known: AbstractSet[DOI]) -> None:
    """Say how many new DOIs get no card.

    :param known: the DOIs whose works were known before this build.
    """
    new = [doi for doi in data.dois() if data.statuses.get(doi) == "found" and doi not in known]
    without_card = [doi for doi in new if not _has_card(data.works.get(doi))]
    if without_card:
        message = __("DOIs without metadata for a card: %d of %d")
        logger.info(message, len(without_card), len(data.dois()))


def _has_card(work: Work | None) -> bool:
    return work is not None and details_of(work) is not None


@contextmanager
def _progress(
    app: Sphinx, stage: str, dois: Sequence[DOI]
) -> Iterator[Callable[[int, int | None], None]]:
    """Yield a function that shows how many DOIs are done, in at most 100 steps: each redraws a line."""
    summary = __("fetching DOI metadata... ") if stage == "works" else __("checking DOIs... ")
    step = len(dois) // 100 + 1
    steps = dois[::step]
    line = status_iterator(
        steps, summary, "darkgreen", len(steps), app.verbosity, attrgetter("name")
    )

    def show(done: int, _total: int | None) -> None:
        if (done - 1) % step == 0:
            next(line, None)

    yield show
    list(line)  # ends the line


def _report_uses(app: Sphinx, data: DOIData) -> None:
    """Warn of each use of a DOI that does not exist, with the advice on it, and give advice on other uses.

    Each warning appears once until its document is read again.
    """
    statuses: Mapping[DOI, str] = data.statuses if shows_pages(app) else {}
    accepted = accepted_dois(app)
    not_found = [doi for doi, status in statuses.items() if status == "not-found"]
    missing = {doi for doi in not_found if doi.key not in accepted}
    for docname in sorted(data.uses):
        last_reported = data.reported.get(docname, set())
        reported = last_reported & missing
        seen = data.seen.setdefault(docname, set())
        for position, use in enumerate(data.uses_in(docname)):
            if not is_shown(app, use.conditions):
                continue

            is_new = position not in seen
            seen.add(position)
            if use.doi in missing and not _is_suppressed(app, "not-found"):
                reported.add(use.doi)
                if is_new or use.doi not in last_reported:
                    _warn_not_found(app, use, data.meant.get(use.doi))
            elif is_new and use.typed:
                exists = statuses.get(use.doi) == "found"
                has_advice = _give_advice(use.typed, use, exists=exists)
                if exists and not has_advice:
                    # A later build gives advice if it does not know that the DOI exists
                    seen.discard(position)
        if shows_pages(app):
            data.reported[docname] = reported


def _give_advice(typed: str, use: Use, *, exists: bool) -> bool:
    """Give the advice on a DOI as its author typed it; return whether there is any."""
    advice = remarks(typed, use.doi, exists=exists)
    for code, message in advice:
        logger.warning(message, type="doi", subtype=code, location=use.location)
    return bool(advice)


def _warn_not_found(app: Sphinx, use: Use, meant: DOI | None) -> None:
    """Warn that a DOI does not exist, with the advice on it that ``suppress_warnings`` leaves."""
    codes = {code for code, _ in remarks(use.typed, use.doi)} if use.typed else set()
    ignored = {code for code in codes if _is_suppressed(app, code)}
    dead = dead_doi(use.doi, use.typed, ignored=ignored, meant=meant)

    subject = dead.subject
    if use.entry:
        subject = __("%s (entry %s)") % (subject, use.entry)
    if dead.suggestion is None:
        message = __("DOI not found: %s") % subject
    else:
        message = __("DOI not found: %s; did you mean %s?") % (subject, dead.suggestion)
    logger.warning("%s", message, type="doi", subtype="not-found", location=use.location)


def _is_suppressed(app: Sphinx, subtype: str) -> bool:
    return is_suppressed_warning("doi", subtype, app.config.suppress_warnings)


def report_works(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn once of each cited or listed DOI without metadata, and of each retracted work, at its first use."""
    data = doi_data(env)
    warned = domain_of(env).warned
    done: set[tuple[str, DOI]] = set()
    for warning in (*_without_metadata(app, data), *_retracted(app, data)):
        subject = (warning.code, warning.doi)
        if subject in done:
            continue
        done.add(subject)
        warned_of = warned.setdefault(warning.docname, set())
        if subject in warned_of:
            continue
        warned_of.add(subject)
        location = warning.location
        logger.warning("%s", warning.message, type="doi", subtype=warning.code, location=location)


class _WorkWarning(NamedTuple):
    """What to say of a work at one of its uses."""

    docname: str
    location: str
    doi: DOI
    code: str
    message: str


def _without_metadata(app: Sphinx, data: DOIData) -> Iterator[_WorkWarning]:
    """Yield the uses of works whose agency has no metadata, and which the files of works lack."""
    cited = __("%s has no metadata, so its citation is a plain link")
    linked = __("%s has no metadata, so it is not in the list of references")
    for message, uses in ((cited, _cited(app)), (linked, _linked(app))):
        for docname, doi, location in uses:
            has_none = doi in data.works and data.works[doi] is None
            if has_none and doi not in data.shown_works:
                yield _WorkWarning(docname, location, doi, "no-metadata", message % doi.name)


def _retracted(app: Sphinx, data: DOIData) -> Iterator[_WorkWarning]:
    """Yield the uses of works that were retracted."""
    for docname in sorted(data.uses):
        for use in data.uses_in(docname):
            work = data.shown_works.get(use.doi)
            if work is None or not work.retraction or not is_shown(app, use.conditions):
                continue
            message = f"{use.doi.name}: {work.retraction}"
            yield _WorkWarning(docname, use.location, use.doi, "retracted", message)
