"""The filesystem, for fsspec's protocol ``doi``."""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from doiuri.plugins import replacing, user_agent
from doiuri.plugins.clients import TargetCheck
from doiuri.plugins.options import OPTIONS, SETTINGS, option, read_options
from doiuri.resolver import Resolver
from fsspec import AbstractFileSystem
from fsspec.callbacks import DEFAULT_CALLBACK
from fsspec.implementations.local import make_path_posix
from fsspec.spec import AbstractBufferedFile
from fsspec.utils import isfilelike

from fsspec_doiuri._addresses import escape, local, normalize, readable
from fsspec_doiuri._catalog import Catalog
from fsspec_doiuri._dataset import TOKENS, Dataset, File, write_locked
from fsspec_doiuri._web import WHOLE, Web, new_digest

if TYPE_CHECKING:
    import hashlib
    from typing import IO

    from fsspec.callbacks import Callback

_BUDGET = 20.0  # seconds for one question to the resolver
_VISIBLE = re.compile("[!-~]+")
_TOKENS = "DOIURI_TOKENS"
_VARIABLES = (*(option.variable for option in OPTIONS if option.variable is not None), _TOKENS)
# Options that fsspec has for all filesystems
_OF_FSSPEC = {
    "asynchronous",
    "batch_size",
    "loop",
    "use_listings_cache",
    "listings_expiry_time",
    "max_paths",
}


class _Environment:
    """A class attribute whose value is that of the environment variables for options."""

    def __get__(self, instance: object, owner: type) -> tuple[str | None, ...]:
        return tuple(os.environ.get(variable) for variable in _VARIABLES)


