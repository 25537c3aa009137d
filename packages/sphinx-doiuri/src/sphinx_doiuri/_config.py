"""The options in conf.py, checked before the build begins."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal

from doiuri.plugins import DOI_ORG, Options
from sphinx.errors import ConfigError
from sphinx.util import logging

from sphinx_doiuri._locale import __

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config

    _Rebuild = Literal["", "env", "html"]

logger = logging.getLogger(__name__)

PRODUCT = "sphinx-doiuri"
LOCK_NAME = "doi.lock.json"
_BUDGET = 60  # seconds

# Option, default, and what a change rebuilds: "env" reads all documents again, "html" writes all pages again.
_SHARED: dict[str, tuple[object, _Rebuild]] = {
    "doi_resolver": (None, ""),
    "doi_resolve": ("records", ""),
    "doi_offline": (None, ""),
    "doi_timeout": (None, ""),  # 10; if the default were an int, Sphinx would reject "-D doi_timeout=2.5"
    "doi_budget": (None, ""),  # 60
    "doi_lock": (LOCK_NAME, ""),
    "doi_text": ("name", "env"),
    "doi_link": (DOI_ORG, "env"),
    "doi_mailto": (None, ""),
    "doi_cache": (None, ""),
    "doi_citation": ("author-year", ""),  # what it changes is found when the works are known
    "doi_reference_style": ("apa", ""),
    "doi_reference_locale": ("en-US", ""),
}
_SWITCHES: dict[str, tuple[bool, _Rebuild]] = {
    "doi_linkcheck": (True, ""),
    "doi_details": (False, "html"),
    "doi_hardcoded_links": (False, "env"),
}
_ALIKE = 0.8  # how similar a misspelt name is to the right one, from 0 to 1
_ATTRIBUTE = "_doiuri_options"


def add_options(app: Sphinx) -> None:
    """Declare the options."""
    for name, (default, rebuild) in {**_SHARED, **_SWITCHES}.items():
        app.add_config_value(name, default, rebuild, types=Any)  # check_options has better messages


def check_options(app: Sphinx, config: Config) -> None:  # noqa: ARG001
    """Stop the build if an option is invalid. Handles ``config-inited``.

    :raises sphinx.errors.ConfigError: with the name of the option, its value, and the valid values.
    """
    try:
        options(config)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    for name in _SWITCHES:
        switch(config, name)
    _report_misspelt(config)


def _report_misspelt(config: Config) -> None:
    """Warn of names in conf.py that are almost those of options; Sphinx ignores unknown names."""
    ours = [name for name in vars(config)["_raw_config"] if name.startswith("doi_") and name not in config]
    for name in ours:
        if near := get_close_matches(name, [*_SHARED, *_SWITCHES], 1, _ALIKE):
            message = __("%s is not an option; did you mean %s?")
            logger.warning(message, name, near[0], type="doi", subtype="option")


def options(config: Config) -> Options:
    """Return the options that all plugins share; the environment variables are read once a build.

    :raises ValueError: if an option is invalid.
    """
    attributes = vars(config)  # Sphinx does not pickle names with an underscore
    if _ATTRIBUTE not in attributes:
        given = {name: config[name] for name in _SHARED}
        if given["doi_budget"] is None:
            given["doi_budget"] = _BUDGET
        attributes[_ATTRIBUTE] = Options.read(given, prefix="doi_")
    shared: Options = attributes[_ATTRIBUTE]
    return shared


def switch(config: Config, name: str) -> bool:
    """Return the value of an on-off option, which is a string if it comes from the command line.

    :param config: the configuration.
    :param name: the name of the option.
    :raises sphinx.errors.ConfigError: if the value is neither true nor false.
    """
    value = str(config[name]).strip().lower()
    if value in {"true", "1", "on", "yes"}:
        return True
    if value in {"false", "0", "off", "no", "none", ""}:
        return False
    raise ConfigError(__("%s: %r is neither True nor False") % (name, config[name]))
