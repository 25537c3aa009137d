"""The options that all plugins share: checked, and named where they are wrong."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from doiuri._display import check_display, display
from doiuri._doi import DOI, Handle
from doiuri._settings import Settings, store_kind, user_agent
from doiuri._urls import DOI_ORG, check_base, origin
from doiuri.records._accept import wants_record
from doiuri.rest import record_url

__all__ = [
    "DOI_ORG",
    "ClientOptions",
    "Follow",
    "Options",
    "Settings",
    "check_display",
    "display",
    "origin",
    "user_agent",
    "wants_record",
]

_SETTINGS = ("resolver", "offline", "mailto", "cache")
_OFF = {"false", "no", "off", "0", "none", ""}
_ON = {"true", "yes", "on", "1", "records"}


@dataclass(frozen=True, slots=True)
class Options:
    """How a plugin shows, links and looks up DOIs.

    ``settings`` say whom to ask; ``resolve`` is "records", "existence" or False; ``timeout`` (of one request)
    and ``budget`` (of a whole document or build) are seconds; ``lock`` is the path of a lock file; ``text``
    is what ``display`` takes, ``link`` the base of the links.
    """

    settings: Settings
    resolve: Literal["records", "existence", False] = "records"
    timeout: float = 10
    budget: float = 2
    lock: str | None = None
    text: str = "name"
    link: str = DOI_ORG

    @classmethod
    def read(
        cls, given: Mapping[str, object], prefix: str = "", environ: Mapping[str, str] = os.environ
    ) -> "Options":
        """Return the options in ``given``, by name with ``prefix`` in front; all values may be strings.

        What is missing has its default, and so has what is None, but for ``resolve``: None is off, as are
        "no" and the like. ``resolver``, ``offline``, ``mailto`` and ``cache`` fall back to the environment.
        Raises ValueError, the name of the option or variable in front.
        """
        values: dict[str, Any] = {}
        for name, check in _CHECKS.items():
            value = given.get(prefix + name)
            if value is not None or (name == "resolve" and prefix + name in given):
                values[name] = _named(prefix + name, check, value)
        if "link" in values:
            values["link"] = check_base(f"{prefix}link", values["link"])
        sources = {name: values.pop(name) for name in _SETTINGS if name in values}
        settings = Settings.from_environ(**sources, environ=environ, prefix=prefix)
        if settings.cache:
            _named(f"{prefix}cache" if sources.get("cache") else "DOIURI_CACHE", store_kind, settings.cache)
        return cls(settings, **values)

    def shown(self, doi: DOI) -> str:
        """Return the visible text of a link without a title."""
        return display(doi, self.text, base=self.link)


def _named(name: str, check: Callable[[Any], object], value: object) -> object:
    try:
        return check(value)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a string")  # noqa: TRY004
    return value


def _setting(value: object) -> str | None:
    return _text(value) or None


def _flag(value: object) -> bool | str | None:
    return value if isinstance(value, bool) else _setting(value)


def _path(value: object) -> str | None:
    return _setting(os.fspath(value) if isinstance(value, os.PathLike) else value)


def _resolve(value: object) -> str | bool:
    word = str(value).strip().lower()
    if word in _OFF:
        return False
    if word in _ON:
        return "records"
    if word == "existence":
        return word
    raise ValueError(f'{value!r} is none of "records", "existence" and False')


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


_CHECKS: dict[str, Callable[[Any], object]] = {
    "resolver": _setting,
    "offline": _flag,
    "mailto": _setting,
    "cache": _path,
    "resolve": _resolve,
    "timeout": _seconds,
    "budget": _seconds,
    "lock": _path,
    "text": _template,
    "link": _text,
}


Follow = Literal["record", "target"]
"""What a ``doi:`` request returns: the DOI's record, or the resource that the DOI points to."""


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """The options of a plugin for an HTTP client, and the URL that it requests for a DOI.

    >>> options = ClientOptions.read(resolver="https://doi.org")
    >>> options.request_url(DOI("10.1000/182"))
    'https://doi.org/api/handles/10.1000/182'
    >>> options.request_url(DOI("10.1000/182"), accept="application/x-bibtex")
    'https://doi.org/10.1000/182'
    """

    settings: Settings
    """The resolver to request (``settings.base``), whether it may be (``offline``), and the ``mailto``."""
    follow: Follow = "record"
    """What a request returns: the ``"record"`` (draft-lemieux-doi-uri-scheme-00 §3) or the ``"target"``."""

    @classmethod
    def read(
        cls,
        resolver: str | None = None,
        offline: bool | str | None = None,
        mailto: str | None = None,
        follow: str = "record",
    ) -> "ClientOptions":
        """Return the options, checked.

        :param resolver: base URL of the DOI resolver; default ``DOIURI_RESOLVER``, else ``https://doi.org``.
        :param offline: send no requests; default ``DOIURI_OFFLINE``, else false.
        :param mailto: mail address for the User-Agent header; default ``DOIURI_MAILTO``, else none.
        :param follow: ``"record"`` or ``"target"``.
        :raises ValueError: if an option or a variable is invalid; the message begins with its name.
        """
        if follow not in ("record", "target"):
            raise ValueError(f'follow: {follow!r} is not "record" or "target"')
        settings = Settings.from_environ(resolver=resolver, offline=offline, mailto=mailto)
        return cls(settings, "record" if follow == "record" else "target")

    def wants_record(self, accept: str | bytes | None = None) -> bool:
        """Return whether a request with this Accept header gets the DOI's record."""
        return self.follow == "record" and wants_record(accept)

    def request_url(self, doi: Handle, accept: str | bytes | None = None) -> str:
        """Return the URL to request for ``doi``.

        That is the record's at the REST API, or else the link to ``doi``, from which the resolver redirects
        to the target or to the agency that negotiates the content.

        :param accept: the value of the request's Accept header, if it has one.
        """
        base = self.settings.base
        return record_url(doi, base=base) if self.wants_record(accept) else doi.link(base)
