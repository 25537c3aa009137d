"""What a repository lists for a DOI: files with sizes and checksums, in folders; also in a lock file."""

from __future__ import annotations

import json
import re
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
    """The listing of a data set.

    :raises ValueError: if there are too many files, or one has an unsafe or ambiguous name.
    """

    repository: str  # "inveniordm", "figshare" or "dataverse"
    version: str  # the DOI of the version; for Dataverse its number, such as "1.0"
    files: list[File]
    parts: dict[str, str] = field(
        default_factory=dict
    )  # folders that are data sets: where they are listed
    locked: bool = False  # whether this comes from a lock file
    by_path: dict[str, File] = field(init=False, repr=False)  # with the aliases
    folders: dict[str, dict[str, File | None]] = field(
        init=False, repr=False
    )  # by path; None for a folder

    def __post_init__(self) -> None:
        if self.repository not in TOKENS or not isinstance(self.version, str):
            raise ValueError(f"unknown repository {self.repository!r} or version {self.version!r}")
        if len(self.files) > MAX_FILES:
            raise ValueError(f"more than {MAX_FILES:,} files")
        self.by_path, self.folders = {}, {"": dict.fromkeys(self.parts)}
        for file in self.files:
            _check(file)
            if file.path in self.by_path:
                raise ValueError(f"two files are named {file.path!r:.200}")
            self.by_path[file.path] = file
            path = file.path
            entry: File | None = file
            while path:
                folder, _, name = path.rpartition("/")
                if self.folders.setdefault(folder, {}).setdefault(name, entry) is not entry:
                    raise ValueError(f"{path!r:.200} is both a file and a folder")
                path, entry = folder, None
        aliases = {file.alias: file for file in reversed(self.files) if file.alias}
        self.by_path = aliases | self.by_path


def _check(file: File) -> None:
    """Refuse a file with members of a wrong type, or with a name that is unsafe on some system."""
    for name, value in asdict(file).items():
        if not isinstance(value, int | None if name == "size" else str):
            raise TypeError(f"the {name} of a file is {value!r:.200}")
    segments = file.path.split("/")
    if (
        _UNSAFE.search(file.path)
        or len(segments) > MAX_DEPTH
        or not {"", ".", ".."}.isdisjoint(segments)
    ):
        raise ValueError(f"the name of a file is unsafe: {file.path!r:.200}")
    if urlsplit(file.url).scheme not in {"http", "https"}:
        raise ValueError(f"{file.url!r:.200} is not an http or https URL")


def write_locked(path: str | os.PathLike[str], doi: DOI, dataset: Dataset) -> None:
    """Write a listing into a lock file; raises OSError, or ValueError if it is not a lock file."""
    ordered = [asdict(file) for file in sorted(dataset.files, key=lambda file: file.path)]
    files = [
        {name: value for name, value in file.items() if value not in (None, "")} for file in ordered
    ]
    listing = {"repository": dataset.repository, "version": dataset.version, "files": files}
    entry = Entry(json.dumps(listing).encode(), "application/json", inf)
    LockFile(path).edit(lambda content: content.add({Key(_KIND, DOI_ORG, doi.key): entry}))


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
                found[key.doi] = Dataset(value["repository"], value["version"], files, locked=True)
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise ValueError(
                    f"{path}: the listing of {key.doi} cannot be used: {error}"
                ) from None
    return found
