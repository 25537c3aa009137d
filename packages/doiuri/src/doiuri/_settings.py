"""The settings that all plugins share, from options and from the environment; the option wins."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Literal
from urllib.parse import urlsplit

from doiuri._urls import DOI_ORG, check_base

MEMORY = ":memory:"

_HOME = "https://github.com/doiuri/doiuri"
_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off"}
_REDIS = {"redis", "rediss", "valkey", "valkeys", "unix"}
_LOCK_FILES = (".json", ".lock")


@dataclass(frozen=True, slots=True)
class Settings:
    """Where to ask (``base``, a URL), whether at all (``offline``), who asks (``mailto``), and the ``cache``.

    ``cache`` is a path, ``:memory:``, or a store's URL; None leaves the choice to the Resolver.
    """

    base: str = DOI_ORG
    offline: bool = False
    mailto: str | None = None
    cache: str | None = None

    @classmethod
    def from_environ(
        cls,
        resolver: str | None = None,
        offline: bool | str | None = None,
        mailto: str | None = None,
        cache: str | os.PathLike[str] | None = None,
        environ: Mapping[str, str] = os.environ,
        *,
        prefix: str = "",
    ) -> "Settings":
        """Return the settings: each argument, or else ``DOIURI_RESOLVER``, ``DOIURI_OFFLINE`` and so on.

        An empty string in the environment means not set. Raises ValueError with the name of the variable, or
        of the argument with ``prefix``, as the user knows it. The cache is looked at by whoever opens it.
        """
        where = f"{prefix}resolver" if resolver is not None else "DOIURI_RESOLVER"
        base = resolver if resolver is not None else environ.get(where) or DOI_ORG
        name = f"{prefix}offline" if offline is not None else "DOIURI_OFFLINE"
        flag = offline if offline is not None else environ.get(name) or False
        source = f"{prefix}mailto" if mailto is not None else "DOIURI_MAILTO"
        address = mailto if mailto is not None else environ.get(source) or None
        store = os.fspath(cache) if cache is not None else environ.get("DOIURI_CACHE") or None
        return cls(check_base(where, base), _flag(name, flag), _address(source, address), store)


def _flag(where: str, value: bool | str) -> bool:
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
    if (
        not (local and at and domain)
        or not address.isascii()
        or not address.isprintable()
        or set(address) & set(' ();<>,"')
    ):
        raise ValueError(f"{where}: {value!r} is not a mail address")
    return address


def store_kind(address: str) -> tuple[Literal["memory", "redis", "lock", "sqlite"], str]:
    """Return what store an address means, and its path or URL; nothing is opened.

    Raises ValueError for an address that means none, and where redis-py is needed and not installed.
    """
    scheme, colon, rest = address.partition(":")
    if address == MEMORY:
        return "memory", ""
    if colon and scheme.lower() in _REDIS and rest.startswith("//"):
        if find_spec("redis") is None:
            raise ValueError("a store on Redis needs redis-py: pip install 'doiuri[redis]'")
        try:
            _ = urlsplit(address).port
        except ValueError:  # whose text may hold a part of the password
            raise ValueError("no URL of a Redis server, such as redis://localhost:6379/0") from None
        return "redis", address
    path = address
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", address):
        if scheme.lower() != "sqlite":
            raise ValueError(f"no store is known for {scheme}: (a path, {MEMORY}, redis://… or rediss://…)")
        path = rest.removeprefix("//")
    if not path.strip() or "\0" in path:
        raise ValueError(f"{path!r} is no path for a store")
    return "lock" if path.lower().endswith(_LOCK_FILES) else "sqlite", path


def user_agent(distribution: str = "doiuri", mailto: str | None = None) -> str:
    """Return the User-Agent header of a package that uses doiuri: its name and version first, contact last.

    :param distribution: the name of the installed distribution that sends the request.
    :param mailto: a mail address at which the user can be reached.
    """
    contact = f"; mailto:{mailto}" if mailto else ""
    core = f"{_product('doiuri')} (+{_HOME}{contact})"
    return core if distribution == "doiuri" else f"{_product(distribution)} {core}"


def _product(distribution: str) -> str:
    try:
        return f"{distribution}/{version(distribution)}"
    except PackageNotFoundError:  # run from a source tree that is not installed
        return distribution
