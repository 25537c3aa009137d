"""The lock file: a builder writes it, and later builds read it and need no network."""

import json
import re
from typing import TYPE_CHECKING

from doiuri.resolver import LockedAnswers, LockFile, at_home, open_store
from sphinx.builders import Builder
from sphinx.errors import ConfigError, SphinxError
from sphinx.util import logging

from sphinx_doiuri._config import LOCK_NAME, lock_path, options
from sphinx_doiuri._environment import state
from sphinx_doiuri._lines import place_in_file
from sphinx_doiuri._locale import __

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from docutils import nodes
    from doiuri.resolver import Entry
    from sphinx.application import Sphinx

    from sphinx_doiuri._environment import State

logger = logging.getLogger(__name__)

_KEY = re.compile(r"(?:record|exists|metadata \S+) \S+ (.+)", re.DOTALL)  # kind, base, DOI


class Recorder:
    """A store in front of the cache, which notes every answer that passes."""

    def __init__(self, cache: str | None) -> None:
        self._store = open_store(cache)
        self.entries: dict[str, Entry] = {}

    def close(self) -> None:
        """Close the store; the answers stay."""
        self._store.close()

    def get_many(self, keys: "Sequence[str]") -> "dict[str, Entry]":
        """Return stored answers."""
        found = self._store.get_many(keys)
        self.entries.update(found)
        return found

    def put_many(self, entries: "Mapping[str, Entry]") -> None:
        """Store answers."""
        self.entries.update(entries)
        self._store.put_many(entries)


class LockBuilder(Builder):
    """``sphinx-build -b doi-lock``: looks up every DOI of the documents and writes the lock file."""

    name = "doi-lock"
    entries: "Mapping[str, Entry]"  # what the look-up brought

    def init(self) -> None:
        """Refuse to build what conf.py turns off."""
        if lock_path(self.config, self.confdir) is None:
            raise ConfigError(__("doi_lock is off, so there is no lock file to write"))

    def get_outdated_docs(self) -> str:
        """Return what is built, for Sphinx to say so."""
        return __("the lock file")

    def prepare_writing(self, docnames: "AbstractSet[str]") -> None:
        """Do nothing: no document is written."""

    def get_target_uri(self, docname: str, typ: str | None = None) -> str:  # noqa: ARG002
        """Return nothing: no document is written."""
        return ""

    def write_doc(self, docname: str, doctree: "nodes.document") -> None:
        """Do nothing: no document is written."""

    def finish(self) -> None:
        """Write the lock file anew; a DOI that nobody answered for keeps the entries that it had."""
        path = lock_path(self.config, self.confdir)
        if path is None:
            return
        known = state(self.env)
        base = options(self.config).settings.base
        open_questions = {use.doi.key for use in known.all_uses() if use.doi not in known.outcomes}
        try:
            old = _entries(path)
        except ValueError:  # a broken file is written anew
            old = {}
        kept = {key: entry for key, entry in old.items() if _doi_key(key) in open_questions}
        new = {at_home(key, base): entry for key, entry in self.entries.items()}
        without = open_questions - {_doi_key(key) for key in kept}
        try:
            if kept or new:
                _write(path, kept | new)
            elif not without:  # but where nobody answered, the file stays as it is
                path.unlink(missing_ok=True)
        except OSError as error:
            raise SphinxError(__("the lock file cannot be written: %s") % error) from None
        _warn_of_missing(known, without, __("no answer for %s, so the lock file is without it"))
        logger.info(__("%d DOIs are in %s"), len(known.dois()) - len(without), path)


def check_lock(app: "Sphinx") -> None:
    """Say before anything is read what is wrong with the lock file; raises ConfigError."""
    path = lock_path(app.config, app.confdir)
    if path is None or isinstance(app.builder, LockBuilder) or not options(app.config).resolve:
        return
    answering_store(app)
    if app.config.doi_lock != LOCK_NAME and not path.exists():
        message = __("the lock file %s does not exist; write it with -b doi-lock")
        logger.warning(message, path, type="doi", subtype="lock-missing")


def answering_store(app: "Sphinx") -> "Recorder | LockedAnswers | None":
    """Return the store that a build asks: the lock file, where there is one; None is the cache.

    Raises ConfigError for what is no lock file, ValueError for a cache that cannot be used.
    """
    if isinstance(app.builder, LockBuilder):
        recorder = Recorder(options(app.config).settings.cache)
        app.builder.entries = recorder.entries
        return recorder
    path = lock_path(app.config, app.confdir)
    if path is None or not path.is_file() or not options(app.config).resolve:
        return None
    try:
        return LockedAnswers(LockFile(path), options(app.config).settings.base)
    except ValueError as error:
        raise ConfigError(__("%s; write it anew with -b doi-lock") % error) from None


def report_lock(app: "Sphinx", known: "State", store: LockedAnswers) -> None:
    """Warn of each use of a DOI that is not in the lock file, and of entries that nobody uses any more."""
    path = lock_path(app.config, app.confdir)
    if path is None:
        return
    missing = {use.doi.key for use in known.all_uses() if use.doi not in known.outcomes}
    _warn_of_missing(known, missing, __("%s is not in the lock file; write it anew with -b doi-lock"))
    seen = {_doi_key(key) for key in store.seen}
    locked = store.file.keys()
    for key in locked:
        if (unused := _doi_key(key)) not in seen:
            seen.add(unused)
            place = place_in_file(path, f"{json.dumps(key, ensure_ascii=False)}:")
            message = __("%s is in the lock file, but not in the documents")
            logger.warning(message, unused, type="doi", subtype="lock-unused", location=place)


def _warn_of_missing(known: "State", keys: set[str], message: str) -> None:
    for use in known.all_uses():
        if use.doi.key in keys:
            logger.warning(message, use.doi.name, type="doi", subtype="lock-missing", location=use.location)


def _doi_key(key: str) -> str:
    """The DOI in a store's key."""
    match = _KEY.fullmatch(key)
    return match[1] if match else key


def _entries(path: "Path") -> "dict[str, Entry]":
    file = LockFile(path)
    return file.get_many(file.keys())


def _write(path: "Path", entries: "Mapping[str, Entry]") -> None:
    """Replace the file by one with these entries only."""
    draft = path.with_name(f".{path.name}.new")
    draft.unlink(missing_ok=True)
    LockFile(draft).put_many(entries)
    draft.replace(path)
