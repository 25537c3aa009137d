"""Records: the typed values that a DOI resolves to, and the locations in 10320/loc values."""

from doiuri.records._locations import Location, Locations, choose, parse_locations
from doiuri.records._record import Data, Record, Value, ascii_upper, locations_of, select

__all__ = [
    "Data",
    "Location",
    "Locations",
    "Record",
    "Value",
    "ascii_upper",
    "choose",
    "locations_of",
    "parse_locations",
    "select",
]

for _public in (Data, Location, Locations, Value):
    _public.__module__ = __name__  # for tracebacks and pickles
Record.__module__ = "doiuri"
