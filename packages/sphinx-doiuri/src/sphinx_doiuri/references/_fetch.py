"""Look up the works that citations, lists and link texts need, and report those that cannot be had."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri.plugins import needs_work
from sphinx.util import logging

from sphinx_doiuri._config import options
from sphinx_doiuri._locale import __
from sphinx_doiuri._report import is_shown
from sphinx_doiuri.references._domain import DOIDomain
from sphinx_doiuri.references._listings import update_listings
from sphinx_doiuri.references._progress import progress
from sphinx_doiuri.references._titles import update_labels, update_titles

if TYPE_CHECKING:
    from collections.abc import Iterable

    from doiuri import DOI
    from doiuri.plugins import Survey
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from sphinx_doiuri._environment import DOIData

logger = logging.getLogger(__name__)


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


def look_up_references(app: Sphinx, data: DOIData, survey: Survey) -> None:
    """Read the formatted references of the entries in the lists; others have a simple form."""
    locale = options(app.config).reference_locale
    for style, dois in _references_needed(app, data).items():
        with progress(app, __("fetching references... "), list(dois)) as step:
            survey.look_up_references(list(dois), style, locale, step)
        known = {doi: survey.references.pop(doi) for doi in dois if doi in survey.references}
        data.references |= {(style, locale, doi): text for doi, text in known.items()}


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
