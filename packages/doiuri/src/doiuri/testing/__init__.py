"""For your own tests: a check of the DOIs in your data, and strategies for Hypothesis.

It needs ``doiuri[testing]``. ``doiuri_proxy.resolver_for`` returns a Resolver with given records.
"""

from __future__ import annotations

import logging
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from doiuri._advice import suggest
from doiuri._doi import DOI
from doiuri._errors import DOISyntaxError
from doiuri.plugins import with_suggestion
from doiuri.plugins.survey import Need, Survey, unchecked
from doiuri.resolver import LockContent, Resolver, StoreWarning
from doiuri.resolver._resolver import check_batch

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

__all__ = ["assert_registered"]

_logger = logging.getLogger("doiuri")


def assert_registered(
    dois: Iterable[DOI | str | tuple[object, DOI | str]],
    *,
    lock: str | os.PathLike[str] | None = None,
    resolver: Resolver | None = None,
) -> None:
    """Raise AssertionError if something in ``dois`` is not a DOI, or is not registered.

    The error lists all of them, with their places and suggestions. If DOIs cannot be checked (no network,
    rate limit), that is not an error: one warning of the logger ``doiuri`` says how many, and why. Nor is a cache
    that cannot be read or written, even if warnings are errors: its StoreWarning stays a warning.

    >>> from doiuri_proxy import resolver_for
    >>> records = [{"handle": "10.1000/182", "values": []}]
    >>> refs = [("refs.csv:2", "10.1000/182"), ("refs.csv:3", "10.1000/18–2"), "10.1000/"]
    >>> assert_registered(refs, resolver=resolver_for(records))
    Traceback (most recent call last):
      ...
    AssertionError: 2 of 3 DOIs are wrong:
      refs.csv:3: 10.1000/18–2 is not registered; write 10.1000/18-2
      '10.1000/' is not a DOI: nothing after the slash (position 8)

    :param dois: DOIs, text for ``DOI.parse``, or pairs of a place, such as a line, and one of these.
    :param lock: the path of a lock file; no request is sent for DOIs that it knows, or accepts as missing.
    :param resolver: whom to ask about the others; by default a Resolver with the settings of the environment.
    :raises TypeError: if ``dois`` is a single DOI or text, or an item is something else.
    :raises ValueError: if the lock file or a setting is invalid.
    :raises OSError: if the lock file cannot be read.
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    check_batch(dois)
    items = [_read(item) for item in dois]
    valid = [item.doi for item in items if isinstance(item.doi, DOI)]
    missing = _missing([*dict.fromkeys(valid)], lock, resolver)
    wrong = []
    for item in items:
        remark = _remark(item.doi, missing)
        if remark is not None:
            wrong.append(f"\n  {item.place}{remark}")
    if wrong:
        raise AssertionError(f"{len(wrong)} of {len(items)} DOIs are wrong:{''.join(wrong)}")


class _Item(NamedTuple):
    place: str  # with a colon, or ""
    doi: DOI | DOISyntaxError  # or what is wrong with the text


def _read(item: Any) -> _Item:
    """Return the DOI in an item, which is one, a text, or a pair of a place and one of these."""
    place = ""
    doi = item
    if isinstance(item, tuple) and len(item) == 2:
        place = f"{item[0]}: "
        doi = item[1]
    if isinstance(doi, DOI):
        return _Item(place, doi)
    try:
        return _Item(place, DOI.parse(doi))
    except DOISyntaxError as error:
        return _Item(place, with_suggestion(error))


def _missing(
    dois: list[DOI], lock: str | os.PathLike[str] | None, resolver: Resolver | None
) -> dict[DOI, DOI | None]:
    """Return the DOIs that are not registered, with what was meant; log how many could not be checked.

    Those that the lock file accepts as missing are left out.
    """
    locked = LockContent() if lock is None else LockContent.read(Path(lock))
    statuses = {doi: locked.status(doi.key) for doi in dois if doi.key not in locked.accepted}
    not_locked = [doi for doi, status in statuses.items() if status is None]

    meant: dict[DOI, DOI] = {}
    if not_locked:
        with warnings.catch_warnings():
            # where warnings are errors, a cache that cannot be written is none
            warnings.simplefilter("default", StoreWarning)
            survey = _survey(not_locked, resolver)
        statuses |= survey.statuses
        meant = survey.meant
        if survey.unknown:
            _logger.warning("%s", unchecked([*survey.unknown.values()], len(dois)))

    return {doi: meant.get(doi) for doi, status in statuses.items() if status == "not-found"}


def _survey(dois: list[DOI], resolver: Resolver | None) -> Survey:
    """Return what a resolver, by default that of the environment, answers about the existence of DOIs."""
    context = Resolver() if resolver is None else nullcontext(resolver)
    with context as open_resolver:
        survey = Survey(open_resolver, open_resolver.settings.budget)
        survey.ask(dict.fromkeys(dois, Need.EXISTENCE))
        return survey


def _remark(doi: DOI | DOISyntaxError, missing: Mapping[DOI, DOI | None]) -> str | None:
    """Return what is wrong with a DOI and, if known, what was meant; None if nothing is wrong."""
    if isinstance(doi, DOISyntaxError):
        return str(doi)
    if doi not in missing:
        return None
    meant = missing[doi]
    suggestion = suggest(doi) if meant is None else meant.name
    if suggestion is None:
        return f"{doi.name} is not registered"
    return f"{doi.name} is not registered; write {suggestion}"
