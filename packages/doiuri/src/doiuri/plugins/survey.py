"""What a document needs from the registry, asked within one budget."""

from __future__ import annotations

import re
import time
from collections import Counter
from contextlib import nullcontext
from enum import IntEnum
from itertools import chain, islice
from typing import TYPE_CHECKING, Literal, NamedTuple

from doiuri._options import deadline_in, time_left

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from doiuri._doi import DOI
    from doiuri.resolver import Cause, Entry, Key, LockContent, Outcome, Resolver
    from doiuri.works import Work

    Progress = Callable[[int, int | None], None]
    Show = Callable[[str, Sequence[DOI]], AbstractContextManager[Progress | None]]

_MOST_GUESSES = 50
_END_OF_PAGE_ADDRESS = re.compile(
    r"""
    (?: \.pdf
    |   / (?: data | e?pdf | full(?:text)? | html | abstract | meta )
    )+
    \Z
    """,
    re.IGNORECASE | re.VERBOSE,
)
# A letter in the place of a digit: next to another digit
_MISTYPED_DIGIT = re.compile("[OolI](?=[0-9])|(?<=[0-9])[OolI]")
_DIGITS = {"O": "0", "o": "0", "l": "1", "I": "1"}

__all__ = [
    "Answer",
    "Need",
    "Survey",
    "common_cause",
    "deadline_in",
    "tally",
    "time_left",
    "unchecked",
]


class Need(IntEnum):
    """What a document needs to know about a DOI; a work includes its existence."""

    EXISTENCE = 0
    """Whether it exists, for a link."""

    CARD = 1
    """Also the work, if there is time left when all else is known."""

    WORK = 2
    """The work, for a citation."""


class Answer(NamedTuple):
    """What is known about a DOI."""

    status: str
    """"found", "not-found" or "unknown", as in ``Outcome.status``; a name without values exists."""

    cause: Cause | None = None
    """Why its existence or its work is not known."""

    work: Work | None = None
    """The work; None if it was not asked for, or if the agency has none."""

    meant: DOI | None = None
    """The registered DOI that was probably meant, if this one does not exist."""

    lacks_metadata: bool = False
    """Whether the DOI exists, and its registration agency has no metadata."""


