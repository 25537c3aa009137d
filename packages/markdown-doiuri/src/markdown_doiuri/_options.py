"""The extension's options: names, defaults, descriptions and checks."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from doiuri import DOISyntaxError
from doiuri.citations import Citing
from doiuri.plugins.mentions import MENTION_OPTIONS, MentionRule
from doiuri.plugins.options import Option, Options, option, text, texts, with_defaults

from markdown_doiuri._report import Problem
from markdown_doiuri._stash import slug

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from doiuri import Handle


def _callback(value: object) -> object:
    if not callable(value):
        raise ValueError(f"{value!r:.80} is not callable")  # noqa: TRY004
    return value


def _classes(value: object) -> str:
    return " ".join(text(value).split())


def _path(value: object) -> str | None:
    return str(value) or None


_warn = logging.getLogger("doiuri").warning
BUDGET = 20  # seconds
_SHARED = with_defaults(budget=BUDGET)
OWN = (
    *MENTION_OPTIONS,
    Option(
        "citations",
        True,
        "read `[@doi:10.1000/182]` and `@doi:10.1000/182` as citations",
        none=False,
    ),
    Option("nocite", (), "DOIs and ids of works that are listed, but not cited", texts),
    Option("list_links", False, "list the works that pages link to in the list of references, too"),
    option("details"),
    Option(
        "css_class",
        "doi",
        "class of the links",
        _classes,
        none="",
    ),
    Option("tidy_links", False, "change links to `dx.doi.org` and `http` to `https://doi.org`"),
    Option("locked", False, "send no requests; report DOIs that the lock file lacks"),
    Option("warn", None, "function called with each problem", _callback, none=_warn),
    Option(
        "file",
        None,
        "path of the source, which problems and ids name",
        _path,
    ),
)
"""The options that only Markdown has."""


OPTIONS = (*_SHARED, *OWN)
"""All options."""


def default_of(option: Option) -> object:
    """Return the default of an option; None if an environment variable may set it."""
    return None if option.variable else option.default


def default_config() -> dict[str, list[object]]:
    """Return the ``config`` of the extension: each option's default and description."""
    return {option.name: [default_of(option), option.describe()] for option in OPTIONS}


@dataclass(frozen=True, slots=True)
class MarkdownOptions:
    """The options in use: those ``shared`` by all plugins, and those of Markdown only."""

    shared: Options
    citing: Citing
    mentions: MentionRule
    """Which DOIs in running text become links."""
    citations: bool
    nocite: tuple[Handle | str, ...]
    """The works that are listed, but not cited."""
    list_links: bool
    """Whether there is a list of references that has the works to which pages link."""
    details: bool
    css_class: str
    tidy_links: bool
    locked: bool
    warn: Callable[[object], object]
    file: str | None
    misspelt: tuple[Problem, ...]
    """What is wrong with ``nocite``."""

    @property
    def place(self) -> str:
        """What begins the ids of a document with a ``file``: pages such as Pelican's index have several."""
        if not self.file:
            return ""
        path = PurePath(self.file).with_suffix("")
        return f"{slug(path.as_posix())}-"

    @classmethod
    def read(cls, values: Mapping[str, object]) -> MarkdownOptions:
        """Return the options in ``values``, checked; raises ValueError that names the invalid one."""
        shared = Options.read(values, options=_SHARED)
        mentions = MentionRule.read(values)
        settings = {
            option.name: option.read(values) for option in OWN if option not in MENTION_OPTIONS
        }
        citing = Citing(shared)
        nocite = read_nocite(citing, settings["nocite"])
        settings["nocite"] = tuple(nocite.keys)
        settings["misspelt"] = tuple(nocite.problems)

        # Without citations, nothing writes a list of references.
        settings["list_links"] = settings["list_links"] and settings["citations"]
        if settings["locked"]:
            if not shared.lock:
                raise ValueError('locked: needs a lock file; name it with the option "lock"')
            shared = replace(shared, offline=True)
        return cls(shared, citing, mentions, **settings)


class _Nocite(NamedTuple):
    """Works that are listed, though nothing cites them, and what is wrong with their texts."""

    keys: list[Handle | str]
    problems: list[Problem]


def read_nocite(citing: Citing, lists: Iterable[str]) -> _Nocite:
    """Return the works in lists such as ``10.1000/182; @kahn``."""
    nocite = _Nocite([], [])

    def report(part: str, error: ValueError) -> None:
        if isinstance(error, DOISyntaxError):
            problem = Problem(part, error.reason, error.suggestion, file="nocite")
        else:
            problem = Problem(part, str(error), file="nocite")
        nocite.problems.append(problem)

    for works in lists:
        nocite.keys.extend(cite.key for cite in citing.read_nocite(works, report))
    return nocite
