"""The listing of a data set: its files with their sizes and checksums; also in a lock file."""

from __future__ import annotations

import json
import re
import warnings
from bisect import bisect_left
from collections import Counter
from dataclasses import asdict, dataclass, field
from math import inf
from operator import attrgetter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from doiuri.plugins import DOI_ORG
from doiuri.resolver import Entry, Key, LockContent, LockFile

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from pathlib import Path

    from doiuri import DOI

MAX_FILES = 100_000
"""The most files of a data set."""
MAX_DEPTH = 100
"""The most segments in the path of a file."""

# The header for a token, and what precedes the token in it, by kind of repository
TOKENS: Mapping[str, tuple[str, str]] = {
    "inveniordm": ("Authorization", "Bearer "),
    "figshare": ("Authorization", "token "),
    "dataverse": ("X-Dataverse-key", ""),
}

_KIND = "files"  # of the entries in a lock file
_MAX_NAMED = 5  # refused files that a warning names
_TEXT_FIELDS = ("path", "url", "checksum", "mimetype", "alias", "error")
_UNSAFE = re.compile(r"[\\\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class File:
    """A file of a data set; what the repository does not say is empty."""

    path: str  # folders and name, joined by slashes; not escaped
    url: str
    size: int | None = None  # in bytes
    checksum: str = ""  # such as "md5:70e2…"
    mimetype: str = ""
    alias: str = ""  # another path that opens it, which is not listed
    error: str = ""  # why it cannot be opened


@dataclass(slots=True)
class Dataset:
    """The listing of a data set. A file with an unusable name is refused; the others are listed.

    :raises TypeError: if a file has a member of a wrong type.
    :raises ValueError: if there are too many files, or the URL of one is not an http or https URL.
    """

    kind: str  # of the repository: "inveniordm", "figshare" or "dataverse"
    version: str  # the DOI of the version; for Dataverse its number, such as "1.0"
    files: list[File]  # refused ones, too
    # the URLs of their listings, by the names of the folders that are data sets themselves
    parts: dict[str, str] = field(default_factory=dict)
    locked: bool = False  # whether this comes from a lock file
    by_path: dict[str, File] = field(init=False, repr=False)  # listed files, by path and alias
    refused: dict[str, str] = field(init=False, repr=False)  # reasons by path
    _paths: list[str] = field(init=False, repr=False)  # of the listed files, sorted

    def __post_init__(self) -> None:
        """Check all files, and divide them into those that are listed and those that are refused."""
        if self.kind not in TOKENS or not isinstance(self.version, str):
            raise ValueError(f"unknown repository {self.kind!r} or version {self.version!r}")
        if len(self.files) > MAX_FILES:
            raise ValueError(f"more than {MAX_FILES:,} files")
        for file in self.files:
            _check(file)

        # Of the paths, those with a flaw and those that are also folders' are refused; the others are listed.
        uses = Counter(file.path for file in self.files)
        flaws = {path: _flaw(path, count) for path, count in uses.items()}
        paths = sorted(path for path, flaw in flaws.items() if not flaw)
        for path in paths:
            if _has_files_in(path, paths):
                flaws[path] = "a folder has the same name"
        self.refused = {path: flaw for path, flaw in flaws.items() if flaw}
        self._paths = [path for path in paths if path not in self.refused]

        listed = [file for file in self.files if file.path not in self.refused]
        # If two files have the same alias, it opens the first; a path takes precedence over an alias.
        self.by_path = {file.alias: file for file in reversed(listed) if file.alias}
        self.by_path.update((file.path, file) for file in listed)

    def is_folder(self, path: str) -> bool:
        """Return whether a path is that of the data set, or of a folder with listed files."""
        return not path or _has_files_in(path, self._paths)

    def entries(self, folder: str) -> dict[str, File | None]:
        """Return what is in a folder, by name; None stands for a folder.

        Folders are not stored: in a deep data set, they would take far more memory than its files.
        """
        entries: dict[str, File | None] = {}
        if not folder:
            entries.update(dict.fromkeys(self.parts))

        inside = f"{folder}/" if folder else ""
        index = bisect_left(self._paths, inside)
        while index < len(self._paths) and self._paths[index].startswith(inside):
            path = self._paths[index]
            name, slash, _ = path.removeprefix(inside).partition("/")
            if slash:  # the first of the files in a subfolder
                entries[name] = None
                # "0" follows "/" in ASCII: continue after everything in that folder
                index = bisect_left(self._paths, f"{inside}{name}0", index)
            else:
                entries[name] = self.by_path[path]
                index += 1
        return entries

    def knows(self, path: str) -> bool:
        """Return whether a path is that of a file, or begins with the name of a file or folder.

        If it does neither, the path may begin with the rest of a longer name of a DOI.
        """
        if not path or path in self.refused or path in self.by_path:
            return True
        first = path.partition("/")[0]
        # "" is the data set itself; a path such as "/a", after two slashes, does not begin with a folder of it.
        is_folder = first != "" and self.is_folder(first)
        return is_folder or first in self.parts or first in self.by_path

    def warn_of_refused(self, name: str) -> None:
        """Warn once of all files that are not listed, if there are any."""
        if not self.refused:
            return
        paths = sorted(self.refused)
        descriptions = [f"{path!r:.200} ({self.refused[path]})" for path in paths[:_MAX_NAMED]]
        files = "; ".join(descriptions)
        unnamed = len(paths) - len(descriptions)
        if unnamed > 0:
            files += f"; and {unnamed:,} more"
        warnings.warn(f"{name}: some files are not listed: {files}", stacklevel=2)


def _check(file: File) -> None:
    """Raise TypeError for a member of a wrong type, ValueError for a URL that must not be requested."""
    for name in _TEXT_FIELDS:
        value = getattr(file, name)
        if not isinstance(value, str):
            raise TypeError(f"the {name} of a file is {value!r:.200}")
    if not isinstance(file.size, int | None):
        raise TypeError(f"the size of a file is {file.size!r:.200}")
    if urlsplit(file.url).scheme not in {"http", "https"}:
        raise ValueError(f"{file.url!r:.200} is not an http or https URL")


def _has_files_in(folder: str, paths: list[str]) -> bool:
    """Return whether any of these sorted paths is inside a folder."""
    inside = f"{folder}/"
    first = bisect_left(paths, inside)
    return first < len(paths) and paths[first].startswith(inside)


def _flaw(path: str, uses: int) -> str:
    """Return why a file with this path is refused, or "" if it is not.

    :param uses: how many files have the path.
    """
    segments = path.split("/")
    if _UNSAFE.search(path):
        return "its name has a backslash or a control character"
    if not {"", ".", ".."}.isdisjoint(segments):
        return 'a part of its path is empty, "." or ".."'
    if len(segments) > MAX_DEPTH:
        return f"its path has more than {MAX_DEPTH} parts"
    if uses > 1:
        return "another file has the same name"
    return ""


def write_locked(path: str | os.PathLike[str], doi: DOI, dataset: Dataset) -> None:
    """Write a listing into a lock file. Raises OSError, and ValueError if it is not a lock file."""
    ordered = sorted(dataset.files, key=attrgetter("path"))
    files = [_stated(file) for file in ordered]
    listing = {"repository": dataset.kind, "version": dataset.version, "files": files}
    entry = Entry(json.dumps(listing).encode(), "application/json", inf)
    entries = {Key(_KIND, DOI_ORG, doi.key): entry}
    LockFile(path).edit(lambda content: content.add(entries))


def _stated(file: File) -> dict[str, object]:
    """Return the members of a file that are not empty."""
    return {name: value for name, value in asdict(file).items() if value not in (None, "")}


def read_locked(path: Path) -> dict[str, Dataset]:
    """Return the listings in a lock file, by the keys of their DOIs. Raises what ``write_locked`` does."""
    try:
        content = LockContent.read(path)
    except FileNotFoundError:
        # of a file in a data set, that would mean that it does not exist
        raise OSError(f"there is no lock file {path}; fsspec_doiuri.lock() writes it") from None

    datasets = {}
    for key in content.keys:
        entry = content.get(key)
        if key.kind != _KIND or entry is None:
            continue
        try:
            dataset = _read_listing(entry.body)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            reason = f"{path}: the listing of {key.doi} cannot be used: {error}"
            raise ValueError(reason) from None
        dataset.warn_of_refused(f"{path}: {key.doi}")
        datasets[key.doi] = dataset
    return datasets


def _read_listing(body: bytes) -> Dataset:
    """Return the listing in an entry of a lock file."""
    listing = json.loads(body)
    files = [File(**members) for members in listing["files"]]
    return Dataset(listing["repository"], listing["version"], files, locked=True)
