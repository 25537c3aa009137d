"""The configuration: what the command line, the configuration file and the environment say."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Config:
    """What to check, and how.

    :ivar fail_on: findings of this severity or worse make the exit code 1: "error", "warning" or "never".
    :ivar resolver: URL of the resolver; None: ``DOIURI_RESOLVER`` or https://doi.org.
    :ivar offline: send no requests; None: what ``DOIURI_OFFLINE`` says.
    """

    fail_on: str = "error"
    resolver: str | None = None
    offline: bool | None = None
