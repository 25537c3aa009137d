"""Look up the DOIs of all documents, once per build, in the main process."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from doiuri.plugins import Survey, common_cause, open_resolver
from sphinx.errors import ConfigError
from sphinx.util import logging

from sphinx_doiuri._config import PRODUCT, options, switch
from sphinx_doiuri._details import details_of
from sphinx_doiuri._environment import doi_data
from sphinx_doiuri._locale import __
from sphinx_doiuri._lock import open_lock, report_differences
from sphinx_doiuri._lock_builder import LockBuilder
from sphinx_doiuri._report import is_shown, report_uses
from sphinx_doiuri.references._bibtex import collect_bibtex_uses
from sphinx_doiuri.references._fetch import (
    documents_with_new_works,
    look_up_references,
    references_needed,
    report_without_metadata,
    works_needed,
)
from sphinx_doiuri.references._listings import update_listings
from sphinx_doiuri.references._progress import progress

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from doiuri import DOI
    from doiuri.resolver import LockFile
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from sphinx_doiuri._environment import DOIData

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
        report_uses(app, data, None)
        return []
    before = data.answers()
    lock = open_lock(app)
    data.discard_stale(_source(app, lock))
    if options(app.config).resolve or isinstance(app.builder, LockBuilder):
        _look_up(app, data, lock)
    report_uses(app, data, data.outcomes)
    report_without_metadata(app, data)
    return sorted({*data.documents_changed_since(before), *documents_with_new_works(app, env)})


def _source(app: Sphinx, lock: LockFile | None) -> tuple[object, ...]:
    """Return what the answers depend on; never the same twice if there is a lock file to read or write."""
    shared = options(app.config)
    now = time.time_ns() if lock is not None or isinstance(app.builder, LockBuilder) else None
    return (shared.resolve, shared.settings.base, switch(app.config, "doi_details"), now)


def _look_up(app: Sphinx, data: DOIData, lock: LockFile | None) -> None:
    """Look up what is not known yet, within the budget, and report what remains unknown."""
    details, writes = switch(app.config, "doi_details"), isinstance(app.builder, LockBuilder)
    if not (_is_incomplete(app, data) or details or lock or writes):
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
    incomplete = set(works_needed(app, data)) | references_needed(app, data)
    if isinstance(app.builder, LockBuilder):
        app.builder.incomplete, app.builder.entries = incomplete, survey.entries
    elif lock is not None:
        report_differences(data, [use for use in data.all_uses() if is_shown(app, use)], lock, incomplete)
    elif causes := [survey.unknown[doi] for doi in data.unanswered() if doi in survey.unknown]:
        total, cause = len(data.dois()), common_cause(causes)
        logger.info(__("%d of %d DOIs could not be checked: %s"), len(causes), total, cause)
    elif survey.incomplete:
        cause = common_cause(survey.incomplete.values())
        logger.info(__("the metadata of %d DOIs could not be read: %s"), len(survey.incomplete), cause)


def _is_incomplete(app: Sphinx, data: DOIData) -> bool:
    return bool(data.unanswered() or works_needed(app, data) or references_needed(app, data))


def _ask(app: Sphinx, data: DOIData, survey: Survey) -> None:
    """Ask for the works and references that are needed, and whether the other DOIs exist."""
    if works := works_needed(app, data):
        others = set(data.unanswered()).difference(works)
        with progress(app, __("fetching DOI metadata... "), works) as step:
            survey.look_up_works(works, others, step)
    look_up_references(app, data, survey)
    dois = data.unanswered()
    with progress(app, __("checking DOIs... "), dois) as step:
        survey.check(dois, options(app.config).resolve or "records", step)


def _ask_for_details(app: Sphinx, data: DOIData, survey: Survey, known: AbstractSet[DOI]) -> None:
    """Ask for the works for the hover cards, and say how many new DOIs get no card.

    :param known: the DOIs whose works were known before this build.
    """
    new = [doi for doi in data.dois() if data.outcomes.get(doi) == "found" and doi not in known]
    wanted = [doi for doi in new if doi not in data.works]
    with progress(app, __("fetching DOI metadata... "), wanted) as step:
        survey.look_up_works(wanted, progress=step)
    works = [data.works.get(doi) for doi in new]
    without = sum(work is None or details_of(work) is None for work in works)
    if without:
        logger.info(__("DOIs without metadata for a card: %d of %d"), without, len(data.dois()))
