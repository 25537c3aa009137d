"""Read the lock file, and report the differences between it and the documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from doiuri.resolver import LockFile
from sphinx.errors import ConfigError
from sphinx.util import logging

from sphinx_doiuri._config import LOCK_NAME, options
from sphinx_doiuri._lines import place_in_file
from sphinx_doiuri._locale import __

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet
    from os import PathLike

    from doiuri import DOI
    from sphinx.application import Sphinx
    from sphinx.config import Config

    from sphinx_doiuri._environment import DOIData, Use

BUILDER = "doi-lock"

logger = logging.getLogger(__name__)


def lock_path(config: Config, confdir: str | PathLike[str]) -> Path | None:
    """Return the path of the lock file, which need not exist; None if ``doi_lock`` is off.

    :param config: the configuration.
    :param confdir: the folder of conf.py, to which ``doi_lock`` is relative.
    """
    lock = options(config).lock
    return Path(confdir, lock) if lock else None


def check_lock(app: Sphinx) -> None:
    """Stop the build if the lock file is invalid, before any document is read; warn if it is missing.

    Handles ``builder-inited``. The default lock file may be missing.

    :raises sphinx.errors.ConfigError: if the lock file is invalid.
    """
    path = _path_to_read(app)
    if path is None:
        return
    if open_lock(app) is None and app.config.doi_lock != LOCK_NAME:
        message = __("lock file %s does not exist; run sphinx-build -b doi-lock to create it")
        logger.warning(message, path, type="doi", subtype="lock-missing")


def open_lock(app: Sphinx) -> LockFile | None:
    """Return the lock file; None if the build reads no lock file.

    :raises sphinx.errors.ConfigError: if the lock file is invalid.
    """
    path = _path_to_read(app)
    if path is None or not path.is_file():
        return None
    try:
        return LockFile(path)
    except ValueError as error:
        raise ConfigError(__("%s; run sphinx-build -b doi-lock to rewrite it") % error) from None


def open_lock_file(path: Path) -> LockFile | None:
    """Return the lock file, which need not exist; None if it is invalid."""
    try:
        return LockFile(path)
    except ValueError:
        return None


def accepted_dois(app: Sphinx) -> AbstractSet[str]:
    """Return the keys of the DOIs that the lock file accepts though they do not exist."""
    path = lock_path(app.config, app.confdir)
    file = open_lock_file(path) if path is not None and options(app.config).resolve else None
    return file.read().accepted.keys() if file is not None else frozenset()


def _path_to_read(app: Sphinx) -> Path | None:
    reads = app.builder.name != BUILDER and options(app.config).resolve
    return lock_path(app.config, app.confdir) if reads else None


def report_differences(
    data: DOIData,
    uses: Sequence[Use],
    lock: LockFile,
    incomplete: AbstractSet[DOI],
) -> None:
    """Warn of each use of a DOI that is not in the lock file, and of each DOI that is only there.

    :param data: all uses, and the answers from the lock file.
    :param uses: the uses that this build shows.
    :param lock: the lock file.
    :param incomplete: the DOIs whose metadata is needed and is not in the lock file.
    """
    message = __("%s is not in the lock file; run sphinx-build -b doi-lock to add it")
    missing = set(data.unanswered())
    warn_missing(uses, missing, message)
    message = __("the metadata of %s is not in the lock file; run sphinx-build -b doi-lock to add it")
    warn_missing(uses, incomplete - missing, message)
    message = __("%s is in the lock file but in no document; run sphinx-build -b doi-lock to update it")
    content = lock.read()
    unused = content.unused(doi.key for doi in data.dois())
    for key, name in content.names().items():
        if key in unused:
            location = place_in_file(lock.path, f"{json.dumps(name, ensure_ascii=False)}:")
            logger.warning(message, key, type="doi", subtype="lock-unused", location=location)


def warn_missing(uses: Iterable[Use], dois: AbstractSet[DOI], message: str) -> None:
    """Warn of each use of DOIs that have no entry in the lock file.

    :param uses: the uses.
    :param dois: the DOIs without an entry.
    :param message: the warning, with ``%s`` for the name.
    """
    for use in uses:
        if use.doi in dois:
            logger.warning(message, use.doi.name, type="doi", subtype="lock-missing", location=use.location)
