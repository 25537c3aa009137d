"""The lock file: read by builds, compared with the documents, and written by the builder ``doi-lock``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from doiuri.plugins import DOI_ORG
from doiuri.resolver import Key, LockFile
from sphinx.builders import Builder
from sphinx.errors import ConfigError, SphinxError
from sphinx.util import logging

from sphinx_doiuri._config import LOCK_NAME, options, switch
from sphinx_doiuri._environment import LOCK_BUILDER, doi_data, is_shown, location_in_file
from sphinx_doiuri._locale import __

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet
    from os import PathLike

    from docutils import nodes
    from doiuri import DOI
    from doiuri.plugins.survey import Survey
    from doiuri.resolver import LockContent
    from sphinx.application import Sphinx
    from sphinx.config import Config

    from sphinx_doiuri._environment import DOIData, Use

logger = logging.getLogger(__name__)


def _lock_path(config: Config) -> Path | None:
    """Return the path of the lock file, which need not exist; None if ``doi_lock`` is off.

    :raises sphinx.errors.ConfigError: if it is a folder.
    """
    lock = options(config).lock
    if not lock:
        return None
    path = Path(lock)
    if path.is_dir():
        raise ConfigError(__("doi_lock: %s is a folder; set it to a file name") % path)
    return path


def check_lock(app: Sphinx) -> None:
    """Stop the build if the lock file is invalid, before any document is read; warn if it is missing.

    Handles ``builder-inited``. The default lock file may be missing.

    :raises sphinx.errors.ConfigError: if the lock file is invalid.
    """
    path = _path_to_read(app)
    if path is not None and open_lock(app) is None and app.config.doi_lock != LOCK_NAME:
        message = __("lock file %s does not exist; run sphinx-build -b doi-lock to create it")
        logger.warning(message, path, type="doi", subtype="lock-missing")


def open_lock(app: Sphinx) -> LockFile | None:
    """Return the lock file; None if the build reads no lock file.

    :raises sphinx.errors.ConfigError: if the lock file is invalid.
    """
    path = _path_to_read(app)
    if path is None or not path.is_file():
        return None
    return _open(path)


def _path_to_read(app: Sphinx) -> Path | None:
    if app.builder.name == LOCK_BUILDER or not options(app.config).resolve:
        return None
    return _lock_path(app.config)


def _open(path: Path) -> LockFile:
    """Return the lock file, which need not exist.

    :raises sphinx.errors.ConfigError: if it is invalid; the message says what to do.
    """
    try:
        return LockFile(path)
    except ValueError as error:
        raise ConfigError(str(error)) from None


def _drops_unused(config: Config, confdir: str | PathLike[str], path: Path) -> bool:
    """Return whether the builder drops unused DOIs: not by itself if other projects may use the lock file."""
    if switch(config, "doi_lock_prune"):
        return True
    return path.resolve().is_relative_to(Path(confdir).resolve())


def accepted_dois(app: Sphinx) -> AbstractSet[str]:
    """Return the keys of the DOIs that the lock file accepts though they do not exist."""
    if not options(app.config).resolve:
        return frozenset()
    path = _lock_path(app.config)
    if path is None:
        return frozenset()
    return _open(path).read().accepted.keys()


def report_differences(
    app: Sphinx, data: DOIData, lock: LockFile, incomplete: AbstractSet[DOI]
) -> None:
    """Warn of each use of a DOI that is not in the lock file, and of each DOI that is only there.

    :param incomplete: the DOIs whose metadata is needed and is not in the lock file.
    """
    uses = [use for use in data.all_uses() if is_shown(app, use.conditions)]
    content = lock.read()
    accepted = {use.doi for use in uses if use.doi.key in content.accepted}
    missing = set(data.unanswered()) - accepted
    message = __("%s is not in the lock file; run sphinx-build -b doi-lock to add it")
    _warn_missing(uses, missing, message)
    message = __(
        "the metadata of %s is not in the lock file; run sphinx-build -b doi-lock to add it"
    )
    _warn_missing(uses, incomplete - missing - accepted, message)
    _warn_unused(app, lock.path, content, content.unused(doi.key for doi in data.dois()))


def _warn_unused(app: Sphinx, path: Path, content: LockContent, unused: Iterable[str]) -> None:
    """Warn of the DOIs, given by their keys, that only the lock file has, and say how to drop them."""
    if _drops_unused(app.config, app.confdir, path):
        message = __(
            "%s is in the lock file but in no document; run sphinx-build -b doi-lock to update it"
        )
    else:
        message = __(
            "%s is in the lock file but in no document; if no other project uses it,"
            " run sphinx-build -b doi-lock -D doi_lock_prune=1 to drop it"
        )
    of_accepted = __(
        "%s is accepted in the lock file but in no document; to drop it, delete its line"
    )
    for key in sorted(unused):
        reason = of_accepted if key in content.accepted else message
        location = location_in_file(path, f"{json.dumps(key, ensure_ascii=False)}:")
        logger.warning(reason, key, type="doi", subtype="lock-unused", location=location)


def _warn_missing(uses: Iterable[Use], dois: AbstractSet[DOI], message: str) -> None:
    for use in uses:
        if use.doi in dois:
            location = use.location
            logger.warning(
                message, use.doi.name, type="doi", subtype="lock-missing", location=location
            )


class LockBuilder(Builder):
    """Looks up all DOIs of the documents and writes the lock file: ``sphinx-build -b doi-lock``."""

    name = LOCK_BUILDER
    path: Path
    survey: Survey
    """The answers, with the entries of the store that they come from."""
    kept: Sequence[DOI] = ()
    """The DOIs without metadata whose works were in the lock file and stay there."""

    def init(self) -> None:
        """Check that there is a lock file to write, and that what stands there is one."""
        path = _lock_path(self.config)
        if path is None:
            raise ConfigError(__("doi_lock is off; set it to a file name to write a lock file"))
        _open(path)
        self.path = path

    def get_outdated_docs(self) -> str:
        """Return what is built, for Sphinx to show."""
        return __("the lock file")

    def prepare_writing(self, docnames: AbstractSet[str]) -> None:
        """Do nothing: no document is written."""

    def get_target_uri(self, docname: str, typ: str | None = None) -> str:  # noqa: ARG002
        """Return nothing: no document is written."""
        return ""

    def write_doc(self, docname: str, doctree: nodes.document) -> None:
        """Do nothing: no document is written."""

    def take(self, survey: Survey) -> None:
        """Keep the answers for ``finish``; a work that has lost its metadata stays as the lock file has it."""
        self.survey = survey
        content = _open(self.path).read()
        self.kept = survey.kept_works(content)
        for doi in self.kept:
            survey.works[doi] = content.work(doi.key)

    def finish(self) -> None:
        """Write the lock file, and warn of the DOIs that it has no entry for.

        Entries of DOIs without an answer are kept.
        """
        data = doi_data(self.env)
        try:
            content = self._write(data)
        except (OSError, ValueError) as error:
            raise SphinxError(__("cannot write the lock file: %s") % error) from None

        missing = {doi for doi in data.unanswered() if doi.key not in content.dois()}
        without_metadata = self._without_metadata(content) - missing
        message = __("the metadata of %s is not in the lock file: no answer from the resolver")
        _warn_missing(data.all_uses(), without_metadata, message)
        message = __("%s is not in the lock file: no answer from the resolver")
        _warn_missing(data.all_uses(), missing, message)
        self._report_what_is_not_renewed(content)

        if self.path.exists():
            logger.info(__("DOIs in lock file %s: %d"), self.path, len(data.dois()) - len(missing))
        else:
            logger.info(__("no lock file written: there are no answers to keep"))

    def _without_metadata(self, content: LockContent) -> set[DOI]:
        """Return the DOIs whose metadata is needed, but was neither received nor in the lock file."""
        keys = {doi: Key("work", DOI_ORG, doi.key) for doi in self.survey.incomplete}
        return {doi for doi, key in keys.items() if content.get(key) is None}

    def _report_what_is_not_renewed(self, content: LockContent) -> None:
        """Name the DOIs that have lost their metadata, and those whose new answers a lock file does not keep."""
        if self.kept:
            message = __(
                "no metadata any more, so the old work stays; delete its line to drop it: %s"
            )
            logger.info(message, ", ".join(doi.name for doi in self.kept))
        unlockable = self.survey.unlockable(content, doi_data(self.env).dois())
        if unlockable:
            message = __("not registered according to this resolver, which only %s can say: %s")
            logger.info(message, DOI_ORG, ", ".join(doi.name for doi in unlockable))

    def _write(self, data: DOIData) -> LockContent:
        """Bring the lock file up to date; return its content."""
        dois = data.dois()
        survey = self.survey
        drops_unused = _drops_unused(self.config, self.confdir, self.path)

        def change(content: LockContent) -> None:
            survey.renew(content, dois)
            if drops_unused:
                needed = {doi.key for doi in (*survey.works, *survey.incomplete)}
                content.remove(content.dois() - needed, ["work"])
                content.prune(doi.key for doi in dois)

        file = LockFile(self.path)
        file.edit(change)
        return file.read()
