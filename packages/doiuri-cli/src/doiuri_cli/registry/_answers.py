"""What the registry says about names, as text: a line or an entry for each."""

from __future__ import annotations

import json
import re
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Protocol

from doiuri import BadRecord, DOISyntaxError, Handle, ResolutionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from doiuri.resolver import Outcome, Resolver

    Batch = Callable[[Iterable[str]], Iterator[Outcome]]

    class LookUp(Protocol):
        """Returns an entry."""

        def __call__(self, doi: Handle, *, budget: float | None) -> str:
            """Return the entry of a DOI, within some seconds."""


FORMS = ("url", "json", "agency", "csl", "bibtex", "ris", "citation")
ENTRIES = frozenset({"bibtex", "ris"})
"""The forms that take several lines."""

RIS = "application/x-research-info-systems"

_THREADS = 3  # for the forms that have no batches; the resolver limits the rate
_LEAST_BUDGET = 0.001  # seconds: what is stored is read in any case
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Answer(NamedTuple):
    """What the registry says about a name.

    :ivar name: the name as it was given.
    :ivar status: as that of an ``Outcome``.
    :ivar text: the answer; empty if there is none.
    :ivar reason: why there is none.
    """

    name: str
    status: str
    text: str = ""
    reason: str = ""


def answers(resolver: Resolver, names: Iterable[str], form: str, style: str, locale: str) -> Iterator[Answer]:
    """Yield an answer for each name, in order; names are read as they are needed.

    :param resolver: whom to ask.
    :param names: DOIs, in any of the ways in which they are written.
    :param form: one of ``FORMS``.
    :param style: the CSL style of citations.
    :param locale: the language of citations.
    :raises ValueError: if the style or the locale is not a name that can be requested.
    """
    batch: Batch = resolver.resolve_many
    match form:
        case "bibtex":
            return in_threads(resolver.bibtex, names, resolver.budget)
        case "ris":
            return in_threads(partial(_ris, resolver), names, resolver.budget)
        case "agency":
            return _in_batches(resolver.agencies, names, _agency)
        case "csl":
            return _in_batches(resolver.works, names, _csl)
        case "citation":
            batch = partial(resolver.references, style=style, locale=locale)
            return _in_batches(batch, names, _citation)
    return _in_batches(batch, names, _url if form == "url" else _json)


def _in_batches(
    batch: Batch,
    names: Iterable[str],
    read: Callable[[Outcome], tuple[str, str]],
) -> Iterator[Answer]:
    asked: deque[str] = deque()

    def noted() -> Iterator[str]:
        for name in names:
            asked.append(name)
            yield name

    return (_answer(asked.popleft(), outcome, read) for outcome in batch(noted()))


def _answer(name: str, outcome: Outcome, read: Callable[[Outcome], tuple[str, str]]) -> Answer:
    if outcome.status != "found":
        return Answer(name, outcome.status, reason=outcome.reason)
    text, lacking = read(outcome)
    return Answer(name, "found", text) if text else Answer(name, "no-values", reason=lacking)


def _url(outcome: Outcome) -> tuple[str, str]:
    url = outcome.record.url if outcome.record else None
    return url or "", "the record has no URL"


def _json(outcome: Outcome) -> tuple[str, str]:
    return outcome.record.to_json() if outcome.record else "", "there is no record"


def _agency(outcome: Outcome) -> tuple[str, str]:
    return outcome.agency or "", "the registration agency is not known"


def _csl(outcome: Outcome) -> tuple[str, str]:
    if outcome.work is None:
        return "", "there is no metadata"
    doi = outcome.work.doi.name
    return json.dumps({"id": doi, "DOI": doi, **outcome.work.csl}, ensure_ascii=False), ""


def _citation(outcome: Outcome) -> tuple[str, str]:
    return outcome.reference, "there is no metadata"


def _ris(resolver: Resolver, doi: Handle, *, budget: float | None) -> str:
    answer = resolver.metadata(doi, RIS, budget=budget).decode(errors="replace")
    text = _CONTROLS.sub("", answer.replace("\r\n", "\n")).strip("\ufeff \n")
    if not text.startswith("TY  -"):
        raise BadRecord(doi, f"the answer is not RIS: {text[:40]!r}")
    return text


def in_threads(look_up: LookUp, names: Iterable[str], budget: float | None) -> Iterator[Answer]:
    """Yield an answer for each name, in order, if there is a request for each.

    :param look_up: a method of a Resolver.
    :param names: DOIs; they are read as they are needed.
    :param budget: seconds for all; None: no limit.
    """
    deadline = None if budget is None else time.monotonic() + budget

    def ask(name: str) -> Answer:
        left = None if deadline is None else max(deadline - time.monotonic(), _LEAST_BUDGET)
        return _looked_up(partial(look_up, budget=left), name)

    left = iter(names)
    with ThreadPoolExecutor(_THREADS) as pool:
        tasks = deque(pool.submit(ask, name) for name in islice(left, _THREADS))
        try:
            while tasks:
                answer = tasks.popleft().result()
                tasks.extend(pool.submit(ask, name) for name in islice(left, 1))
                yield answer
        finally:
            for task in tasks:
                task.cancel()


def _looked_up(look_up: Callable[[Handle], str], name: str) -> Answer:
    from doiuri.resolver import Outcome  # imports requests

    try:
        doi = Handle.parse(name)
    except DOISyntaxError as error:
        return Answer(name, "invalid", reason=error.reason)
    try:
        return Answer(name, "found", look_up(doi))
    except ResolutionError as error:
        outcome = Outcome.from_error(doi, error)
        return Answer(name, outcome.status, reason=outcome.reason)
