"""Files: which to read, their text, and how they are written."""

from doiuri_cli.files._git import Patterns, is_pattern
from doiuri_cli.files._source import Lines, Position, Source, replace_file

__all__ = ["Lines", "Patterns", "Position", "Source", "is_pattern", "replace_file"]
