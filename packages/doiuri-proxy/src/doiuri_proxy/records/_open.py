"""Open the source that an address names: records in memory, the cache of a build, an upstream proxy."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from doiuri.plugins import DOI_ORG

from doiuri_proxy.records._files import RecordsError
from doiuri_proxy.records._source import Records

if TYPE_CHECKING:
    from doiuri_proxy.records._files import RecordsInput
    from doiuri_proxy.records._upstream import UpstreamSource

    Source = Records | UpstreamSource


def open_source(
    records: RecordsInput | None,
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
    is_stored = is_cache(records)
    if is_stored and upstream is not None:
        raise RecordsError(
            str(records), 0, "a cache: with an upstream, give it as the cache, not as records"
        )
    local = Records([] if is_stored or records is None else records)
    if upstream is None and not is_stored:
        return local
    from doiuri_proxy.records._upstream import UpstreamSource

    return UpstreamSource(
        local, upstream or base, str(records) if is_stored else cache, offline=is_stored
    )


def is_cache(records: object) -> bool:
    """Return whether an address is that of a store with a build's answers: an SQLite file.

    Raises RecordsError for another SQLite file, and for a URL. SQLite looks at the file, because to close the
    file of a store that this process has open would release the locks on it (sqlite.org, How To Corrupt An
    SQLite Database File, 2.2).
    """
    if not isinstance(records, (str, os.PathLike)):
        return False
    if "://" in str(records):
        raise RecordsError(
            str(records), 0, "records are read from a file or a folder, not from a URL"
        )
    path = Path(records)
    try:
        # opening a pipe would block; SQLite takes a file of one octet for an empty database
        if not path.is_file() or path.stat().st_size < 2:
            return False
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            db.execute("SELECT kind, doi FROM entries LIMIT 1").fetchone()
    except sqlite3.Error as error:
        if error.sqlite_errorcode & 0xFF in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CANTOPEN}:
            return False
        raise RecordsError(
            str(path), 0, f"an SQLite file, but not a cache of records: {error}"
        ) from None
    except OSError:
        return False
    return True
