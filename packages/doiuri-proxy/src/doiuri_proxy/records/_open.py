"""Open the source that an address names: records in memory, the cache of a build, an upstream proxy."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from doiuri.plugins import DOI_ORG
from doiuri.plugins.options import option

from doiuri_proxy.records._files import RecordsError
from doiuri_proxy.records._source import Records

if TYPE_CHECKING:
    from doiuri_proxy.records._files import PathOrData
    from doiuri_proxy.records._upstream import UpstreamSource

    Source = Records | UpstreamSource


def open_source(
    records: PathOrData | None,
    *,
    base: str = DOI_ORG,
    upstream: str | None = None,
    cache: str | None = None,
) -> Source:
    """Return a source for records and, with ``upstream``, for those of another proxy.

    :param records: a file, a folder, Python data, or the path of a build's cache; None is no records
    :param base: the base URL whose records to read from a build's cache
    :param upstream: the base URL of the proxy to ask for what is not in the records
    :param cache: the store for upstream's answers; None takes the Resolver's default
    :raises RecordsError: if the records cannot be read or are not valid
    :raises ValueError: for a bad URL
    """
    if records is None:
        records = []
    is_stored = is_cache(records)
    if is_stored and upstream is not None:
        reason = "a cache: with an upstream, give it as the cache, not as records"
        raise RecordsError(str(records), 0, reason)
    if not is_stored and upstream is None:
        return Records(records)

    from doiuri_proxy.records._upstream import UpstreamSource

    if is_stored:  # an upstream that is only read from its cache
        return UpstreamSource(Records([]), base, str(records), offline=True)
    if upstream:
        # the Resolver would say that "base" is wrong, which is another option
        upstream = option("resolver", name="upstream").read({"upstream": upstream})
    return UpstreamSource(Records(records), upstream or base, cache)


def is_cache(records: object) -> bool:
    """Return whether records are the path of a build's cache: an SQLite file.

    Raises RecordsError for another SQLite file, and for a URL.
    """
    if not isinstance(records, (str, os.PathLike)):
        return False
    if "://" in str(records):
        reason = "records are read from a file or a folder, not from a URL"
        raise RecordsError(str(records), 0, reason)
    path = Path(records)
    try:
        # To open a pipe would block; SQLite takes a file of one octet for an empty database.
        if not path.is_file() or path.stat().st_size < 2:
            return False
        # SQLite reads the file: if we closed a file that this process has open as a store, that would release
        # the locks on it (sqlite.org, How To Corrupt An SQLite Database File, 2.2).
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            db.execute("SELECT kind, doi FROM entries LIMIT 1").fetchone()
    except sqlite3.Error as error:
        primary_code = error.sqlite_errorcode & 0xFF  # sqlite.org, Result and Error Codes
        if primary_code in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CANTOPEN}:
            return False
        reason = f"an SQLite file, but not a cache of records: {error}"
        raise RecordsError(str(path), 0, reason) from None
    except OSError:
        return False
    return True
