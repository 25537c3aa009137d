"""The extension's options: names, defaults, descriptions and checks."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from doiuri import plugins
from doiuri.citations import parse_citation
from doiuri.plugins import Option
from doiuri.plugins.citing import Citing
from doiuri.plugins.display import DETAILS

from markdown_doiuri._stash import slug

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from doiuri import Handle


def _classes(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a string")  # noqa: TRY004
    return " ".join(value.split())


def _callback(value: object) -> object:
    if not callable(value):
        raise ValueError(f"{value!r} is not callable")  # noqa: TRY004
    return value


_warn = logging.getLogger("doiuri").warning
BUDGET = 20  # seconds
_WORKS = next(option for option in plugins.OPTIONS if option.name == "works")
OWN = (
    Option("bare", True, "link `doi:10.1000/182` in running text", none=False),
    Option("bare_names", False, "link `10.1000/182` in running text, without a label", none=False),
    Option("bare_links", False, "link `https://doi.org/10.1000/182` in running text", none=False),
    Option("citations", True, "read `[@doi:10.1000/182]` and `@doi:10.1000/182` as citations", none=False),
    replace(_WORKS, name="nocite", help="DOIs and ids of works that are listed, but not cited"),
    DETAILS,
    Option("css_class", "doi", "class of the links", _classes, none=""),
    Option("tidy_links", False, "change links to `dx.doi.org` and `http` to `https://doi.org`", none=False),
    Option("locked", False, "send no requests; report DOIs that the lock file lacks", none=False),
    Option("warn", None, "function called with each problem", _callback, none=_warn),
    Option("file", None, "path of the source, which problems and ids name", lambda value: str(value) or None),
)
"""The options that only Markdown has."""


OPTIONS = (
    *(replace(option, default=BUDGET) if option.name == "budget" else option for option in plugins.OPTIONS),
    *OWN,
)
"""All options."""


def default_config() -> dict[str, list[object]]:
    """Return the ``config`` of the extension: each option's default and description."""
    return {
        option.name: [None if option.variable else option.default, option.describe()] for option in OPTIONS
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
    citing: Citing
    bare: bool
    bare_names: bool
    bare_links: bool
    citations: bool
    nocite: tuple[Handle | str, ...]
    """The works that are listed, but not cited."""
    details: bool
    css_class: str
    tidy_links: bool
    locked: bool
    warn: Callable[[object], object]
    file: str | None

    @property
    def place(self) -> str:
        """What begins the ids of a document with a ``file``: pages such as Pelican's index have several."""
        return f"{slug(PurePath(self.file).with_suffix('').as_posix())}-" if self.file else ""

    @classmethod
    def read(cls, values: Mapping[str, object]) -> Options:
        """Return the options in ``values``, checked; raises ValueError that names the invalid one."""
        shared = plugins.Options.read(values)
        own = {option.name: option.read(values) for option in OWN}
        citing = Citing(shared, "markdown-doiuri")
        try:
            cites = [parse_citation(text, citing.locale, citing.library.ids) for text in own["nocite"]]
        except ValueError as error:
            raise ValueError(f"nocite: {error}") from None
        own["nocite"] = tuple(cite.key for text in cites for cite in text)
        if own["locked"]:
            if not shared.lock:
                raise ValueError('locked: needs a lock file; name it with the option "lock"')
            shared = replace(shared, settings=replace(shared.settings, offline=True))
        return cls(shared, citing, **own)