class DOIFileSystem(AbstractFileSystem):
    """The files of data sets by DOI, read-only: ``doi://10.5281/zenodo.4924875/tiny-data.txt``.

    The DOI's record says which repository has the data set, and the repository lists its files. An address is
    the name of the DOI and the path of a file, percent-encoded. The name ends at the longest registered one;
    ``%2F`` in place of the slashes of a suffix says where it ends without a look-up. Listings are kept until
    :meth:`invalidate_cache`.

    >>> import pandas
    >>> pandas.read_csv("doi://10.5281/zenodo.4924875/tiny-data.txt")  # doctest: +SKIP

    :param resolver: base URL of the DOI resolver; default ``DOIURI_RESOLVER``, else ``https://doi.org``.
    :param offline: send no requests; default ``DOIURI_OFFLINE``, else false.
    :param mailto: mail address for the User-Agent header; default ``DOIURI_MAILTO``, else none.
    :param cache: address of the cache of DOIs' records; default ``DOIURI_CACHE``, else the user's.
    :param lock: path of a lock file that :func:`lock` wrote; nothing else is then asked for listings.
    :param private: whether repositories may be on this machine or in a private network; default false.
    :param repositories: what runs at a host, if its landing pages do not show it: a mapping of ``"HOST"`` or
        ``"HOST:PORT"`` to ``"inveniordm"``, ``"figshare"`` or ``"dataverse"``.
    :param tokens: tokens by ``"HOST"`` or ``"HOST:PORT"``, sent to that host only; also from
        ``DOIURI_TOKENS``, as in ``HOST=TOKEN,HOST=TOKEN``. figshare's host is ``api.figshare.com``.
    :param checksums: whether a file whose bytes do not have the checksum in the listing is an error; if false,
        it is opened with a warning. Some repositories list the checksum of another form of a table. The size has
        to be right in any case.
    :raises ValueError: if an option or a variable is invalid.
    """

    protocol = "doi"
    """The protocol."""

    # fsspec keeps instances: one per options, and per value of these attributes
    _extra_tokenize_attributes = ("_environment",)
    _environment = _Environment()

    def __init__(
        self,
        resolver: str | None = None,
        offline: bool | str | None = None,
        mailto: str | None = None,
        cache: str | os.PathLike[str] | None = None,
        lock: str | os.PathLike[str] | None = None,
        private: bool | None = None,
        repositories: Mapping[str, str] | None = None,
        tokens: Mapping[str, str] | None = None,
        checksums: bool = True,
        **storage_options: Any,
    ) -> None:
        unknown = storage_options.keys() - _OF_FSSPEC
        if unknown:
            raise ValueError(f"{min(unknown)} is not an option of the filesystem for doi://")
        super().__init__(**storage_options)

        given = {"resolver": resolver, "offline": offline, "mailto": mailto, "cache": cache}
        settings = read_options(SETTINGS, given)
        agent = user_agent("fsspec-doiuri", settings["mailto"])
        open_resolver = partial(
            Resolver,
            settings["resolver"],
            mailto=settings["mailto"],
            user_agent=agent,
            private=private,
            budget=_BUDGET,
        )
        if settings["cache"] is not None:  # else the Resolver uses the cache of the user
            open_resolver = partial(open_resolver, store=settings["cache"])
        online = open_resolver(offline=settings["offline"])
        kinds = _kinds_by_host(repositories)
        secrets = _tokens_of(os.environ.get(_TOKENS, "")) | _by_host("tokens", tokens)

        check = TargetCheck(settings["resolver"], online.settings.private)
        self._web = Web(check, agent, secrets, settings["offline"], checksums)
        lock_path = option("lock").read({"lock": lock})
        self._catalog = Catalog(
            online,
            only_cache=open_resolver(offline=True),
            kinds=kinds,
            web=self._web,
            lock=Path(lock_path) if lock_path else None,
        )

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, list):
            return [cls._strip_protocol(address) for address in path]
        return normalize(os.fspath(path))

    def unstrip_protocol(self, name: str) -> str:
        """Return an address with its protocol and few escapes: fsspec's ``rsync`` names its copies so."""
        return f"doi://{readable(self._strip_protocol(name))}"

    def invalidate_cache(self, path: str | None = None) -> None:
        """Forget all listings; read the lock file again."""
        self._catalog.start()
        super().invalidate_cache(path)

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        """Return what is in a folder, or the file at a path.

        :param detail: whether to return what ``info`` returns, or the addresses only.
        :raises FileNotFoundError: if the DOI is not registered, or has no such file or folder.
        :raises OSError: if that is not known; the message says why, and names the host.
        :raises DOISyntaxError: if the address does not begin with a DOI.
        """
        path = self._strip_protocol(path)
        dataset, inner = self._catalog.find(path)
        if dataset.is_folder(inner):
            entries = dataset.entries(inner)
            files = {f"{path}/{escape(name)}": file for name, file in entries.items()}
        else:
            files = {path: dataset.by_path[inner]}

        if not detail:
            return list(files)
        return [_info(address, dataset, file) for address, file in files.items()]

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Return a file's ``name``, ``size`` in bytes, ``type``, ``checksum``, ``mimetype`` and ``version``.

        A folder has no checksum and no mimetype. Raises what ``ls`` does.
        """
        path = self._strip_protocol(path)
        dataset, inner = self._catalog.find(path)
        return _info(path, dataset, dataset.by_path.get(inner))

    def exists(self, path: str, **_: Any) -> bool:
        """Return whether there is a file or a folder; raises OSError if that is not known."""
        try:
            return bool(self.info(path))
        except FileNotFoundError:
            return False

    def isdir(self, path: str) -> bool:
        """Return whether there is a folder; raises OSError if that is not known."""
        return self.exists(path) and self.info(path)["type"] == "directory"

    def isfile(self, path: str) -> bool:
        """Return whether there is a file; raises OSError if that is not known."""
        return self.exists(path) and self.info(path)["type"] == "file"

    def modified(self, path: str) -> datetime:  # noqa: ARG002
        """Return 1970-01-01: repositories do not list the dates of files, but DuckDB asks for one."""
        return datetime.fromtimestamp(0, UTC)

    def walk(
        self, path: str, maxdepth: int | None = None, topdown: bool = True, **options: Any
    ) -> Any:
        """Yield what is in each folder, as fsspec does, but raise errors by default."""
        options.setdefault("on_error", _raise_unless_missing)
        return super().walk(path, maxdepth, topdown, **options)

    def get(self, rpath: Any, lpath: Any, *arguments: Any, **options: Any) -> None:
        """Copy files to this machine as fsspec does, but with unescaped names."""
        if isinstance(lpath, list):  # the caller names each copy, so the names are not changed
            super().get(rpath, lpath, *arguments, **options)
            return
        lpath = os.fspath(lpath)
        root = make_path_posix(lpath).rstrip("/")
        super().get(rpath, lpath, *arguments, **options, root=root)

    def get_file(
        self,
        rpath: str,
        lpath: Any,
        callback: Callback = DEFAULT_CALLBACK,
        outfile: IO[bytes] | None = None,
        root: str = "",
        **_: Any,
    ) -> None:
        """Copy one file to this machine. If that fails, nothing is left, and an older copy stays.

        :param outfile: an open file to write to, in place of the one at ``lpath``.
        :param root: the beginning of ``lpath``; the names after it are unescaped. "" if they are not to be.
        """
        if isfilelike(lpath):
            outfile = lpath
        if outfile is not None:
            with self.open(rpath) as source:
                # verified before anything is written
                shutil.copyfileobj(source._received(), outfile)
            return

        target = Path(lpath)
        if root:
            target = Path(root + local(lpath[len(root) :]))
        if self.isdir(rpath):  # fsspec's recursive copy passes folders, too
            target.mkdir(parents=True, exist_ok=True)
            return
        dataset, file = self._file(rpath)
        callback.set_size(file.size)
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as draft, draft.open("w+b") as out:
            self._web.download(file, dataset, out, callback.relative_update)

    def _open(self, path: str, mode: str = "rb", **options: Any) -> DOIFile:
        if mode != "rb":
            self._refuse(path)
        return DOIFile(self, path, **options)

    def _refuse(self, path: object, *_: object, **_options: object) -> NoReturn:
        """Raise OSError: data sets are read-only."""
        raise OSError(errno.EROFS, "data sets are read-only", str(path))

    mkdir = makedirs = rmdir = rm = rm_file = _rm = _refuse
    touch = pipe_file = put = put_file = cp_file = mv = _refuse

    def _file(self, path: str) -> tuple[Dataset, File]:
        """Return the data set that has a file, and the file.

        :raises IsADirectoryError: for a folder.
        :raises FileNotFoundError: if there is neither.
        :raises OSError: if the file cannot be opened.
        """
        address = self._strip_protocol(path)
        dataset, inner = self._catalog.find(address)
        file = dataset.by_path.get(inner)
        # A folder may have the name of a file that is refused
        error = dataset.refused.get(inner) or (file and file.error)
        if error:
            raise OSError(f"{address} cannot be opened: {error}")
        if file is None:
            raise IsADirectoryError(errno.EISDIR, "a data set or a folder, not a file", address)
        return dataset, file


class DOIFile(AbstractBufferedFile):
    """A file that is open for reading.

    A small file is received and verified before anything is read. Of a large file, ranges are received if the
    repository sends them; if they are read in order, the checksum is verified at the end.
    """

    def __init__(self, fs: DOIFileSystem, path: str, **options: Any) -> None:
        self.fs = fs
        self._dataset, self._file = fs._file(path)
        self._digest: hashlib._Hash | None = None  # of what was read in order
        self._digested = 0  # how many bytes
        self._whole: IO[bytes] | None = None  # all bytes, once they were received together
        size = self._file.size
        if size is None or size <= WHOLE:
            # the length received, since the listing may not state it; seek returns the new position
            options["size"] = self._received().seek(0, os.SEEK_END)
            options["cache_type"] = "none"  # all bytes were received already
        else:
            options["size"] = size
            self._digest = new_digest(self._file)
        super().__init__(fs, path, **options)

    def close(self) -> None:
        """Close the file, and delete the received bytes."""
        super().close()
        if self._whole is not None:
            self._whole.close()

    def _received(self) -> IO[bytes]:
        """Return a temporary file with all bytes of the file, at position 0."""
        if self._whole is None:
            with ExitStack() as stack:
                whole = stack.enter_context(tempfile.SpooledTemporaryFile(max_size=WHOLE))
                self.fs._web.download(self._file, self._dataset, whole, lambda _: None)
                stack.pop_all()  # close() closes it
            self._whole = whole
        self._whole.seek(0)
        return self._whole

    def _fetch_range(self, start: int, end: int) -> bytes:
        """Return a range of the file.

        Only the range is requested; if the repository sends no ranges, the whole file is, once.
        """
        end = min(end, self.size)
        if start >= end:
            return b""
        if self._whole is None:
            data = self.fs._web.read(self._file, self._dataset, start, end)
            if data is not None:
                self._add_to_digest(start, data)
                return data
        whole = self._received()
        whole.seek(start)
        return whole.read(end - start)

    def _add_to_digest(self, start: int, data: bytes) -> None:
        """Add a range to the digest if it continues what was read before; at the end, verify the checksum."""
        end = start + len(data)
        # Nothing to add if bytes before the range were skipped, or if all of it was read before.
        if self._digest is None or not start <= self._digested < end:
            return
        self._digest.update(data[self._digested - start :])
        self._digested = end
        if end == self.size:
            self.fs._web.verify(self._file, self._dataset, self._digest)


def lock(url: str, path: str | os.PathLike[str] = "doi.lock.json", **storage_options: Any) -> None:
    """Write the listing of a data set into a lock file: its version, and its files' names, sizes and checksums.

    With the option ``lock``, a file is then opened only if it has not changed.

    >>> lock("doi://10.5281/zenodo.4924875")  # doctest: +SKIP

    :param url: the address of the data set, or of something in it.
    :param path: the lock file; what else is in it stays.
    :param storage_options: the options of the filesystem.
    :raises OSError: if the files cannot be listed, or the lock file cannot be written.
    :raises ValueError: if the file is not a lock file.
    """
    # a new instance, without a lock file: it requests the listing
    options = {**storage_options, "lock": None, "skip_instance_cache": True}
    filesystem = DOIFileSystem(**options)
    doi, dataset = filesystem._catalog.all_files(filesystem._strip_protocol(url))
    write_locked(path, doi, dataset)
    DOIFileSystem.clear_instance_cache()  # cached filesystems still hold the old lock file


def _raise_unless_missing(error: OSError) -> None:
    """Treat a missing folder as empty, as fsspec's ``walk`` does; raise any other error."""
    if not isinstance(error, FileNotFoundError):
        raise error


