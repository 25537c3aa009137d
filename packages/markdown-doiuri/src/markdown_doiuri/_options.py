"""The extension's options: names, defaults, descriptions and checks."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from doiuri import plugins
from doiuri.plugins import Option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


def _classes(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a string")  # noqa: TRY004
    return " ".join(value.split())


def _callback(value: object) -> object:
    if not callable(value):
        raise ValueError(f"{value!r} is not callable")  # noqa: TRY004
    return value


_warn = logging.getLogger("doiuri").warning
OWN = (
    Option("bare", True, "link `doi:10.1000/182` in running text", none=False),
    Option("bare_names", False, "link `10.1000/182` in running text, without a label", none=False),
    Option("bare_links", False, "link `https://doi.org/10.1000/182` in running text", none=False),
    Option("citations", True, "read `[@doi:10.1000/182]` and `@doi:10.1000/182` as citations", none=False),
    Option("css_class", "doi", "class of the links", _classes, none=""),
    Option("tidy_links", False, "change links to `dx.doi.org` and `http` to `https://doi.org`", none=False),
    Option("warn", None, "function called with each problem", _callback, none=_warn),
    Option("file", None, "path of the source, which problems name", lambda value: str(value) or None),
)
"""The options that only Markdown has."""


def default_config() -> dict[str, list[object]]:
    """Return the ``config`` of the extension: each option's default and description."""
    return {
        option.name: [None if option.variable else option.default, option.describe()]
        for option in (*plugins.OPTIONS, *OWN)
    }


def hint(name: str, names: Iterable[str]) -> str:
    """Return which of ``names`` an unknown name was probably meant to be, to end a message with."""
    from difflib import get_close_matches  # slow to import

    near = get_close_matches(name, names, 1)
    return f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(names)}"


@dataclass(frozen=True, slots=True)
class Options:
    """The options in use: those ``shared`` by all plugins, and those of Markdown only."""

    shared: plugins.Options
    bare: bool
    bare_names: bool
    bare_links: bool
    citations: bool
    css_class: str
    tidy_links: bool
    warn: Callable[[object], object]
    file: str | None

    @classmethod
    def read(cls, values: Mapping[str, object]) -> Options:
        """Return the options in ``values``, checked; raises ValueError that names the invalid one."""
        shared = plugins.Options.read(values)
        return cls(shared, **{option.name: option.read(values) for option in OWN})
