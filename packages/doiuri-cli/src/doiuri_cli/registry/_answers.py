"""What the registry says about names, as text: a line or an entry for each."""

from __future__ import annotations

import json
import re
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from doiuri.resolver import Outcome, Resolver

    Batch = Callable[[Iterable[str]], Iterator[Outcome]]


FORMS = ("url", "json", "agency", "csl", "bibtex", "ris", "citation")
ENTRIES = frozenset({"bibtex", "ris"})
"""The forms that take several lines."""

RIS = "application/x-research-info-systems"

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
    match form:
        case "url":
            return _in_batches(resolver.resolve_many, names, _url)
        case "json":
            return _in_batches(resolver.resolve_many, names, _json)
        case "agency":
            return _in_batches(resolver.agencies, names, _agency)
        case "csl":
            return _in_batches(resolver.works, names, _csl)
        case "bibtex":
            return _in_batches(resolver.bibtex_many, names, _bibtex)
        case "ris":
            return _in_batches(partial(resolver.metadata_many, media_type=RIS), names, _ris)
        case _:
            batch = partial(resolver.references, style=style, locale=locale)
            return _in_batches(batch, names, _citation)


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


def _bibtex(outcome: Outcome) -> tuple[str, str]:
    return outcome.metadata.text if outcome.metadata else "", ""


def _ris(outcome: Outcome) -> tuple[str, str]:
    answer = outcome.metadata.text if outcome.metadata else ""
    text = _CONTROLS.sub("", answer.replace("\r\n", "\n")).strip("\ufeff \n")
    return (text, "") if text.startswith("TY  -") else ("", f"the answer is not RIS: {text[:40]!r}")
