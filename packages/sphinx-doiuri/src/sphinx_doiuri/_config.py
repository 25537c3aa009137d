"""The options in conf.py, checked before the build begins."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from doiuri.plugins import Options
from sphinx.errors import ConfigError

from sphinx_doiuri._locale import __

if TYPE_CHECKING:
    from os import PathLike

    from sphinx.application import Sphinx
    from sphinx.config import Config

    _Rebuild = Literal["", "env", "html"]

PRODUCT = "sphinx-doiuri"
_BUDGET = 60  # seconds
LOCK_NAME = "doi.lock.json"

# Option, default, what a change rebuilds: "env" reads all documents again, "html" writes the pages again.
_SHARED: "dict[str, tuple[object, _Rebuild]]" = {
    "doi_resolver": (None, ""),
    "doi_resolve": ("records", ""),
    "doi_offline": (None, ""),
    "doi_timeout": (None, ""),  # 10; numbers as defaults would make Sphinx refuse "-D doi_timeout=2.5"
    "doi_budget": (None, ""),  # 60
    "doi_lock": (LOCK_NAME, ""),
    "doi_text": ("name", "env"),
    "doi_link": ("https://doi.org", "env"),
    "doi_mailto": (None, ""),
    "doi_cache": (None, ""),
}
_SWITCHES: "dict[str, tuple[bool, _Rebuild]]" = {
    "doi_linkcheck": (True, ""),
    "doi_details": (False, "html"),
    "doi_hardcoded_links": (False, "env"),
}
_READ = "_doiuri_options"


def add_options(app: "Sphinx") -> None:
    """Declare the options."""
    for name, (default, rebuild) in {**_SHARED, **_SWITCHES}.items():
        app.add_config_value(name, default, rebuild, types=Any)  # checked here, with better messages


def check_options(app: "Sphinx", config: "Config") -> None:  # noqa: ARG001
    """Stop the build at an option that makes no sense, and say what would.

    Runs at ``config-inited``; raises ConfigError.
    """
    try:
        options(config)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    for name in _SWITCHES:
        switch(config, name)


def options(config: "Config") -> Options:
    """Return the options shared with the other plugins, as they and the environment were when first read."""
    known = vars(config)  # Sphinx keeps no name with an underscore from build to build
    if _READ not in known:
        given = {name: config[name] for name in _SHARED}
        if given["doi_budget"] is None:
            given["doi_budget"] = _BUDGET
        known[_READ] = Options.read(given, prefix="doi_")
    found: Options = known[_READ]
    return found


def switch(config: "Config", name: str) -> bool:
    """Return an on-off option, which the command line gives as text."""
    value = str(config[name]).strip().lower()
    if value in {"true", "1", "on", "yes"}:
        return True
    if value in {"false", "0", "off", "no", "none", ""}:
        return False
    raise ConfigError(__("%s: %r is neither True nor False") % (name, config[name]))


def lock_path(config: "Config", confdir: "str | PathLike[str]") -> Path | None:
    """Return where the lock file is, or would be; None where it is turned off."""
    lock = options(config).lock
    return Path(confdir) / lock if lock else None
