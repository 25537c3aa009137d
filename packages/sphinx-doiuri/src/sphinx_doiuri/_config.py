"""The options in conf.py, checked before the build begins."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal

from doiuri.citations import Citing
from doiuri.plugins.mentions import MentionRule
from doiuri.plugins.options import Option, Options, option, with_defaults
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
BUDGET = 60.0  # seconds

SWITCHES = (
    Option("linkcheck", True, "let linkcheck ask the registry about DOIs"),
    option("details"),
    option("bare"),
    option("bare_names"),
    option("bare_links", help="link `https://doi.org/10.1000/182` in running text of MyST"),
    Option(
        "lock_prune",
        False,
        "let `doi-lock` drop unused DOIs from a lock file outside of the folder of `conf.py`, too",
    ),
    Option("hardcoded_links", False, "warn about links to doi.org that could be roles"),
)
"""The options that only Sphinx has."""

_SHARED = with_defaults(budget=BUDGET)
_ALL = {f"doi_{declared.name}": declared for declared in (*_SHARED, *SWITCHES)}
# What a change rebuilds: "env" reads all documents again, "html" writes all pages again.
# What styles change is found when the works are known.
_REBUILDS: dict[str, _Rebuild] = {
    "text": "env",
    "link": "env",
    "works": "env",
    "reference_locale": "env",  # it has the terms of locators
    "bare": "env",
    "bare_names": "env",
    "bare_links": "env",
    "details": "html",
    "hardcoded_links": "env",
}
_ALIKE = 0.8  # how similar a misspelt name is to the right one, from 0 to 1
_ATTRIBUTE = "_doiuri_options"
_CITING = "_doiuri_citing"
_RULE = "_doiuri_mentions"


def add_options(app: Sphinx) -> None:
    """Declare the options."""
    for name, declared in _ALL.items():
        # Any type: check_options has better messages.
        app.add_config_value(name, _default(declared), _REBUILDS.get(declared.name, ""), types=Any)


def _default(declared: Option) -> str | None:
    """Return the default for Sphinx as text: else it would refuse -D doi_timeout=2.5 or -D doi_details=yes."""
    if declared.name == "lock":
        return LOCK_NAME
    if declared.variable or not isinstance(declared.default, str | float | int):
        return None
    return str(declared.default)


def check_options(app: Sphinx, config: Config) -> None:
    """Read the options; stop the build if one is invalid. Handles ``config-inited``.

    :raises sphinx.errors.ConfigError: with the name of the option, its value, and the valid values.
    """
    given = {name: config[name] for name in _ALL}
    try:
        shared = Options.read(given, prefix="doi_", options=_SHARED, folder=app.confdir)
        for declared in SWITCHES:
            switch(config, f"doi_{declared.name}")
        rule = MentionRule.read(given, "doi_")
        citing = Citing(shared, app.confdir, config.language, "doi_")
    except ValueError as error:
        raise ConfigError(str(error)) from None
    # Sphinx does not pickle names with an underscore
    vars(config).update({_ATTRIBUTE: shared, _CITING: citing, _RULE: rule})
    _report_misspelt(config)


def _report_misspelt(config: Config) -> None:
    """Warn of names in conf.py that are almost those of options; Sphinx ignores unknown names."""
    message = __("%s is not an option; did you mean %s?")
    for name in vars(config)["_raw_config"]:
        if not name.startswith("doi_") or name in config:
            continue
        for option_name in get_close_matches(name, _ALL, 1, _ALIKE):
            logger.warning(message, name, option_name, type="doi", subtype="option")


def citing(config: Config) -> Citing:
    """Return the options of citations."""
    read: Citing = vars(config)[_CITING]
    return read


def options(config: Config) -> Options:
    """Return the options that all plugins share, as they were when the build began."""
    shared: Options = vars(config)[_ATTRIBUTE]
    return shared


def mention_rule(config: Config) -> MentionRule:
    """Return which DOIs in running text become links."""
    rule: MentionRule = vars(config)[_RULE]
    return rule


def switch(config: Config, name: str) -> bool:
    """Return the value of an on-off option, which is a string if it comes from the command line.

    :raises ValueError: if the value is neither true nor false.
    """
    return bool(_ALL[name].read({name: config[name]}, prefix="doi_"))
