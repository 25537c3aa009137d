"""The settings of a Resolver: its arguments, and the defaults of those that were left out."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from doiuri._options import DEFAULT, Default, option, read_options, user_agent
from doiuri._targets import is_loopback
from doiuri._urls import DOI_ORG

DEFAULT_RATE = 10.0
"""Requests per second to a server that is not on this machine."""

_BUDGET = option("budget", default=None)

_OF_RESOLVERS = (
    option("resolver", name="base"),
    option("offline"),
    option("mailto"),
    option("cache", name="store"),
    option("timeout"),
    _BUDGET,
    *map(option, ("concurrency", "rate", "private", "user_agent", "long_running")),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """How a Resolver asks: its arguments, and the defaults of those that were left out."""

    base: str = DOI_ORG
    """The URL of the DOI proxy, without a slash at the end."""

    offline: bool = False
    """Send no requests."""

    mailto: str | None = None
    """The mail address for the User-Agent header, or None."""

    cache: str | None = None
    """A path, ``:memory:``, or the URL of a store; None stands for the default of ``Resolver``."""

    timeout: float = 10
    """Seconds for one request."""

    budget: float | None = None
    """Seconds for one call, or None."""

    concurrency: int = 3
    """Requests in flight at the same time."""

    rate: float | None = None
    """Requests per second, or None."""

    private: bool = False
    """Whether redirects may lead into a private network."""

    user_agent: str = ""
    """The User-Agent header."""

    long_running: bool = False
    """Whether a server that blocks the process is asked again after some minutes."""

    @classmethod
    def of_resolver(cls, **given: object) -> Settings:
        """Return the settings that the arguments of a Resolver give.

        :raises ValueError: if one is invalid; the message begins with the name of the argument or variable.
        """
        arguments = [argument for argument in _OF_RESOLVERS if argument.name in given]
        values = read_options(arguments, given)
        values["cache"] = values.pop("store", None)
        if "rate" not in values:
            is_local = is_loopback(urlsplit(values["base"]).hostname or "")
            values["rate"] = None if is_local else DEFAULT_RATE
        if values["user_agent"] is None:
            values["user_agent"] = user_agent(mailto=values["mailto"])
        return cls(**values)

    def seconds(self, budget: float | Default | None) -> float | None:
        """Return the seconds of a call: its ``budget``, which is checked, or that of the settings."""
        if budget is DEFAULT:
            return self.budget
        seconds: float | None = _BUDGET.read({"budget": budget})
        return seconds


Settings.__module__ = "doiuri.resolver"  # for tracebacks and pickles
