"""Records: the typed values that a DOI resolves to, and the locations in 10320/loc values."""

from doiuri.records._locations import Location, Locations, choose, parse_locations
from doiuri.records._record import Record, locations_of
from doiuri.records._values import Data, Value

__all__ = ["Data", "Location", "Locations", "Record", "Value", "choose", "locations_of", "parse_locations"]
