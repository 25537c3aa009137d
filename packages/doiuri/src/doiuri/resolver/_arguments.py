"""The arguments of a Resolver: checks, defaults, and conversion to DOIs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from doiuri._doi import Handle
from doiuri._errors import DOISyntaxError
from doiuri._hosts import is_loopback
from doiuri._settings import deadline_in
from doiuri.resolver._outcome import Cause, Outcome
from doiuri.resolver.http._limiter import DEFAULT_RATE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Default(Enum):
    """The type of an argument that was left out."""

    DEFAULT = "default"


DEFAULT: Final = Default.DEFAULT


@dataclass(frozen=True, slots=True)
class Config:
    """The arguments of a Resolver."""

    base: str
    offline: bool
    timeout: float
    budget: float | None
    concurrency: int
    rate: float | None
    mailto: str | None
    user_agent: str
    cache: str | None
    private: bool

    def __post_init__(self) -> None:
        """Check the arguments; raise ValueError or TypeError."""
        check_positive(timeout=self.timeout, concurrency=self.concurrency)
        check_optional(budget=self.budget, rate=self.rate)
        if not isinstance(self.concurrency, int):
            raise ValueError(f"concurrency must be a whole number, not {self.concurrency!r}")  # noqa: TRY004
        if not (self.user_agent.isascii() and self.user_agent.isprintable()):  # RFC 9110 section 5.5
            raise ValueError(f"user_agent must be printable ASCII text, not {self.user_agent!r:.80}")

    def deadline(self, budget: float | Default | None) -> float:
        """Return when a call that starts now ends, on the clock of ``time.monotonic``; check its budget."""
        check_optional(budget=budget)
        return deadline_in(self.budget if budget is DEFAULT else budget)


def default_rate(base: str) -> float | None:
    """Return the requests per second to a server; None (no limit) if it is on this machine."""
    return None if is_loopback(urlsplit(base).hostname or "") else DEFAULT_RATE


def check_positive(**arguments: object) -> None:
    """Raise ValueError unless the arguments are positive numbers."""
    for name, number in arguments.items():
        if isinstance(number, bool) or not isinstance(number, (int, float)) or not number > 0:
            raise ValueError(f"{name} must be a number greater than 0, not {number!r}")


def check_optional(**arguments: object) -> None:
    """Raise ValueError unless the arguments are positive numbers, None, or were left out."""
    check_positive(**{name: n for name, n in arguments.items() if n is not None and n is not DEFAULT})


def check_text(**arguments: object) -> None:
    """Raise TypeError unless the arguments are str or None."""
    for name, text in arguments.items():
        if text is not None and not isinstance(text, str):
            raise TypeError(f"{name} must be a str, not {text!r:.80}")


def check_method(method: str, **arguments: object) -> None:
    """Raise TypeError unless the arguments have a method or are None."""
    for name, value in arguments.items():
        if value is not None and not callable(getattr(value, method, None)):
            raise TypeError(f"{name} cannot be {value!r:.80}: it has no {method}()")


def check_callable(**arguments: object) -> None:
    """Raise TypeError unless the arguments are callable or None."""
    for name, value in arguments.items():
        if value is not None and not callable(value):
            raise TypeError(f"{name} must be callable, not {value!r:.80}")


def check_batch(dois: object, budget: object) -> None:
    """Raise TypeError unless ``dois`` is an iterable of DOIs, and ValueError for an impossible budget."""
    if isinstance(dois, (str, bytes, Handle)):
        raise TypeError(f"expected an iterable of DOIs; pass [{dois!r}]")
    if not hasattr(dois, "__iter__") and not hasattr(dois, "__getitem__"):
        raise TypeError(f"expected an iterable of DOIs, not {dois!r:.80}")
    check_optional(budget=budget)


def as_handle(doi: object) -> Handle:
    """Return a DOI as it is, or parsed from text; raise DOISyntaxError or TypeError."""
    if isinstance(doi, Handle):
        return doi
    if isinstance(doi, str):
        return Handle.parse(doi)
    raise TypeError(_not_a_doi(doi))


def as_handles(dois: Iterable[object]) -> Iterator[Handle | Outcome]:
    """Yield a DOI, or an outcome with the status ``"invalid"``, for each item."""
    for doi in dois:
        if isinstance(doi, Handle):
            yield doi
        elif isinstance(doi, str):
            try:
                yield Handle.parse(doi)
            except DOISyntaxError as error:
                yield Outcome(None, "invalid", text=error.text, cause=Cause("invalid", detail=error.reason))
        else:
            yield Outcome(None, "invalid", text=repr(doi), cause=Cause("invalid", detail=_not_a_doi(doi)))


def _not_a_doi(item: object) -> str:
    return f"expected a DOI or a str, not {item!r:.80}"
