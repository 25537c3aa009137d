"""The options of plugins that show, link and look up DOIs; the text and the resolver that they ask for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from doiuri._doi import DOI
from doiuri._settings import OPTIONS, SETTINGS, Option, Settings, user_agent
from doiuri.plugins.display import display

if TYPE_CHECKING:
    from doiuri.plugins.display import Words
    from doiuri.records import Work
    from doiuri.resolver import Resolver, Store


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
        cls,
        given: Mapping[str, object],
        prefix: str = "",
        environ: Mapping[str, str] | None = None,
        options: Iterable[Option] = OPTIONS,
    ) -> Options:
        """Return the options, checked; all values may be strings.

        An option that is missing or None has its default, but None turns ``resolve`` off. ``resolver``,
        ``offline``, ``mailto`` and ``cache`` default to their environment variables. An empty string means
        "not given" for these and for options without a default.

        :param given: values by the names that users write; others are ignored.
        :param prefix: what all these names begin with, such as ``"doi_"``.
        :param environ: variables to read instead of the process's environment.
        :param options: the table, if the host changes defaults; see ``with_defaults``.
        :raises ValueError: if a value is invalid; the message begins with the name of the option or variable.
        """
        values = {option.name: option.read(given, prefix, environ) for option in options}
        return cls(Settings(*(values.pop(option.name) for option in SETTINGS)), **values)

    def display(self, doi: DOI, work: Work | None = None, words: Words | None = None) -> str:
        """Return the visible text of a link without a title; see the function ``display``."""
        return display(doi, self.text, base=self.link, work=work, words=words)


def open_resolver(
    options: Options, distribution: str, store: Store | None = None, **arguments: Any
) -> Resolver:
    """Return a Resolver for a plugin's options; it needs ``doiuri[resolver]``.

    If the options name a lock file and ``store`` is None, all answers come from the lock file; no request is
    sent.

    :param distribution: the name of the plugin's distribution, for the User-Agent header.
    :param store: the store to use; by default the lock file's, else the cache's.
    :param arguments: other arguments of the Resolver, or values that win over the options'.
    :raises ValueError: if the lock file or the cache cannot be used.
    """
    from doiuri.resolver import LockFile, Resolver  # slow to import

    settings = options.settings
    offline = arguments.pop("offline", settings.offline)
    if store is None and options.lock:
        store, offline = LockFile(options.lock), True
    if store is not None or settings.cache is not None:
        arguments["store"] = settings.cache if store is None else store
    # to read versions is slow, and without requests nobody sees them
    agent = distribution if offline else user_agent(distribution, settings.mailto)
    given = {"timeout": options.timeout, "budget": options.budget, "mailto": settings.mailto} | arguments
    return Resolver(settings.base, offline=offline, user_agent=agent, **given)
