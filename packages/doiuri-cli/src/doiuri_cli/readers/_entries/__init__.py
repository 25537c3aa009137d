"""The entries of a bibliography that have a DOI, to compare with the registry's metadata."""

from doiuri_cli.readers._entries._choice import entries
from doiuri_cli.readers._entries._entry import Entry

__all__ = ["Entry", "entries"]
