"""A repository that runs, the local DOI proxy that knows its DOI, and the filesystem that reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from doiuri import encode
from fsspec_doiuri import DOIFileSystem
from support.servers.repositories import DOIS, Repository
from support.servers.web import Site


@dataclass
class Shelf:
    """A repository that runs, and the filesystem that reads it."""

    repository: Repository
    server: Site
    proxy: Any
    options: dict[str, Any]

    @property
    def kind(self) -> str:
        return self.repository.kind

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server.port}"

    def address(self, path: str = "", doi: str = "") -> str:
        """Return the address of a file, as a person who escapes everything would write it."""
        return "doi://" + "/".join(filter(None, (doi or DOIS[self.kind], encode(path))))

    def fs(self, **options: Any) -> DOIFileSystem:
        return DOIFileSystem(skip_instance_cache=True, **{**self.options, **options})


Start = Callable[..., Shelf]
