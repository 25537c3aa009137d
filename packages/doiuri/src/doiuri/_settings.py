"""The settings that all plugins share, from options and from the environment; the option wins."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from doiuri import __version__

_BASE = "https://doi.org"
_HOME = "https://github.com/doiuri/doiuri"
_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off"}


@dataclass(frozen=True, slots=True)
class Settings:
    """Where to ask (``base``, a URL), whether at all (``offline``), who asks (``mailto``), and the ``cache``.

    ``cache`` is a path, ``:memory:``, or a store's URL; None leaves the choice to the Resolver.
    """

    base: str = _BASE
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
    ) -> "Settings":
        """Return the settings: each argument, or else ``DOIURI_RESOLVER``, ``DOIURI_OFFLINE`` and so on.

        An empty string in the environment means not set. Raises ValueError with the setting's name.
        """
        where = "resolver" if resolver is not None else "DOIURI_RESOLVER"
        base = resolver if resolver is not None else environ.get(where) or _BASE
        name = "offline" if offline is not None else "DOIURI_OFFLINE"
        flag = offline if offline is not None else environ.get(name) or False
        source = "mailto" if mailto is not None else "DOIURI_MAILTO"
        address = mailto if mailto is not None else environ.get(source) or None
        store = os.fspath(cache) if cache is not None else environ.get("DOIURI_CACHE") or None
        return cls(_base(where, base), _flag(name, flag), _address(source, address), store)


def _base(where: str, value: str) -> str:
    base = value.strip()
    try:
        parts = urlsplit(base)
        _ = parts.port
    except ValueError as error:
        raise ValueError(f"{where}: {value!r} is not a URL: {error}") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or not base.isprintable() or " " in base:
        raise ValueError(f"{where}: {value!r} is not an http or https URL such as https://doi.org")
    if "?" in base or "#" in base or "@" in parts.netloc:
        raise ValueError(f"{where}: {value!r} must have neither user, query nor fragment")
    return base.rstrip("/")


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


def user_agent(product: str = "", mailto: str | None = None) -> str:
    """Return the User-Agent header: ``product`` (``"name/version"``) first, the contact last."""
    contact = f"; mailto:{mailto}" if mailto else ""
    own = f"doiuri/{__version__} (+{_HOME}{contact})"
    return f"{product} {own}" if product else own
