"""The files of packages/doiuri-proxy/deploy, with other ports and paths."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

DEPLOY = Path(__file__).parents[3] / "packages" / "doiuri-proxy" / "deploy"


def deployed(name: str, replaced: Mapping[str, object]) -> str:
    """Return the text of a file in which each key, which has to be there, is replaced by its value."""
    text = (DEPLOY / name).read_text("utf-8")
    for old, new in replaced.items():
        assert old in text, old
        text = text.replace(old, str(new))
    return text
