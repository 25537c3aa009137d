"""Readers, one a type of file: what may mention DOIs in it, and where."""

from doiuri_cli.readers._blank import may_mention
from doiuri_cli.readers._choice import TYPES, configure, is_read, parts_of, reader_for, reads_columns, type_of
from doiuri_cli.readers._part import Part, Reader, ReadError

__all__ = [
    "TYPES",
    "Part",
    "ReadError",
    "Reader",
    "configure",
    "is_read",
    "may_mention",
    "parts_of",
    "reader_for",
    "reads_columns",
    "type_of",
]
