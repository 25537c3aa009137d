"""What a repository lists for a DOI: files with sizes and checksums, in folders; also in a lock file."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from dataclasses import asdict, dataclass, field
from math import inf
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from doiuri.plugins import DOI_ORG
from doiuri.resolver import Entry, Key, LockContent, LockFile

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from pathlib import Path

    from doiuri import DOI

MAX_FILES, MAX_DEPTH = 100_000, 100
"""Files of a data set, and segments in the path of one."""

# How each kind of repository takes a token
TOKENS: Mapping[str, tuple[str, str]] = {
    "inveniordm": ("Authorization", "Bearer "),
    "figshare": ("Authorization", "token "),
    "dataverse": ("X-Dataverse-key", ""),
}

_KIND = "files"  # of the entries in a lock file
_AFTER_SLASH = chr(ord("/") + 1)  # sorts after everything in a folder
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

    @property
    def digest(self) -> str:
        """The checksum in lower-case hexadecimal digits, without its kind."""
        return self.checksum.partition(":")[2].lower()


@dataclass(slots=True)
class Dataset:
    """The listing of a data set. A file with an unsafe or ambiguous name is left out.

    :raises ValueError: if there are too many files.
    """

    repository: str  # "inveniordm", "figshare" or "dataverse"
    version: str  # the DOI of the version; for Dataverse its number, such as "1.0"
    files: list[File]
    parts: dict[str, str] = field(default_factory=dict)  # folders that are data sets: their URLs
    locked: bool = False  # whether this comes from a lock file
    refused: dict[str, str] = field(init=False, repr=False)  # why files are left out, by path
    by_path: dict[str, File] = field(init=False, repr=False)  # with the aliases
    _paths: list[str] = field(init=False, repr=False)  # of the files, sorted

    def __post_init__(self) -> None:
        if self.repository not in TOKENS or not isinstance(self.version, str):
            raise ValueError(f"unknown repository {self.repository!r} or version {self.version!r}")
        if len(self.files) > MAX_FILES:
            raise ValueError(f"more than {MAX_FILES:,} files")
        for file in self.files:
            _check_types(file)

        self.refused = {}
        listed: dict[str, File] = {}
        self._paths = sorted({file.path for file in self.files})
        for file in self.files:
            reason = self._why_refused(file, listed)
            if reason:
                self.refused[file.path] = reason
            else:
                listed[file.path] = file
        self.files = list(listed.values())
        self._paths = sorted(listed)

        aliases = {file.alias: file for file in reversed(self.files) if file.alias}
        self.by_path = aliases | listed

    def _why_refused(self, file: File, listed: Mapping[str, File]) -> str:
        """Return why a file cannot be listed beside others, or ""."""
        segments = file.path.split("/")
        is_odd = not {"", ".", ".."}.isdisjoint(segments)
        if _UNSAFE.search(file.path) or len(segments) > MAX_DEPTH or is_odd:
            return "its name is unsafe"
        if urlsplit(file.url).scheme not in {"http", "https"}:
            return f"{file.url!r:.200} is not an http or https URL"
        if file.path in listed:
            return "another file has its name"
        if self.is_folder(file.path):
            return "a folder has its name"
        return ""

    def is_folder(self, path: str) -> bool:
        """Return whether there is a folder: the data set itself, a part, or a folder of files."""
        if path == "" or path in self.parts:
            return True
        place = bisect_left(self._paths, f"{path}/")
        return place < len(self._paths) and self._paths[place].startswith(f"{path}/")

    def entries(self, folder: str) -> dict[str, File | None]:
        """Return what is in a folder, by name: a file, or None for a folder.

        It is found in the sorted paths: a table of all folders would take memory for each of a hundred levels.
        """
        found: dict[str, File | None] = {}
        if folder == "":
            found |= dict.fromkeys(self.parts)
        prefix = f"{folder}/" if folder else ""
        place = bisect_left(self._paths, prefix)
        while place < len(self._paths) and self._paths[place].startswith(prefix):
            path = self._paths[place]
            name, slash, _ = path[len(prefix) :].partition("/")
            if slash:
                found[name] = None
                place = bisect_left(self._paths, f"{prefix}{name}{_AFTER_SLASH}", place)
            else:
                found[name] = self.by_path[path]
                place += 1
        return found


def _check_types(file: File) -> None:
    """Refuse a file with members of a wrong type: the listing is not of the form that we know."""
    for name, value in asdict(file).items():
        if not isinstance(value, int | None if name == "size" else str):
            raise TypeError(f"the {name} of a file is {value!r:.200}")


def write_locked(path: str | os.PathLike[str], doi: DOI, dataset: Dataset) -> None:
    """Write a listing into a lock file; raises OSError, or ValueError if it is not a lock file."""
    ordered = [asdict(file) for file in sorted(dataset.files, key=lambda file: file.path)]
    files = [
        {name: value for name, value in file.items() if value not in (None, "")} for file in ordered
    ]
    listing = {"repository": dataset.repository, "version": dataset.version, "files": files}
    entry = Entry(json.dumps(listing).encode(), "application/json", inf)
    LockFile(path).edit(lambda content: content.add({Key(_KIND, DOI_ORG, doi.key): entry}))


def _refuse_any(dataset: Dataset) -> None:
    """Raise ValueError if a file is left out: a lock file that we wrote has none."""
    for name, reason in dataset.refused.items():
        raise ValueError(f"{name!r:.200}: {reason}")


def read_locked(path: Path) -> dict[str, Dataset]:
    """Return the listings in a lock file, by the keys of their DOIs; raises as ``write_locked`` does."""
    try:
        content, found = LockContent.read(path), {}
    except FileNotFoundError:  # of a file, that would be a definite no
        raise OSError(f"there is no lock file {path}; fsspec_doiuri.lock() writes it") from None
    for key in content.keys:
        entry = content.get(key)
        if key.kind == _KIND and entry is not None:
            try:
                value = json.loads(entry.body)
                files = [File(**file) for file in value["files"]]
                dataset = Dataset(value["repository"], value["version"], files, locked=True)
                _refuse_any(dataset)
                found[key.doi] = dataset
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise ValueError(
                    f"{path}: the listing of {key.doi} cannot be used: {error}"
                ) from None
    return found
