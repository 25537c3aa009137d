"""Readers of other packages: entry points ``doiuri.readers``, named after extensions such as ".org"."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, cast

from doiuri_cli.readers._part import Part, ReadError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.metadata import EntryPoint

    from doiuri_cli.files import Source
    from doiuri_cli.readers._part import Reader


class PluginReader:
    """The reader of another package, loaded when it first reads a file.

    :param entry: the entry point.
    """

    def __init__(self, entry: EntryPoint) -> None:
        self._entry = entry

    def __call__(self, source: Source) -> Iterator[Part]:
        """Return the parts that the reader returns.

        :raises ReadError: if the reader cannot be loaded, fails, or returns something else.
        """
        try:
            reader = cast("Reader", self._entry.load())
            for part in reader(source):
                if not isinstance(part, Part):
                    raise TypeError(f"expected Part, not {type(part).__name__}")  # noqa: TRY301
                yield part
        except ReadError:
            raise
        except Exception as error:
            where = f"{self._entry.name} ({self._entry.value})"
            message = f"the reader for {where} failed: {type(error).__name__}: {error}"
            raise ReadError(message) from error


def plugin_for(extension: str) -> PluginReader | None:
    """Return the reader of another package for an extension in lower case; None if there is none."""
    entry = _entries().get(extension)
    return None if entry is None else PluginReader(entry)


@cache
def _entries() -> dict[str, EntryPoint]:
    return {entry.name.lower(): entry for entry in entry_points(group="doiuri.readers")}
