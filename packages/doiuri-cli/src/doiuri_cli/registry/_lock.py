"""What the lock file says about DOIs, for commands that only read it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from doiuri.resolver import LockContent

from doiuri_cli.files import Lines
from doiuri_cli.rules import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Lock(NamedTuple):
    """The content of a lock file.

    :ivar path: the file.
    :ivar content: what it says.
    """

    path: str
    content: LockContent

    @classmethod
    def read(cls, path: str) -> Lock:
        """Return the content of a file.

        :raises ValueError: if it is no lock file.
        """
        try:
            return cls(path, LockContent.read(Path(path)))
        except FileNotFoundError:
            raise ValueError(f"the lock file {path} does not exist; run doiuri lock to write it") from None
        except OSError as error:
            raise ValueError(f"{path} cannot be read as a lock file: {error.strerror}") from None

    def status(self, key: str) -> str | None:
        """Return whether a DOI is registered, by its key; "accepted" if it is known not to be.

        None if the file does not say it.
        """
        return "accepted" if key in self.content.accepted else self.content.status(key)

    def unused(self, keys: Iterable[str]) -> Iterator[Finding]:
        """Yield a finding for each DOI that is in the file only.

        :param keys: the keys of the DOIs that are used.
        """
        unused = self.content.unused(keys)
        if not unused:
            return
        text = Path(self.path).read_text("utf-8")
        lines = Lines(text)
        for key, name in self.content.names().items():
            if key not in unused:
                continue
            written = json.dumps(name, ensure_ascii=False)
            line, column = lines.position(max(text.find(f"{written}:"), 0))
            yield Finding(
                self.path,
                line,
                column,
                line,
                column + len(written),
                "lock-unused",
                f"{key} is in the lock file, but no file mentions it; run doiuri lock --prune",
                doi=key,
                excerpt=lines.line(line, 1, 200),
            )
