"""Files: which to read, their text, and how they are written."""

from doiuri_cli.files._source import Lines, Position, Source

__all__ = ["Lines", "Position", "Source"]
