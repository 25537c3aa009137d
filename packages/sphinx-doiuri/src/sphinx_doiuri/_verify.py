"""Looking the DOIs up: once in a build, in the main process, over all documents."""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from docutils_doiuri import suggestion
from doiuri import DOI, DOINotFound, NoValues, ResolutionError
from doiuri.resolver import LockedAnswers, open_resolver
from sphinx.errors import ConfigError
from sphinx.util import logging
from sphinx.util.display import status_iterator

from sphinx_doiuri._config import PRODUCT, options, switch
from sphinx_doiuri._details import MEDIA_TYPE, read_details
from sphinx_doiuri._environment import state
from sphinx_doiuri._locale import __
from sphinx_doiuri._lock import Recorder, answering_store, report_lock

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from doiuri.plugins import Options
    from doiuri.resolver import Outcome, Resolver
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from sphinx_doiuri._environment import State

_T = TypeVar("_T", "DOI", "Outcome")

logger = logging.getLogger(__name__)

_AT_ONCE = 3  # requests for metadata; the resolver paces them
_NO_LINKS = {"linkcheck", "gettext"}  # the one asks by itself, the other writes no links


def verify(app: "Sphinx", env: "BuildEnvironment") -> list[str]:
    """Learn what became of each DOI, and warn of each use of one that does not exist.

    Runs at ``env-updated``; returns the documents about whose DOIs something is new, to be written again.
    """
    if app.builder.name in _NO_LINKS:
        return []
    known = state(env)
    before = known.answers()
    try:
        store = answering_store(app)
    except ValueError as error:  # of the cache's address
        raise ConfigError(str(error)) from None
    known.begin(_asked(app, store))
    if options(app.config).resolve or isinstance(store, Recorder):
        _learn(app, known, store)
    if isinstance(store, Recorder):
        store.close()
    _report(known)
    after = known.answers()
    return known.documents({doi for doi in before | after if before.get(doi) != after.get(doi)})


def _asked(app: "Sphinx", store: "Recorder | LockedAnswers | None") -> tuple[object, ...]:
    """Who answers, and what is asked: known answers hold as long as this stays the same."""
    shown = options(app.config)
    fresh = time.time_ns() if store else None  # the lock file is written, and read, as a whole
    return (shown.resolve, shown.settings.base, switch(app.config, "doi_details"), fresh)


def _learn(app: "Sphinx", known: "State", store: "Recorder | LockedAnswers | None") -> None:
    shown = replace(options(app.config), lock=None)
    todo = [doi for doi in known.dois() if doi not in known.outcomes]
    details = switch(app.config, "doi_details")
    if not (todo or details or store):
        return
    deadline = time.monotonic() + shown.budget
    with _open(shown, store) as resolver:
        answers = resolver.check(todo, how=shown.resolve or "records")
        reasons = []
        shown_answers = _progress(app, answers, __("checking DOIs... "), len(todo))
        for doi, outcome in zip(todo, shown_answers, strict=True):
            if outcome.status == "unknown":
                reasons.append(outcome.reason)
            else:
                known.outcomes[doi] = outcome.status
        if details:
            _learn_details(app, known, resolver, deadline)
    if isinstance(store, LockedAnswers):
        report_lock(app, known, store)
    elif reasons:
        total, reason = len(known.dois()), Counter(reasons).most_common(1)[0][0]
        logger.info(__("%d of %d DOIs could not be checked: %s"), len(reasons), total, reason)


def _open(shown: "Options", store: "Recorder | LockedAnswers | None") -> "Resolver":
    try:
        return open_resolver(shown, PRODUCT, store)
    except ValueError as error:  # of the cache's address
        raise ConfigError(str(error)) from None


def _learn_details(app: "Sphinx", known: "State", resolver: "Resolver", deadline: float) -> None:
    """Ask for what is on the hover cards; where there is no time, or no answer, there is no card."""
    todo = [doi for doi in known.dois() if known.outcomes.get(doi) == "found" and doi not in known.details]

    def ask(doi: DOI) -> DOI:
        left = max(deadline - time.monotonic(), 0.001)
        try:
            known.details[doi] = read_details(bytes(resolver.metadata(doi, MEDIA_TYPE, budget=left)))
        except (DOINotFound, NoValues):
            known.details[doi] = None
        except ResolutionError:
            pass  # asked again in the next build
        return doi

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for _doi in _progress(app, pool.map(ask, todo), __("reading what the DOIs name... "), len(todo)):
            pass


def _progress(app: "Sphinx", items: "Iterable[_T]", summary: str, length: int) -> "Iterator[_T]":
    """Yield the items while Sphinx shows how far we are, in some hundred steps, for each step costs time."""
    step = length // 100 + 1
    source = iter(items)
    parts = iter(lambda: list(islice(source, step)), [])
    total = -(-length // step)
    for part in status_iterator(parts, summary, "darkgreen", total, app.verbosity, _last_name):
        yield from part


def _last_name(part: "Sequence[DOI | Outcome]") -> str:
    last = part[-1]
    doi = last if isinstance(last, DOI) else last.doi
    return doi.name if doi is not None else ""


def _report(known: "State") -> None:
    """Warn of each use of a DOI that does not exist, once as long as its document stays the same."""
    for docname, uses in sorted(known.uses.items()):
        missing = [use for use in uses if known.outcomes.get(use.doi) == "not-found"]
        reported = known.reported.get(docname, set())
        for doi, location in missing:
            if doi in reported:
                continue
            better = suggestion(doi)
            message = __("DOI not found: %s; did you mean %s?") if better else __("DOI not found: %s")
            values = (doi.name, better) if better else (doi.name,)
            logger.warning(message, *values, type="doi", subtype="not-found", location=location)
        known.reported[docname] = {use.doi for use in missing}
