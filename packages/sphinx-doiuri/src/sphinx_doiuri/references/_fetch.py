"""Look up the works that citations, lists and link texts need, and report those that cannot be had."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from doiuri.plugins import needs_work
from doiuri.resolver import Cause
from sphinx.util import logging

from sphinx_doiuri._config import options
from sphinx_doiuri._locale import __
from sphinx_doiuri._report import is_shown
from sphinx_doiuri.references._domain import DOIDomain
from sphinx_doiuri.references._listings import update_listings
from sphinx_doiuri.references._progress import with_progress
from sphinx_doiuri.references._titles import update_labels, update_titles

if TYPE_CHECKING:
    from collections.abc import Iterable

    from doiuri import DOI
    from doiuri.resolver import Resolver
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from sphinx_doiuri._environment import DOIData

logger = logging.getLogger(__name__)

_REQUESTS = 2  # for a new work: the metadata and the formatted reference


def works_needed(app: Sphinx, data: DOIData) -> list[DOI]:
    """Return the DOIs whose metadata is needed but not known yet.

    They are the cited ones; if ``doi_text`` names authors, year or title, all.
    """
    if needs_work(options(app.config).text):
        needed: Iterable[DOI] = data.dois()
    else:
        cited = (
            citation for name in sorted(_domain(app).citations) for citation in _domain(app).citations[name]
        )
        needed = dict.fromkeys(doi for citation in cited for doi in citation.dois)
    return [doi for doi in needed if doi not in data.works and data.outcomes.get(doi) != "not-found"]


def exceeds(app: Sphinx, resolver: Resolver, needed: list[DOI], others: int) -> bool:
    """Return whether the budget allows fewer requests than the works and the other DOIs need.

    :param app: the application.
    :param resolver: the resolver, which limits the rate.
    :param needed: the DOIs whose works are needed.
    :param others: the number of other DOIs, of one request each.
    """
    if resolver.rate is None or resolver.offline:
        return False
    return len(needed) * _REQUESTS + others > options(app.config).budget * resolver.rate


def look_up_works(
    app: Sphinx, data: DOIData, resolver: Resolver, needed: list[DOI], deadline: float
) -> list[Cause]:
    """Read the metadata of works; return the cause for each that remains unknown.

    A DOI that has metadata exists, so nothing else is asked about it.

    :param deadline: when the budget ends, as ``time.monotonic`` counts.
    """
    causes: list[Cause] = []
    outcomes = resolver.works(needed, budget=_left(deadline))
    for doi, outcome in with_progress(app, __("fetching DOI metadata... "), needed, outcomes):
        if outcome.work is not None:
            data.works[doi] = outcome.work
            data.outcomes[doi] = "found"
        elif outcome.status == "no-values":
            data.works[doi] = None
        elif outcome.status == "not-found":
            data.outcomes[doi] = "not-found"
        else:
            causes.append(outcome.cause or Cause("budget"))
    return causes


def look_up_references(app: Sphinx, data: DOIData, resolver: Resolver, deadline: float) -> None:
    """Read the formatted references of the entries in the lists; others have a simple form.

    :param deadline: when the budget ends, as ``time.monotonic`` counts.
    """
    locale = options(app.config).reference_locale
    for style, dois in _references_needed(app, data).items():
        outcomes = resolver.references(dois, style, locale, budget=_left(deadline))
        for doi, outcome in with_progress(app, __("fetching references... "), list(dois), outcomes):
            if outcome.reference or outcome.status == "no-values":
                data.references[style, locale, doi] = outcome.reference or None


def references_needed(app: Sphinx, data: DOIData) -> set[DOI]:
    """Return the DOIs in lists whose formatted references are not known."""
    return {doi for dois in _references_needed(app, data).values() for doi in dois}


def _references_needed(app: Sphinx, data: DOIData) -> dict[str, dict[DOI, None]]:
    """Return the DOIs in lists whose formatted references are not known, by style."""
    locale = options(app.config).reference_locale
    styles: dict[str, dict[DOI, None]] = {}
    for style, doi in update_listings(app, app.env).listed():
        if data.works.get(doi) is not None and (style, locale, doi) not in data.references:
            styles.setdefault(style, {})[doi] = None
    return styles


def documents_with_new_works(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Return the documents that show other citations, lists or titles than after the last build."""
    listings, domain = update_listings(app, env), _domain(app)
    update_titles(env, listings)
    changed = []
    for name in sorted(domain.citations.keys() | domain.places.keys()):
        digest = listings.digest(name)
        if domain.rendered.get(name) != digest:
            domain.rendered[name] = digest
            changed.append(name)
    return [*changed, *update_labels(env, domain, listings)]


def report_without_metadata(app: Sphinx, data: DOIData) -> None:
    """Warn once of each cited DOI whose agency has no metadata."""
    domain, done = _domain(app), set()
    for name in sorted(domain.citations):
        warned = domain.warned.setdefault(name, set())
        for citation in domain.citations[name]:
            for doi in citation.dois if is_shown(app, citation) else ():
                if doi in data.works and data.works[doi] is None and doi not in done:
                    done.add(doi)
                    if doi not in warned:
                        warned.add(doi)
                        _warn(doi, citation.location)


def _warn(doi: DOI, location: str) -> None:
    message = __("%s has no metadata, so its citation is a plain link")
    logger.warning(message, doi.name, type="doi", subtype="no-metadata", location=location)


def _domain(app: Sphinx) -> DOIDomain:
    domain = app.env.get_domain("doi")
    assert isinstance(domain, DOIDomain)  # noqa: S101 (for mypy)
    return domain


def _left(deadline: float) -> float:
    return max(deadline - time.monotonic(), 0.001)