class Survey:
    """The answers about the DOIs of a document, so far; all questions share one budget.

    >>> from doiuri import DOI
    >>> from doiuri_proxy import resolver_for
    >>> dois = [DOI("10.1000/182"), DOI("10.1000/none")]
    >>> with resolver_for([{"handle": "10.1000/182", "values": []}]) as resolver:
    ...     survey = Survey(resolver, budget=2.0)
    ...     survey.ask(dict.fromkeys(dois, Need.EXISTENCE))
    >>> [survey.statuses[doi] for doi in dois], survey.sentence(dois)
    (['found', 'not-found'], '')

    :param resolver: the Resolver that is asked.
    :param budget: seconds for all questions, from now; None: no limit.
    :param lock: what a lock file is to keep of each DOI: its ``"record"``, or only that it ``"exists"``. Then
        the entries that the answers come from are recorded, and nothing is guessed. None: there is no lock
        file to write.
    """

    statuses: dict[DOI, str]
    """The definite answers: "found" or "not-found"."""

    works: dict[DOI, Work | None]
    """The metadata; None if the agency has none."""

    unknown: dict[DOI, Cause]
    """Why it is not known whether a DOI exists."""

    incomplete: dict[DOI, Cause]
    """Why the metadata of a DOI are not known."""

    entries: dict[Key, Entry]
    """The entries of the store that were read and written, if they are for a lock file."""

    stale: dict[DOI, Cause | None]
    """Why the answers about DOIs that have expired could not be renewed."""

    meant: dict[DOI, DOI]
    """The registered DOIs that were probably meant by those that do not exist."""

    def __init__(
        self,
        resolver: Resolver,
        budget: float | None,
        *,
        lock: Literal["record", "exists"] | None = None,
    ) -> None:
        self.statuses = {}
        self.works = {}
        self.unknown = {}
        self.incomplete = {}
        self.stale = {}
        self.meant = {}
        self.entries = {} if lock is None else resolver._recorded()
        self._lock = lock
        self._longer: set[DOI] = set()  # asked about because a shorter name does not exist
        self._shortened: set[DOI] = set()  # names that are registered only as longer ones
        self._stale_existence: set[str] = set()  # DOIs by their keys
        self._stale_works: set[str] = set()
        self._resolver = resolver
        self._started = time.time()
        self._deadline = deadline_in(budget)

    def ask(
        self,
        needs: Mapping[DOI, Need],
        *,
        longer: Iterable[tuple[DOI, Sequence[DOI]]] = (),
        show: Show | None = None,
    ) -> None:
        """Ask for what a document needs and what is not known yet: what it cites first, cards last.

        >>> from doiuri import DOI
        >>> from doiuri_proxy import resolver_for
        >>> with resolver_for([{"handle": "10.1000/182", "values": []}]) as resolver:
        ...     survey = Survey(resolver, budget=2.0)
        ...     survey.ask({DOI("10.1000/182"): Need.EXISTENCE, DOI("10.1000/l82"): Need.WORK})
        >>> survey.missing
        {DOI('10.1000/l82'): DOI('10.1000/182')}

        :param needs: the DOIs of the document, each with what is needed; the order is that of the requests.
        :param longer: mentions of these DOIs in running text, each with the names that ``untrimmed`` returns.
            Those of DOIs that do not exist are asked about in one batch; ``whole_name`` then says which is meant.
        :param show: called with "works" or "existence" and the DOIs before each step; returns a context
            manager that yields the step's progress function, or None.
        """
        show = show or _show_nothing

        # The works that it cites; these DOIs then exist, so that only the others have to be checked
        cited = _with_need(needs, Need.WORK)
        others = [doi for doi in self._without_status(needs) if needs[doi] != Need.WORK]
        self._look_up_works(cited, others, show)
        self._look_up_existence(self._without_status(needs), show)

        # Where a DOI does not exist, its mention may mean a longer name
        registered = self._look_up_longer(needs, longer)
        self._look_up_works(_with_need(registered, Need.WORK), [], show)
        needs = {**registered, **needs}

        cards = self._with_status("found", _with_need(needs, Need.CARD))
        self._look_up_works(cards, [], show)

        if self._lock is None:
            self._look_for_meant(self._with_status("not-found", needs))

    def look_up_works(self, dois: Iterable[DOI], *, show: Show | None = None) -> None:
        """Ask for the works of DOIs that are not known yet, and for nothing else.

        A DOI that has a work exists. One without metadata may exist or not.

        :param show: as for ``ask``.
        """
        self._look_up_works(dict.fromkeys(dois), [], show or _show_nothing)

    def answer(self, doi: DOI) -> Answer:
        """Return what is known about a DOI now; an answer about its work alone shows that it exists."""
        work = self.works.get(doi)
        default = "found" if doi in self.works else "unknown"
        return Answer(
            self.statuses.get(doi, default),
            cause=self.incomplete.get(doi) or self.unknown.get(doi),
            work=work,
            meant=self.meant.get(doi),
            lacks_metadata=doi in self.works and work is None,
        )

    @property
    def missing(self) -> dict[DOI, DOI | None]:
        """The DOIs that do not exist, each with the registered one that was probably meant, or None."""
        dead = self._with_status("not-found", self.statuses)
        return {doi: self.meant.get(doi) for doi in dead if doi not in self._longer}

    def _with_status(self, status: str, dois: Iterable[DOI]) -> list[DOI]:
        """Return the DOIs with a status."""
        return [doi for doi in dois if self.statuses.get(doi) == status]

    def _without_status(self, dois: Iterable[DOI]) -> list[DOI]:
        """Return the DOIs of which it is not known whether they exist."""
        return [doi for doi in dois if doi not in self.statuses]

    def _without_work(self, dois: Iterable[DOI]) -> list[DOI]:
        """Return the DOIs whose works may be asked for: those not known yet, of DOIs that may exist."""
        new = [doi for doi in dois if doi not in self.works]
        return [doi for doi in new if self.statuses.get(doi) != "not-found"]

    def _look_up_existence(self, dois: Sequence[DOI], show: Show) -> None:
        """Ask whether DOIs exist: by their whole records, if the lock file is to have those."""
        if not dois:
            return
        with show("existence", dois) as progress:
            if self._lock == "record":
                outcomes = self._resolver.resolve_many(dois, budget=self._left, progress=progress)
                self._note_existence(dois, outcomes)
            else:
                self._check(dois, batch=self._lock == "exists", progress=progress)

    def _check(self, dois: Sequence[DOI], *, batch: bool, progress: Progress | None = None) -> None:
        """Ask whether DOIs exist, but not for their records.

        :param batch: as for ``Resolver.check``.
        """
        outcomes = self._resolver.check(dois, batch=batch, budget=self._left, progress=progress)
        self._note_existence(dois, outcomes)

    def _note_existence(self, dois: Sequence[DOI], outcomes: Iterable[Outcome]) -> None:
        """Note the answers about the existence of DOIs; one without values exists."""
        for doi, outcome in zip(dois, outcomes, strict=True):
            if outcome.stale:
                self.stale[doi] = outcome.cause
                self._stale_existence.add(doi.key)
            if outcome.status == "unknown" and outcome.cause is not None:
                self.unknown[doi] = outcome.cause
                continue
            self.unknown.pop(doi, None)
            status = "not-found" if outcome.status == "not-found" else "found"
            self._note_status(doi, status)

    def _note_status(self, doi: DOI, status: str) -> None:
        """Note whether a DOI exists; earlier answers about the work of one that does not are void."""
        self.statuses[doi] = status
        if status == "not-found":
            self.works.pop(doi, None)

    def _look_up_longer(
        self, needs: Mapping[DOI, Need], longer: Iterable[tuple[DOI, Sequence[DOI]]]
    ) -> dict[DOI, Need]:
        """Ask about the longer names of DOIs that do not exist; return those that do, with what is needed.

        If "10.1000/a" does not exist, its mention in "see 10.1000/a." may mean "10.1000/a.". If that one exists,
        it is noted as meant, and what is needed of the shorter name is needed of it.
        """
        longer_names = self._longer_of_missing(needs, longer)
        candidates = dict.fromkeys(chain.from_iterable(longer_names.values()))
        self._longer.update(candidates.keys() - needs.keys())
        self._look_up_existence(self._without_status(candidates), _show_nothing)
        for doi in candidates:
            self.unknown.pop(doi, None)  # a name that may be none of the document's

        registered: dict[DOI, Need] = {}
        for doi, names in longer_names.items():
            existing = self._with_status("found", names)
            if existing:
                self.meant[doi] = existing[0]
                self.unknown.pop(doi, None)
                self._shortened.add(doi)
            for name in existing:
                # several shorter names may lead to one
                registered[name] = max(needs[doi], registered.get(name, needs[doi]))
        return registered

    def _longer_of_missing(
        self, needs: Mapping[DOI, Need], longer: Iterable[tuple[DOI, Sequence[DOI]]]
    ) -> dict[DOI, dict[DOI, None]]:
        """Return the needed DOIs that do not exist, each with the longer names of all its mentions, each once."""
        # Offline, the store may be a lock file, which has the longer name only
        absent = {"not-found", None} if self._resolver.settings.offline else {"not-found"}
        longer_names: dict[DOI, dict[DOI, None]] = {}
        for doi, names in longer:
            if names and doi in needs and self.statuses.get(doi) in absent:
                longer_names.setdefault(doi, {}).update(dict.fromkeys(names))
        return longer_names

    def _look_up_works(self, dois: Iterable[DOI], others: Collection[DOI], show: Show) -> None:
        """Ask for works that are not known yet.

        A DOI that has metadata exists, so nothing else need be asked about it.

        :param others: DOIs to check afterwards; half of the time is left for them. If the budget does not
            allow so many requests, it is first checked whether all of these DOIs exist.
        """
        new = self._without_work(dois)
        if not new:
            return
        with show("works", new) as progress:
            if self._resolver._too_many_works(new, others, self._deadline):
                self._check(self._without_status([*new, *others]), batch=True)
                new = self._without_work(new)

            budget = self._left
            if others and budget is not None:
                budget /= 2
            outcomes = self._resolver.works(new, budget=budget, progress=progress)
            self._note_works(new, outcomes)

    def _note_works(self, dois: Sequence[DOI], outcomes: Iterable[Outcome]) -> None:
        """Note the answers about works; the DOI of one that has no metadata may exist or not."""
        for doi, outcome in zip(dois, outcomes, strict=True):
            if outcome.stale:
                self.stale[doi] = outcome.cause
                self._stale_works.add(doi.key)
            if outcome.status == "unknown" and outcome.cause is not None:
                self.incomplete[doi] = outcome.cause
                continue
            self.incomplete.pop(doi, None)
            self.unknown.pop(doi, None)
            if outcome.status == "no-values":
                self.works[doi] = None
                continue
            self._note_status(doi, outcome.status)
            if outcome.work is not None:
                self.works[doi] = None if outcome.work.is_empty else outcome.work

    def _look_for_meant(self, dead: Sequence[DOI]) -> None:
        """Look for the registered DOIs that were probably meant by DOIs that do not exist.

        By "10.1000/l82" it is 10.1000/182.
        """
        new = [doi for doi in dead if doi not in self.meant]
        all_pairs = ((doi, guess) for doi in new for guess in _guesses(doi))
        pairs = list(islice(all_pairs, _MOST_GUESSES))
        if not pairs:
            return
        guesses = [guess for _, guess in pairs]
        # unconfirmed, so that it is one request
        outcomes = self._resolver.check(guesses, batch=True, confirm=False, budget=self._left)
        for (doi, guess), outcome in zip(pairs, outcomes, strict=True):
            if outcome.found:
                self.meant.setdefault(doi, guess)  # the most probable one is the first

    def renew(self, content: LockContent, dois: Iterable[DOI]) -> None:
        """Bring the content of a lock file up to date.

        1. Of the entries that this survey read and wrote, those that answer what was asked for count, if
           ``LockContent.takes`` them: new ones, and stale ones that fill a gap.
        2. New ones about existence replace all of the file about that. What is unknown stays as it is.
        3. Of a DOI that does not exist, only the record that says so stays.
        4. A DOI that exists is no longer accepted as missing.

        :param dois: the DOIs of the document whose existence was asked for; of longer names those that are meant.
        """
        checked = {doi.key for doi in dois}
        unasked = {doi.key for doi in self._longer | self._shortened} - checked
        unknown = {doi.key for doi in self.unknown}

        # 1. The entries that count
        counting = {
            key: entry
            for key, entry in self.entries.items()
            if key.doi not in unasked
            and _is_asked_for(key, checked, unknown)
            and content.takes(key, entry)
        }
        new = {key: entry for key, entry in counting.items() if entry.expires > self._started}
        fallbacks = {
            key: entry
            for key, entry in counting.items()
            if key not in new and self._is_fallback(key) and _is_gap(content, key)
        }

        # 2. What the file says about existence
        answered = {key.doi for key in new if key.kind != "work"}
        content.remove(answered, ("record", "exists"))
        content.add(fallbacks | new)

        # 3. DOIs that do not exist
        dead = {doi for doi in answered if content.status(doi) == "not-found"}
        content.remove(dead)
        records = {key: new[key] for key in new if key.kind == "record" and key.doi in dead}
        content.add(records)

        # 4. DOIs that exist
        for doi in answered - dead:
            content.accepted.pop(doi, None)

    def _is_fallback(self, key: Key) -> bool:
        """Return whether a stale entry was the answer, as there was no new one."""
        fallbacks = self._stale_works if key.kind == "work" else self._stale_existence
        return key.doi in fallbacks

    def kept_works(self, content: LockContent) -> list[DOI]:
        """Return the DOIs that have no metadata any more, but have their works in a lock file."""
        without_metadata = [doi for doi, work in self.works.items() if work is None]
        return [doi for doi in without_metadata if content.work(doi.key) is not None]

    def unlockable(self, content: LockContent, dois: Iterable[DOI]) -> list[DOI]:
        """Return those of some DOIs that do not exist, which a lock file keeps only if https://doi.org says so."""
        missing = self._with_status("not-found", dois)
        new = [doi for doi in missing if doi.key not in content.accepted]
        return [doi for doi in new if content.status(doi.key) != "not-found"]

    def sentence(self, dois: Collection[DOI]) -> str:
        """Return how many of some DOIs could not be checked, and why; "" if none."""
        unknown = self.incomplete | self.unknown
        return unchecked([unknown[doi] for doi in dois if doi in unknown], len(dois))

    @property
    def _left(self) -> float | None:
        return time_left(self._deadline)


