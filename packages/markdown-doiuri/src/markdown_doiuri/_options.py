"""The options: checked once, when the extension is made, so that a mistake shows before any text does."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from doiuri import DOI, Settings, check_display

How = Literal["records", "existence", False]

_OFF = {"false", "no", "off", "0", "none"}
_ON = {"true", "yes", "on", "1"}


@dataclass(frozen=True, slots=True)
class Options:
    """What the author chose; times in seconds."""

    settings: Settings
    resolve: How
    timeout: float
    budget: float
    lock: str | None
    text: str
    link: str
    bare: bool
    bare_names: bool
    css_class: str
    tidy_links: bool
    warn: Callable[[str], object]


def read(values: Mapping[str, object]) -> Options:
    """Return the options in ``values``; raises ValueError that names the one which is wrong."""
    warn = values["warn"]
    if not callable(warn):
        raise ValueError(f"warn: {warn!r} cannot be called with a message")  # noqa: TRY004
    return Options(
        settings=_settings(values),
        resolve=_how(values["resolve"]),
        timeout=_seconds("timeout", values["timeout"]),
        budget=_seconds("budget", values["budget"]),
        lock=_path("lock", values["lock"]),
        text=_named("text", check_display, values["text"]),
        link=_named("link", _base, values["link"]),
        bare=bool(values["bare"]),
        bare_names=bool(values["bare_names"]),
        css_class=" ".join(_string("css_class", values["css_class"]).split()),
        tidy_links=bool(values["tidy_links"]),
        warn=warn,
    )


def _settings(values: Mapping[str, object]) -> Settings:
    offline = values["offline"]
    return Settings.from_environ(
        resolver=_string("resolver", values["resolver"]) or None,
        offline=offline if isinstance(offline, bool) else _string("offline", offline) or None,
        mailto=_string("mailto", values["mailto"]) or None,
        cache=_path("cache", values["cache"]),
    )


def _how(value: object) -> How:
    word = str(value).strip().lower()
    if word in _OFF:
        return False
    if word in _ON or word == "records":
        return "records"
    if word == "existence":
        return "existence"
    raise ValueError(f'resolve: {value!r} is neither "records", "existence" nor False')


def _seconds(option: str, value: object) -> float:
    try:
        seconds = float(value) if isinstance(value, int | float | str) and value is not True else -1.0
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < float("inf"):
        raise ValueError(f"{option}: {value!r} is not a number of seconds above 0")
    return seconds


def _string(option: str, value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"{option}: {value!r} is not a string")  # noqa: TRY004
    return value


def _path(option: str, value: object) -> str | None:
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    return _string(option, value) or None


def _named(option: str, check: Callable[[str], str], value: object) -> str:
    try:
        return check(_string(option, value))
    except ValueError as error:
        raise ValueError(f"{option}: {error}") from None


def _base(value: str) -> str:
    DOI("10.1000/182").link(value)  # what could not be linked then is refused now
    return value
