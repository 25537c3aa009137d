"""Whether DOIs are registered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doiuri import DOI

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doiuri_cli._config import Config


def check_names(names: Sequence[str], config: Config) -> dict[str, str]:
    """Return the status of each DOI, by its key."""
    from doiuri.resolver import Resolver  # imports requests

    with Resolver(config.resolver, offline=config.offline) as resolver:
        outcomes = resolver.check([DOI(name) for name in names], "existence")
        return {one.doi.key: one.status for one in outcomes if one.doi is not None}
