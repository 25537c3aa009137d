"""Look up the DOIs of all documents, once per build, in the main process, and report what is wrong."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING

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
from sphinx_doiuri._environment import doi_data, is_shown, links_in, shows_pages
from sphinx_doiuri._locale import __
from sphinx_doiuri._lock import LockBuilder, accepted_dois, open_lock, report_differences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from sphinx_doiuri._citations import Citation, Place
    from sphinx_doiuri._environment import DOIData, Use

logger = logging.getLogger(__name__)


def verify(app: Sphinx, env: BuildEnvironment) -> None:
    """Look up the DOIs without an answer, warn of each use of one that does not exist, and give advice.

    :raises sphinx.errors.ConfigError: if the lock file or the cache cannot be used.
    """
    data, builder = doi_data(env), app.builder
    if isinstance(builder, LinkChecker) and switch(app.config, "doi_linkcheck"):
        data = data.copy()  # not kept: the pages on disk do not show these answers yet
        _look_up(app, data)
        builder.answers, builder.accepted = data.statuses, accepted_dois(app)
    elif shows_pages(app):
        _look_up(app, data)
    _report_uses(app, data)


def _look_up(app: Sphinx, data: DOIData) -> None:
    """Discard the answers that are out of date, look up those that are missing, and report unknown ones.

    All are looked up again once a day.
    """
    shared, lock = options(app.config), open_lock(app)
    details, writes = switch(app.config, "doi_details"), isinstance(app.builder, LockBuilder)
    locked = lock is not None or writes
    data.discard_stale((shared.resolve, shared.resolver, details, locked), anew=locked)
    if not (shared.resolve or writes or isinstance(app.builder, LinkChecker)):
        return
    last, today = data.copy(), time.strftime("%Y-%m-%d")
    if data.day != today:
        data.statuses, data.works, data.day = {}, {}, today
    if not (data.unanswered() or _works_needed(app, data) or details or lock or writes):
        return
    shared = replace(shared, lock=str(lock.path) if lock is not None else None)
    try:
        resolver = open_resolver(shared, PRODUCT)
    except ValueError as error:  # the cache cannot be opened
        raise ConfigError(str(error)) from None
    with resolver:
        survey = Survey(resolver, shared.budget, lock="record" if writes else None)
        survey.statuses, survey.works, survey.meant = data.statuses, data.works, data.meant
        known = set(data.works)
        survey.meet(_needs(app, data, details=details), show=partial(_progress, app))
        if details:
            _report_cards(data, known)
    if isinstance(app.builder, LockBuilder):
        app.builder.take(survey)
    data.keep(last)
    if writes:
        return
    if lock is not None:
        report_differences(app, data, lock, set(_works_needed(app, data)))
        return
    shown = dict.fromkeys(use.doi for use in data.all_uses() if is_shown(app, use.conditions))
    unknown, incomplete = (
        [causes[doi] for doi in shown if doi in causes]
        for causes in (survey.unknown, survey.incomplete)
    )
    if unknown:
        cause = common_cause(unknown)
        logger.info(__("%d of %d DOIs could not be checked: %s"), len(unknown), len(shown), cause)
    elif incomplete:
        cause = common_cause(incomplete)
        logger.info(__("the metadata of %d DOIs could not be read: %s"), len(incomplete), cause)


def _works_needed(app: Sphinx, data: DOIData) -> list[DOI]:
    """Return the DOIs whose metadata is needed but not known yet.

    They are the cited and the listed ones; if ``doi_text`` names authors, year or title, all.
    """
    if needs_work(options(app.config).text):
        needed: Iterable[DOI] = data.dois()
    else:
        needed = dict.fromkeys(doi for _, doi, _ in (*_cited(app), *_linked(app)))
    return [
        doi for doi in needed if doi not in data.works and data.statuses.get(doi) != "not-found"
    ]


def _cited(app: Sphinx) -> Iterator[tuple[str, DOI, str]]:
    """Yield the document, the DOI and the location of what the build cites and lists."""
    domain = domain_of(app.env)
    of_documents: list[Mapping[str, Sequence[Citation | Place]]] = [domain.citations, domain.places]
    for docname, found in (pair for of_kind in of_documents for pair in sorted(of_kind.items())):
        for one in found:
            if is_shown(app, one.conditions):
                yield from (
                    (docname, cite.key, one.location)
                    for cite in one.cites
                    if isinstance(cite.key, DOI)
                )


def _linked(app: Sphinx) -> Iterator[tuple[str, DOI, str]]:
    """Yield the document, the DOI and the location of each link whose work the build lists."""
    listing: list[Place] = []
    for places in domain_of(app.env).places.values():
        listing += [place for place in places if place.links and is_shown(app, place.conditions)]
    pages = {place.docname for place in listing}
    is_whole = any(place.scope == "project" for place in listing)
    for docname in sorted(doi_data(app.env).uses):
        if is_whole or docname in pages:
            yield from ((docname, use.doi, use.location) for use in links_in(app, docname))


def _needs(app: Sphinx, data: DOIData, *, details: bool) -> dict[DOI, Need]:
    """Return what is needed about the DOIs of the project: first about those whose works are."""
    needs = dict.fromkeys(_works_needed(app, data), Need.WORK)
    for doi in data.dois():
        needs.setdefault(doi, Need.CARD if details else Need.EXISTENCE)
    return needs


def _report_cards(data: DOIData, known: AbstractSet[DOI]) -> None:
    """Say how many new DOIs get no card.

    :param known: the DOIs whose works were known before this build.
    """
    new = [doi for doi in data.dois() if data.statuses.get(doi) == "found" and doi not in known]
    works = [data.works.get(doi) for doi in new]
    if without := sum(work is None or details_of(work) is None for work in works):
        logger.info(__("DOIs without metadata for a card: %d of %d"), without, len(data.dois()))


@contextmanager
def _progress(
    app: Sphinx, stage: str, dois: Sequence[DOI]
) -> Iterator[Callable[[int, int | None], None]]:
    """Yield a function that shows how many DOIs are done, in at most 100 steps: each redraws a line."""
    summary = __("fetching DOI metadata... ") if stage == "works" else __("checking DOIs... ")
    step = len(dois) // 100 + 1
    shown = dois[::step]
    line = status_iterator(
        shown, summary, "darkgreen", len(shown), app.verbosity, attrgetter("name")
    )

    def show(done: int, _total: int | None) -> None:
        if (done - 1) % step == 0:
            next(line, None)

    yield show
    list(line)  # ends the line


def _report_uses(app: Sphinx, data: DOIData) -> None:
    """Warn of each use of a DOI that does not exist, and give advice; both in one warning.

    Each is said once, as long as the document is the same.
    """
    accepted, statuses = accepted_dois(app), data.statuses if shows_pages(app) else {}
    missing = {
        doi for doi, status in statuses.items() if status == "not-found" and doi.key not in accepted
    }
    for docname, uses in sorted(data.uses.items()):
        reported, seen = data.reported.get(docname, set()), data.seen.setdefault(docname, set())
        now_reported = reported & missing
        for number, use in enumerate(uses):
            if not is_shown(app, use.conditions):
                continue
            is_new = number not in seen
            seen.add(number)
            if use.doi in missing and not _is_suppressed(app, "not-found"):
                now_reported.add(use.doi)
                if is_new or use.doi not in reported:
                    _warn_not_found(app, use, data.meant.get(use.doi))
            elif is_new and use.typed:
                exists = statuses.get(use.doi) == "found"
                advice = remarks(use.typed, use.doi, exists=exists)
                for code, message in advice:
                    logger.warning(message, type="doi", subtype=code, location=use.location)
                if exists and not advice:
                    seen.discard(number)  # there is advice once it is not known to exist
        if shows_pages(app):
            data.reported[docname] = now_reported


def _warn_not_found(app: Sphinx, use: Use, meant: DOI | None) -> None:
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
    data, warned = doi_data(env), domain_of(env).warned
    cited = __("%s has no metadata, so its citation is a plain link")
    linked = __("%s has no metadata, so it is not in the list of references")
    needed = [(cited, *use) for use in _cited(app)] + [(linked, *use) for use in _linked(app)]
    found = [
        (docname, location, doi, "no-metadata", no_metadata % doi.name)
        for no_metadata, docname, doi, location in needed
        if data.works.get(doi, ...) is None and doi not in data.shown
    ]
    found += [
        (docname, use.location, use.doi, "retracted", f"{use.doi.name}: {work.retraction}")
        for docname, uses in sorted(data.uses.items())
        for use in uses
        if (work := data.shown.get(use.doi)) and work.retraction and is_shown(app, use.conditions)
    ]
    done = set()
    for docname, location, doi, code, message in found:
        if (code, doi) not in done:
            done.add((code, doi))
            of_document = warned.setdefault(docname, set())
            if (code, doi) not in of_document:
                of_document.add((code, doi))
                logger.warning("%s", message, type="doi", subtype=code, location=location)
