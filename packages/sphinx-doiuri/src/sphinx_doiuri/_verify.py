"""Look up the DOIs of all documents, once per build, in the main process, and report what is wrong."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING

from docutils_doiuri.nodes import describe, remarks
from doiuri.plugins import open_resolver
from doiuri.plugins.display import needs_work
from doiuri.plugins.survey import Survey, common_cause
from sphinx.errors import ConfigError
from sphinx.util import logging
from sphinx.util.display import status_iterator
from sphinx.util.logging import is_suppressed_warning

from sphinx_doiuri._citations import domain_of
from sphinx_doiuri._compat import collect_bibtex_uses
from sphinx_doiuri._config import PRODUCT, options, switch
from sphinx_doiuri._environment import doi_data, is_shown
from sphinx_doiuri._listings import documents_shown_anew, update_listings
from sphinx_doiuri._locale import __
from sphinx_doiuri._lock import LockBuilder, accepted_dois, open_lock, report_differences
from sphinx_doiuri._pages import details_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from doiuri import DOI
    from doiuri.resolver import LockFile
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from sphinx_doiuri._environment import DOIData, Use

logger = logging.getLogger(__name__)

_NO_LINKS = {"linkcheck", "gettext"}  # linkcheck asks by itself, gettext writes no links


def verify(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Look up the DOIs without an answer, warn of each use of one that does not exist, and give advice.

    Handles ``env-updated``.

    :returns: the names of the documents to write again, because answers about their DOIs changed.
    :raises sphinx.errors.ConfigError: if the lock file or the cache cannot be used.
    """
    data = doi_data(env)
    collect_bibtex_uses(env)
    if app.builder.name in _NO_LINKS:
        update_listings(app, env)
        _report_uses(app, data, None)
        return []
    before = data.answers()
    lock = open_lock(app)
    data.discard_stale(_source(app, lock))
    if options(app.config).resolve or isinstance(app.builder, LockBuilder):
        _look_up(app, data, lock)
    _report_uses(app, data, data.outcomes)
    _report_without_metadata(app, data)
    return sorted({*data.documents_changed_since(before), *documents_shown_anew(app, env)})


def _source(app: Sphinx, lock: LockFile | None) -> tuple[object, ...]:
    """Return what the answers depend on; never the same twice if there is a lock file to read or write."""
    shared = options(app.config)
    now = time.time_ns() if lock is not None or isinstance(app.builder, LockBuilder) else None
    return (shared.resolve, shared.settings.base, switch(app.config, "doi_details"), now)


def _look_up(app: Sphinx, data: DOIData, lock: LockFile | None) -> None:
    """Look up what is not known yet, within the budget, and report what remains unknown."""
    details, writes = switch(app.config, "doi_details"), isinstance(app.builder, LockBuilder)
    if not (data.unanswered() or _without_metadata(app, data) or details or lock or writes):
        return
    shared = replace(options(app.config), lock=str(lock.path) if lock is not None else None)
    try:
        resolver = open_resolver(shared, PRODUCT)
    except ValueError as error:  # the cache cannot be opened
        raise ConfigError(str(error)) from None
    with resolver:
        survey = Survey(resolver, shared.budget, record=writes)
        survey.statuses, survey.works = data.outcomes, data.works
        known = set(data.works)
        _ask(app, data, survey)
        if details:
            _ask_for_details(app, data, survey, known)
    incomplete = _without_metadata(app, data)
    if isinstance(app.builder, LockBuilder):
        app.builder.incomplete, app.builder.entries = incomplete, survey.entries
    elif lock is not None:
        report_differences(app, lock, incomplete)
    elif causes := [survey.unknown[doi] for doi in data.unanswered() if doi in survey.unknown]:
        total, cause = len(data.dois()), common_cause(causes)
        logger.info(__("%d of %d DOIs could not be checked: %s"), len(causes), total, cause)
    elif survey.incomplete:
        cause = common_cause(survey.incomplete.values())
        logger.info(__("the metadata of %d DOIs could not be read: %s"), len(survey.incomplete), cause)


def _without_metadata(app: Sphinx, data: DOIData) -> set[DOI]:
    """Return the DOIs whose metadata or formatted reference is needed but not known yet."""
    return set(_works_needed(app, data)).union(*_references_needed(app, data).values())


def _works_needed(app: Sphinx, data: DOIData) -> list[DOI]:
    """Return the DOIs whose metadata is needed but not known yet.

    They are the cited ones; if ``doi_text`` names authors, year or title, all.
    """
    if needs_work(options(app.config).text):
        needed: Iterable[DOI] = data.dois()
    else:
        cited = [citations for _, citations in sorted(domain_of(app.env).citations.items())]
        needed = dict.fromkeys(doi for citations in cited for citation in citations for doi in citation.dois)
    return [doi for doi in needed if doi not in data.works and data.outcomes.get(doi) != "not-found"]


