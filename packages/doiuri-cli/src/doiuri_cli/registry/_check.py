"""Whether DOIs are registered, and what they name: by the lock file, the store and the registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri import DOI

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from doiuri.records import Work
    from doiuri.resolver import Cause, Resolver, Store

    from doiuri_cli._config import Config
    from doiuri_cli.registry._lock import Lock

    Progress = Callable[[int, int | None], None]


class Answers:
    """What is known about the DOIs of a run.

    :ivar statuses: the status of each DOI, by its key.
    :ivar missing: the keys of the DOIs that are not in the lock file; empty if it need not have them.
    :ivar dois: how many DOIs there are.
    :ivar known: how many answers are from the lock file and the store.
    :ivar asked: for how many DOIs the registry was asked.
    :ivar requests: how many requests were sent.
    :ivar unknown: why DOIs could not be checked, one cause for each.
    """

    def __init__(self, dois: int = 0) -> None:
        self.statuses: dict[str, str] = {}
        self.missing: frozenset[str] = frozenset()
        self.dois = dois
        self.known = self.asked = self.requests = 0
        self.unknown: list[Cause] = []


def check_names(
    names: Iterable[str], config: Config, lock: Lock | None = None, progress: Progress | None = None
) -> Answers:
    """Return what is known about some DOIs, each by its name.

    :param names: the names.
    :param config: the configuration.
    :param lock: the lock file.
    :param progress: called with the number of DOIs done, and of all.
    :raises ValueError: if the resolver or the cache is not configured rightly.
    """
    dois = {doi.key: doi for doi in map(DOI, names)}
    answers = Answers(dois=len(dois))
    if lock is not None:
        found = ((key, lock.status(key)) for key in dois)
        answers.statuses = {key: status for key, status in found if status is not None}
        answers.known = len(answers.statuses)
        if config.needs_lock:
            answers.missing = frozenset(dois.keys() - answers.statuses.keys())
    left = [doi for key, doi in dois.items() if key not in answers.statuses]
    if config.locked:
        from doiuri.resolver import Cause

        answers.unknown = [Cause("lock", detail="not in the lock file")] * len(left)
    elif left:
        _ask(left, config, answers, progress)
    return answers


def look_up_works(
    names: Iterable[str], statuses: Mapping[str, str], config: Config, progress: Progress | None = None
) -> tuple[dict[str, Work], int]:
    """Return what is known of the works that names name, by the DOI's key, and the number of requests.

    :param names: the names.
    :param statuses: the status of DOIs by their keys; those that do not exist name no work.
    :param config: the configuration.
    :param progress: called with the number of DOIs done, and of all.
    :raises ValueError: if the resolver or the cache is not configured rightly.
    """
    dois = {doi.key: doi for doi in map(DOI, names)}
    left = [doi for key, doi in dois.items() if statuses.get(key) not in {"not-found", "accepted"}]
    works: dict[str, Work] = {}
    replies: list[None] = []  # one for each request
    if config.lock is not None:
        left = _add_locked(left, works, config)
    if left and not config.locked:
        from doiuri.plugins.survey import Survey

        with open_resolver(config, on_reply=lambda _: replies.append(None)) as resolver:
            survey = Survey(resolver, config.budget)
            survey.look_up_works(left, progress=progress)
        works |= {doi.key: work for doi, work in survey.works.items() if work is not None}
    return works, len(replies)


def _add_locked(dois: list[DOI], works: dict[str, Work], config: Config) -> list[DOI]:
    """Add the works in the lock file; return the DOIs that it says nothing about."""
    from doiuri.plugins.survey import Survey
    from doiuri.resolver import LockFile

    with open_resolver(config, offline=True, store=LockFile(config.lock or "")) as resolver:
        survey = Survey(resolver, None)
        survey.look_up_works(dois)
    works |= {doi.key: work for doi, work in survey.works.items() if work is not None}
    return [doi for doi in dois if doi in survey.incomplete]


def open_resolver(
    config: Config,
    *,
    offline: bool | None = None,
    store: Store | None = None,
    on_reply: Callable[[object], object] | None = None,
) -> Resolver:
    """Return a Resolver for the configuration.

    :param offline: send no requests; by default as configured.
    :param store: where answers are kept; by default as configured.
    :param on_reply: called after each request.
    :raises ValueError: if an argument is wrong; the message begins with its name.
    """
    from doiuri.plugins import Settings, user_agent
    from doiuri.resolver import Resolver  # slow to import

    settings = Settings.from_environ(config.resolver, config.offline, config.mailto, config.cache)
    options: dict[str, object] = {"rate": config.rate} if config.rate is not None else {}
    if store is not None:
        options["store"] = store
    elif settings.cache is not None:
        options["store"] = settings.cache
    offline = settings.offline if offline is None else offline
    name = "doiuri-cli"
    try:
        return Resolver(
            settings.base,
            offline=offline,
            timeout=config.timeout,
            budget=config.budget,
            mailto=settings.mailto,
            on_reply=on_reply,
            user_agent=name if offline else user_agent(name, settings.mailto),  # slow: reads versions
            **options,  # type: ignore[arg-type]
        )
    except ValueError as error:
        if settings.cache is None:
            raise
        raise ValueError(f"cache: {error}") from None


def _ask(dois: Sequence[DOI], config: Config, answers: Answers, progress: Progress | None) -> None:
    """Add what the store knows, and what the registry answers for the others."""
    from doiuri.plugins.survey import Survey

    replies: list[None] = []  # one for each request
    with (
        open_resolver(config, on_reply=lambda _: replies.append(None)) as resolver,
        open_resolver(config, offline=True) as stored,
    ):
        survey = Survey(stored, None)
        survey.check(dois, "existence")
        left = [doi for doi in dois if doi in survey.unknown or doi in survey.stale]
        answers.statuses |= {doi.key: survey.statuses.get(doi, "unknown") for doi in dois}
        answers.known += len(dois) - len(left)
        if left and not resolver.offline:
            survey = Survey(resolver, config.budget)
            survey.check(left, "existence", progress)
            answers.statuses |= {doi.key: survey.statuses.get(doi, "unknown") for doi in left}
            answers.asked, answers.requests = len(left), len(replies)
        answers.unknown += survey.unknown.values()
