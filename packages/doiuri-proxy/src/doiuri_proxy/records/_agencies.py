"""Registration agencies by prefix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri_proxy.records._records import handle_key

if TYPE_CHECKING:
    from collections.abc import Mapping


class AgencyNames:
    """Agencies by prefix: of several that fit a name, the longest wins."""

    def __init__(self) -> None:
        """Start without any."""
        self._names: dict[str, str] = {}

    def update(self, names: Mapping[str, str]) -> None:
        """Add a mapping of prefix to agency."""
        self._names.update((handle_key(prefix), name) for prefix, name in names.items())

    def __contains__(self, key: str) -> bool:
        return key in self._names

    def of(self, handle: str) -> str | None:
        """Name the agency of a handle or a bare prefix, None where it is not known."""
        key = handle_key(handle)
        prefix = next((part for part in (key, *parents(key)) if part in self._names), None)
        return None if prefix is None else self._names[prefix]


def parents(handle: str) -> list[str]:
    """List the prefixes that a handle or a prefix is under, the longest first: 10.1000.10, 10.1000."""
    parts = handle.partition("/")[0].split(".")
    return [".".join(parts[:count]) for count in range(len(parts), 1, -1)]
