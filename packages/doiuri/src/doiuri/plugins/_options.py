"""The options of plugins that show, link and look up DOIs; the text and the resolver that they ask for."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeVar

from doiuri._doi import DOI
from doiuri._settings import Settings, store_kind, user_agent
from doiuri._urls import DOI_ORG, check_base
from doiuri.plugins._display import check_display, display
from doiuri.rest import check_locale, check_style

if TYPE_CHECKING:
    from doiuri.records import CitationStyle, CitationWords, Work
    from doiuri.resolver import Resolver, Store

_T = TypeVar("_T")
_D = TypeVar("_D")
_TIMEOUT = 10.0
_BUDGET = 2.0
_OFF = {"false", "no", "off", "0", "none", ""}
_ON = {"true", "yes", "on", "1", "records"}

Resolve = Literal["records", "existence", False]
"""What to look up: whole records, only whether a DOI exists, or nothing."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a plugin that shows, links and looks up DOIs.

    >>> options = Options.read({"doi_text": "link", "doi_timeout": "2.5"}, prefix="doi_", environ={})
    >>> options.timeout, options.display(DOI("10.1000/182"))
    (2.5, 'https://doi.org/10.1000/182')
    """

    settings: Settings
    """The options ``resolver``, ``offline``, ``mailto`` and ``cache``."""

    resolve: Resolve = "records"
    """What to look up: "records", "existence" or False."""

    timeout: float = _TIMEOUT
    """The time limit of one request, in seconds."""

    budget: float = _BUDGET
    """The time limit of all look-ups for a document or a build, in seconds."""

    lock: str | None = None
    """The path of a lock file, or None."""

    text: str = "name"
    """The visible text of a link without a title, as for ``display``."""

    link: str = DOI_ORG
    """The URL that links begin with, without a slash at the end."""

    citation: CitationStyle = "author-year"
    """How citations look: "author-year" or "number"."""

    reference_style: str = "apa"
    """The CSL style of the entries in a list of references."""

    reference_locale: str = "en-US"
    """The locale of these entries."""

    @classmethod
    def read(
        cls, given: Mapping[str, object], prefix: str = "", environ: Mapping[str, str] | None = None
    ) -> Options:
        """Return the options, checked; all values may be strings.

        An option that is missing or None has its default, except for ``resolve``, for which None,
        "no", "off" and the like mean False. ``resolver``, ``offline``, ``mailto`` and ``cache`` default to
        their environment variables (see ``Settings.from_environ``).

        :param given: values by the names that users write; others are ignored.
        :param prefix: what all these names begin with, such as ``"doi_"``.
        :param environ: variables to read instead of the process's environment.
        :raises ValueError: if a value is invalid; the message begins with the name of the option or variable.
        """

        def read(name: str, check: Callable[[object], _T], default: _D) -> _T | _D:
            value = given.get(prefix + name)
            return default if value is None else _checked(prefix + name, check, value)

        cache = read("cache", _path, None)
        settings = Settings.from_environ(
            resolver=read("resolver", _setting, None),
            offline=read("offline", _flag, None),
            mailto=read("mailto", _setting, None),
            cache=cache,
            environ=environ,
            prefix=prefix,
        )
        if settings.cache:
            _checked(f"{prefix}cache" if cache else "DOIURI_CACHE", store_kind, settings.cache)
        return cls(
            settings,
            resolve=_checked(f"{prefix}resolve", _resolve, given.get(f"{prefix}resolve", True)),
            timeout=read("timeout", _seconds, _TIMEOUT),
            budget=read("budget", _seconds, _BUDGET),
            lock=read("lock", _path, None),
            text=read("text", _template, "name"),
            link=check_base(f"{prefix}link", read("link", _text, DOI_ORG)),
            citation=read("citation", _citation, "author-year"),
            reference_style=read("reference_style", _style, "apa"),
            reference_locale=read("reference_locale", _locale, "en-US"),
        )

    def display(self, doi: DOI, work: Work | None = None, words: CitationWords | None = None) -> str:
        """Return the visible text of a link without a title; see the function ``display``."""
        return display(doi, self.text, base=self.link, work=work, words=words)


def open_resolver(options: Options, distribution: str, store: Store | None = None) -> Resolver:
    """Return a Resolver for a plugin's options; it needs ``doiuri[resolver]``.

    If the options name a lock file and ``store`` is None, all answers come from the lock file; no request is
    sent.

    :param distribution: the name of the plugin's distribution, for the User-Agent header.
    :param store: the store to use; by default the lock file's, else the cache's.
    :raises ValueError: if the lock file or the cache cannot be used.
    """
    from doiuri.resolver import LockFile, Resolver  # slow to import

    settings, locked = options.settings, False
    chosen = settings.cache if store is None else store
    if store is None and options.lock:
        chosen, locked = LockFile(options.lock), True
    resolver = partial(
        Resolver,
        settings.base,
        offline=settings.offline or locked,
        timeout=options.timeout,
        budget=options.budget,
        mailto=settings.mailto,
        user_agent=user_agent(distribution, settings.mailto),
    )
    return resolver() if chosen is None else resolver(store=chosen)


def _checked(name: str, check: Callable[[_D], _T], value: _D) -> _T:
    try:
        return check(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a string")
    return value


def _setting(value: object) -> str | None:
    return _text(value) or None


def _flag(value: object) -> bool | str | None:
    return value if isinstance(value, bool) else _setting(value)


def _path(value: object) -> str | None:
    return _setting(os.fspath(value) if isinstance(value, os.PathLike) else value)


def _resolve(value: object) -> Resolve:
    word = str(value).strip().lower()
    if word in _OFF:
        return False
    if word in _ON:
        return "records"
    if word == "existence":
        return "existence"
    raise ValueError(f'{value!r} is not "records", "existence" or False')


def _seconds(value: object) -> float:
    try:
        seconds = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else -1
    except ValueError:
        seconds = -1
    if not 0 < seconds < float("inf"):
        raise ValueError(f"{value!r} is not a number of seconds above 0")
    return seconds


def _template(value: object) -> str:
    return check_display(_text(value))


def _citation(value: object) -> CitationStyle:
    if value == "author-year":
        return "author-year"
    if value == "number":
        return "number"
    raise ValueError(f'{value!r} is not "author-year" or "number"')


def _style(value: object) -> str:
    return check_style(_text(value))


def _locale(value: object) -> str:
    return check_locale(_text(value))
