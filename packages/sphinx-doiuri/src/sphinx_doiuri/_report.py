"""Report what is wrong with the DOIs of a build, and what is not known about them."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from doiuri.plugins.display import details_of
from doiuri.plugins.sentences import dead_doi, remarks
from doiuri.plugins.survey import common_cause
from sphinx.util import logging
from sphinx.util.logging import is_suppressed_warning

from sphinx_doiuri._citations import domain_of
from sphinx_doiuri._environment import doi_data, shows_pages
from sphinx_doiuri._locale import __

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from doiuri import DOI
    from doiuri.plugins.survey import Survey
    from doiuri.resolver import LockFile
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from sphinx_doiuri._contents import Contents
    from sphinx_doiuri._environment import DOIData, Use

logger = logging.getLogger(__name__)


def report_unknown(survey: Survey, contents: Contents) -> None:
    """Say how many DOIs of the pages could not be checked, or else how many works could not be read, and why."""
    dois = dict.fromkeys(use.doi for use in contents.all_uses)
    unknown = [survey.unknown[doi] for doi in dois if doi in survey.unknown]
    incomplete = [survey.incomplete[doi] for doi in dois if doi in survey.incomplete]
    if unknown:
        cause = common_cause(unknown)
        logger.info(__("%d of %d DOIs could not be checked: %s"), len(unknown), len(dois), cause)
    elif incomplete:
        cause = common_cause(incomplete)
        logger.info(__("the metadata of %d DOIs could not be read: %s"), len(incomplete), cause)


def report_cards(data: DOIData, known_works: Collection[DOI]) -> None:
    """Say how many DOIs get no card because their works lack metadata.

    :param known_works: the DOIs whose works were known before this build, which are not counted.
    """
    dois = data.dois()
    without_card = 0
    for doi in dois:
        is_new = data.statuses.get(doi) == "found" and doi not in known_works
        work = data.works.get(doi)
        has_card = work is not None and details_of(work) is not None
        if is_new and not has_card:
            without_card += 1
    if without_card:
        logger.info(__("DOIs without metadata for a card: %d of %d"), without_card, len(dois))


def report_uses(app: Sphinx, data: DOIData, contents: Contents, accepted: AbstractSet[str]) -> None:
    """Warn of each use of a DOI that does not exist, with the advice on it, and give advice on other uses.

    Each warning appears once until its document is read again: ``data.seen`` has the uses that were reported
    on, and ``data.reported`` the DOIs that did not exist then. A build that shows no pages gives only advice.

    :param accepted: the keys of the DOIs that need not exist.
    """
    has_answers = shows_pages(app)
    suppressed = app.config.suppress_warnings
    statuses: Mapping[DOI, str] = data.statuses if has_answers else {}
    not_found = [doi for doi, status in statuses.items() if status == "not-found"]
    dead = {doi for doi in not_found if doi.key not in accepted}
    reportable = set() if is_suppressed_warning("doi", "not-found", suppressed) else dead

    for docname, uses in contents.uses.items():
        last_reported = data.reported.get(docname, set())
        seen = data.seen.setdefault(docname, set())
        new = uses.keys() - seen
        seen |= new
        for position, use in uses.items():
            if use.doi in reportable:
                if position in new or use.doi not in last_reported:
                    _warn_of_dead(use, data.meant.get(use.doi), suppressed)
            elif position in new and use.typed:
                exists = statuses.get(use.doi) == "found"
                advice = remarks(use.typed, use.doi, exists=exists)
                for code, message in advice:
                    logger.warning(message, type="doi", subtype=code, location=use.location)
                if exists and not advice:
                    # A later build gives advice if it does not know that the DOI exists
                    seen.discard(position)
        if has_answers:
            used = {use.doi for use in uses.values()}
            data.reported[docname] = (last_reported & dead) | (used & reportable)


def _warn_of_dead(use: Use, meant: DOI | None, suppressed: Sequence[str]) -> None:
    """Warn that a DOI does not exist, with the advice on it that ``suppress_warnings`` leaves.

    :param meant: the registered DOI that was probably meant.
    :param suppressed: the option ``suppress_warnings``.
    """
    codes = {code for code, _ in remarks(use.typed, use.doi)} if use.typed else set()
    ignored = {code for code in codes if is_suppressed_warning("doi", code, suppressed)}
    dead = dead_doi(use.doi, use.typed, ignored=ignored, meant=meant)

    subject = dead.subject
    if use.entry:
        subject = __("%s (entry %s)") % (subject, use.entry)
    if dead.suggestion is None:
        message = __("DOI not found: %s") % subject
    else:
        message = __("DOI not found: %s; did you mean %s?") % (subject, dead.suggestion)
    logger.warning("%s", message, type="doi", subtype="not-found", location=use.location)


def report_differences(
    lock: LockFile, data: DOIData, contents: Contents, *, drops_unused: bool
) -> None:
    """Warn of each use of a DOI that is not in the lock file, and of each DOI that is only there.

    :param drops_unused: whether ``doi-lock`` drops unused DOIs without being told to.
    """
    locked = lock.read()
    uses = contents.all_uses
    accepted = {use.doi for use in uses if use.doi.key in locked.accepted}
    missing = {*data.unanswered()} - accepted
    message = __("%s is not in the lock file; run sphinx-build -b doi-lock to add it")
    warn_missing(uses, missing, message)
    message = __(
        "the metadata of %s is not in the lock file; run sphinx-build -b doi-lock to add it"
    )
    without_metadata = {*contents.unknown_works(data)}
    warn_missing(uses, without_metadata - missing - accepted, message)

    of_unused = __(
        "%s is in the lock file but in no document; if no other project uses it,"
        " run sphinx-build -b doi-lock -D doi_lock_prune=1 to drop it"
    )
    if drops_unused:
        of_unused = __(
            "%s is in the lock file but in no document; run sphinx-build -b doi-lock to update it"
        )
    of_accepted = __(
        "%s is accepted in the lock file but in no document; to drop it, delete its line"
    )
    for key in sorted(locked.unused(doi.key for doi in data.dois())):
        message = of_accepted if key in locked.accepted else of_unused
        location = location_in_file(lock.path, f"{json.dumps(key, ensure_ascii=False)}:")
        logger.warning(message, key, type="doi", subtype="lock-unused", location=location)


def warn_missing(uses: Iterable[Use], dois: AbstractSet[DOI], message: str) -> None:
    """Warn of each use of one of these DOIs, of which the lock file lacks something."""
    for use in uses:
        if use.doi in dois:
            logger.warning(
                message, use.doi.name, type="doi", subtype="lock-missing", location=use.location
            )


class _WorkWarning(NamedTuple):
    """What to say of a work at one of its uses."""

    docname: str
    location: str
    doi: DOI
    code: str
    message: str


def report_works(env: BuildEnvironment, contents: Contents) -> None:
    """Warn once of each cited or listed DOI without metadata, and of each retracted work, at its first use.

    A warning is given again if the document of that use has been read again.
    """
    warned = domain_of(env).warned
    done: set[tuple[str, DOI]] = set()
    for warning in _work_warnings(doi_data(env), contents):
        subject = (warning.code, warning.doi)
        if subject in done:
            continue
        done.add(subject)
        warned_of = warned.setdefault(warning.docname, set())
        if subject in warned_of:
            continue
        warned_of.add(subject)
        logger.warning(
            "%s", warning.message, type="doi", subtype=warning.code, location=warning.location
        )


def _work_warnings(data: DOIData, contents: Contents) -> Iterator[_WorkWarning]:
    """Yield what there is to say of works at each use: of those without metadata, then of retracted ones."""
    cited = __("%s has no metadata, so its citation is a plain link")
    linked = __("%s has no metadata, so it is not in the list of references")
    for message, uses in ((cited, contents.cited), (linked, contents.linked)):
        for docname, doi, location in uses:
            has_none = doi in data.works and data.works[doi] is None
            # A file of works may have what the agency lacks
            if has_none and doi not in data.shown_works:
                yield _WorkWarning(docname, location, doi, "no-metadata", message % doi.name)

    for docname, uses_by_position in contents.uses.items():
        for use in uses_by_position.values():
            work = data.shown_works.get(use.doi)
            if work is not None and work.retraction:
                message = f"{use.doi.name}: {work.retraction}"
                yield _WorkWarning(docname, use.location, use.doi, "retracted", message)


def location_in_file(path: Path, text: str) -> str:
    """Return the location of a text in a file for a warning, as ``file:line``; ``file:`` if there is none."""
    with suppress(OSError, UnicodeDecodeError):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if text in line:
                return f"{path}:{number}"
    return f"{path}:"
