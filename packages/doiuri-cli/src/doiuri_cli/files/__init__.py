"""Files: which to read, their text, and how they are written."""

from doiuri_cli.files._patterns import Patterns, is_pattern
from doiuri_cli.files._source import Lines, Position, Source

__all__ = ["Lines", "Patterns", "Position", "Source", "is_pattern"]
