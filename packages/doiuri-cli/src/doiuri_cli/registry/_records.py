"""The works that the entries of bibliographies name: from the lock file, the store or the registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri import DOI
from doiuri.plugins import Survey

from doiuri_cli.registry._check import open_resolver

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from doiuri.records import Work

    from doiuri_cli._config import Config
    from doiuri_cli.registry._check import Progress


class Works:
    """What is known about works.

    :ivar found: the works by the DOI's key.
    :ivar requests: how many requests were sent.
    """

    def __init__(self) -> None:
        self.found: dict[str, Work] = {}
        self.requests = 0


def look_up_works(
    names: Collection[str], statuses: Mapping[str, str], config: Config, progress: Progress | None = None
) -> Works:
    """Return the works that names name, as far as they are known.

    :param names: the names.
    :param statuses: the status of DOIs by their keys; those that do not exist name no work.
    :param config: the configuration.
    :param progress: called with the number of DOIs done, and of all.
    :raises ValueError: if the resolver or the cache is not configured rightly.
    """
    dois = {doi.key: doi for doi in map(DOI, names)}
    left = [doi for key, doi in dois.items() if statuses.get(key) not in {"not-found", "accepted"}]
    works = Works()
    if config.lock is not None:
        left = _add_locked(left, works, config)
    if left and not config.locked:
        replies: list[None] = []  # one for each request
        with open_resolver(config, on_reply=lambda _: replies.append(None)) as resolver:
            survey = Survey(resolver, config.budget)
            survey.look_up_works(left, progress=progress)
            works.found |= {doi.key: work for doi, work in survey.works.items() if work is not None}
            works.requests = len(replies)
    return works


def _add_locked(dois: list[DOI], works: Works, config: Config) -> list[DOI]:
    """Add the works in the lock file; return the DOIs that it says nothing about."""
    from doiuri.resolver import LockFile

    with open_resolver(config, offline=True, store=LockFile(config.lock or "")) as resolver:
        survey = Survey(resolver, None)
        survey.look_up_works(dois)
    works.found |= {doi.key: work for doi, work in survey.works.items() if work is not None}
    return [doi for doi in dois if doi in survey.incomplete]