def _references_needed(app: Sphinx, data: DOIData) -> dict[str, dict[DOI, None]]:
    """Return the DOIs in lists whose formatted references are not known yet, by style."""
    locale = options(app.config).reference_locale
    styles: dict[str, dict[DOI, None]] = {}
    for style, doi in update_listings(app, app.env).listed():
        if data.works.get(doi) is not None and (style, locale, doi) not in data.references:
            styles.setdefault(style, {})[doi] = None
    return styles


def _ask(app: Sphinx, data: DOIData, survey: Survey) -> None:
    """Ask for the works and references that are needed, and whether the other DOIs exist."""
    shared = options(app.config)
    if works := _works_needed(app, data):
        others = set(data.unanswered()).difference(works)
        with _progress(app, __("fetching DOI metadata... "), works) as step:
            survey.look_up_works(works, others, step)
    for style, listed in _references_needed(app, data).items():
        with _progress(app, __("fetching references... "), [*listed]) as step:
            survey.look_up_references([*listed], style, shared.reference_locale, step)
        known = {doi: survey.references.pop(doi) for doi in listed if doi in survey.references}
        data.references |= {(style, shared.reference_locale, doi): text for doi, text in known.items()}
    dois = data.unanswered()
    with _progress(app, __("checking DOIs... "), dois) as step:
        survey.check(dois, shared.resolve or "records", step)


def _ask_for_details(app: Sphinx, data: DOIData, survey: Survey, known: AbstractSet[DOI]) -> None:
    """Ask for the works for the hover cards, and say how many new DOIs get no card.

    :param known: the DOIs whose works were known before this build.
    """
    new = [doi for doi in data.dois() if data.outcomes.get(doi) == "found" and doi not in known]
    wanted = [doi for doi in new if doi not in data.works]
    with _progress(app, __("fetching DOI metadata... "), wanted) as step:
        survey.look_up_works(wanted, progress=step)
    works = [data.works.get(doi) for doi in new]
    without = sum(work is None or details_of(work) is None for work in works)
    if without:
        logger.info(__("DOIs without metadata for a card: %d of %d"), without, len(data.dois()))


@contextmanager
def _progress(app: Sphinx, summary: str, dois: Sequence[DOI]) -> Iterator[Callable[[int, int | None], None]]:
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


def _report_uses(app: Sphinx, data: DOIData, outcomes: Mapping[DOI, str] | None) -> None:
    """Warn of each use of a DOI that does not exist, and give advice; both in one warning.

    Each is said once, as long as the document is the same.

    :param app: the application, whose builder decides which uses are shown.
    :param data: the uses, and what was reported before.
    :param outcomes: the answers about DOIs; None if this build looks up nothing.
    """
    accepted = accepted_dois(app)
    missing = {
        doi for doi, status in (outcomes or {}).items() if status == "not-found" and doi.key not in accepted
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
                    _warn_not_found(app, use)
            elif is_new:
                for code, message in remarks(use.typed, use.doi) if use.typed else ():
                    logger.warning(message, type="doi", subtype=code, location=use.location)
        if outcomes is not None:
            data.reported[docname] = now_reported


def _warn_not_found(app: Sphinx, use: Use) -> None:
    codes = {code for code, _ in remarks(use.typed, use.doi)} if use.typed else set()
    name, meant = describe(use.doi, use.typed, {code for code in codes if _is_suppressed(app, code)})
    if use.entry:
        name = __("%s (entry %s)") % (name, use.entry)
    message = __("DOI not found: %s; did you mean %s?") if meant else __("DOI not found: %s")
    names = (name, meant) if meant else (name,)
    logger.warning(message, *names, type="doi", subtype="not-found", location=use.location)


def _is_suppressed(app: Sphinx, subtype: str) -> bool:
    return is_suppressed_warning("doi", subtype, app.config.suppress_warnings)


def _report_without_metadata(app: Sphinx, data: DOIData) -> None:
    """Warn once of each cited DOI whose agency has no metadata."""
    message = __("%s has no metadata, so its citation is a plain link")
    domain, done = domain_of(app.env), set()
    for name, citations in sorted(domain.citations.items()):
        warned = domain.warned.setdefault(name, set())
        shown = (citation for citation in citations if is_shown(app, citation.conditions))
        for doi, location in ((doi, citation.location) for citation in shown for doi in citation.dois):
            if doi in data.works and data.works[doi] is None and doi not in done:
                done.add(doi)
                if doi not in warned:
                    warned.add(doi)
                    logger.warning(message, doi.name, type="doi", subtype="no-metadata", location=location)
