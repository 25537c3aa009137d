"""The extension's options: names, defaults, descriptions and checks."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from doiuri import plugins

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


def default_config() -> dict[str, list[object]]:
    """Return the ``config`` of the extension: each option's default and description.

    The type of the default matters: if it is a bool or None, Markdown converts values to bool.
    """
    return {
        "resolver": ["", "Base URL of the DOI resolver (default: DOIURI_RESOLVER, else https://doi.org)"],
        "resolve": ["records", 'How to verify DOIs: "records", "existence" or False'],
        "offline": ["", "Send no requests; use the cache and the lock file (default: DOIURI_OFFLINE)"],
        "timeout": [10.0, "Seconds for one request"],
        "budget": [2.0, "Seconds for all requests of one conversion"],
        "lock": ["", "Path of a lock file"],
        "cache": ["", "Path or URL of the cache (default: DOIURI_CACHE)"],
        "mailto": ["", "Mail address for the User-Agent header (default: DOIURI_MAILTO)"],
        "text": ["name", 'Text of links without one: "name", "link" or a template'],
        "link": [plugins.DOI_ORG, "Base URL of the links"],
        "bare": [True, "Link doi:10.1000/182 in running text"],
        "bare_names": [False, "Link 10.1000/182 in running text, without a label"],
        "bare_links": [False, "Link https://doi.org/10.1000/182 in running text"],
        "citations": [True, "Read [@doi:10.1000/182] and @doi:10.1000/182 as citations"],
        "citation": ["author-year", 'How citations look: "author-year" or "number"'],
        "reference_style": ["apa", "CSL style of the list of references"],
        "reference_locale": ["en-US", "Locale of the list of references"],
        "css_class": ["doi", "Class of the links"],
        "tidy_links": [False, "Change links to dx.doi.org, www.doi.org and http to https://doi.org"],
        "warn": [logging.getLogger("doiuri").warning, "Called with each Problem, a str"],
        "file": ["", "Path of the source, which problems name"],
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
    warn: Callable[[str], object]
    file: str | None

    @classmethod
    def read(cls, values: Mapping[str, object]) -> Options:
        """Return the options in ``values``, checked; raises ValueError that names the invalid one."""
        css_class, warn = values["css_class"], values["warn"]
        if css_class is not None and not isinstance(css_class, str):
            raise ValueError(f"css_class: {css_class!r} is not a string")
        if not callable(warn):
            raise ValueError(f"warn: {warn!r} is not callable")  # noqa: TRY004
        return cls(
            shared=plugins.Options.read(values),
            bare=bool(values["bare"]),
            bare_names=bool(values["bare_names"]),
            bare_links=bool(values["bare_links"]),
            citations=bool(values["citations"]),
            css_class=" ".join((css_class or "").split()),
            tidy_links=bool(values["tidy_links"]),
            warn=warn,
            file=str(values["file"] or "") or None,
        )
