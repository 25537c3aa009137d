"""The builder ``doi-lock``, which writes the lock file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri.resolver import LockFile, RecordingStore, key_doi, lock_key, open_store
from sphinx.builders import Builder
from sphinx.errors import ConfigError, SphinxError
from sphinx.util import logging

from sphinx_doiuri._config import options
from sphinx_doiuri._environment import doi_data
from sphinx_doiuri._locale import __
from sphinx_doiuri._lock import BUILDER, lock_path, open_lock_file, warn_missing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from docutils import nodes
    from doiuri import DOI
    from doiuri.resolver import Entry

logger = logging.getLogger(__name__)

_METADATA = ("work ", "reference ")  # the beginnings of keys


class LockBuilder(Builder):
    """Looks up all DOIs of the documents and writes the lock file: ``sphinx-build -b doi-lock``."""

    name = BUILDER
    path: Path
    store: RecordingStore
    incomplete: AbstractSet[DOI] = frozenset()
    """The DOIs whose metadata is needed and remains unknown."""

    def init(self) -> None:
        """Check that there is a lock file to write."""
        path = lock_path(self.config, self.confdir)
        if path is None:
            raise ConfigError(__("doi_lock is off; set it to a file name to write a lock file"))
        self.path = path

    def open_store(self) -> RecordingStore:
        """Return the store in which the look-up has to keep its answers."""
        self._cache = open_store(options(self.config).settings.cache)
        self.store = RecordingStore(self._cache)
        return self.store

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
        self._cache.close()
        data = doi_data(self.env)
        unanswered, incomplete = set(data.unanswered()), self.incomplete
        kept = self._old_entries(unanswered | incomplete)
        kept_keys = {key_doi(key) for key in kept}
        missing = {doi for doi in unanswered if doi.key not in kept_keys}
        self._write(kept | self._new_entries({doi.key for doi in unanswered}), may_delete=not missing)
        described = {key_doi(key) for key in kept if key.startswith(_METADATA)}
        message = __("the metadata of %s is not in the lock file: no answer from the resolver")
        warn_missing(
            data.all_uses(), {doi for doi in incomplete - missing if doi.key not in described}, message
        )
        warn_missing(data.all_uses(), missing, __("%s is not in the lock file: no answer from the resolver"))
        if self.path.exists():
            logger.info(__("DOIs in lock file %s: %d"), self.path, len(data.dois()) - len(missing))
        else:
            logger.info(__("no lock file written: there are no answers to keep"))

    def _old_entries(self, dois: AbstractSet[DOI]) -> dict[str, Entry]:
        """Return the lock file's present entries about some DOIs; none if the file is invalid."""
        file = open_lock_file(self.path)
        if file is None:
            return {}
        keys, entries = {doi.key for doi in dois}, file.keys()
        return file.get_many([entry for entry in entries if key_doi(entry) in keys])

    def _new_entries(self, unanswered: AbstractSet[str]) -> dict[str, Entry]:
        """Return the answers of this build, under the keys that they have for doi.org.

        :param unanswered: the keys of the DOIs without an answer: what the store has about them has expired.
        """
        base = options(self.config).settings.base
        return {
            lock_key(key, base): entry
            for key, entry in self.store.entries.items()
            if key.startswith(_METADATA) or key_doi(key) not in unanswered
        }

    def _write(self, entries: Mapping[str, Entry], *, may_delete: bool) -> None:
        """Replace the lock file; if there are no entries, delete it or leave it as it is."""
        file = open_lock_file(self.path)
        used = {doi.key for doi in doi_data(self.env).dois()}
        accepted = {doi: reason for doi, reason in (file.accepted if file else {}).items() if doi in used}
        try:
            if file is None:
                self.path.unlink(missing_ok=True)  # it is invalid
            if entries or accepted:
                (file or LockFile(self.path)).replace(entries, accepted)
            elif may_delete:
                self.path.unlink(missing_ok=True)
        except OSError as error:
            raise SphinxError(__("cannot write the lock file: %s") % error) from None
