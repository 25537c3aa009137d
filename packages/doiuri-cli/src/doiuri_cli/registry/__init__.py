"""Whether DOIs are registered, and what they name: by the lock file, the store and the registry."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from doiuri import Handle

from doiuri_cli._config import DEFAULT_MAX_AGE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from doiuri import DOI
    from doiuri.plugins.survey import Show
    from doiuri.resolver import Cause, Entry, LockContent, Resolver
    from doiuri.works import Work

    from doiuri_cli._config import Config

    Progress = Callable[[int, int | None], None]


def handle(name: str) -> DOI:
    """Return the DOI of a name, or a short DOI: the registry is asked about both in the same way."""
    return cast("DOI", Handle.from_name(name))


@dataclass(slots=True)
class Answers:
    """What is known about the DOIs of a run. The keys are those of the DOIs."""

    dois: int  # how many there are
    statuses: dict[str, str] = field(default_factory=dict)
    # those that are not in the lock file; empty if it need not have them
    missing: frozenset[str] = frozenset()
    known: int = 0  # how many answers are from the lock file and the store
    asked: int = 0  # for how many DOIs the registry was asked
    requests: int = 0  # how many were sent
    # for each DOI that could not be checked, why
    unknown: list[Cause] = field(default_factory=list)
    # for each outdated work that could not be renewed, why
    old: list[Cause] = field(default_factory=list)
    meant: dict[str, str] = field(default_factory=dict)  # registered names that were probably meant


def check_names(
    names: Iterable[str],
    config: Config,
    lock: LockContent | None = None,
    progress: Progress | None = None,
) -> Answers:
    """Return what is known about some DOIs, each by its name.

    :raises ValueError: if the resolver or the cache is misconfigured.
    """
    dois = {doi.key: doi for doi in map(handle, names)}
    answers = Answers(dois=len(dois))
    if lock is not None:
        answers.statuses = _locked_statuses(dois, lock)
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


def _locked_statuses(keys: Iterable[str], lock: LockContent) -> dict[str, str]:
    """Return what a lock file says about DOIs, by their keys."""
    statuses: dict[str, str] = {}
    for key in keys:
        status = "accepted" if key in lock.accepted else lock.status(key)
        if status is not None:
            statuses[key] = status
    return statuses


def _is_fresh(entry: Entry | None, retrieved: str, max_age: int) -> bool:
    """Return whether a work needs no request, as the lock file has it, or says that there is none.

    :param retrieved: the date on which the lock file got the work, as YYYY-MM-DD; "" if it is not known.
    :param max_age: the days for which a work is fresh; none is if they are 0.
    """
    if entry is None or max_age == 0:
        return False
    if entry.says_none:
        return True
    oldest = max(time.time() - max_age * 86400, 0)
    return retrieved >= time.strftime("%Y-%m-%d", time.gmtime(oldest))


def look_up_works(
    names: Iterable[str], answers: Answers, config: Config, progress: Progress | None = None
) -> dict[str, Work]:
    """Return what is known of the works with these names, by the DOI's key.

    :param answers: what is known about the DOIs; those that do not exist name no work. Requests and the works
        in the lock file that could not be renewed are added.
    :raises ValueError: if the resolver or the cache is misconfigured.
    """
    from doiuri.plugins import DOI_ORG
    from doiuri.plugins.survey import Survey
    from doiuri.resolver import Cause, Key, LockContent, MemoryStore
    from doiuri.works import Work

    from doiuri_cli.registry._locked import read_lock

    lock = LockContent() if config.lock is None else read_lock(config.lock)
    works: dict[str, Work] = {}
    left: dict[str, DOI] = {}
    for doi in map(handle, names):
        if answers.statuses.get(doi.key) in {"not-found", "accepted"}:
            continue
        entry = lock.get(Key("work", DOI_ORG, doi.key))
        if entry is not None and not entry.says_none:
            works[doi.key] = Work.from_json(entry.body, doi=doi)
        if not _is_fresh(entry, lock.retrieved.get(doi.key, ""), config.max_age):
            left[doi.key] = doi
    if not left:
        return works
    old = [doi for key, doi in left.items() if key in works]
    if config.locked:
        answers.old = [Cause("lock", detail="--locked sends no requests")] * len(old)
        return works
    replies: list[None] = []  # one for each request
    # The cache keeps works for DEFAULT_MAX_AGE days
    store = MemoryStore() if config.max_age < DEFAULT_MAX_AGE and not config.offline else None
    with open_resolver(config, store=store, on_reply=lambda _: replies.append(None)) as resolver:
        survey = Survey(resolver, config.budget)
        survey.look_up_works(left.values(), show=showing(progress))
    new: set[DOI] = set()
    for doi, work in survey.works.items():
        if doi in survey.stale and doi.key in works:
            continue  # the work in the lock file is as good
        new.add(doi)
        if work is not None:
            works[doi.key] = work
    causes = survey.stale | survey.incomplete
    unanswered = Cause("unknown", detail="no answer")
    answers.old = [causes.get(doi) or unanswered for doi in old if doi not in new]
    answers.requests += len(replies)
    return works


def open_resolver(config: Config, **arguments: Any) -> Resolver:
    """Return a Resolver for the configuration, as ``doiuri.plugins.open_resolver`` does."""
    from doiuri import plugins

    if config.rate is not None:
        arguments["rate"] = config.rate
    return plugins.open_resolver(config.shared, "doiuri-cli", budget=config.budget, **arguments)


def _ask(dois: Sequence[DOI], config: Config, answers: Answers, progress: Progress | None) -> None:
    """Add what the store knows, and what the registry answers for the others."""
    from doiuri.plugins.survey import Need, Survey

    needs = dict.fromkeys(dois, Need.EXISTENCE)
    with open_resolver(config, offline=True) as store:
        stored = Survey(store, None)
        stored.meet(needs)
    answers.statuses |= {doi.key: stored.answer(doi).status for doi in dois}
    known = {doi: status for doi, status in stored.statuses.items() if doi not in stored.stale}
    left = [doi for doi in dois if doi not in known]
    if config.offline or not (left or stored.missing):
        answers.known += len(stored.statuses)
        answers.unknown += stored.unknown.values()
        return

    answers.known += len(known)
    replies: list[None] = []  # one for each request
    with open_resolver(config, on_reply=lambda _: replies.append(None)) as resolver:
        survey = Survey(resolver, config.budget)
        survey.statuses = known
        survey.meet(needs, show=showing(progress))
    answers.statuses |= {doi.key: survey.answer(doi).status for doi in left}
    answers.unknown += survey.unknown.values()
    answers.asked = len(left)
    answers.requests = len(replies)
    answers.meant = {doi.key: meant.name for doi, meant in survey.meant.items()}


def showing(progress: Progress | None) -> Show:
    """Return the argument ``show`` of ``Survey.meet`` for one progress function."""
    return lambda _stage, _dois: nullcontext(progress)
