"""The warnings about DOIs in the text of the documents: advice, and DOIs that do not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from docutils_doiuri.nodes import describe, remarks
from sphinx.util import logging
from sphinx.util.logging import is_suppressed_warning

from sphinx_doiuri._locale import __
from sphinx_doiuri._lock import BUILDER, accepted_dois

if TYPE_CHECKING:
    from collections.abc import Mapping

    from doiuri import DOI
    from sphinx.application import Sphinx

    from sphinx_doiuri._environment import DOIData, Use

logger = logging.getLogger(__name__)


def report_uses(app: Sphinx, data: DOIData, outcomes: Mapping[DOI, str] | None) -> None:
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
            if not is_shown(app, use):
                continue
            is_new = number not in seen
            seen.add(number)
            if use.doi in missing and not _is_suppressed(app, "not-found"):
                now_reported.add(use.doi)
                if is_new or use.doi not in reported:
                    _warn_not_found(app, use)
            elif is_new:
                _advise(use)
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


def _advise(use: Use) -> None:
    for code, message in remarks(use.typed, use.doi) if use.typed else ():
        logger.warning(message, type="doi", subtype=code, location=use.location)


def _is_suppressed(app: Sphinx, subtype: str) -> bool:
    return is_suppressed_warning("doi", subtype, app.config.suppress_warnings)


class Conditional(Protocol):
    """What stands in directives ``only`` and ``ifconfig``."""

    @property
    def conditions(self) -> tuple[tuple[str, str], ...]:
        """The names and expressions of these directives."""


def is_shown(app: Sphinx, use: Conditional) -> bool:
    """Whether the pages of this build contain a use: false in an ``only`` or ``ifconfig`` that is off."""
    return all(_holds(app, directive, expression) for directive, expression in use.conditions)


def _holds(app: Sphinx, directive: str, expression: str) -> bool:
    if directive == "only" and app.builder.name == BUILDER:
        return True  # the lock file serves the builders of all formats
    try:
        if directive == "only":
            return app.tags.eval_condition(expression)
        values = {value.name: value.value for value in app.config} | vars(app.config)
        return bool(eval(expression, {**values, "builder": app.builder.name}))  # noqa: S307 (as ifconfig)
    except Exception:  # noqa: BLE001 (any error of the expression, which Sphinx reports)
        return True