def _info(path: str, dataset: Dataset, file: File | None) -> dict[str, Any]:
    """Return what ``info`` returns for a file; None stands for a folder."""
    if file is None:
        return {"name": path, "size": 0, "type": "directory", "version": dataset.version}
    return {
        "name": path,
        "size": file.size,
        "type": "file",
        "version": dataset.version,
        "checksum": file.checksum,
        "mimetype": file.mimetype,
    }


def _kinds_by_host(kinds: Mapping[str, str] | None) -> dict[str, str]:
    """Return the value of the option ``repositories``. Raises ValueError if it is invalid."""
    by_host = _by_host("repositories", kinds)
    for kind in by_host.values():
        if kind not in TOKENS:
            raise ValueError(f"repositories: {kind!r} is not one of {', '.join(TOKENS)}")
    return by_host


def _by_host(option: str, texts: Any) -> dict[str, str]:
    """Return the value of an option that has a text for each host, with the hosts in lower case.

    Raises ValueError if it is invalid. The message does not contain the texts: they may be secret.
    """
    if texts is None:
        return {}
    if not isinstance(texts, Mapping) or not all(map(_is_text, [*texts, *texts.values()])):
        raise ValueError(f"{option} must be a mapping of hosts to strings")

    by_host = {}
    for host, text in texts.items():
        if "/" in host or "@" in host:
            reason = 'the keys are hosts, such as "example.org" or "localhost:8000"'
            raise ValueError(f"{option}: {reason}")
        if not _VISIBLE.fullmatch(text.strip()):
            reason = f"the value for {host!r} contains characters other than visible ASCII"
            raise ValueError(f"{option}: {reason}")
        # "example.org." is the absolute form of the same host
        by_host[host.strip().lower().rstrip(".")] = text.strip()
    return by_host


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _tokens_of(variable: str) -> dict[str, str]:
    """Return the tokens in the environment variable ``DOIURI_TOKENS``, by host.

    Raises ValueError if it is not of the form ``HOST=TOKEN,HOST=TOKEN``. The message does not contain it.
    """
    tokens = {}
    for pair in variable.split(","):
        if not pair.strip():
            continue
        host, _, token = pair.strip().partition("=")
        if not host or not token:
            raise ValueError("DOIURI_TOKENS: it is not of the form HOST=TOKEN,HOST=TOKEN")
        tokens[host.strip()] = token.strip()
    return _by_host("DOIURI_TOKENS", tokens)