def _show_nothing(_stage: str, _dois: Sequence[DOI]) -> AbstractContextManager[None]:
    return nullcontext()


def _with_need(needs: Mapping[DOI, Need], need: Need) -> list[DOI]:
    """Return the DOIs about which exactly this is needed."""
    return [doi for doi, its_need in needs.items() if its_need == need]


def _is_asked_for(key: Key, checked: Collection[str], unknown: Collection[str]) -> bool:
    """Return whether the entry of a key answers what was asked for a lock file.

    :param checked: the DOIs whose existence was asked for, by their keys.
    :param unknown: those of which it is not known whether they exist.
    """
    if key.kind == "work":
        return True
    if key.doi in unknown:
        return False
    return key.kind == "record" or key.doi in checked


def _is_gap(content: LockContent, key: Key) -> bool:
    """Return whether a lock file lacks an entry, so that even a stale one is worth adding."""
    # a stale answer that the DOI exists does not replace the file's that it does not
    return content.get(key) is None and content.status(key.doi) != "not-found"


def _guesses(doi: DOI) -> list[DOI]:
    """Return what may have been meant by a DOI that does not exist, the most probable first."""
    prefix, _, suffix = doi.name.partition("/")
    without_page = _END_OF_PAGE_ADDRESS.sub("", suffix)  # "182/full.pdf"
    with_digits = _MISTYPED_DIGIT.sub(lambda letter: _DIGITS[letter[0]], suffix)  # "l82"
    without_last_segment = suffix.rpartition("/")[0]  # "182/figure-1"

    suffixes = dict.fromkeys([without_page, with_digits, without_last_segment])
    guesses = [guess for guess in suffixes if guess not in {"", suffix}]
    return [type(doi).from_name(f"{prefix}/{guess}") for guess in guesses]


