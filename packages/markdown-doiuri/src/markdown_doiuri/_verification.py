"""Look up DOIs once per process, however many documents a site has."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from doiuri.plugins import open_resolver
from doiuri.plugins.survey import Answer, Need, Survey, unchecked
from doiuri.resolver import LockContent, LockFile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from doiuri import DOI
    from doiuri.plugins.options import Options

    # DOIs, with the longer names that may be meant
    LongerNames = Sequence[tuple[DOI, Sequence[DOI]]]

_TTL = 3_600.0  # seconds that an answer is kept
_UNKNOWN_TTL = 60.0  # seconds before a DOI is requested again if nothing could be learned

_verifiers: dict[tuple[object, ...], Verifier] = {}


def verifier(options: Options) -> Verifier:
    """Return the process's verifier for this resolver and lock file.

    Raises ValueError for a file that is not a lock file.
    """
    key = (
        options.resolver,
        options.offline,
        options.mailto,
        options.cache,
        options.resolve,
        options.timeout,
        options.lock and Path(options.lock).absolute(),
    )
    known = _verifiers.get(key)
    # Other threads may add a verifier or forget all in between.
    return known or _verifiers.setdefault(key, Verifier(options))


def forget() -> None:
    """Drop the answers that this process keeps; caches and lock files stay as they are."""
    _verifiers.clear()


def unchecked_dois(needs: Mapping[DOI, Need], answers: Mapping[DOI, Answer]) -> str:
    """Return how many of the DOIs in ``needs`` could not be checked, and why; "" if none."""
    causes = []
    for doi, need in needs.items():
        answer = answers[doi]
        # A cause may be about the metadata alone, which counts only if it is needed
        is_incomplete = answer.status == "unknown" or need == Need.WORK
        if answer.cause and is_incomplete:
            causes.append(answer.cause)
    return unchecked(causes, len(needs))


class _KnownAnswer(NamedTuple):
    """An answer that is kept."""

    answer: Answer
    need: Need  # what was requested
    expires: float  # on the clock of time.monotonic


def _not_known(
    needs: Mapping[DOI, Need], longer_names: LongerNames, known: Mapping[DOI, _KnownAnswer]
) -> dict[DOI, Need]:
    """Return the DOIs to request: those about which less is known than needed.

    A DOI that does not exist is requested again if longer names may be meant of which nothing is known.
    """
    new = {doi: need for doi, need in needs.items() if doi not in known or known[doi].need < need}
    for doi, longer in longer_names:
        is_dead = doi in known and known[doi].answer.status == "not-found"
        if is_dead and any(name not in known for name in longer):
            new[doi] = needs[doi]
    return new


class Verifier:
    """Tells which DOIs do not exist and what they name, and keeps the answers."""

    def __init__(self, options: Options) -> None:
        self._lock_file = LockFile(options.lock) if options.lock else None
        self._locked = LockContent()  # what the lock file said when it was last read
        # Replaced as a whole: what another thread adds meanwhile may get lost, and is requested again.
        self._known: dict[DOI, _KnownAnswer] = {}

    def look_up(
        self,
        needs: Mapping[DOI, Need],
        options: Options,
        longer_names: LongerNames = (),
        deadline: float | None = None,
    ) -> dict[DOI, Answer]:
        """Return what is known about DOIs, in order, and about longer names.

        New ones are requested in one batch, within the budget; what is unknown then is tried again with a
        later document.

        :param longer_names: as ``longer`` of ``Survey.ask``.
        :param deadline: when the budget ends, on the clock of ``time.monotonic``; by default it begins now.
        """
        if self._lock_file and any(self._locked.differences(self._lock_file.read())):
            self._known = {}  # another program, or a person, has changed the lock file
        now = time.monotonic()
        known = {doi: entry for doi, entry in self._known.items() if entry.expires > now}
        new = _not_known(needs, longer_names, known)
        if new:
            end = now + options.budget if deadline is None else deadline
            known |= self._request(new, known, longer_names, options, end)
            self._known = known
        # The resolver may have written new answers into it: those are no change by somebody else.
        if self._lock_file:
            self._locked = self._lock_file.read()

        meant = {name for _, longer in longer_names for name in longer}
        answers = {}
        for doi in [*needs, *(known.keys() & meant)]:
            answer = known[doi].answer
            is_accepted = answer.status == "not-found" and doi.key in self._locked.accepted
            answers[doi] = answer._replace(status="accepted") if is_accepted else answer
        return answers

    def _request(
        self,
        needs: Mapping[DOI, Need],
        known: Mapping[DOI, _KnownAnswer],
        longer_names: LongerNames,
        options: Options,
        deadline: float,
    ) -> dict[DOI, _KnownAnswer]:
        """Return new answers about the DOIs, and about the longer names that were asked for too.

        :param known: the answers so far; names of mentions that are known to be dead are not asked again.
        """
        if options.resolve:
            store: LockFile | None = self._lock_file
            to_ask = needs
        else:
            # No requests: open_resolver opens the lock file, which is read for works only
            store = None
            to_ask = {doi: need for doi, need in needs.items() if need == Need.WORK}
        with open_resolver(options, "markdown-doiuri", store) as resolver:
            survey = Survey(resolver, deadline - time.monotonic())
            dead = [doi for doi, entry in known.items() if entry.answer.status == "not-found"]
            survey.statuses = dict.fromkeys(dead, "not-found")
            survey.ask(to_ask, longer=longer_names)

        # A longer name is needed as much as the name in its mention
        needs_of_longer = {
            name: needs[doi]
            for doi, longer in longer_names
            if doi in needs
            for name in longer
            if name in survey.statuses and name not in known
        }
        now = time.monotonic()
        new = {}
        for doi, need in {**needs_of_longer, **needs}.items():
            answer = survey.answer(doi)
            lifetime = _UNKNOWN_TTL if answer.cause else _TTL
            new[doi] = _KnownAnswer(answer, need, now + lifetime)
        return new
