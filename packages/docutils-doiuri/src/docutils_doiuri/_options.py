"""The options that the role has in every host, checked once."""

from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from doiuri import DOI, Settings, check_display, display, user_agent

from docutils_doiuri._locked import LockedAnswers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from doiuri.resolver import Resolver, Store

_OFF = {"false", "no", "off", "0", "none", ""}


@dataclass(frozen=True, slots=True)
class Options:
    """How DOIs are shown, linked and looked up.

    ``resolver`` (base URL), ``offline``, ``mailto`` and ``cache`` fall back to the ``DOIURI_…`` environment
    variables; ``resolve`` is "records", "existence" or False; ``timeout`` (of one request) and ``budget``
    (of a whole document or build) are seconds; ``lock`` is a lock file, which then answers alone; ``text``
    is what ``doiuri.display`` takes, ``link`` the base of the links.
    """

    resolver: str | None = None
    resolve: Literal["records", "existence", False] = "records"
    offline: bool | None = None
    timeout: float = 10
    budget: float = 2
    lock: str | None = None
    text: str = "name"
    link: str = "https://doi.org"
    mailto: str | None = None
    cache: str | None = None

    @classmethod
    def read(cls, given: "Mapping[str, object]", prefix: str = "doi_") -> "Options":
        """Return the options from a host's settings, which may all be strings.

        A setting that is missing, or None, has its default. Raises ValueError, the setting's name in front.
        """
        values: dict[str, object] = {}
        for name in (field.name for field in fields(cls)):
            value = given.get(prefix + name)
            if value is None:
                continue
            try:
                values[name] = _CHECKS[name](value)
            except ValueError as error:
                raise ValueError(f"{prefix}{name}: {error}") from None
        options = cls(**values)  # type: ignore[arg-type]
        options.settings()
        return options

    def settings(self) -> Settings:
        """Return what the environment and these options say together; raises ValueError."""
        return Settings.from_environ(self.resolver, self.offline, self.mailto, self.cache)

    def shown(self, doi: DOI) -> str:
        """Return the visible text of a link without a title."""
        return display(doi, self.text, base=self.link)

    def open_resolver(self, product: str, store: "Store | LockedAnswers | None" = None) -> "Resolver":
        """Return a Resolver that keeps to these options and calls itself ``product`` ("name/version").

        It keeps its answers in ``store``, by default in the cache; with a lock file it asks that one and
        nobody else. Raises ValueError for a lock file or a cache that cannot be used.
        """
        from doiuri.resolver import LockFile, Resolver

        settings = self.settings()
        if store is None and self.lock:
            store = LockedAnswers(LockFile(self.lock), settings.base)
        chosen = settings.cache if store is None else store
        resolver = partial(
            Resolver,
            base=settings.base,
            offline=settings.offline or isinstance(store, LockedAnswers),
            timeout=self.timeout,
            mailto=settings.mailto,
            user_agent=user_agent(product, settings.mailto),
        )
        return resolver() if chosen is None else resolver(store=chosen)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a string")  # noqa: TRY004
    return value


def _resolve(value: object) -> object:
    if value in {"records", "existence"}:
        return value
    if value is False or str(value).strip().lower() in _OFF:
        return False
    raise ValueError(f'{value!r} is none of "records", "existence" and False')


def _flag(value: object) -> object:
    return value if isinstance(value, bool) else _text(value)


def _seconds(value: object) -> float:
    try:
        seconds = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        seconds = -1
    if isinstance(value, bool) or not 0 < seconds < float("inf"):
        raise ValueError(f"{value!r} is not a number of seconds above 0")
    return seconds


def _template(value: object) -> str:
    return check_display(_text(value))


def _link(value: object) -> str:
    base = _text(value).strip()
    try:
        parts = urlsplit(base)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in {"http", "https"} or not parts.netloc or "?" in base or "#" in base:
        raise ValueError(f"{value!r} is not an http or https URL without query and fragment")
    return base.rstrip("/")


_CHECKS = {
    "resolver": _text,
    "resolve": _resolve,
    "offline": _flag,
    "timeout": _seconds,
    "budget": _seconds,
    "lock": _text,
    "text": _template,
    "link": _link,
    "mailto": _text,
    "cache": _text,
}
