"""The options of plugins that show, link and look up DOIs; the text and the resolver that they ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from doiuri._doi import DOI
from doiuri._settings import SETTINGS, Option, Settings, of_text, path, user_agent
from doiuri._urls import DOI_ORG, read_base
from doiuri.plugins.display import check_display, display

if TYPE_CHECKING:
    from doiuri.plugins.display import Words
    from doiuri.records import Work
    from doiuri.resolver import Resolver, Store


def _seconds(value: object) -> float:
    try:
        seconds = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else -1
    except ValueError:
        seconds = -1
    if not 0 < seconds < float("inf"):
        raise ValueError(f"{value!r} is not a number of seconds above 0")
    return seconds


def _citation(value: object) -> object:
    if value not in ("author-year", "number"):
        raise ValueError(f'{value!r} is not "author-year" or "number"')
    return value


def _texts(value: object) -> tuple[str, ...]:
    """Return the texts in a list, or the only one."""
    given = (value,) if isinstance(value, str) else value
    if not isinstance(given, list | tuple) or not all(isinstance(text, str) for text in given):
        raise ValueError(f"{value!r} is not a list of strings")
    return tuple(given)


OPTIONS = (
    *SETTINGS,
    Option("resolve", True, "look up DOIs", none=False),
    Option("timeout", 10, "seconds for one request", _seconds),
    Option("budget", 2, "seconds for all requests", _seconds),
    Option("lock", None, "path of a lock file", path),
    Option("text", "name", "text of links without one: `name`, `link` or a template", of_text(check_display)),
    Option("link", DOI_ORG, "base URL of the links", of_text(read_base)),
    Option(
        "citation", None, "how citations look, if not as the style says: `author-year`, `number`", _citation
    ),
    Option("reference_style", None, "style of the list: `author-date`, `numeric` or the path of a .csl file"),
    Option("reference_locale", None, "locale of the list of references, such as `de-DE`"),
    Option("works", (), "files of works without a DOI and of corrections, in CSL-JSON or CSL-YAML", _texts),
)
"""The options of all plugins that show DOIs, each declared here only: hosts translate this table."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a plugin that shows, links and looks up DOIs.

    >>> options = Options.read({"doi_text": "link", "doi_timeout": "2.5"}, prefix="doi_", environ={})
    >>> options.timeout, options.display(DOI("10.1000/182"))
    (2.5, 'https://doi.org/10.1000/182')
    """

    settings: Settings
    """The options ``resolver``, ``offline``, ``mailto`` and ``cache``."""

    resolve: bool
    """Whether DOIs are looked up."""

    timeout: float
    """The time limit of one request, in seconds."""

    budget: float
    """The time limit of all look-ups for a document or a build, in seconds."""

    lock: str | None
    """The path of a lock file, or None."""

    text: str
    """The visible text of a link without a title, as for ``display``."""

    link: str
    """The URL that links begin with, without a slash at the end."""

    citation: Literal["author-year", "number"] | None
    """How citations look; None: as the style has them."""

    reference_style: str | None
    """The style of citations and lists of references; see ``doiuri.citations.Style.load``."""

    reference_locale: str | None
    """The locale of the entries."""

    works: tuple[str, ...]
    """Files of works; see ``doiuri.citations.read_works``."""

    @classmethod
    def read(
        cls, given: Mapping[str, object], prefix: str = "", environ: Mapping[str, str] | None = None
    ) -> Options:
        """Return the options, checked; all values may be strings.

        An option that is missing or None has its default, but None turns ``resolve`` off. ``resolver``,
        ``offline``, ``mailto`` and ``cache`` default to their environment variables. An empty string means
        "not given" for these and for ``lock``.

        :param given: values by the names that users write; others are ignored.
        :param prefix: what all these names begin with, such as ``"doi_"``.
        :param environ: variables to read instead of the process's environment.
        :raises ValueError: if a value is invalid; the message begins with the name of the option or variable.
        """
        optional = {prefix + option.name for option in OPTIONS if option.variable or option.default is None}
        given = {name: value for name, value in given.items() if value != "" or name not in optional}
        values = {option.name: option.read(given, prefix, environ) for option in OPTIONS}
        return cls(Settings(*(values.pop(option.name) for option in SETTINGS)), **values)

    def display(self, doi: DOI, work: Work | None = None, words: Words | None = None) -> str:
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
