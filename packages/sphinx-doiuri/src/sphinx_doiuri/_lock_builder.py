"""The builder ``doi-lock``, which writes the lock file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri.resolver import LockFile
from sphinx.builders import Builder
from sphinx.errors import ConfigError, SphinxError
from sphinx.util import logging

from sphinx_doiuri._environment import doi_data
from sphinx_doiuri._locale import __
from sphinx_doiuri._lock import BUILDER, lock_path, open_lock_file, warn_missing

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from docutils import nodes
    from doiuri import DOI
    from doiuri.resolver import Entry, Key, LockContent

logger = logging.getLogger(__name__)

_METADATA = {"work", "reference"}  # kinds of keys


class LockBuilder(Builder):
    """Looks up all DOIs of the documents and writes the lock file: ``sphinx-build -b doi-lock``."""

    name = BUILDER
    path: Path
    entries: Mapping[Key, Entry] = {}
    """The entries of the store that the answers come from."""
    incomplete: AbstractSet[DOI] = frozenset()
    """The DOIs whose metadata is needed and remains unknown."""

    def init(self) -> None:
        """Check that there is a lock file to write."""
        path = lock_path(self.config, self.confdir)
        if path is None:
            raise ConfigError(__("doi_lock is off; set it to a file name to write a lock file"))
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

    def finish(self) -> None:
        """Write the lock file, and warn of the DOIs that it has no entry for."""
        data = doi_data(self.env)
        unanswered, incomplete = set(data.unanswered()), self.incomplete
        kept = self._old_keys({doi.key for doi in unanswered | incomplete})
        kept_dois = {key.doi for key in kept}
        missing = {doi for doi in unanswered if doi.key not in kept_dois}
        self._write(self._new_entries({doi.key for doi in unanswered}), kept_dois, may_delete=not missing)
        described = {key.doi for key in kept if key.kind in _METADATA}
        message = __("the metadata of %s is not in the lock file: no answer from the resolver")
        warn_missing(
            data.all_uses(), {doi for doi in incomplete - missing if doi.key not in described}, message
        )
        warn_missing(data.all_uses(), missing, __("%s is not in the lock file: no answer from the resolver"))
        if self.path.exists():
            logger.info(__("DOIs in lock file %s: %d"), self.path, len(data.dois()) - len(missing))
        else:
            logger.info(__("no lock file written: there are no answers to keep"))

    def _old_keys(self, dois: Collection[str]) -> list[Key]:
        """Return the keys of the lock file's present entries about some DOIs; none if the file is invalid."""
        file = open_lock_file(self.path)
        return [] if file is None else [key for key in file.read().keys if key.doi in dois]

    def _new_entries(self, unanswered: Collection[str]) -> dict[Key, Entry]:
        """Return the answers of this build.

        :param unanswered: the keys of the DOIs without an answer: what the store has about them has expired.
        """
        return {
            key: entry
            for key, entry in self.entries.items()
            if key.kind in _METADATA or key.doi not in unanswered
        }

    def _write(self, new: Mapping[Key, Entry], kept: Collection[str], *, may_delete: bool) -> None:
        """Replace the lock file; if there are no entries, delete it or leave it as it is.

        :param new: the new entries.
        :param kept: the keys of the DOIs whose entries are kept.
        """
        used = {doi.key for doi in doi_data(self.env).dois()}

        def change(content: LockContent) -> None:
            content.remove(content.dois().difference(kept))
            content.accepted = {doi: reason for doi, reason in content.accepted.items() if doi in used}
            content.add(new)

        try:
            if open_lock_file(self.path) is None:  # it is invalid
                self.path.unlink()
            file = LockFile(self.path)
            if new or kept or used & file.read().accepted.keys():
                file.edit(change)
            elif may_delete:
                self.path.unlink(missing_ok=True)
        except (OSError, ValueError) as error:
            raise SphinxError(__("cannot write the lock file: %s") % error) from None
