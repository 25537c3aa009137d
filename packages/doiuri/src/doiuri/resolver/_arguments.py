"""The arguments of a Resolver: checks, defaults, and conversion to DOIs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from doiuri._doi import Handle
from doiuri._errors import DOISyntaxError
from doiuri._hosts import is_loopback
from doiuri._settings import Settings, deadline_in, option, user_agent
from doiuri.resolver._outcome import Cause, Outcome
from doiuri.resolver.http._limiter import DEFAULT_RATE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Default(Enum):
    """The type of an argument that was left out."""

    DEFAULT = "default"


DEFAULT: Final = Default.DEFAULT


_BUDGET = option("budget", default=None)
_OPTIONS = (
    option("resolver", name="base"),
    option("offline"),
    option("mailto"),
    option("cache", name="store"),
    option("timeout"),
    _BUDGET,
    *map(option, ("concurrency", "rate", "private", "user_agent")),
)


@dataclass(frozen=True, slots=True)
class ResolverSettings(Settings):
    """The settings of a Resolver, with the defaults of those that were left out."""

    timeout: float = 10
    """Seconds for one request."""

    budget: float | None = None
    """Seconds for one call of a method; None: no limit."""

    concurrency: int = 3
    """Requests in flight at the same time."""

    rate: float | None = None
    """Requests per second; None: no limit."""

    private: bool = False
    """Whether redirects may lead into a private network."""

    user_agent: str = ""
    """The User-Agent header."""

    @classmethod
    def read(cls, **given: object) -> ResolverSettings:
        """Return the settings that arguments of a Resolver give.

        :raises ValueError: if one is invalid; the message begins with the argument or variable.
        """
        values = {one.name: one.read(given) for one in _OPTIONS if one.name in given}
        values["cache"] = values.pop("store", None)
        values.setdefault("rate", default_rate(values["base"]))
        values["user_agent"] = values["user_agent"] or user_agent(mailto=values["mailto"])
        return cls(**values)

    def deadline(self, budget: float | Default | None) -> float:
        """Return when a call that starts now ends, on the clock of ``time.monotonic``; check its budget."""
        return deadline_in(self.budget if budget is DEFAULT else _BUDGET.read({"budget": budget}))


def default_rate(base: str) -> float | None:
    """Return the requests per second to a server; None (no limit) if it is on this machine."""
    return None if is_loopback(urlsplit(base).hostname or "") else DEFAULT_RATE


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
    """Raise TypeError unless ``dois`` is an iterable of DOIs, and ValueError for an invalid budget."""
    if isinstance(dois, (str, bytes, Handle)):
        raise TypeError(f"expected an iterable of DOIs; pass [{dois!r}]")
    if not hasattr(dois, "__iter__") and not hasattr(dois, "__getitem__"):
        raise TypeError(f"expected an iterable of DOIs, not {dois!r:.80}")
    if budget is not DEFAULT:
        _BUDGET.read({"budget": budget})


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
