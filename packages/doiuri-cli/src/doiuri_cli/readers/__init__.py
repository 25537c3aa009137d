"""Readers, one a type of file: what may mention DOIs in it, and where."""

from doiuri_cli.readers._blank import may_mention
from doiuri_cli.readers._choice import is_read, parts_of, reader_for, type_of
from doiuri_cli.readers._part import Part, Reader, ReadError

__all__ = ["Part", "ReadError", "Reader", "is_read", "may_mention", "parts_of", "reader_for", "type_of"]