def tally(causes: Iterable[Cause]) -> dict[Cause, int]:
    """Return how often each cause occurs, the most frequent first; of equally frequent ones, the earliest.

    Causes are the same if kind, host and HTTP status are; the first of them stands for all.

    >>> from doiuri.resolver import Cause
    >>> refused = Cause("connection", "doi.org", detail="Connection refused")
    >>> skipped = refused._replace(detail="Connection refused; not asked again for 5 s", retry_after=5.0)
    >>> for cause, count in tally([Cause("offline", detail="offline"), refused, skipped]).items():
    ...     print(cause, count)
    doi.org: Connection refused 2
    offline 1
    """
    firsts: dict[tuple[object, ...], Cause] = {}
    counts: Counter[tuple[object, ...]] = Counter()
    for cause in causes:
        kind = cause.kind, cause.host, cause.status
        firsts.setdefault(kind, cause)
        counts[kind] += 1
    return {firsts[kind]: count for kind, count in counts.most_common()}


def unchecked(causes: Sequence[Cause], total: int) -> str:
    """Return a sentence such as "3 of 20 DOIs could not be checked: …", or "" if there are no causes.

    :param causes: why, for each DOI that could not be checked.
    :param total: how many DOIs there are.
    """
    if not causes:
        return ""
    return f"{len(causes)} of {total} DOIs could not be checked: {common_cause(causes)}"


def common_cause(causes: Iterable[Cause]) -> Cause:
    """Return the most frequent cause, as ``tally`` counts them.

    :param causes: the causes, at least one.
    """
    return next(iter(tally(causes)))
