"""The settings that all plugins share, from options and from the environment; the option wins."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Literal, TypeVar
from urllib.parse import urlsplit

from doiuri._urls import DOI_ORG, check_base

MEMORY = ":memory:"
"""The value of ``cache`` for a store in memory."""

_T = TypeVar("_T")
_HOME = "https://github.com/doiuri/doiuri"
_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off"}
_NOT_IN_ADDRESSES = frozenset(' ();<>,"')
_REDIS = {"redis", "rediss", "valkey", "valkeys", "unix"}
_LOCK_FILES = (".json", ".lock")


@dataclass(frozen=True, slots=True)
class Settings:
    """The resolver to query, whether it may be queried, the user's mail address, and the cache."""

    base: str = DOI_ORG
    """The URL of the resolver, without a slash at the end."""

    offline: bool = False
    """Send no requests."""

    mailto: str | None = None
    """The mail address for the User-Agent header, or None."""

    cache: str | None = None
    """A path, ``:memory:``, or the URL of a store; None stands for the default of ``Resolver``."""

    @classmethod
    def from_environ(
        cls,
        resolver: str | None = None,
        offline: bool | str | None = None,
        mailto: str | None = None,
        cache: str | os.PathLike[str] | None = None,
        environ: Mapping[str, str] | None = None,
        *,
        prefix: str = "",
    ) -> Settings:
        """Return the settings: of each argument, or else of its environment variable.

        An empty variable counts as not set. The cache is not checked: ``open_store`` does that.

        :param resolver: URL of the resolver; default ``DOIURI_RESOLVER``, else ``https://doi.org``.
        :param offline: send no requests; default ``DOIURI_OFFLINE``, else false. Text may be "1", "true",
            "yes", "on", "0", "false", "no" or "off".
        :param mailto: mail address; default ``DOIURI_MAILTO``, else none.
        :param cache: path, ``:memory:`` or URL of a store; default ``DOIURI_CACHE``, else None.
        :param environ: variables to read instead of the process's environment.
        :param prefix: what the user's names of the options begin with, for error messages.
        :raises ValueError: if a value is invalid; the message begins with the name of the option or variable.
        """
        variables = os.environ if environ is None else environ

        def setting(name: str, option: _T | None, default: _T) -> tuple[str, _T | str]:
            """Return the user's name for the setting, and its value."""
            if option is not None:
                return f"{prefix}{name}", option
            variable = f"DOIURI_{name.upper()}"
            return variable, variables.get(variable) or default

        _, store = setting("cache", cache, None)
        return cls(
            base=check_base(*setting("resolver", resolver, DOI_ORG)),
            offline=_flag(*setting("offline", offline, None)),
            mailto=_address(*setting("mailto", mailto, None)),
            cache=None if store is None else os.fspath(store),
        )


def _flag(where: str, value: bool | str | None) -> bool:
    if not isinstance(value, str):
        return bool(value)
    word = value.strip().lower()
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise ValueError(f"{where}: {value!r} is neither true (1, true, yes, on) nor false (0, false, no, off)")


def _address(where: str, value: str | None) -> str | None:
    if value is None:
        return None
    address = value.strip().removeprefix("mailto:")
    local, at, domain = address.rpartition("@")
    plain = address.isascii() and address.isprintable() and _NOT_IN_ADDRESSES.isdisjoint(address)
    if not (local and at and domain and plain):
        raise ValueError(f"{where}: {value!r} is not a mail address")
    return address


def store_kind(address: str) -> tuple[Literal["memory", "redis", "lock", "sqlite"], str]:
    """Return the kind of store that an address names, and the store's path or URL; open nothing.

    :raises ValueError: if the address names no store, or redis-py is needed and not installed.
    """
    scheme, colon, rest = address.partition(":")
    if address == MEMORY:
        return "memory", ""
    if colon and scheme.lower() in _REDIS and rest.startswith("//"):
        return "redis", _redis_url(address)
    if address.strip(":").lower() == "memory":
        raise ValueError(
            f"{address!r} is not a store: give {MEMORY} for a store in memory, ./memory for a file"
        )
    path = address
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", address):
        if scheme.lower() != "sqlite":
            raise ValueError(f"no store is known for {scheme}: (a path, {MEMORY}, redis://… or rediss://…)")
        path = rest.removeprefix("//")
    if not path.strip() or "\0" in path:
        raise ValueError(f"{path!r} is not a path for a store")
    return "lock" if path.lower().endswith(_LOCK_FILES) else "sqlite", path


def _redis_url(url: str) -> str:
    if find_spec("redis") is None:
        raise ValueError("a store on Redis needs redis-py: pip install 'doiuri[redis]'")
    try:
        _ = urlsplit(url).port
    except ValueError:  # its text may hold a part of the password
        raise ValueError("not a URL of a Redis server, such as redis://localhost:6379/0") from None
    return url


@cache
def user_agent(distribution: str = "doiuri", mailto: str | None = None) -> str:
    """Return the User-Agent header for a package that uses doiuri: its name and version first, contact last.

    :param distribution: the name of the installed distribution that sends the request.
    :param mailto: the user's mail address.
    """
    contact = f"; mailto:{mailto}" if mailto else ""
    core = f"{_product('doiuri')} (+{_HOME}{contact})"
    return core if distribution == "doiuri" else f"{_product(distribution)} {core}"


def _product(distribution: str) -> str:
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    try:
        return f"{distribution}/{version(distribution)}"
    except PackageNotFoundError:  # run from a source tree that is not installed
        return distribution
