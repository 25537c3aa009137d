"""Check, fix and look up the DOIs of a whole tree: the command ``doiuri``.

These names are for authors of readers of other types of files.
"""

from doiuri_cli.files import Source
from doiuri_cli.readers import Part, Reader, ReadError

__all__ = ["Part", "ReadError", "Reader", "Source"]
