"""The lock file: read by builds, compared with the documents, and written by the builder ``doi-lock``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from doiuri.plugins import DOI_ORG
from doiuri.resolver import Key, LockFile
from sphinx.builders import Builder
from sphinx.errors import ConfigError, SphinxError
from sphinx.util import logging

from sphinx_doiuri._config import LOCK_NAME, options, switch
from sphinx_doiuri._environment import LOCK_BUILDER, doi_data
from sphinx_doiuri._locale import __
from sphinx_doiuri._report import warn_missing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet
    from os import PathLike

    from docutils import nodes
    from doiuri import DOI
    from doiuri.plugins.options import Options
    from doiuri.plugins.survey import Survey
    from doiuri.resolver import LockContent
    from sphinx.application import Sphinx
    from sphinx.config import Config

logger = logging.getLogger(__name__)


class Lock(NamedTuple):
    """What a build takes from the lock file."""

    file: LockFile | None = None
    """The file, if all answers come from it; None if the resolver is asked."""
    accepted: AbstractSet[str] = frozenset()
    """The keys of the DOIs that it accepts though they do not exist."""
    drops_unused: bool = False
    """Whether ``doi-lock`` drops unused DOIs from it."""


def read_lock(app: Sphinx, settings: Options) -> Lock:
    """Return what a build takes from the lock file: nothing if there is none, or if nothing is looked up.

    The builder ``doi-lock``, which writes the file, asks the resolver.

    :raises sphinx.errors.ConfigError: if the lock file is invalid.
    """
    path = _lock_path(settings)
    if path is None or not settings.resolve or not path.is_file():
        return Lock()
    file = _open(path)
    accepted = file.read().accepted.keys()
    if app.builder.name == LOCK_BUILDER:
        return Lock(accepted=accepted)
    return Lock(file, accepted, _drops_unused(app.config, app.confdir, path))


def check_lock(app: Sphinx) -> None:
    """Stop the build if the lock file is invalid, before any document is read; warn if it is missing.

    Handles ``builder-inited``. The default lock file may be missing.

    :raises sphinx.errors.ConfigError: if the lock file is invalid.
    """
    settings = options(app.config)
    if app.builder.name == LOCK_BUILDER or not settings.resolve:
        return
    path = _lock_path(settings)
    is_missing = path is not None and read_lock(app, settings).file is None
    if is_missing and app.config.doi_lock != LOCK_NAME:
        message = __("lock file %s does not exist; run sphinx-build -b doi-lock to create it")
        logger.warning(message, path, type="doi", subtype="lock-missing")


def _lock_path(settings: Options) -> Path | None:
    """Return the path of the lock file, which need not exist; None if ``doi_lock`` is off.

    :raises sphinx.errors.ConfigError: if it is a folder.
    """
    if not settings.lock:
        return None
    path = Path(settings.lock)
    if path.is_dir():
        raise ConfigError(__("doi_lock: %s is a folder; set it to a file name") % path)
    return path


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


class LockBuilder(Builder):
    """Looks up all DOIs of the documents and writes the lock file: ``sphinx-build -b doi-lock``.

    1. ``init``: the lock file, if there is one, is valid; Sphinx then reads the documents.
    2. ``verify`` asks the resolver about all DOIs, and hands its answers to ``take``.
    3. Sphinx writes no document.
    4. ``finish``: the answers go into the lock file, and what it lacks is reported.
    """

    name = LOCK_BUILDER
    path: Path
    survey: Survey
    """The answers, with the entries of the store that they come from."""
    kept: Sequence[DOI] = ()
    """The DOIs without metadata whose works were in the lock file and stay there."""

    def init(self) -> None:
        """Check that there is a lock file to write, and that what stands there is one."""
        path = _lock_path(options(self.config))
        if path is None:
            raise ConfigError(__("doi_lock is off; set it to a file name to write a lock file"))
        _open(path)
        self.path = path

    def take(self, survey: Survey) -> None:
        """Keep the answers for ``finish``; a work that has lost its metadata stays as the lock file has it."""
        self.survey = survey
        content = _open(self.path).read()
        self.kept = survey.kept_works(content)
        for doi in self.kept:
            survey.works[doi] = content.work(doi.key)

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

    def finish(self) -> None:
        """Write the lock file, and report what it lacks. Entries of DOIs without an answer are kept.

        :raises sphinx.errors.SphinxError: if it cannot be written.
        """
        data = doi_data(self.env)
        try:
            file = LockFile(self.path)
            file.edit(self._renew)
            content = file.read()
        except (OSError, ValueError) as error:
            raise SphinxError(__("cannot write the lock file: %s") % error) from None

        missing = {doi for doi in data.unanswered() if doi.key not in content.dois()}
        work_keys = {doi: Key("work", DOI_ORG, doi.key) for doi in self.survey.incomplete}
        without_metadata = {doi for doi, key in work_keys.items() if content.get(key) is None}
        message = __("the metadata of %s is not in the lock file: no answer from the resolver")
        warn_missing(data.all_uses(), without_metadata - missing, message)
        message = __("%s is not in the lock file: no answer from the resolver")
        warn_missing(data.all_uses(), missing, message)

        self._report_not_renewed(content)
        if self.path.exists():
            logger.info(__("DOIs in lock file %s: %d"), self.path, len(data.dois()) - len(missing))
        else:
            logger.info(__("no lock file written: there are no answers to keep"))

    def _renew(self, content: LockContent) -> None:
        """Bring the content of the lock file up to date, and drop what is unused if this project may."""
        dois = doi_data(self.env).dois()
        self.survey.renew(content, dois)
        if _drops_unused(self.config, self.confdir, self.path):
            needed = {doi.key for doi in (*self.survey.works, *self.survey.incomplete)}
            content.remove(content.dois() - needed, ["work"])
            content.prune(doi.key for doi in dois)

    def _report_not_renewed(self, content: LockContent) -> None:
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
