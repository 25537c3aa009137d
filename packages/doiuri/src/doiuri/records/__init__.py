"""Records: the typed values that a DOI resolves to, and the locations in 10320/loc values.

Works: the metadata of what a DOI names. ``same_title`` and ``same_author`` compare it with what people write.
"""

from doiuri.records._csl import Name
from doiuri.records._likeness import same_author, same_title
from doiuri.records._locations import Location, Locations, choose, parse_locations
from doiuri.records._notices import Notice
from doiuri.records._record import Data, Record, Value, ascii_upper, locations_of, select
from doiuri.records._work import Work

__all__ = [
    "Data",
    "Location",
    "Locations",
    "Name",
    "Notice",
    "Record",
    "Value",
    "Work",
    "ascii_upper",
    "choose",
    "locations_of",
    "parse_locations",
    "same_author",
    "same_title",
    "select",
]
