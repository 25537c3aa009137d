"""How formats write strings: their text without escapes, and where each character stands."""

from doiuri_cli.readers.strings._places import (
    Decoded,
    Places,
    Stretches,
    Within,
    nested,
    one_line,
    undo,
)

__all__ = ["Decoded", "Places", "Stretches", "Within", "nested", "one_line", "undo"]
