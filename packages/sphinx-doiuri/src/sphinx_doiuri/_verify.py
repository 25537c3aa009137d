"""Look up the DOIs of all documents, once per build, in the main process."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from doiuri.plugins import common_cause, open_resolver
from doiuri.resolver import Cause, LockFile, RecordingStore
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
    exceeds,
    look_up_references,
    look_up_works,
    references_needed,
    report_without_metadata,
    works_needed,
)
from sphinx_doiuri.references._listings import update_listings
from sphinx_doiuri.references._progress import with_progress

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from doiuri import DOI
    from doiuri.plugins import Options
    from doiuri.resolver import Resolver
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from sphinx_doiuri._environment import DOIData

    _Answers = RecordingStore | LockFile | None  # None: the cache

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
    store = _open_store(app)
    data.discard_stale(_source(app, store))
    if options(app.config).resolve or isinstance(app.builder, LockBuilder):
        _look_up(app, data, store)
    report_uses(app, data, data.outcomes)
    report_without_metadata(app, data)
    return sorted({*data.documents_changed_since(before), *documents_with_new_works(app, env)})


def _open_store(app: Sphinx) -> _Answers:
    if not isinstance(app.builder, LockBuilder):
        return open_lock(app)
    try:
        return app.builder.open_store()
    except ValueError as error:  # the cache cannot be opened
        raise ConfigError(str(error)) from None


def _source(app: Sphinx, store: _Answers) -> tuple[object, ...]:
    """Return what the answers depend on; never the same twice if there is a lock file to read or write."""
    shared = options(app.config)
    now = time.time_ns() if store else None
    return (shared.resolve, shared.settings.base, switch(app.config, "doi_details"), now)


def _look_up(app: Sphinx, data: DOIData, store: _Answers) -> None:
    """Look up what is not known yet, within the budget, and report what remains unknown."""
    details = switch(app.config, "doi_details")
    if not (_is_incomplete(app, data) or details or store):
        return
    shared = replace(options(app.config), lock=str(store.path) if isinstance(store, LockFile) else None)
    deadline, known = time.monotonic() + shared.budget, set(data.works)
    with _open_resolver(shared, store) as resolver:
        without_work = _look_up_works(app, data, resolver, deadline)
        causes = _look_up_outcomes(app, data, resolver)
        if details:
            _look_up_details(app, data, resolver, deadline, known)
    incomplete = set(works_needed(app, data)) | references_needed(app, data)
    if isinstance(app.builder, LockBuilder):
        app.builder.incomplete = incomplete
    if isinstance(store, LockFile):
        shown = [use for use in data.all_uses() if is_shown(app, use)]
        report_differences(data, shown, store, incomplete)
    elif causes:
        total, reason = len(data.dois()), common_cause(causes)
        logger.info(__("%d of %d DOIs could not be checked: %s"), len(causes), total, reason)
    elif without_work:
        reason = common_cause(without_work)
        logger.info(__("the metadata of %d DOIs could not be read: %s"), len(without_work), reason)


def _is_incomplete(app: Sphinx, data: DOIData) -> bool:
    return bool(data.unanswered() or works_needed(app, data) or references_needed(app, data))


def _look_up_works(app: Sphinx, data: DOIData, resolver: Resolver, deadline: float) -> list[Cause]:
    """Read the works and references that are needed; return the cause for each work that remains unknown."""
    needed = works_needed(app, data)
    others = len(set(data.unanswered()) - set(needed))
    if needed and exceeds(app, resolver, needed, others):
        _look_up_outcomes(app, data, resolver, "existence")
        needed = works_needed(app, data)
    causes = look_up_works(app, data, resolver, needed, deadline) if needed else []
    look_up_references(app, data, resolver, deadline)
    return causes


def _open_resolver(shared: Options, store: _Answers) -> Resolver:
    try:
        return open_resolver(shared, PRODUCT, None if isinstance(store, LockFile) else store)
    except ValueError as error:  # the cache cannot be opened
        raise ConfigError(str(error)) from None


def _look_up_outcomes(
    app: Sphinx, data: DOIData, resolver: Resolver, how: Literal["existence"] | None = None
) -> list[Cause]:
    """Ask whether the DOIs exist; return the cause for each that remains unknown."""
    dois = data.unanswered()
    outcomes = resolver.check(dois, how=how or options(app.config).resolve or "records")
    causes = []
    for doi, outcome in with_progress(app, __("checking DOIs... "), dois, outcomes):
        if outcome.status == "unknown":
            causes.append(outcome.cause or Cause("budget"))
        else:
            data.outcomes[doi] = outcome.status
    return causes


def _look_up_details(
    app: Sphinx, data: DOIData, resolver: Resolver, deadline: float, known: AbstractSet[DOI]
) -> None:
    """Read the works for the hover cards, and say how many new DOIs get no card.

    :param known: the DOIs whose works were known before this build.
    """
    new = [doi for doi in data.dois() if data.outcomes.get(doi) == "found" and doi not in known]
    look_up_works(app, data, resolver, [doi for doi in new if doi not in data.works], deadline)
    works = [data.works.get(doi) for doi in new]
    without = sum(work is None or details_of(work) is None for work in works)
    if without:
        logger.info(__("DOIs without metadata for a card: %d of %d"), without, len(data.dois()))
